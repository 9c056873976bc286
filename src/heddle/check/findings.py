"""What is worth somebody's time, with the number that says so, what it rests on, and the verdict in a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from heddle.check.checked import Checked
from heddle.check.deadlock import DEFAULT_SHARE
from heddle.check.jobs import ACCOUNTS, STANDS_IN
from heddle.check.policies import Tried
from heddle.check.unknown import use_told_by
from heddle.model.resources import MEMORY_MB
from heddle.report.amounts import hours
from heddle.report.wording import LEAD, number, pct, range_pct, write_s

Severity = Literal["high", "medium", "low"]
ORDER: Final = ("high", "medium", "low")

# From where on something is a finding.
LOW_USE: Final = 0.6
MUCH_SAVED: Final = 0.05  # of what was reserved
LONG_WAIT_S: Final = 300.0
LONG_AM_WAIT_S: Final = 60.0
MANY_FAILED: Final = 0.1
MOST_FAILED: Final = 0.25
NEAR_ENOUGH: Final = 1.5  # how many times longer or shorter simulated jobs may take than they did
_ID: Final = re.compile(r"\b(application|appattempt|container|job)_[0-9e_]+")
_LEAST_APPLICATIONS: Final = 10
_WATCH: Final = "Use --for 30m to watch the next jobs."


@dataclass(frozen=True)
class Finding:
    """`value`: a number that is better the smaller it is, in `unit`; `rests_on`: what it would fall with."""

    key: str
    severity: Severity
    says: str
    value: float
    unit: str
    rests_on: tuple[str, ...] = ()


def findings(checked: Checked) -> list[Finding]:
    """The most serious first."""
    found = [*_deadlock(checked), *_policy(checked), *_idle(checked), *_requests(checked), *_waits(checked)]
    found += [*_failed(checked), *_nodes(checked)]
    return sorted(found, key=lambda one: ORDER.index(one.severity))


def verdict(checked: Checked, found: list[Finding]) -> str:
    """One or two sentences for somebody who reads no further."""
    accounts = checked.accounts
    if checked.jobs is None:
        if not accounts.applications:
            return f"No application has finished here recently, so there is nothing to judge yet. {_WATCH}"
        why = "; ".join(f"{count:,}: {why}" for why, count in checked.left_out.items())
        return f"No verdict: none of {accounts.applications:,} applications can be simulated ({why}). {_WATCH}"
    seen = (
        f"{accounts.applications:,} application{'s' if accounts.applications > 1 else ''} from the last "
        f"{_hours(accounts.hours)}"
    )
    if not found:
        if checked.use is None or checked.use.ratio is None:
            return (
                f"Nothing in {seen} needs attention, but what they used is unknown, so waste cannot be judged. {_WATCH}"
            )
        return f"Nothing needs attention: {seen} were checked, and no policy that is safe to try shows a gain."
    return f"{' '.join(one.says for one in found[:2])} Based on {seen}."


def _hours(hours_: float) -> str:
    return write_s(3600 * hours_)


def assumptions(checked: Checked) -> tuple[str, ...]:
    """What every simulated number rests on."""
    jobs, rests = checked.jobs, []
    if jobs is not None:
        if count := jobs.known.get(STANDS_IN):
            rests.append(f"{count:,} jobs are modelled on sampled jobs of the same kind")
        if count := jobs.known.get(ACCOUNTS):
            rests.append(f"{count:,} jobs are modelled as equal containers that run as long as the job")
    rests += [f"{one.setting}: {one.why}" for one in checked.gathered.present.assumed]
    return tuple(rests)


def simulation_off(checked: Checked) -> str:
    """How far the present policy, simulated, is from what really was; "" where it is near enough to be believed."""
    jobs, simulated_s = checked.jobs, checked.simulated_s
    if jobs is None or simulated_s is None or jobs.mean_s <= 0:
        return ""
    if NEAR_ENOUGH >= simulated_s / jobs.mean_s >= 1 / NEAR_ENOUGH:
        return ""
    return (
        f"an inaccurate simulation (under the present policy it gives these jobs {write_s(simulated_s)} on average; "
        f"in reality they took {write_s(jobs.mean_s)})"
    )


def _too_short(tried: Tried) -> str:
    """Without resamples an interval says nothing about another day."""
    return "too few jobs to generalise to another day" if tried.comparison.sampling.too_short else ""


def _deadlock(checked: Checked) -> Iterator[Finding]:
    risk = checked.risk
    if risk is None or not risk.possible or (risk.tried and not risk.stalled):
        return
    share = DEFAULT_SHARE[checked.gathered.present.policy] // 10
    rests = tuple(f"the AM share of {leaf} is assumed to be {share} %, YARN's default" for leaf in risk.assumed)
    said = (
        f"{risk.jobs:,} jobs submitted at once would fill the cluster with application masters and leave "
        "no room for tasks"
    )
    if risk.stalled:
        said += f": in a simulation with today's settings, {risk.tried:,} of these jobs deadlocked."
    else:
        said += "; that many jobs are too many to simulate here, so whether they deadlock is not known."
    yield Finding("am-deadlock", "high" if risk.stalled else "low", said, risk.share, "share of memory for AMs", rests)


def _policy(checked: Checked) -> Iterator[Finding]:
    tried = checked.tried
    best = None if tried is None else tried.best()
    if tried is None or best is None:
        return
    row = tried.comparison.row(tried.cluster, best.policy.name, LEAD)
    change, interval = row["vs_baseline_pct"], row["vs_ci95"]
    said = (
        f"{best.steered} would have finished these jobs {pct(abs(change)).removeprefix('+')} % sooner on average than "
        f"{tried.comparison.baseline}, today's policy (95 % interval {range_pct(interval)})."
    )
    doubts = [doubt for doubt in (simulation_off(checked), _too_short(tried)) if doubt]
    if doubts:
        said = f"{said.removesuffix('.')}; but this rests on {' and on '.join(doubts)}."
    severity: Severity = "medium" if change <= -5 and not doubts else "low"
    yield Finding("policy", severity, said, -change, "% sooner with another policy", assumptions(checked))


def _idle(checked: Checked) -> Iterator[Finding]:
    use = checked.use
    if use is None or use.ratio is None or use.ratio >= LOW_USE:
        return
    idle_h = hours(use.reserved - use.used, MEMORY_MB)
    money = f", {checked.price * idle_h:,.2f} at {checked.price:g} per GB-h" if checked.price is not None else ""
    said = f"Jobs used {100 * use.ratio:.0f} % of the memory they reserved; {number(idle_h)} GB-h sat idle{money}."
    severity: Severity = "medium" if checked.accounts.applications >= _LEAST_APPLICATIONS else "low"
    yield Finding("idle-reservations", severity, said, 1 - use.ratio, "share idle", (use_told_by(checked),))


def _requests(checked: Checked) -> Iterator[Finding]:
    saved, reserved = sum(max(0, one.saved) for one in checked.advice), sum(one.reserved for one in checked.advice)
    if not reserved or saved < MUCH_SAVED * reserved:
        return
    best = checked.advice[0]
    said = (
        f"Requests are too large: recurring jobs could have run with {100 * saved / reserved:.0f} % less memory, "
        f"above all {best.kind}: {best.request_mb:,} MB instead of {best.reserved_mb:,} MB."
    )
    rests = (
        f"{best.missed} of {best.predicted:,} of its tasks would have needed a second attempt under this rule (up to "
        f"{100 * best.risk_high:.1f} %, 95 % interval)",
    )
    yield Finding("large-requests", "medium", said, saved / reserved, "share of what they reserved", rests)


def _waits(checked: Checked) -> Iterator[Finding]:
    long = [one for one in checked.gathered.now.waiting if one.to_start and one.median_s >= LONG_WAIT_S]
    if long:
        one = max(long, key=lambda each: each.applications)
        count = sum(each.applications for each in long)
        said = (
            f"{count:,} application{'s are' if count > 1 else ' is'} waiting to "
            f"start{', most of them' if len(long) > 1 else ''} "
            f"in {one.queue}, for up to {write_s(one.longest_s)}: {one.why}."
        )
        yield Finding("waiting-now", "medium", said, count, "applications")
    queues = checked.accounts.am_wait_by_queue_s.items()
    slow = {queue: told for queue, told in queues if told[2] >= LONG_AM_WAIT_S and told[0] >= _LEAST_APPLICATIONS}
    if slow:
        worst = max(slow, key=lambda queue: slow[queue][2])
        said = f"In {worst}, one application in twenty waited {write_s(slow[worst][2])} or longer for its AM."
        yield Finding("am-waits", "medium", said, slow[worst][2], "s")


def _failed(checked: Checked) -> Iterator[Finding]:
    accounts = checked.accounts
    if accounts.applications >= _LEAST_APPLICATIONS and accounts.failed >= MANY_FAILED * accounts.applications:
        share = accounts.failed / accounts.applications
        said = f"{accounts.failed:,} of {accounts.applications:,} applications failed or were killed."
        severity: Severity = "medium" if share >= MOST_FAILED else "low"
        yield Finding("failed-applications", severity, said + _why_they_failed(checked), share, "share of applications")


def _why_they_failed(checked: Checked) -> str:
    """What YARN says of most of them, without the numbers by which one differs from the next."""
    reasons = Counter(_ID.sub(r"\1_…", one.why_failed) for one in checked.gathered.outlines if one.why_failed)
    if not reasons:
        return ""
    reason, count = reasons.most_common(1)[0]
    return f" YARN's most common reason ({count:,}): {reason.rstrip('.')}."


def _nodes(checked: Checked) -> Iterator[Finding]:
    away = {state: n for state, n in checked.gathered.now.away.items() if state in ("LOST", "UNHEALTHY")}
    if away:
        listed = ", ".join(f"{count} {state.lower()}" for state, count in away.items())
        yield Finding("nodes-away", "low", f"Some nodes accept no containers: {listed}.", sum(away.values()), "nodes")
