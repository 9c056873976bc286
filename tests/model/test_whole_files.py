"""Files and folders appear whole or not at all, whatever ends the writing."""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from heddle.model import whole_files
from heddle.model.errors import BadInput
from heddle.model.whole_files import or_bad_input, remove_partials, whole_file, whole_folder, write_whole

SOURCE = Path(whole_files.__file__).parents[1]


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_written_is_there_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "text", "schön\n", durable=True)
    write_whole(tmp_path / "bytes", b"\x00\xff")
    with whole_file(tmp_path / "zip") as partial, zipfile.ZipFile(partial, "w") as packed:
        packed.writestr("a", "b")
    with whole_folder(tmp_path / "folder") as fresh:
        (fresh / "one").write_text("1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "folder", "text", "zip"]
    assert (tmp_path / "text").read_text(encoding="utf-8") == "schön\n"
    assert zipfile.ZipFile(tmp_path / "zip").namelist() == ["a"]


@pytest.mark.parametrize("stopped_by", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), ValueError("a bad row")])
@pytest.mark.parametrize("make", [whole_file, whole_folder])
def test_whatever_ends_the_writing_leaves_the_old_one_and_no_part(
    make: Callable[[Path], AbstractContextManager[Path]], stopped_by: BaseException, tmp_path: Path
) -> None:
    def half(target: Path) -> None:
        with make(target) as place:
            (place if make is whole_file else place / "one").write_text("half")
            raise stopped_by

    for name in ("new", "old"):
        if name == "old":
            with make(tmp_path / name) as place:
                (place if make is whole_file else place / "one").write_text("whole")
        with pytest.raises(type(stopped_by)):
            half(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    old = tmp_path / "old"
    assert (old if make is whole_file else old / "one").read_text() == "whole"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_is_full_at_the_end(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, call, full)
    with pytest.raises(BadInput, match="file: cannot be written: No space left"):
        write_whole(tmp_path / "file", "text", durable=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with whole_folder(tmp_path / "folder") as fresh:
        (fresh / "old").touch()
    real = os.replace

    def no_room_for_fresh(source: Path, target: Path) -> None:
        full() if source.name.endswith(".partial") else real(source, target)

    def again() -> None:
        with whole_folder(tmp_path / "folder") as fresh:
            (fresh / "new").touch()

    monkeypatch.setattr(os, "replace", no_room_for_fresh)
    with pytest.raises(OSError, match="No space"):
        again()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["old"]
    monkeypatch.undo()
    again()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_what_a_killed_process_left_can_be_removed(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a") as file, whole_folder(tmp_path / "b") as folder:
        left = [tmp_path / file.name.replace(".a.", ".c."), tmp_path / folder.name.replace(".b.", ".d.")]
        left[0].touch()
        left[1].mkdir()
        file.touch()
        (folder / "x").touch()
    remove_partials(tmp_path, "c")
    assert [path.exists() for path in left] == [False, True]
    remove_partials(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere/file: cannot be written: No such file"):
        write_whole(tmp_path / "nowhere" / "file", "")
    with pytest.raises(BadInput, match="x: not now: No space left"), or_bad_input(Path("x"), "not now"):
        full()


def test_nobody_renames_by_hand() -> None:
    by_hand = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.name != "whole_files.py" and any(word in path.read_text() for word in ("os.replace(", "mkstemp("))
    ]
    assert by_hand == []
