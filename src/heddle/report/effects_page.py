"""The effect matrix as a page of the docs: first what to do, then what the words mean, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from heddle.analysis.comparison.effects import KNOBS, NATIVE, Beside
from heddle.report.effects import (
    Matrix,
    agreement_sentence,
    behind_sentence,
    beside_words,
    cell_words,
    change_text,
    waits_rows,
)
from heddle.report.effects_terms import terms
from heddle.report.interactions import known_interactions
from heddle.report.markdown import markdown_table
from heddle.report.stock_yarn_advice import advice
from heddle.report.wording import write_s


def effects_markdown(matrix: Matrix, detail_page: str) -> str:
    """The page's text; `detail_page` is the file name of the second one, which lies beside it."""
    effects = matrix.effects
    parts = [
        "# What combinations of levers do",
        f"Written by `{matrix.command}`. It combines the papers' levers in every way with the queues of YARN's "
        f"schedulers, and simulates each on {len(matrix.workloads)} workloads.",
        *matrix.remarks,
        *advice(effects, matrix.queues),
        *terms(matrix),
    ]
    for queues in matrix.queues:
        rows = [
            (
                policy.partition("+")[2] or "none",
                "yes" if policy in effects.with_knobs else "–",
                *(cell_words(effects.cell(workload, policy)) for workload in matrix.workloads),
            )
            for policy in matrix.policies(queues)
        ]
        parts += [
            f"## Joined to `{queues}`",
            "With the policy itself deciding (`native`).",
            markdown_table(("levers", "knobs", *matrix.workloads), rows),
        ]
    parts += _stalls(matrix)
    parts += _behind(matrix, detail_page)
    parts += _beside(matrix)
    return "\n\n".join(part for part in parts if part) + "\n"


def _stalls(matrix: Matrix) -> Iterator[str]:
    yield "## Who stalls"
    if not matrix.effects.stalling:
        yield "No run stalled."
        return
    rows = [
        (one.policy, one.workload, one.executor, f"{len(one.stalled)} of {one.runs}", sorted(one.stalled)[0])
        for one in matrix.effects.stalling
    ]
    yield markdown_table(("policy", "workload", "executor", "runs", "example reason"), rows)


def _behind(matrix: Matrix, detail_page: str) -> Iterator[str]:
    effects = matrix.effects
    yield "## Worse than the best part"
    yield f"{behind_sentence(effects)} [Each of them, and what its jobs waited for]({detail_page})."
    known = dict.fromkeys(text for one in effects.behind for text in known_interactions(one.policy))
    yield "\n".join(f"- {text}" for text in known)


def _beside(matrix: Matrix) -> Iterator[str]:
    effects = matrix.effects
    yield "## Native and by knobs"
    yield (
        "`native`: the policy decides about every container. `yarn-knobs`: a stock YARN decides, and the policy turns "
        "its knobs once a second ([rules](semantics.md#stock-yarn-driven-by-knobs)). Combinations with `haste` or "
        "`network-aware` have no knobs: YARN lets nobody outside choose a request for a node, or a node for a request. "
        "With `fair`, only `usage-feedback` has: queues and priorities cannot change while that scheduler runs."
    )
    yield agreement_sentence(effects)
    rows = [
        (one.policy, one.workload, _mean(one.native_s, one.stalled_runs[0]), _mean(one.knobs_s, one.stalled_runs[1]),
         "" if one.change.pct is None else change_text(one.change),
         "**no**" if one.agreement == "no" else one.agreement, " / ".join(f"{crashes:g}" for crashes in one.crashes))
        for one in effects.beside
    ]  # fmt: skip
    yield markdown_table(("policy", "workload", "native", "yarn-knobs", "change", "agree", "crashes a run"), rows)
    for one in effects.beside:
        differs = matrix.difference(one)
        if differs is not None:
            yield f"### {beside_words(one)}"
            yield differs.words
            yield _both_waits(matrix, one)


def _both_waits(matrix: Matrix, one: Beside) -> str:
    sides = [matrix.waits[one.workload, one.policy, executor] for executor in (NATIVE, KNOBS)]
    return markdown_table(("why jobs waited", NATIVE, KNOBS), waits_rows(sides))


def _mean(seconds: float | None, stalled_runs: int) -> str:
    return f"stalled {stalled_runs}" if seconds is None else write_s(seconds)
