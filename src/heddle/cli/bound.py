"""`heddle bound`: what no scheduler can beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heddle.cli.inputs import ClusterOption, WorkloadArgument, cluster_for, read_all, workload_for
from heddle.cli.output import Json, print_json, print_tables, say, table

if TYPE_CHECKING:
    from heddle.analysis.best_possible.bounds import Bound
    from heddle.analysis.best_possible.optimum import Optimum


def bound(
    workload: WorkloadArgument,
    cluster: ClusterOption = None,
    seed: Annotated[int, typer.Option(help="Seed of a built-in workload.", min=0)] = 0,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="Also compute the true optimum of a small instance (needs OR-tools).")
    ] = False,
    limit_s: Annotated[float, typer.Option(help="Time limit for each optimum, in seconds.", min=0.1)] = 30.0,
    json: Json = False,
) -> None:
    """Lower bounds on makespan and mean completion: how good could any scheduler be?

    Two kinds: for schedulers that honour reservations, and for any at all (true use over the hardware; unknown where
    the workload does not say what tasks use). The optimum, by CP-SAT, is for schedulers that honour reservations; where
    it is not proven in time, its gap tells how far above the true optimum it may be.

    \b
    Examples:
      heddle bound mix
      heddle bound tasks.csv --cluster 20x65536x24 --json
      heddle bound "burst(jobs=3)" --cluster 1x16384x8 --optimum
    """
    from heddle.analysis.best_possible.bounds import bounds
    from heddle.analysis.best_possible.optimum import optimum as best_schedule
    from heddle.run import check_run
    from heddle.traces.align import in_resources_of

    loaded, on = read_all(lambda: workload_for(workload, seed), lambda: cluster_for(workload, cluster))
    check_run(loaded, on, seed)
    aligned = in_resources_of(loaded, on)
    found = bounds(aligned, on)
    best: list[Optimum] = []
    if optimum:
        say(f"searching for optima, at most {2 * limit_s:g} s ...")
        best = [best_schedule(aligned, on, "makespan", limit_s), best_schedule(aligned, on, "mean completion", limit_s)]
    if json:
        document: dict[str, Any] = {"workload": loaded.name, "cluster": on.name, "seed": seed}
        print_json(document | {"bounds": [one.as_json() for one in found], "optimum": [one.as_json() for one in best]})
        return
    rows = [row for one in found for row in _rows(one)] + [_optimum_row(one) for one in best]
    headings = ("scheduler", "bound", "makespan", "mean completion")
    print_tables([table(headings, rows, title=f"{loaded.name} on {on.name}, seed {seed}: no run can be faster than")])


_WHO = {"reservations": "honours reservations", "any": "any"}


def _rows(one: Bound) -> list[tuple[str, str, str, str]]:
    who = _WHO[one.kind]
    rows = []
    for name in one.area_makespan_s or ():
        assert one.area_makespan_s is not None
        assert one.area_mean_jct_s is not None
        rows.append((who, f"area of {name}", _s(one.area_makespan_s[name]), _s(one.area_mean_jct_s[name])))
    if one.area_makespan_s is None:
        rows.append((who, "area", "use not recorded", "use not recorded"))
    rows.append((who, "critical path", _s(one.path_makespan_s), _s(one.path_mean_jct_s)))
    rows.append((who, "combination", _s(one.combined_makespan_s), _s(one.combined_mean_jct_s)))
    rows.append((who, "largest of these", _s(one.makespan_s), _s(one.mean_jct_s)))
    return rows


def _optimum_row(one: Optimum) -> tuple[str, str, str, str]:
    if one.value_s is None:
        said = f"none found; not below {_s(one.bound_s)}"
    else:
        said = _s(one.value_s) + ("" if one.proven else f" (at most {one.gap_pct:.2g} % above the true one)")
    name = "optimum" if one.proven else "best found"
    return (_WHO["reservations"], name, *((said, "") if one.objective == "makespan" else ("", said)))


def _s(seconds: float) -> str:
    from heddle.report.wording import write_s

    return write_s(seconds)
