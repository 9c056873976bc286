"""`heddle yarn fidelity`: how well the simulator predicts what really happened."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heddle.cli.output import DONE, Json, print_json, print_tables, table
from heddle.cli.rerun import queues_for


def fidelity(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="A record of `heddle yarn observe`.")],
    calibrate: Annotated[Path, typer.Option(help="Another record of the same cluster, for AM start and end of jobs.")],
    cluster: Annotated[
        str | None,
        typer.Option(help="Its queues, by `heddle cluster import --rm` [default: cluster.yaml beside the record]."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option("--policy", "-p", help="What ran [default: as the record says]; stock: YARN alone.")
    ] = None,
    json: Json = False,
) -> int:
    """Simulate a recorded real run and compare it with the record.

    It also shows a naive predictor: jobs end in the order they arrived.

    \b
    Examples:
      heddle yarn fidelity monday/record --calibrate sunday/record
    """
    from heddle.experiments.fidelity import fidelity as predict
    from heddle.experiments.replaying import overheads_of
    from heddle.record.files import read_record

    on = queues_for(record, cluster)
    found = predict(read_record(record), overheads_of(read_record(calibrate)), on, policy)
    if json:
        print_json(asdict(found))
        return DONE
    seconds = f"{found.real_makespan_s:.1f} s", f"{found.predicted_makespan_s:.1f} s"
    rows = [
        ("makespan", *seconds, f"{100 * found.makespan_error:+.1f} %"),
        ("completion of jobs", "", "", f"{100 * found.jct_error:.1f} % on average"),
        ("order of completion times", "", _rank(found.spearman), f"by arrival: {_rank(found.naive_spearman)}"),
    ]
    shown = table(("", "real", "simulated", "error"), rows, f"{record.name}: {found.jobs} jobs")
    print_tables([shown])
    return DONE


def _rank(correlation: float | None) -> str:
    return "unknown" if correlation is None else f"Spearman {correlation:.3f}"
