"""The effect matrix in words and tables: for the terminal, and as a page of the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from heddle.analysis.comparison.effects import AGREE_PCT, NATIVE, Behind, Beside, Cell, Effects
from heddle.analysis.comparison.paired import Change
from heddle.analysis.waiting.by_reason import Waits
from heddle.report.missing_knobs import Difference, difference
from heddle.report.wording import NO_DIFFERENCE, judgement, number, pct, stalled, write_s

Place = tuple[str, str, str]  # workload, policy, executor
SAME: Final = "the same"
LETTERS: Final = {"dress": "D", "haste": "H", "admission-control": "A", "usage-feedback": "U", "network-aware": "N"}
LEAST_SHARE: Final = 0.03  # reasons with less of the waiting on both sides are left out


@dataclass(frozen=True)
class Matrix:
    """What is shown: the findings, the waits of what fell behind or differs, and what was left out."""

    effects: Effects
    waits: Mapping[Place, Waits]
    remarks: tuple[str, ...]
    command: str

    @property
    def workloads(self) -> list[str]:
        return list(self.effects.sampling)

    @property
    def queues(self) -> list[str]:
        return list(dict.fromkeys(cell.scored.policy.partition("+")[0] for cell in self.effects.cells))

    def difference(self, one: Beside) -> Difference | None:
        """Why executors differ about a policy; None: they agree."""
        if one.agree:
            return None
        native, knobs = (self.waits[one.workload, one.policy, executor] for executor in (NATIVE, "yarn-knobs"))
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
    """For a narrow table: a change with half of its interval in percent, `~` before what is no difference shown."""
    if cell.scored.stalled:
        return stalled(cell.row)
    if "+" not in cell.scored.policy:
        return "–" if cell.mean_s is None else write_s(cell.mean_s)
    if cell.change.pct is None:
        return "?"
    sign = "~" if judgement(cell.row) == NO_DIFFERENCE else ""
    return "=" if is_same(cell.change) else f"{sign}{change_text(cell.change)}"


def cell_words(cell: Cell) -> str:
    """With the verdict in the words of a comparison, and crashes where there are any."""
    crashes = f"; {number(cell.scored.crashes)} crashes" if cell.scored.crashes else ""
    crashes += f"; {number(cell.scored.failed_jobs)} failed jobs" if cell.scored.failed_jobs else ""
    if cell.scored.stalled or "+" not in cell.scored.policy or cell.change.pct is None:
        return f"{short_cell(cell)}{crashes}"
    if is_same(cell.change):
        return f"{SAME}{crashes}"
    says = judgement(cell.row)
    return f"{change_text(cell.change)} %{f' {says}' if says else ''}{crashes}"


def is_same(change: Change) -> bool:
    """On every seed."""
    return change.pct == 0 and (change.interval is None or change.interval[0] == change.interval[1])


def change_text(change: Change) -> str:
    """`−12 ± 3`; the interval is left out where there is none."""
    if change.pct is None:
        return "?"
    half = "" if change.interval is None else pct((change.interval[1] - change.interval[0]) / 2).removeprefix("+")
    return pct(change.pct) + (f" ± {half}" if half else "")


def behind_words(one: Behind) -> str:
    how = f"stalled in {one.stalled_runs} runs" if one.stalled_runs else f"{change_text(one.change)} %"
    return f"{one.policy} on {one.workload}: {how} against {one.best_part} alone"


def worse_parts(effects: Effects, one: Behind) -> list[str]:
    """Parts that are worse than the bare queues already: then it is they, and not the company, that cost."""
    queues, *levers = one.policy.split("+")
    cells = {lever: effects.cell(one.workload, f"{queues}+{lever}") for lever in levers}
    return [
        f"{lever} alone is worse than {queues} ({change_text(cell.change)} %)"
        for lever, cell in cells.items()
        if cell.change.interval is not None and cell.change.interval[0] > 0
    ]


def beside_words(one: Beside) -> str:
    """One line about a policy whose executors differ."""
    if any(one.stalled_runs):
        native, knobs = one.stalled_runs
        return f"{one.policy} on {one.workload}: stalled {native} times natively, {knobs} times by knobs"
    return f"{one.policy} on {one.workload}: {change_text(one.change)} % by knobs"


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
    count = len(effects.beside)
    agreed = sum(one.agree for one in effects.beside)
    return (
        f"{agreed} of {count} combinations that YARN has knobs for complete jobs within {AGREE_PCT:g} % of what "
        "the policy itself would, on average."
    )


def behind_sentence(effects: Effects) -> str:
    if not effects.has_intervals:
        return "One seed has no intervals: whether a combination is worse than its best part cannot be told from it" + (
            f", but {len(effects.behind)} stall where that part does not." if effects.behind else "."
        )
    combined = [cell for cell in effects.cells if len(cell.scored.levers) > 1]
    return (
        f"{len(effects.behind)} of {len(combined)} combinations of two levers and more are worse than the best of "
        "their parts by more than the interval of that change, or stall where that part does not."
    )
