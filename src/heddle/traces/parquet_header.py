"""The header of heddle's Parquet format: what a file says of the workload in it, beside its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from heddle.model.errors import BadInput
from heddle.model.nested_text import from_json
from heddle.model.whereabouts import lies_at
from heddle.model.workload import Workload
from heddle.traces.parquet_layout import SECTIONS, Arrays

FORMAT: Final = "heddle-workload"
VERSION: Final = 1
METADATA_KEY: Final = b"heddle"
NAME_COLUMNS: Final = ("job.name", "stage.name")

# What reading a damaged file can raise: pyarrow's own errors, and ours for a header that is not what we wrote.
_DAMAGE: Final = (
    pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError,
)  # fmt: skip


@dataclass(frozen=True)
class Header:
    """What a file says of the workload in it, beside its rows."""

    where: str
    content: dict[str, Any]

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(self.content["resources"])

    @property
    def lengths(self) -> dict[str, int]:
        """Rows of each section, in the order of the file."""
        return {section: int(self.content["lengths"][section]) for section in SECTIONS}

    @property
    def constants(self) -> dict[str, int]:
        """Columns with one value throughout."""
        return dict(self.content["constants"])

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        return np.array(self.content["shapes"], dtype=np.int64).reshape(-1, len(self.resources))

    def has(self, what: str) -> bool:
        return bool(self.content.get(f"has_{what}"))

    def arrays(self, lengths: dict[str, int]) -> Arrays:
        """Room for so many rows."""
        return Arrays.empty(
            lengths,
            len(self.resources),
            with_prefers=bool(self.content["has_prefers"]),
            with_running=self.has("running"),
            with_edge_bytes=self.has("edge_bytes"),
            with_input_bytes=self.has("input_bytes"),
        )

    def columns_of(self, section: str) -> list[str]:
        """All columns of a section, its names included."""
        columns = self.arrays(dict.fromkeys(self.lengths, 0)).columns(self.resources)[section]
        return [*columns, *(name for name in self.content["names"] if name.startswith(f"{section}."))]

    def workload(self, arrays: Arrays, job_names: Any = None, stage_names: Any = None) -> Workload:
        """With these rows."""
        return Workload(
            name=str(self.content["name"]),
            resources=self.resources,
            queues=tuple(self.content["queues"]),
            users=tuple(self.content["users"]),
            labels=tuple(self.content["labels"]),
            shapes=self.shapes,
            jobs=arrays.jobs,
            stages=arrays.stages,
            tasks=arrays.tasks,
            segments=arrays.segments,
            stage_after=arrays.stage_after,
            job_after=arrays.job_after,
            job_names=None if job_names is None else series_of("job", [job_names]),
            stage_names=None if stage_names is None else series_of("stage", [stage_names]),
            prefers=arrays.prefers,
            running_on=arrays.running_on,
            started_at_ms=arrays.started_at_ms,
            edge_bytes=arrays.edge_bytes,
            input_bytes=arrays.input_bytes,
            hosts=tuple(self.content["hosts"]),
            about=dict(self.content["about"]),
        )

    def without_jobs(self) -> Workload:
        return self.workload(self.arrays(dict.fromkeys(self.lengths, 0)))


@contextmanager
def opened(path: Path) -> Iterator[tuple[pq.ParquetFile, Header]]:
    """The file and its header; whatever goes wrong with it while it is open is BadInput."""
    where = str(path)
    path = lies_at(path)
    if not path.is_file():
        raise BadInput.of(where, "no such file")
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            header = _header(file, where)
            names = [name for name in NAME_COLUMNS if name in file.schema_arrow.names]
            yield file, Header(where, header | {"names": names})
    except _DAMAGE as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput.of(where, f"not a readable heddle workload: truncated or damaged ({first_line})") from None


def _header(file: pq.ParquetFile, where: str) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise BadInput.of(where, "a Parquet file, but not a heddle workload (`heddle workload make` writes those)")
    header = from_json(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInput.of(where, f"a Parquet file of heddle, but not a workload: its format is not {FORMAT}")
    if header.get("version") != VERSION:
        raise BadInput.of(
            where, f"version {header.get('version')} of the workload format; this heddle reads version {VERSION}"
        )
    return header


def series_of(name: str, parts: list[pa.ChunkedArray]) -> pl.Series:
    chunks = [chunk for part in parts for chunk in part.chunks]
    return pl.Series(name, pl.from_arrow(pa.chunked_array(chunks, type=pa.string())), dtype=pl.String)
