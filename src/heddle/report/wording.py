"""Numbers and verdicts in words that mean one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from heddle.analysis.comparison.compare import COMPARED, ComparedMetric, Comparison

NO_DIFFERENCE: Final = "no difference shown"
LEAD: Final = "jct_s.mean"  # the metric that decides the verdict
HEADLINES: Final = (LEAD, "makespan_s", "wait_s.mean")
METRIC: Final = {metric.name: metric for metric in COMPARED}


def time_scale(longest_s: float) -> tuple[float, str]:
    """The unit in which times up to this are easy to read: seconds in one of it, and its name."""
    if longest_s < 600:
        return 1.0, "s"
    return (60.0, "min") if longest_s < 4 * 3600 else (3600.0, "h")


def number(value: float) -> str:
    """Three significant digits, never an exponent, thousands apart."""
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2 if size >= 0.995 else 3
    return f"{value:,.{digits}f}".replace("-", "−")


@dataclass(frozen=True)
class Scale:
    """How the values of one metric are written in one comparison."""

    divisor: float
    unit: str

    @classmethod
    def of(cls, metric: ComparedMetric, values: list[float]) -> Scale:
        if metric.unit == "s":
            return cls(*time_scale(max(values, default=0.0)))
        return cls(0.01, "%") if metric.unit == "share" else cls(1.0, "")

    def write(self, value: float | None) -> str:
        return self.write_bare(value) + (f" {self.unit}" if self.unit and value is not None else "")

    def write_bare(self, value: float | None) -> str:
        """Without the unit, where a heading has it."""
        return "–" if value is None else number(value / self.divisor)

    def half_width(self, interval: tuple[float, float] | None) -> str:
        """As in ± 3.1: two significant digits without the unit; empty where there is no interval."""
        if interval is None:
            return ""
        half = (interval[1] - interval[0]) / 2 / self.divisor
        digits = 0 if half >= 9.95 or half == 0 else 1 if half >= 0.995 else 2 if half >= 0.0095 else 3
        return f"± {half:,.{digits}f}"


def scales(comparison: Comparison, cluster: str) -> dict[str, Scale]:
    """For each metric the scale that fits all policies on a cluster."""
    found = {}
    for metric in COMPARED:
        means = [comparison.row(cluster, policy, metric.name)["mean"] for policy in comparison.policies]
        found[metric.name] = Scale.of(metric, [mean for mean in means if mean is not None])
    return found


def pct(value: float) -> str:
    """A percentage to the digits that a comparison of runs can bear: "+3.1", "−12"."""
    digits = 0 if abs(value) >= 9.95 else 1
    return f"{round(value, digits) + 0.0:+,.{digits}f}".replace("-", "−").removeprefix("+0.0") or "0.0"


def signed_pct(value: float) -> str:
    return f"{pct(value)} %"


def range_pct(interval: tuple[float, float]) -> str:
    """An interval of a change; nothing can fall by more than all of it."""
    return f"{pct(max(-100.0, interval[0]))} to {pct(max(-100.0, interval[1]))} %"


def covers_zero(interval: tuple[float, float]) -> bool:
    return interval[0] <= 0.0 <= interval[1]


def stalled(row: dict[str, Any]) -> str:
    """`stalled 3 of 5`, in place of any number; empty where every run ended."""
    return f"stalled {row['stalled_runs']} of {row['all_runs']}" if row["stalled_runs"] else ""


def judgement(row: dict[str, Any]) -> str:
    """better, worse, different, no difference shown, stalled; empty where it cannot be said."""
    interval, change = row["vs_ci95"], row["vs_baseline_pct"]
    if row["stalled_runs"]:
        return "stalled"
    if interval is None:
        return ""
    if covers_zero(interval):
        return NO_DIFFERENCE
    wanted = METRIC[row["metric"]].better
    if not wanted:
        return "different"
    return "better" if (change < 0) == (wanted == "lower") else "worse"


def write_s(seconds: float) -> str:
    """A time alone, in the unit that suits it."""
    divisor, unit = time_scale(abs(seconds))
    return f"{number(seconds / divisor)} {unit}"


def runs_phrase(comparison: Comparison) -> str:
    """What was run with each policy: `5 seeds`, `the trace and 9 resamples of it`."""
    seeds = len(comparison.seeds)
    if comparison.sampling.kind == "blocks":
        return f"the trace and {seeds - 1} resamples of it"
    return f"{seeds} seed{'s' if seeds > 1 else ''}"


def baseline_note(comparison: Comparison) -> str:
    """Where the baseline comes from, unless somebody chose it."""
    return (
        f"The baseline, {comparison.baseline}, is the policy that the cluster runs today."
        if comparison.baseline_is_present
        else ""
    )


def edges_note(comparison: Comparison) -> str:
    """What --warm-up and --cool-down left out; empty where nothing was."""
    first = comparison.runs[0].metrics
    if "left_out_jobs" not in first:
        return ""
    counts = [run.metrics["left_out_jobs"] for run in comparison.runs]
    left = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return (
        f"Left out of completion, wait, slowdown and fairness: {left} of {first['jobs']} jobs, submitted in the first "
        f"{first['warm_up_s']:g} s or the last {first['cool_down_s']:g} s. All other metrics cover whole runs."
    )


BOUND_WORDS: Final = {
    "reservations": "the lower bound for schedulers that honour reservations",
    "any": "the lower bound for any scheduler",
}


def above_bound(row: dict[str, Any]) -> list[str]:
    """`12 % above the lower bound for any scheduler`, for each kind of bound that is known."""
    known = dict(row.get("above_bound_pct") or {})
    if len(known) > 1 and pct(known["any"]) == pct(known["reservations"]):
        del known["reservations"]  # the stronger statement says it all
    return [
        f"{pct(abs(above)).removeprefix('+')} % {'above' if above >= 0 else 'below'} {BOUND_WORDS[kind]}"
        for kind, above in known.items()
    ]


def best_possible(comparison: Comparison, cluster: str) -> str:
    """The bounds beside the best policy, in one sentence; empty where they are not known."""
    best = verdict(comparison, cluster).policy
    parts = []
    for name, words in ((LEAD, "mean completion"), ("makespan_s", "makespan")):
        if said := above_bound(comparison.row(cluster, best, name)):
            parts.append(f"{words} is {' and '.join(said)}")
    return f"{best}: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class Headline:
    """One of the verdict's three numbers."""

    title: str
    figure: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What the comparison shows on one cluster, in plain words."""

    policy: str  # the one that the words and numbers are about
    sentence: str
    headlines: tuple[Headline, ...]
    cautions: tuple[str, ...]


def verdict(comparison: Comparison, cluster: str) -> Verdict:
    """The verdict on mean completion, and what a reader must know before believing it."""
    rivals = [policy for policy in comparison.policies if policy != comparison.baseline]
    changes = {policy: comparison.row(cluster, policy, LEAD)["vs_baseline_pct"] for policy in rivals}
    known = {policy: change for policy, change in changes.items() if change is not None}
    means = {policy: comparison.row(cluster, policy, LEAD)["mean"] for policy in comparison.policies}
    ended = {policy: mean for policy, mean in means.items() if mean is not None}
    if known:
        best = min(known, key=lambda policy: known[policy])
    elif comparison.baseline in ended or not ended:
        best = comparison.baseline
    else:
        best = min(ended, key=lambda policy: ended[policy])  # the baseline stalled, which these did not
    scale = scales(comparison, cluster)
    return Verdict(
        policy=best,
        sentence=_sentence(comparison, cluster, best, len(rivals)),
        headlines=tuple(_headline(comparison, cluster, best, name, scale[name]) for name in HEADLINES),
        cautions=_cautions(comparison, cluster, best, len(rivals)),
    )


def _sentence(comparison: Comparison, cluster: str, best: str, n_rivals: int) -> str:
    base = comparison.baseline
    if n_rivals == 0:
        return _alone(comparison, cluster)
    row = comparison.row(cluster, best, LEAD)
    if best == base and stalled(row):
        return "No policy completes the work: each stalled in some run."
    if best == base:
        others = [comparison.row(cluster, policy, LEAD) for policy in comparison.policies if policy != base]
        why = "every other policy stalled in some run" if all(map(stalled, others)) else "no change has a percentage"
        return f"Nothing can be compared with {base}: {why}."
    change, interval = row["vs_baseline_pct"], row["vs_ci95"]
    if change is None:
        took = f"jobs complete in {scales(comparison, cluster)[LEAD].write(row['mean'])} on average"
        why = _stalls(comparison.row(cluster, base, LEAD))
        return f"{base} does not complete the work: it {why}. Under {best} {took}."
    size = f"{pct(abs(change)).removeprefix('+')} % {'sooner' if change < 0 else 'later'} than {base}"
    who = best if n_rivals == 1 else f"the best of {n_rivals}, {best},"
    if interval is None:
        return f"On this one seed {who} finishes jobs {size} on average. A single seed cannot rule out chance."
    over = f"{comparison.sampling.over(row['pairs'])} (95 % interval {range_pct(interval)})"
    if covers_zero(interval):
        return f"No difference in completion shown: {who} finishes jobs {size} on average {over}, which includes 0."
    if change < 0:
        return f"{who[0].upper() + who[1:] if n_rivals > 1 else who} finishes jobs {size} on average {over}."
    return f"{base} finishes jobs soonest: {who} finishes them {size} on average {over}."


def _stalls(row: dict[str, Any]) -> str:
    return f"stalled in {row['stalled_runs']} of {row['all_runs']} run{'s' if row['all_runs'] > 1 else ''}"


def _alone(comparison: Comparison, cluster: str) -> str:
    """Of one policy there is no verdict, only how it went."""
    base, scale = comparison.baseline, scales(comparison, cluster)
    mean, makespan = (comparison.row(cluster, base, name)["mean"] for name in (LEAD, "makespan_s"))
    if mean is None or makespan is None:
        return f"Under {base} the work does not complete: it {_stalls(comparison.row(cluster, base, LEAD))}."
    done = f"Under {base} jobs complete in {scale[LEAD].write(mean)} on average"
    return f"{done}, and all are done after {scale['makespan_s'].write(makespan)}. Nothing was compared."


def _headline(comparison: Comparison, cluster: str, policy: str, name: str, scale: Scale) -> Headline:
    row, base = (comparison.row(cluster, which, name) for which in (policy, comparison.baseline))
    if stalled(row):
        return Headline(METRIC[name].title, stalled(row), policy)
    if policy == comparison.baseline or row["vs_baseline_pct"] is None:
        return Headline(METRIC[name].title, scale.write(row["mean"]), f"{policy}")
    says = judgement(row) or "one seed: no interval"
    detail = f"{scale.write(base['mean'])} → {scale.write(row['mean'])}; {says}"
    return Headline(METRIC[name].title, signed_pct(row["vs_baseline_pct"]), detail)


def _cautions(comparison: Comparison, cluster: str, best: str, n_rivals: int) -> tuple[str, ...]:
    found = []
    for policy in comparison.policies:
        row = comparison.row(cluster, policy, LEAD)
        if stalled(row):
            found.append(f"{policy} {_stalls(row)}: heddle claims no gain for it, whatever its other runs show.")
    for name, words in (("crashed_tasks", "crashed tasks"), ("failed_jobs", "failed jobs")):
        mine, base = (comparison.row(cluster, which, name)["mean"] for which in (best, comparison.baseline))
        if mine is not None and base is not None and mine > base:
            found.append(f"{best} has more {words} per run: {number(mine)} against {number(base)}.")
    told = (baseline_note(comparison), comparison.sampling.caution, edges_note(comparison))
    found += [note for note in told if note]
    if n_rivals > 1:
        found.append(
            "Picking the best of several policies involves luck: intervals are per policy, not corrected for selection."
        )
    return tuple(found)
