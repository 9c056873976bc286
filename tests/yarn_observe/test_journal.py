import resource
from pathlib import Path

import pytest

from heddle.model.errors import BadInput
from heddle.yarn.observe.journal import Journal, older, read_lines


def test_it_goes_on_after_a_restart_and_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = Journal(path)
    first.add({"n": 1})
    first.flush()
    with path.open("ab") as file:
        file.write(b'{"n": 2')  # killed while writing
    second = Journal(path)
    assert list(second.read()) == [{"n": 1}]
    second.add({"n": 3})
    second.flush()
    assert list(read_lines(path)) == [{"n": 1}, {"n": 3}]


def test_a_full_disk_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    said: list[str] = []
    journal = Journal(path, said.append)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, before[1]))  # the kernel writes 5 bytes and then refuses
    try:
        journal.add({"n": 1})
        journal.flush()
        journal.add({"n": 2})
        journal.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(said) == 1
    assert "cannot be written" in said[0]
    journal.flush()
    journal.flush()
    assert list(read_lines(path)) == [{"n": 1}, {"n": 2}]


def test_a_bounded_journal_keeps_the_newest_entries_in_two_files(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    bounded = Journal(path, most_bytes=50)
    for number in range(100):
        bounded.add({"n": number})
        bounded.flush()
        assert path.stat().st_size <= 50
    kept = [entry["n"] for file in (older(path), path) for entry in read_lines(file)]
    assert kept == list(range(100 - len(kept), 100))
    assert 50 < older(path).stat().st_size + path.stat().st_size <= 100
    assert sorted(file.name for file in tmp_path.iterdir()) == ["journal", "journal.1"]


def test_a_bounded_journal_goes_on_after_being_killed_between_its_files(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = Journal(path, most_bytes=20)
    first.add({"n": 1})
    first.flush()
    path.rename(older(path))  # as far as it came
    second = Journal(path, most_bytes=20)
    second.add({"n": 2})
    second.flush()
    assert [list(read_lines(file)) for file in (older(path), path)] == [[{"n": 1}], [{"n": 2}]]


def test_one_entry_may_be_larger_than_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    bounded = Journal(path, most_bytes=5)
    for number in range(3):
        bounded.add({"number": number})
        bounded.flush()
    assert [list(read_lines(file)) for file in (older(path), path)] == [[{"number": 1}], [{"number": 2}]]


def test_what_is_no_journal_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text('{"n": 1}\nhello\n')
    with pytest.raises(BadInput, match=r"journal:2"):
        list(read_lines(path))
