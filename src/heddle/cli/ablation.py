"""`heddle reproduce weave`: what each part of the papers is worth beside all others, and which of them to take."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heddle.cli.output import print_json, print_tables, say, table
from heddle.cli.stored_runs import rows_of

if TYPE_CHECKING:
    from heddle.experiments.effects.scenes import Scene
    from heddle.experiments.engines import Engine
    from heddle.report.ablation_page import AblationPage

QUICK: Final = ("mix", "network-dags")


def run_ablation(
    quick: bool, traces: Path, markdown: Path | None, output: Path | None, engine: Engine, as_json: bool
) -> None:
    """`output`: keeps the runs; an interrupted ablation continues from them."""
    from heddle.report.page import write_page

    with tempfile.TemporaryDirectory(prefix="heddle-ablation-") as scratch:
        page = _page(quick, traces, Path(scratch), output or Path(scratch) / "runs", engine)
    if markdown is not None:
        target = markdown / "weave-ablation.md"
        write_page(target, page.markdown())
        say(f"wrote {target}")
    for remark in page.remarks:
        say(remark)
    if as_json:
        print_json(page.as_json())
        return
    heads, rows = page.factor_rows()
    print_tables([table(heads, rows, title="Each part, over all settings of the others: change of mean completion")])
    heads, rows = page.ranked_rows()
    print_tables([table(heads, rows, title=f"Combinations, on {', '.join(page.choosing)}")])


def _page(quick: bool, traces: Path, scratch: Path, folder: Path, engine: Engine) -> AblationPage:
    from heddle.analysis.comparison.ablation import Ablation
    from heddle.experiments.ablation.factors import FACTORS, PAPERS, policy_of, shown_by
    from heddle.experiments.ablation.forms import FORMS
    from heddle.experiments.ablation.plan import STOCK, Extent, plan_ablation, plan_forms
    from heddle.experiments.ablation.scenes import CHOOSING, NAMES, SCORING, scene_of
    from heddle.experiments.ablation.weaving import weave
    from heddle.experiments.sweep_store import SweepStore
    from heddle.report.ablation_page import AblationPage
    from heddle.traces.load import load_workload

    found = {name: scene_of(name, traces, scratch / "traces") for name in (QUICK if quick else NAMES)}
    scenes = [scene for scene in found.values() if not isinstance(scene, str)]
    remarks = [why for why in found.values() if isinstance(why, str)]
    extent = Extent(tuple(scenes), loads=(1.0,), seeds=2, acting_seeds=1) if quick else Extent(tuple(scenes))
    rows = rows_of(plan_ablation(extent), SweepStore(folder), engine)
    shown = {scene.name: shown_by(load_workload(scene.workload, 0), scene.cluster) for scene in scenes}
    choosing = [name for name in CHOOSING if name in shown]
    ablation = Ablation(rows, tuple(factor.name for factor in FACTORS), shown)
    of_forms = SweepStore(folder / "forms")
    ablation, steps = weave(ablation, choosing, lambda woven: rows_of(plan_forms(extent, woven), of_forms, engine))
    return AblationPage(
        ablation=ablation,
        steps=steps,
        command="heddle reproduce weave" + (" --quick" if quick else ""),
        factors={factor.name: factor.about for factor in FACTORS},
        without_data={factor.name: factor.without_data for factor in FACTORS},
        forms={form.name: form.about for form in FORMS},
        scenes={scene.name: scene.about for scene in scenes},
        choosing=choosing,
        scoring=[name for name in (CHOOSING if quick else SCORING) if name in shown],
        papers={name: policy_of(chosen) for name, chosen in PAPERS.items()},
        stock=STOCK,
        bounds_s=_bounds(scenes, extent.loads),
        remarks=remarks,
    )


def _bounds(scenes: list[Scene], loads: tuple[float, ...]) -> dict[tuple[str, float], float]:
    """What no schedule of the first seed can beat, whatever is promised."""
    from heddle.analysis.best_possible.bounds import bounds
    from heddle.experiments.compare import Source
    from heddle.traces.align import in_resources_of

    found = {}
    for scene in scenes:
        for load in loads:
            jobs = in_resources_of(Source(scene.workload, load).jobs(0), scene.cluster)
            found[scene.name, load] = min(bound.mean_jct_s for bound in bounds(jobs, scene.cluster))
    return found
