"""The effect matrix as a page of the docs, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heddle.analysis.comparison.effects import NATIVE, Behind, Beside
from heddle.report.effects import (
    Matrix,
    agreement_sentence,
    behind_sentence,
    behind_words,
    beside_words,
    cell_words,
    change_text,
    waits_rows,
    worse_parts,
)
from heddle.report.interactions import known_interactions
from heddle.report.wording import write_s


def effects_markdown(matrix: Matrix) -> str:
    """The page's text."""
    effects = matrix.effects
    parts = [
        "# What combinations of levers do",
        f"Written by `{matrix.command}`. Every combination of the papers' levers is joined to the queues of YARN's "
        "schedulers. A cell is the change of mean completion against the bare queues in percent, ± half of its 95 % "
        "interval, on the same seeds ([statistics](statistics.md)); *the same* means: to the millisecond, on every "
        "seed. With so many cells some differences are shown by chance. Clusters are those that the workloads "
        "suggest, with DRESS's pool leaves added.",
        *matrix.remarks,
        f"**{behind_sentence(effects)}** **{agreement_sentence(effects)}**",
    ]
    for queues in matrix.queues:
        rows = [
            (_lever_names(policy), *(cell_words(effects.cell(workload, policy)) for workload in matrix.workloads))
            for policy in matrix.policies(queues)
        ]
        parts += [f"## Joined to `{queues}`", markdown_table(("levers", *matrix.workloads), rows)]
    parts += _stalls(matrix)
    parts += _behind(matrix)
    parts += _beside(matrix)
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def _lever_names(policy: str) -> str:
    return policy.partition("+")[2] or "none"


def _stalls(matrix: Matrix) -> Iterator[str]:
    yield "## Who stalls"
    if not matrix.effects.stalling:
        yield "No run stalled."
        return
    rows = [
        (one.policy, one.workload, one.executor, f"{len(one.stalled)} of {one.runs}", sorted(one.stalled)[0])
        for one in matrix.effects.stalling
    ]
    yield markdown_table(("policy", "workload", "executor", "runs", "one of the reasons"), rows)


def _behind(matrix: Matrix) -> Iterator[str]:
    effects = matrix.effects
    yield "## Worse than the best part"
    yield (
        "Against the best of its single levers behind the same queues. What jobs waited for is computed from recorded "
        "runs of the first seeds, as `heddle explain` does it: the share of all waiting, and seconds per job."
    )
    if not effects.behind:
        yield "There is none." if effects.has_intervals else behind_sentence(effects)
    known = dict.fromkeys(text for one in effects.behind for text in known_interactions(one.policy))
    yield "\n".join(f"- {text}" for text in known)
    for one in effects.behind:
        yield f"### {one.policy} on {one.workload}"
        yield " ".join([behind_words(one) + ".", *(f"{part}." for part in worse_parts(effects, one))])
        yield _waits(matrix, one)


def _waits(matrix: Matrix, one: Behind) -> str:
    sides = [matrix.waits.get((one.workload, policy, NATIVE)) for policy in (one.policy, one.best_part)]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return ""
    return markdown_table(("why jobs waited", one.policy, one.best_part), waits_rows(known))


def _beside(matrix: Matrix) -> Iterator[str]:
    effects = matrix.effects
    yield "## Native and by knobs"
    yield (
        "`native`: the policy decides about every container. `yarn-knobs`: a stock YARN decides, and the policy turns "
        "its knobs once a second ([rules](semantics.md#stock-yarn-driven-by-knobs)). Combinations with `haste` or "
        "`network-aware` have no knobs: YARN lets nobody outside choose a request for a node, or a node for a request."
    )
    rows = [
        (one.policy, one.workload, _mean(one.native_s, one.stalled_runs[0]), _mean(one.knobs_s, one.stalled_runs[1]),
         "" if one.change.pct is None else f"{change_text(one.change)} %", "yes" if one.agree else "**no**")
        for one in effects.beside
    ]  # fmt: skip
    yield markdown_table(("policy", "workload", "native", "yarn-knobs", "change", "agree"), rows)
    for one in effects.beside:
        differs = matrix.difference(one)
        if differs is not None:
            yield f"### {beside_words(one)}"
            yield differs.words
            yield _both_waits(matrix, one)


def _both_waits(matrix: Matrix, one: Beside) -> str:
    sides = [matrix.waits[one.workload, one.policy, executor] for executor in ("native", "yarn-knobs")]
    return markdown_table(("why jobs waited", "native", "yarn-knobs"), waits_rows(sides))


def _mean(seconds: float | None, stalled_runs: int) -> str:
    return f"stalled {stalled_runs}" if seconds is None else write_s(seconds)
