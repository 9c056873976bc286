"""How a table of a record is encoded: numbers as differences from the one before, then lz4.

Numbers and times of neighbouring rows differ by little, and nearly all of them by something else, so that a dictionary,
which writers of Parquet try first, is more work and more bytes. Whatever reads Parquet reads this.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl
import pyarrow.parquet as pq

_ROWS_PER_GROUP: Final = 1 << 19  # fixed, so that the bytes do not depend on how the frame came about


def write_table(frame: pl.DataFrame, path: Path) -> None:
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
    pq.write_table(
        frame.to_arrow(),
        path,
        row_group_size=_ROWS_PER_GROUP,
        compression="lz4",
        use_dictionary=[name for name in frame.columns if name not in numbers],
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    )
