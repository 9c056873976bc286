"""Everything a check found out, from what was gathered: the analysis is that of `advise`, `compare` and `ledger`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from heddle.analysis.comparison.compare import ComparedRun
from heddle.analysis.trace_contents.advice import Advice, Rule, advise_requests
from heddle.analysis.waste.efficiency import Efficiency, containers_of_run, efficiency
from heddle.analysis.waste.run_waste import Waste, run_waste
from heddle.check.deadlock import AmRisk, am_risk
from heddle.check.gathering import Gathered
from heddle.check.jobs import Jobs, past_workload
from heddle.check.policies import Run, Tried, try_policies
from heddle.check.watching import Watched
from heddle.model.resources import MEMORY
from heddle.report.wording import LEAD
from heddle.yarn.observe.outlines import Outline


@dataclass(frozen=True)
class Accounts:
    """What YARN itself counted of the applications that ended in the window."""

    hours: float
    applications: int
    failed: int
    reserved_mb_h: float
    capacity_mb_h: float
    am_wait_by_queue_s: Mapping[
        str, tuple[int, float, float]
    ]  # queue -> applications, median and 95th percentile of the wait


@dataclass(frozen=True)
class Checked:
    """`jobs` and what rests on them: None where nothing was known of any job."""

    gathered: Gathered
    accounts: Accounts
    watched: Watched | None
    jobs: Jobs | None
    left_out: Mapping[str, int]  # why -> how many jobs
    tried: Tried | None
    risk: AmRisk | None
    advice: Sequence[Advice]
    no_advice: int  # tasks of jobs known in detail that recur too rarely, or whose use is unknown
    rule: Rule
    waste: Waste | None
    use: Efficiency | None  # memory used of reserved
    use_is_measured: bool  # of single containers that were watched, of more than half of what they reserved
    price: float | None  # of a GB-hour

    @property
    def simulated_s(self) -> float | None:
        """Mean completion of these jobs in a simulation of the present policy, to be held against the real one."""
        if self.tried is None:
            return None
        mean = self.tried.comparison.row(self.tried.cluster, self.tried.comparison.baseline, LEAD)["mean"]
        return None if mean is None else float(mean)

    @property
    def ledger_is_real(self) -> bool:
        return self.watched is not None and self.watched.run.attempts.height > 0


def checked(
    gathered: Gathered,
    watched: Watched | None,
    window_ms: tuple[int, int],
    folder: Path,
    command: Sequence[str],
    run: Run,
    price: float | None,
) -> Checked:
    present = gathered.present
    jobs, left_out = past_workload(gathered.outlines, gathered.details, gathered.sample, present, gathered.now.use)
    tried = None if jobs is None else try_policies(jobs, present, folder, command, run)
    rule = Rule()
    advice, no_advice = ([], 0) if jobs is None or jobs.exact is None else advise_requests(jobs.exact, rule)
    real = watched.run if watched is not None and watched.run.attempts.height else None
    simulated = None if tried is None else _present_run(tried)
    waste = run_waste(real) if real is not None else None if simulated is None else simulated.waste
    use = None if simulated is None else simulated.efficiency["job"][MEMORY]
    measured = None if real is None else efficiency(containers_of_run(real), "job")[MEMORY]
    use_is_measured = measured is not None and measured.reserved > measured.unrecorded_reserved
    return Checked(
        gathered=gathered,
        accounts=_accounts(gathered, window_ms),
        watched=watched,
        jobs=jobs,
        left_out=left_out,
        tried=tried,
        risk=None if jobs is None else am_risk(jobs.workload, present),
        advice=advice,
        no_advice=no_advice,
        rule=rule,
        waste=waste,
        use=measured if use_is_measured else use,
        use_is_measured=use_is_measured,
        price=price,
    )


def _present_run(tried: Tried) -> ComparedRun:
    """These jobs as they were, under the present policy."""
    return next(run for run in tried.comparison.runs if run.policy == tried.comparison.baseline)


def _accounts(gathered: Gathered, window_ms: tuple[int, int]) -> Accounts:
    outlines = gathered.outlines
    first_ms = max(window_ms[0], min((one.submitted_at_ms for one in outlines), default=window_ms[0]))
    hours = max(1, window_ms[1] - first_ms) / 3_600_000
    waits: dict[str, list[Outline]] = {}
    for one in outlines:
        if one.launched_at_ms is not None:
            waits.setdefault(one.queue, []).append(one)
    return Accounts(
        hours=hours,
        applications=len(outlines),
        failed=sum(not one.succeeded for one in outlines),
        reserved_mb_h=sum(one.memory_mb_s or 0 for one in outlines) / 3600,
        capacity_mb_h=gathered.present.cluster.total_allowance()[MEMORY] * hours,
        am_wait_by_queue_s={queue: _spread(some) for queue, some in sorted(waits.items())},
    )


def _spread(some: Sequence[Outline]) -> tuple[int, float, float]:
    waits = sorted(((one.launched_at_ms or 0) - one.submitted_at_ms) / 1000 for one in some)
    return len(waits), median(waits), waits[min(len(waits) - 1, int(0.95 * len(waits)))]
