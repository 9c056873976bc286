"""The workload that a user names: a built-in one, heddle's own Parquet, or a CSV of tasks."""

from __future__ import annotations

from os.path import exists, isdir, isfile
from pathlib import Path

from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.model.whereabouts import lies_at
from heddle.model.workload import Workload
from heddle.traces import catalogue
from heddle.traces.csv_tasks.read import read_csv_tasks
from heddle.traces.parquet import read_parquet
from heddle.traces.parquet_blocks import ParquetBlocks

SUFFIXES = (".parquet", ".csv", ".csv.gz")


def load_workload(text: str, seed: int = 0) -> Workload:
    """Read or make the workload. The seed is for built-in ones; a file is what it is."""
    path = workload_file(text)
    if path is not None:
        return read_parquet(path) if path.suffix == ".parquet" else read_csv_tasks(path)
    if is_built_in(text):
        return catalogue.make_workload(text, seed)
    if exists(text) or "/" in text:
        raise BadInput.of(text, f"not a workload file: {', '.join(SUFFIXES)} are read")
    return catalogue.make_workload(text, seed)  # not known: says which names are


def workload_file(text: str) -> Path | None:
    """The file that the text names, None where it names none; BadInput where there is no such file."""
    path = lies_at(text)
    if not path.name.endswith(SUFFIXES):
        return None
    if not isfile(path):  # also False for what no file can be called
        raise BadInput.of(text, f"no such file{_similar_file(path)}")
    return path


def load_blocks(text: str) -> ParquetBlocks:
    """A workload in blocks, from a .parquet file: only those can be read so."""
    path = workload_file(text)
    if path is None or path.suffix != ".parquet":
        raise BadInput.of(text, "is not a .parquet file, and only those are read in blocks (`heddle workload make`)")
    return ParquetBlocks(path)


def is_built_in(text: str) -> bool:
    """Whether the text names a built-in workload, with or without parameters."""
    return text.partition("(")[0].strip() in catalogue.names()


def _similar_file(path: Path) -> str:
    """A file in the same folder whose name is close: most missing files are typing errors."""
    if not isdir(path.parent):
        return f" (nor the folder {path.parent})"
    candidates = [entry.name for entry in path.parent.iterdir() if entry.name.endswith(SUFFIXES)]
    return did_you_mean(path.name, candidates)
