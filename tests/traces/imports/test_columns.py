"""The quick and the careful way to read a block must agree, and tables keep their row numbers."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heddle.model.errors import BadInput
from heddle.traces.imports.columns import ROW, rows_of, typed_blocks
from heddle.traces.imports.header_tables import (
    MOST_COLUMNS,
    _read_quoted,
    _read_quoted_at_once,
    read_header_table,
    read_table,
)
from heddle.traces.imports.source import Source

TYPES = {"a": pl.Int64, "b": pl.Float64, "c": pl.String, "d": pl.Int64}
_cells = st.tuples(
    st.integers(-(10**12), 10**12).map(str) | st.just(""),
    st.floats(-1e9, 1e9).map(repr) | st.sampled_from(["", "1e3", "-0.5", "nan"]),
    st.sampled_from(["x", "user=", "", "a b"]),
    st.integers(0, 99).map(str),
)


def blocks(path: Path, text: str, end: str) -> pl.DataFrame:
    path.write_bytes(text.replace("\n", end).encode())
    return pl.concat(typed_blocks(Source(str(path), "t"), ",", TYPES))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_cells, min_size=1, max_size=8))
def test_clean_blocks_are_read_like_odd_ones(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    text = "".join(",".join(row) + "\n" for row in rows)
    quick = blocks(tmp_path / "t", text, "\n")
    careful = blocks(tmp_path / "t", text, "\r\n")  # carriage returns are not for the quick way
    assert quick.select(*TYPES, "row").equals(careful.select(*TYPES, "row"))


def test_an_odd_line_does_not_cost_its_neighbours(tmp_path: Path) -> None:
    frame = blocks(tmp_path / "t", "1,2,x,3\noops,2,x,3\n4,5,y,6,7\n", "\n")
    assert frame["a"].to_list() == [1, None, 4]
    assert frame["more"].to_list() == [None, None, "7"]


def test_records_over_several_lines_are_one_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"two\nlines"\n3,4\n5\n\n6,7,8\n')
    source = Source(str(path), "t.csv")
    frame = read_header_table(source, ["a", "b"])
    source.rows.tasks(rows_of(frame))
    source.rows.close()
    assert frame.select("a", "b").rows() == [("1", "two\nlines"), ("3", "4")]
    assert [source.rows.line(int(row)) for row in rows_of(frame)] == [2, 4]
    assert source.rows.set_aside_rows().keys() == {"fewer fields than the header", "more fields than the header"}


_fields = st.sampled_from(
    ["x", "", '"y"', '"a,b"', '""', '"say ""hi"""', 'mid"dle', ' "blank"', '"open', '"two\nlines"', "é"]
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(_fields, min_size=1, max_size=4), min_size=1, max_size=6))
def test_quoted_tables_are_read_at_once_as_record_by_record(tmp_path: Path, rows: list[list[str]]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(['"a",b,c', *map(",".join, rows)]), encoding="utf-8")
    quick_source, careful_source = Source(str(path), "t"), Source(str(path), "t")
    quick = _read_quoted_at_once(quick_source, quick_source.lines(), ",")
    if quick is not None:
        careful = _read_quoted(careful_source, careful_source.lines(), "even out", ",")
        assert quick.header == careful.header
        assert quick.frame.select("a", "b", "c", "row").rows() == careful.frame.select("a", "b", "c", "row").rows()
        assert quick_source.rows.counts() == careful_source.rows.counts()


def test_clean_quotes_take_the_quick_way(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"a","b","c"\n"1","x, y",3\n\n"2"\n')
    source = Source(str(path), "t")
    table = _read_quoted_at_once(source, source.lines(), ",")
    assert table is not None
    assert table.frame.rows() == [("1", "x, y", "3", 1), ("2", None, None, 3)]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match="missing column: c"):
        read_header_table(Source(str(tmp_path / "t.csv"), "t.csv"), ["a", "c"])


@pytest.mark.parametrize("quote", ["", '"'])
def test_every_column_has_a_name_of_its_own_and_none_stands_for_others(tmp_path: Path, quote: str) -> None:
    """Polars takes `*` for all columns and `^...$` for a pattern; `row` and `more` are columns of ours."""
    (tmp_path / "t.csv").write_text(f"{quote}a{quote},a#2,a,*,^a.*$,,row,more\n1,2,3,4,5,6,7,8\n")
    table = read_table(Source(str(tmp_path / "t.csv"), "t.csv"), "set aside")
    frame = table.frame.drop(ROW)
    assert frame.columns == ["a", "a#2", "a#2#2", "*#3", "^a.*$#4", "#5", "row#6", "more#7"]
    assert frame.rows() == [("1", "2", "3", "4", "5", "6", "7", "8")]
    by_header = {"a": "1", "a#2": "2", "*": "4", "^a.*$": "5", "row": "7", "more": "8"}
    assert {name: frame[column][0] for name, column in table.columns.items()} == by_header


def test_a_header_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a" + MOST_COLUMNS * "," + "\n1\n")
    with pytest.raises(BadInput, match="10,001 columns; at most 10,000 are read"):
        read_header_table(Source(str(tmp_path / "t.csv"), "t.csv"), ["a"])
