"""`scripts/soak --for 60m --out FOLDER`: one more piece of a soak, then the report of all pieces in the folder.

Needs what `heddle yarn up --bridge` and Spark need, and hours of a quiet machine. Exit code 1: a target was missed.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from heddle.cli.durations import seconds
from heddle.cli.yarn_cluster import interruptible
from heddle.model.errors import HeddleError

from .piece import FILE, Plan, run_piece
from .report import document_of, kept_in, text_of


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    options.add_argument("--for", dest="for_s", type=_time, help="length of the piece, as 60m; none: only the report")
    options.add_argument("--out", type=Path, default=Path("soak"), help="folder of the pieces [soak]")
    options.add_argument("--kills", type=_time, default=900.0, help="controllers are killed for this long [15m]")
    options.add_argument("--warm-up", type=_time, default=900.0, help="of a controller, before its memory counts [15m]")
    options.add_argument("--every", type=_time, default=180.0, help="between two faults after that, on average [3m]")
    options.add_argument("--lease", type=_time, default=30.0, help="of the controller [30s]")
    options.add_argument("--record-mb", type=float, default=1.0, help="bound of the record of decisions [1]")
    options.add_argument("--seed", type=int, default=0, help="of the first piece; the next has the next [0]")
    options.add_argument("--nodes", type=int, default=3, help="of the local cluster [3]")
    options.add_argument("--node-mb", type=int, default=4096, help="of each node; the largest tasks want 1536 [4096]")
    options.add_argument("--name", default="soak", help="of the local cluster [soak]")
    options.add_argument("--port", type=int, default=28088, help="first of its ports [28088]")
    options.add_argument("--json", action="store_true", help="the report as a document")
    chosen = options.parse_args(arguments)
    if chosen.for_s is not None:
        number = 1 + len(list(chosen.out.glob(f"piece-*/{FILE}")))
        plan = Plan(
            chosen.for_s, chosen.warm_up, chosen.kills, chosen.every, chosen.lease, chosen.record_mb,
            chosen.seed + number - 1, chosen.nodes, chosen.node_mb,
        )  # fmt: skip
        try:
            with interruptible():
                run_piece(plan, chosen.name, chosen.port, chosen.out / f"piece-{number:03}", _tell)
        except HeddleError as error:
            print(error, file=sys.stderr)
            return 2
    pieces = kept_in(chosen.out)
    if not pieces:
        print(f"{chosen.out}: no complete piece", file=sys.stderr)
        return 2
    document = document_of(pieces)
    print(json.dumps(document, indent=1) if chosen.json else text_of(document))
    return 1 if any(figure["verdict"] == "MISSED" for figure in document["figures"]) else 0


def _time(text: str) -> float:
    if text == "0":
        return 0.0
    try:
        return seconds(text, "a time", "90s, 30m or 2h")
    except HeddleError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
