"""What the tests of formats share: small files made on the spot, and the real ones where they are."""

import gzip
import os
from pathlib import Path

import pytest

from heddle.traces.imports.importing import ImportResult, import_trace

SHARED = Path(__file__).resolve().parents[4] / "shared" / "traces"


def made(folder: Path, **files: str) -> Path:
    """A folder with these files; `__` in a name stands for a dot, a name that ends in `gz` is packed."""
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())
    return folder


def here_or_skip(folder: str) -> Path:
    """A folder of real traces, or a skip (in CI: a failure) where it is not there."""
    path = SHARED / folder
    if not path.exists():
        reason = f"the real traces are not here (../shared/traces/{folder})"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def real(folder: str, format_name: str | None = None, **options: object) -> ImportResult:
    """The import of a folder of real traces."""
    return import_trace([str(here_or_skip(folder))], format_name, **options)  # type: ignore[arg-type]


def set_aside(result: ImportResult) -> dict[str, int]:
    return result.account.of_kind("set_aside")


def task_rows(result: ImportResult) -> int:
    return sum(result.account.of_kind("task").values())
