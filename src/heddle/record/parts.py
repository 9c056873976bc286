"""The files of a record's tables: parts, each a complete Parquet file of a fixed number of rows.

So the bytes depend neither on how fast anybody wrote nor on how the rows came in, and what was written before a run was
killed can be read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import polars as pl

from heddle.model.errors import BadInput
from heddle.record.encoding import encoded
from heddle.record.schema import Table, table_problems

PART_ROWS: Final = 1 << 18  # the last part of a table has fewer


def part_name(table: str, number: int) -> str:
    return f"{table}-{number:05d}.parquet"


def parts_of(table: str, files: Iterable[str]) -> list[str]:
    """Those of the files that are parts of this table, in order. Before format 2 each table was one file."""
    own = re.compile(rf"{re.escape(table)}(-\d{{5}})?\.parquet")
    return sorted(name for name in files if own.fullmatch(name))


def write_part(frame: pl.DataFrame, path: Path) -> dict[str, Any]:
    """What the manifest and the journal say of the file."""
    content = encoded(frame)
    path.write_bytes(content)
    return {"bytes": len(content), "rows": frame.height, "sha256": hashlib.sha256(content).hexdigest()}


def read_part(path: Path, table: Table, written: Any) -> pl.DataFrame:
    """The rows of a part, if it is what was written and follows the schema; else BadInput."""
    told = written if isinstance(written, dict) else {}
    try:
        size = path.stat().st_size
        if size != told.get("bytes"):
            raise BadInput.of(str(path), f"has {size} bytes, {told.get('bytes')} were written: truncated or replaced")
        if _digest(path) != told.get("sha256"):
            raise BadInput.of(str(path), "is not what was written: damaged or replaced")
        frame = pl.read_parquet(path)
    except FileNotFoundError:
        raise BadInput.of(str(path), "is missing") from None
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from error
    except pl.exceptions.PolarsError as error:
        raise BadInput.of(str(path), f"is not readable Parquet: {error}") from error
    if problems := table_problems(frame, table, str(path)):
        raise BadInput(problems)
    return frame


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
