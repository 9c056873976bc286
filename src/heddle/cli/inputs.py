"""What several commands take: workload, cluster and engine, made ready with messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from heddle.cli.completion import workload_names
from heddle.cli.output import complain, say
from heddle.model.errors import BadInput, Problem

if TYPE_CHECKING:
    from heddle.model.cluster import Cluster
    from heddle.model.workload import Workload
    from heddle.policy.policy import Policy

WorkloadArgument = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A built-in name, a .csv of tasks, or a .parquet file.",
        autocompletion=workload_names,
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster", "-c", help="NODESxMEMORY_MBxVCORES, or a YAML or JSON file [default: the workload's own]."
    ),
]
MAY_CHANGE_RESULTS: Final = "may_change_results"  # key of a cluster's `about`: what an import could not take over


class SuggestsNoCluster(BadInput):
    """A workload without a cluster of its own, where none was named."""

    def __init__(self, workload: str) -> None:
        self.workload = workload
        what = (
            "name one as NODESxMEMORY_MBxVCORES (150x65536x24) or as a file; `heddle traces describe` suggests a size"
        )
        super().__init__([Problem("--cluster", f"{workload} comes with no cluster: {what}")])


def read_all(*readers: Callable[[], Any]) -> list[Any]:
    """What all of them give or, at once, everything that is wrong with any of them."""
    found: list[Any] = []
    problems: list[Problem] = []
    for read in readers:
        try:
            found.append(read())
        except SuggestsNoCluster as error:
            if not any(problem.where == error.workload for problem in problems):  # first it has to be readable
                problems += error.problems
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(dict.fromkeys(problems))  # a workload and the cluster it suggests say the same
    return found


def workload_for(text: str, seed: int = 0) -> Workload:
    """The workload that was named; how a file had to be read, where its name does not tell, is said."""
    from heddle.traces.load import load_workload

    loaded = load_workload(text, seed)
    if not text.endswith(".parquet"):  # which keeps what was said of the file that it was made from
        for remark in loaded.about.get("remarks", ()):
            say(f"note: {text} {remark}")
    return loaded


def cluster_for(workload: str, cluster: str | None) -> Cluster:
    """The cluster that was named or the one that comes with the workload: built-in and imported ones have some."""
    from heddle.traces.catalogue import suggested_cluster
    from heddle.traces.clusters import load_cluster
    from heddle.traces.imports.store import cluster_beside
    from heddle.traces.load import is_built_in, workload_file

    if cluster is None and is_built_in(workload):
        return suggested_cluster(workload)
    if cluster is None:
        workload_file(workload)  # where it is missing, that is what is wrong
    named = cluster or cluster_beside(Path(workload))
    if named is not None:
        loaded = load_cluster(str(named))
        for one in loaded.about.get(MAY_CHANGE_RESULTS, ()):
            complain(f"warning: {named}: {one}")
        return loaded
    raise SuggestsNoCluster(workload)


def warn_of_unknown_use(workload: Workload, policies: Iterable[Policy]) -> None:
    """A lever that sizes nodes by use says nothing where no use is known; its numbers would look like a verdict."""
    if len(workload.segments):
        return
    by_use = (policy.sizing for policy in policies if policy.sizing.depends_on == "reports")
    for name in dict.fromkeys(sizing.name for sizing in by_use):
        complain(
            f"warning: {workload.name} records no use, so {name} assumes that every task uses all it reserves; "
            "this does not show what it would do on the real cluster"
        )


LeverTimeout = Annotated[
    float, typer.Option("--lever-timeout", metavar="S", help="End when a lever of yours takes longer for one answer.")
]


def limit_levers(timeout_s: float) -> None:
    """For this process, and those that it starts."""
    from heddle.policy.endless import LIMIT

    if timeout_s <= 0:
        raise BadInput.of("--lever-timeout", f"must be above 0, not {timeout_s:g}")
    os.environ[LIMIT] = str(timeout_s)


def compile_with_message(policies: Iterable[Policy], n_resources: int) -> float:
    """Compile the engine before anything else, and say so if it is the first time; the seconds it took."""
    from heddle.model.code_folders import another_compiles
    from heddle.run import prepare_engine
    from heddle.sim.loading import engine_is_compiled

    first = not engine_is_compiled(n_resources)
    waiting = first and another_compiles()
    if waiting:
        say("another heddle process is compiling the engine; waiting ...")
    elif first:
        say("compiling the engine, once: 20 s, or a minute on a busy machine ...")
    took_s = prepare_engine(policies, n_resources)
    if first and not waiting:
        say(f"compiled in {took_s:.0f} s; later runs load it from the cache")
    return took_s
