"""What an import leaves: the workload, and beside it the cluster, the rows that were set aside, and the account."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.model.whole_files import write_whole
from heddle.traces.clusters import dump_cluster
from heddle.traces.imports.importing import ImportResult
from heddle.traces.parquet import write_parquet

_LONGEST_TEXT = 2000  # of a row that was set aside


def beside(output: Path, what: str) -> Path:
    """`trace.parquet` -> `trace.cluster.yaml`."""
    return output.with_name(f"{output.stem}.{what}")


def cluster_beside(workload: Path) -> Path | None:
    """The cluster that an import found together with this workload, if it did."""
    path = beside(workload, "cluster.yaml")
    return path if workload.suffix == ".parquet" and path.is_file() else None


def account_beside(workload: Path) -> dict[str, Any] | None:
    """The account that an import left beside this workload, if it is one and the account can be read."""
    path = beside(workload, "import.json")
    if workload.suffix != ".parquet" or not path.is_file():
        return None
    try:
        found = from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if _is_account(found) else None


def _is_account(found: Any) -> bool:
    """Whether it tells all that a report says of an import, as `document` writes it."""
    if not isinstance(found, dict) or not isinstance(of_rows := found.get("reconciliation"), dict):
        return False
    counted = [of_rows.get(what) for what in ("merged", "metadata", "set_aside")]
    lists, examples = (found.get("files"), found.get("notes")), of_rows.get("examples")
    return (
        _are(int, (found.get("tasks"), found.get("jobs"), of_rows.get("rows"), of_rows.get("task_rows")))
        and all(isinstance(one, dict) and _are(int, one.values()) for one in counted)
        and all(isinstance(one, list) and _are(str, one) for one in lists)
        and isinstance(examples, dict)
        and all(isinstance(one := examples.get(why), list) and _are(str, one) for why in of_rows["set_aside"])
        and isinstance(found.get("assumed"), dict)
        and isinstance(found.get("format"), str)
        and isinstance(found.get("set_aside_rows"), str | None)
    )


def _are(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(one, kind) for one in values)


def document(result: ImportResult, output: Path) -> dict[str, Any]:
    """The account of an import, as `--json` prints it and as it is kept beside the output."""
    workload, account = result.imported.workload, result.account
    return {
        "format": result.format.name,
        "detected": result.detected,
        "files": [rows.name for rows in account.files],
        "rows": account.rows,
        "jobs": workload.n_jobs,
        "tasks": workload.n_tasks,
        "set_aside": account.of_kind("set_aside"),
        "out": output.name,
        "cluster": None if result.imported.cluster is None else beside(output, "cluster.yaml").name,
        "set_aside_rows": beside(output, "set-aside.csv").name if account.of_kind("set_aside") else None,
        "reconciliation": account.document(),
        "assumed": workload.about.get("assumed", {}),
        "notes": result.imported.notes,
    }


def store(result: ImportResult, output: Path) -> dict[str, Any]:
    """Write it all; the workload comes last, so that whoever sees it sees the rest too. Returns the account."""
    if output.suffix != ".parquet":
        raise BadInput.of(str(output), "the name must end in .parquet", field="--output")
    if not output.parent.is_dir():
        raise BadInput.of(str(output), f"there is no folder {output.parent}", field="--output")
    account = document(result, output)
    cluster = result.imported.cluster
    parts = {
        "cluster.yaml": None if cluster is None else dump_cluster(cluster),
        "set-aside.csv": _set_aside(result) if account["set_aside"] else None,
        "import.json": json.dumps(account, indent=1, ensure_ascii=False) + "\n",
    }
    for what, text in parts.items():
        path = beside(output, what)
        if text is None:
            path.unlink(missing_ok=True)  # of an earlier import: it would be taken for this one's
        else:
            write_whole(path, text)
    write_parquet(result.imported.workload, output)
    return account


def _set_aside(result: ImportResult) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("file", "line", "reason", "row"))
    for source in result.sources:
        by_reason = source.rows.set_aside_rows()
        if not by_reason:
            continue
        rows = np.concatenate(list(by_reason.values()))
        reasons = [reason for reason, places in by_reason.items() for _ in places]
        texts = source.texts_of(rows)
        for place in np.argsort(rows, kind="stable").tolist():
            line = source.rows.line(int(rows[place]))
            writer.writerow((source.name, line, reasons[place], texts[place][:_LONGEST_TEXT]))
    return text.getvalue()
