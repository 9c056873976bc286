import resource
from pathlib import Path

import pytest

from heddle.model.errors import BadInput
from heddle.yarn.observe.journal import Journal, read_lines


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


def test_what_is_no_journal_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text('{"n": 1}\nhello\n')
    with pytest.raises(BadInput, match=r"journal:2"):
        list(read_lines(path))
