"""`heddle effects`: do the papers' levers work together, and would they on a stock YARN?"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from heddle.cli.engines import On, engine_on
from heddle.cli.output import Json, print_json, print_paragraphs, print_tables, say, table
from heddle.cli.progress import run_with_progress
from heddle.cli.stored_runs import rows_of
from heddle.model.errors import BadInput

if TYPE_CHECKING:
    from heddle.analysis.comparison.effects import Effects
    from heddle.analysis.waiting.by_reason import Waits
    from heddle.experiments.effects.plan import Extent
    from heddle.experiments.engines import Engine
    from heddle.experiments.sweep_file import Sweep
    from heddle.experiments.sweep_run import SweepRun
    from heddle.report.effects import Matrix, Place

TRACES: Final = Path("../shared/traces")  # beside a checkout, where the project keeps them
QUICK: Final = ("mix", "am-storm")
EXPLAINED_SEEDS: Final = 2  # of what fell behind or differs: recorded once more, for the reasons of its waits


def effects(
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            "-w",
            help="Repeatable: a built-in one, or a recorded one of the matrix [default: all seven].",
        ),
    ] = None,
    queues: Annotated[
        list[str] | None,
        typer.Option(help="Repeatable: capacity, fair [default: both]."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds, starting at 0 [default: 5].", min=1, max=1000)
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Only the 8 combinations with knobs, with capacity, on two workloads and one seed."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Keep the runs here; the same command then continues with them."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the matrix as a page in Markdown, and NAME-in-detail.md beside it.")
    ] = None,
    traces: Annotated[
        Path | None, typer.Option(help=f"Folder of recorded traces [default: {TRACES}, if it exists].")
    ] = None,
    on: On = "local",
    json: Json = False,
) -> None:
    """Run every combination of the papers' levers and report which work together.

    The 32 combinations of usage-feedback, haste, admission-control, network-aware and dress are joined to capacity and
    to fair, and run on seven workloads. A cell is the change of mean completion against the bare queues. Where a
    combination is worse than the best of its parts, both are recorded once more, and what their jobs waited for is
    shown side by side. What YARN has knobs for also runs as a stock YARN driven by knobs.

    \b
    Examples:
      heddle effects --quick
      heddle effects -w mix -w burst --queues capacity --seeds 3
      heddle effects -o effects --markdown docs/effects.md
    """
    from heddle.analysis.comparison.effects import Effects
    from heddle.experiments.effects.plan import plan_effects
    from heddle.experiments.sweep_store import SweepStore
    from heddle.report.effects import Matrix, Setting
    from heddle.report.effects_detail_page import detail_markdown, detail_name
    from heddle.report.effects_page import effects_markdown
    from heddle.report.page import write_page

    engine = engine_on(on)
    with tempfile.TemporaryDirectory(prefix="heddle-effects-") as scratch:
        extent, remarks = _extent(workload, queues or (), seeds, quick, traces, Path(scratch) / "traces")
        plan, folder = plan_effects(extent), output or Path(scratch) / "runs"
        found = Effects(rows_of(plan, SweepStore(folder), engine))
        waits = _waits(found, plan, engine, folder)
    settings = tuple(Setting(scene.name, scene.about, scene.cluster) for scene in extent.scenes)
    matrix = Matrix(found, waits, tuple(remarks), _command(workload or (), queues or (), seeds, quick), settings)
    if markdown is not None:
        details = markdown.with_name(detail_name(markdown.name))
        write_page(markdown, effects_markdown(matrix, details.name))
        write_page(details, detail_markdown(matrix, markdown.name))
        say(f"wrote {markdown} and {details}")
    for remark in remarks:
        say(remark)
    if json:
        print_json(_as_json(matrix))
    else:
        _print(matrix)


def _command(workloads: Sequence[str], queues: Sequence[str], seeds: int | None, quick: bool) -> str:
    """What a reader types to get the same numbers, wherever the results go."""
    words = ["heddle", "effects", *(["--quick"] if quick else [])]
    words += [word for name in workloads for word in ("-w", name)]
    words += [word for name in queues for word in ("--queues", name)]
    return shlex.join(words + ([] if seeds is None else ["--seeds", str(seeds)]))


def _extent(
    workloads: Sequence[str] | None,
    queues: Sequence[str],
    seeds: int | None,
    quick: bool,
    traces: Path | None,
    folder: Path,
) -> tuple[Extent, list[str]]:
    """What is to be run, and what is left out."""
    from heddle.experiments.effects.plan import QUEUES, SEEDS, Extent
    from heddle.experiments.effects.scenes import BUILT_IN, RECORDED, Scene, built_in, recorded
    from heddle.traces.load import is_built_in

    if traces is not None and not traces.is_dir():
        raise BadInput.of("--traces", f"there is no folder {traces}")
    if others := sorted(set(queues) - set(QUEUES)):
        raise BadInput.of("--queues", f"{', '.join(others)}: not in the matrix; known: {', '.join(QUEUES)}")
    hours = {one.name: one for one in RECORDED}
    names = workloads or (QUICK if quick else (*BUILT_IN, *hours))
    if unknown := [name for name in names if name not in hours and not is_built_in(name)]:
        known = ", ".join((*BUILT_IN, *hours))
        raise BadInput.of("--workload", f"{', '.join(unknown)}: not in the matrix; known: {known}")
    scenes: list[Scene] = []
    remarks: list[str] = []
    for name in dict.fromkeys(names):
        scene = recorded(hours[name], traces or TRACES, folder) if name in hours else built_in(name)
        if isinstance(scene, str):
            remarks.append(scene)
        else:
            scenes.append(scene)
    if not scenes:
        raise BadInput.of("--workload", "; ".join(remarks))
    chosen = tuple(one for one in QUEUES if one in queues) or (QUEUES[:1] if quick else QUEUES)
    return Extent(tuple(scenes), chosen, seeds or (1 if quick else SEEDS), quick), remarks


def _waits(found: Effects, plan: Sweep, engine: Engine, folder: Path) -> dict[Place, Waits]:
    """What jobs waited for in what fell behind and in what differs between executors, over the explained seeds."""
    from heddle.analysis.waiting.by_reason import together
    from heddle.experiments.effects.plan import explained_runs
    from heddle.experiments.effects.waits import WaitStore, waits_of

    wanted = {(one.workload, policy, "native") for one in found.behind for policy in (one.policy, one.best_part)}
    wanted |= {
        (one.workload, one.policy, executor)
        for one in found.beside
        if one.agreement == "no"
        for executor in ("native", "yarn-knobs")
    }
    runs = explained_runs(plan.runs, wanted, EXPLAINED_SEEDS)
    kept = WaitStore(folder)
    left = [one for one in runs if kept.get(one) is None]
    if left:
        say(f"{len(left)} of the runs once more, recorded, to see what their jobs waited for")
    for place, waits in run_with_progress(engine, waits_of, left):
        kept.put(left[place], waits)
    by_place: dict[Place, list[SweepRun]] = {}
    for one in runs:
        by_place.setdefault((one.workload_template, one.policy, one.executor), []).append(one)
    return {place: together(_known(kept.get(one) for one in some)) for place, some in by_place.items()}


def _known(some: Iterable[Waits | None]) -> list[Waits]:
    return [one for one in some if one is not None]


def _as_json(matrix: Matrix) -> dict[str, Any]:
    document = matrix.effects.as_json()
    for one, beside in zip(document["native_and_knobs"], matrix.effects.beside, strict=True):
        differs = matrix.difference(beside)
        one["yarn_lacks"] = [] if differs is None else list(differs.lacking)
    waits = [
        {"workload": place[0], "policy": place[1], "executor": place[2], "mean_s": one.mean_s, "shares": one.shares}
        for place, one in matrix.waits.items()
    ]
    return document | {"waits": waits, "left_out": list(matrix.remarks)}


def _print(matrix: Matrix) -> None:
    from heddle.report.effects import (
        LETTERS,
        TOO_FEW_SEEDS,
        agreement_sentence,
        behind_sentence,
        behind_words,
        beside_words,
        short_cell,
        short_name,
        waits_rows,
    )

    found = matrix.effects
    print_paragraphs([behind_sentence(found), agreement_sentence(found)])
    for queues in matrix.queues:
        rows = [
            (short_name(policy), *(short_cell(found.cell(workload, policy)) for workload in matrix.workloads))
            for policy in matrix.policies(queues)
        ]
        title = f"joined to {queues}: mean completion, and its change in percent against {queues} alone"
        print_tables([table(("", *matrix.workloads), rows, title=title)])
    letters = ", ".join(f"{letter} {lever}" for lever, letter in LETTERS.items())
    print_paragraphs([f"{letters}; ~ no difference shown; ? {TOO_FEW_SEEDS}; = the same on every seed."])
    for behind in found.behind:
        places = [(behind.workload, policy, "native") for policy in (behind.policy, behind.best_part)]
        heads = ("why jobs waited", behind.policy, behind.best_part)
        sides = [matrix.waits[place] for place in places]
        print_tables([table(heads, waits_rows(sides), title=f"worse than its best part: {behind_words(behind)}")])
    for beside in found.beside:
        differs = matrix.difference(beside)
        if differs is not None:
            sides = [matrix.waits[beside.workload, beside.policy, by] for by in ("native", "yarn-knobs")]
            heads = ("why jobs waited", "native", "yarn-knobs")
            print_tables([table(heads, waits_rows(sides), title=f"executors differ: {beside_words(beside)}")])
            print_paragraphs([differs.words])
