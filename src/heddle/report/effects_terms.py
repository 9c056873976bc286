"""What the words of the effect matrix mean, what was run and where: in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from heddle.analysis.comparison.effects import AGREE_PCT
from heddle.model.cluster import Cluster
from heddle.report.effects import SAME, TOO_FEW_SEEDS, Matrix
from heddle.report.markdown import markdown_table
from heddle.report.wording import NO_DIFFERENCE, number


def terms(matrix: Matrix) -> Iterator[str]:
    yield "## What the words mean"
    sampling = matrix.effects.sampling
    seeds = max(cell.scored.runs for cell in matrix.effects.cells)
    resampled = [name for name, one in sampling.items() if one.kind == "blocks"]
    trace = f" For {' and '.join(resampled)}, seed 0 is the trace as recorded; the others resample its time blocks."
    one_seed = " One seed has no interval." if not matrix.effects.has_intervals else ""
    yield "\n".join(
        f"- {text}"
        for text in (
            f"**Seeds**: {seeds} for each cell, the same for all policies.{trace if resampled else ''}{one_seed}",
            "**Cell**: the change of mean completion (submission to end, mean over jobs) against the bare queues in "
            "percent, ± half of its 95 % interval, seed by seed ([statistics](statistics.md)). Less is better. With so "
            "many cells, some differences appear by chance.",
            f"**{NO_DIFFERENCE}**: the interval includes 0. It does not mean that there is no difference.",
            f"**{TOO_FEW_SEEDS}**: the interval includes 0 and reaches below −100 %, which is impossible for a time. "
            "Such a cell says nothing, in either direction. More seeds may help; for a single recorded trace they make "
            "an interval steadier, but narrower only up to a point.",
            f"**{SAME}**: to the millisecond, on every seed.",
            "**crashes a run**: containers that ended because their node's memory was full, mean over seeds; their "
            "tasks run again. Omitted where there were none. Of two numbers, the first is native, the second with "
            "knobs.",
            "**knobs**: whether a real, stock YARN can run this combination, because YARN has knobs for all its "
            "levers. The others run in simulation only.",
            f"**agree**: *yes*: a stock YARN driven by knobs has the same outcome as the policy itself, and mean "
            f"completion differs by at most {AGREE_PCT:g} %. *no*: it differs by more, and the interval does not "
            f"include 0. *{NO_DIFFERENCE}*: it differs by more, and the interval includes 0.",
        )
    )
    yield "Workloads and their clusters (with DRESS's pool queues added):"
    rows = [(one.name, one.about, cluster_words(one.cluster)) for one in matrix.settings]
    yield markdown_table(("workload", "what it is", "cluster"), rows)


def cluster_words(cluster: Cluster) -> str:
    """`mix`: 6 nodes of 32 GB and 16 vcores."""
    kinds = Counter((node.allowance[0], node.allowance[1]) for node in cluster.nodes)
    sizes = [
        f"{count} node{'s' if count > 1 else ''} of {number(memory_mb / 1024)} GB and {number(milli / 1000)} vcores"
        for (memory_mb, milli), count in kinds.items()
    ]
    return f"`{cluster.name}`: {', '.join(sizes)}"
