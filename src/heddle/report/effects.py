"""The effect matrix in words and tables: for the terminal, and as a page of the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from heddle.analysis.comparison.effects import AGREE_PCT, KNOBS, NATIVE, Behind, Beside, Cell, Effects
from heddle.analysis.comparison.paired import Change
from heddle.analysis.waiting.by_reason import Waits
from heddle.model.cluster import Cluster
from heddle.report.missing_knobs import Difference, difference
from heddle.report.wording import NO_DIFFERENCE, covers_zero, judgement, pct, range_pct, stalled, write_s

Place = tuple[str, str, str]  # workload, policy, executor
SAME: Final = "the same"
TOO_FEW_SEEDS: Final = "not enough seeds to tell"
LETTERS: Final = {"dress": "D", "haste": "H", "admission-control": "A", "usage-feedback": "U", "network-aware": "N"}
LEAST_SHARE: Final = 0.03  # reasons with less of the waiting on both sides are left out


@dataclass(frozen=True)
class Setting:
    """A workload of the matrix for a reader who wants to know what it is: and where it ran, and how to run it."""

    name: str
    about: str
    cluster: Cluster


@dataclass(frozen=True)
class Matrix:
    """What is shown: the findings, the waits of what fell behind or differs, and what was left out."""

    effects: Effects
    waits: Mapping[Place, Waits]
    remarks: tuple[str, ...]
    command: str
    settings: tuple[Setting, ...]

    @property
    def workloads(self) -> list[str]:
        return list(self.effects.sampling)

    @property
    def queues(self) -> list[str]:
        return list(dict.fromkeys(cell.scored.policy.partition("+")[0] for cell in self.effects.cells))

    def difference(self, one: Beside) -> Difference | None:
        """Why executors differ about a policy; None: no difference is shown."""
        if one.agreement != "no":
            return None
        native, knobs = (self.waits[one.workload, one.policy, executor] for executor in (NATIVE, KNOBS))
        return difference(one, native, knobs)

    def policies(self, queues: str) -> list[str]:
        return list(
            dict.fromkeys(
                cell.scored.policy for cell in self.effects.cells if cell.scored.policy.partition("+")[0] == queues
            )
        )


def short_name(policy: str) -> str:
    """`DU` for a combination of DRESS and usage feedback, `bare` for queues alone."""
    return "".join(LETTERS.get(lever, lever) for lever in policy.split("+")[1:]) or "bare"


def short_cell(cell: Cell) -> str:
    """For a narrow table: a change with half of its interval in percent, `~` before what is no difference shown.

    `?` comes after a change of which the seeds tell nothing.
    """
    if cell.scored.stalled:
        return stalled(cell.row)
    if "+" not in cell.scored.policy:
        return "–" if cell.mean_s is None else write_s(cell.mean_s)
    if cell.change.pct is None:
        return "?"
    if tells_nothing(cell.change):
        return f"{pct(cell.change.pct)}?"
    sign = "~" if judgement(cell.row) == NO_DIFFERENCE else ""
    return "=" if is_same(cell.change) else f"{sign}{change_text(cell.change).removesuffix(' %')}"


def cell_words(cell: Cell) -> str:
    """With the verdict in the words of a comparison, and crashes where there are any."""
    crashes = f"; {crashes_words(cell.scored.crashes)}" if cell.scored.crashes else ""
    crashes += f"; {a_run(cell.scored.failed_jobs, 'failed job')}" if cell.scored.failed_jobs else ""
    if cell.scored.stalled or "+" not in cell.scored.policy or cell.change.pct is None:
        return f"{short_cell(cell)}{crashes}"
    if is_same(cell.change):
        return f"{SAME}{crashes}"
    return f"{change_words(cell)}{crashes}"


def change_words(cell: Cell) -> str:
    """`−12 ± 3 % better`, `−81 %: not enough seeds to tell`."""
    if tells_nothing(cell.change):
        return change_text(cell.change)
    says = judgement(cell.row)
    return f"{change_text(cell.change)}{f' {says}' if says else ''}"


def a_run(mean: float, what: str) -> str:
    """`2.2 crashes a run`, a mean over seeds."""
    figure = (f"{mean:,.1f}" if mean >= 0.05 or not mean else f"{mean:.1g}").removesuffix(".0")
    plural = "es" if what.endswith("sh") else "s"
    return f"{figure} {what}{'' if figure == '1' else plural} a run"


def crashes_words(mean: float) -> str:
    return a_run(mean, "crash")


def tells_nothing(change: Change) -> bool:
    """The interval goes further down than anything can fall, and is about a rise as well."""
    return change.interval is not None and change.interval[0] < -100 and covers_zero(change.interval)


def is_same(change: Change) -> bool:
    """On every seed."""
    return change.pct == 0 and (change.interval is None or change.interval[0] == change.interval[1])


def change_text(change: Change) -> str:
    """`−12 ± 3 %`; without the interval where there is none, and as a range where it reaches below −100 %."""
    if change.pct is None:
        return "?"
    if change.interval is None:
        return f"{pct(change.pct)} %"
    if tells_nothing(change):
        return f"{pct(change.pct)} %: {TOO_FEW_SEEDS}"
    if change.interval[0] < -100:
        return f"{pct(change.pct)} % ({range_pct(change.interval)})"
    half = pct((change.interval[1] - change.interval[0]) / 2).removeprefix("+")
    return f"{pct(change.pct)} ± {half} %"


def behind_words(one: Behind) -> str:
    how = f"stalled in {one.stalled_runs} runs" if one.stalled_runs else change_text(one.change)
    return f"{one.policy} on {one.workload}: {how} against {one.best_part} alone"


def worse_parts(effects: Effects, one: Behind) -> list[str]:
    """Parts that are worse than the bare queues already: then it is they, and not the company, that cost."""
    queues, *levers = one.policy.split("+")
    cells = {lever: effects.cell(one.workload, f"{queues}+{lever}") for lever in levers}
    return [
        f"{lever} alone is worse than {queues} ({change_text(cell.change)})"
        for lever, cell in cells.items()
        if cell.change.interval is not None and cell.change.interval[0] > 0
    ]


def beside_words(one: Beside) -> str:
    """One line about a policy whose executors differ."""
    if any(one.stalled_runs):
        native, knobs = one.stalled_runs
        return f"{one.policy} on {one.workload}: stalled {native} times natively, {knobs} times by knobs"
    return f"{one.policy} on {one.workload}: {change_text(one.change)} by knobs"


def waits_rows(sides: Sequence[Waits]) -> list[tuple[str, ...]]:
    """Why jobs waited, side by side: share of the waiting and seconds per job, the largest first."""
    reasons = {why for side in sides for why, share in side.shares.items() if share >= LEAST_SHARE}
    ordered = sorted(reasons, key=lambda why: (-max(side.seconds_for(why) for side in sides), why))
    rows = [
        (why, *(f"{100 * side.shares.get(why, 0.0):.0f} % ({side.seconds_for(why):,.1f} s)" for side in sides))
        for why in ordered
    ]
    return [*rows, ("all waiting of a job", *(f"{side.mean_s:,.1f} s" for side in sides))]


def agreement_sentence(effects: Effects) -> str:
    said = [one.agreement for one in effects.beside]
    return (
        f"In {said.count('yes')} of {len(said)} cells that YARN has knobs for jobs complete within {AGREE_PCT:g} % of "
        f"what the policy itself would do, on average. Differing by more: {said.count('no')}; no "
        f"difference shown: {said.count(NO_DIFFERENCE)}.{_crashes_by_knobs(effects)}"
    )


def _crashes_by_knobs(effects: Effects) -> str:
    """Agreement is about completion: what knobs cost beyond that is said apart."""
    crashing = [one for one in effects.beside if any(one.crashes)]
    more = [one for one in crashing if one.crashes[1] > one.crashes[0]]
    if not crashing:
        return " No container crashed either way."
    most = max(crashing, key=lambda one: abs(one.crashes[1] - one.crashes[0]))
    return (
        f" Containers crashed in {len(crashing)} cells, more often by knobs in {len(more)}; the largest difference: "
        f"{crashes_words(most.crashes[1])} by knobs against {most.crashes[0]:g} ({most.policy} on {most.workload})."
    )


def behind_sentence(effects: Effects) -> str:
    if not effects.has_intervals:
        return "One seed has no intervals: whether a combination is worse than its best part cannot be told from it" + (
            f", but {len(effects.behind)} stall where that part does not." if effects.behind else "."
        )
    combined = [cell for cell in effects.cells if len(cell.scored.levers) > 1]
    return (
        f"{len(effects.behind)} of {len(combined)} cells with two levers and more are worse than the best of "
        "their parts by more than the interval of that change, or stall where that part does not."
    )
