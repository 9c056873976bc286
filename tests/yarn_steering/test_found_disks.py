"""Defects that the storm found: disks that are full or read-only."""

import errno
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.live.files import DISK
from heddle.yarn.observe.journal import Journal
from yarn_live.fake_cluster import FakeCluster

from .fake_world import FakeWorld, _Disk
from .test_whole_session import OWN, as_found, at_work, cluster, kill, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def read_only(monkeypatch: pytest.MonkeyPatch, *methods: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for method in methods:
        monkeypatch.setattr(_Disk, method, refuse)


def test_a_disk_that_becomes_read_only_ends_a_session_in_words(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    opened = ExitStack()
    session = opened.enter_context(at_work(world, said))
    step(world, session)
    read_only(monkeypatch, "overwrite", "write", "remove")
    with pytest.raises(RunRefused, match=r"beat: cannot be written \(Read-only"):
        session.step()
    opened.close()
    assert as_found(cluster)
    assert said[-1].startswith("restored and verified")


def test_a_watchdog_on_a_read_only_disk_puts_back_once_and_waits_for_the_disk(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    with monkeypatch.context() as while_it_lasts:
        read_only(while_it_lasts, "write", "remove")
        world.pass_s(5)
        assert as_found(cluster)
        assert list(world.watchdogs) == ["watchdog 1"]
        cluster.nodes["a:1"].memory_mb = 9000  # by a person, now that all is back
        world.pass_s(5)
    world.pass_s(1)
    assert world.watchdogs == {}
    assert sizes(cluster) == {**OWN, "a:1": 9000}


def test_a_watchdog_whose_disk_is_full_goes_on_while_a_node_is_away(world: FakeWorld, cluster: FakeCluster) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    cluster.nodes["b:1"].lost = True
    world.full_disk = True
    world.pass_s(60)
    cluster.nodes["b:1"].lost = False
    world.pass_s(5)
    assert as_found(cluster)


def test_a_journal_on_a_read_only_disk_is_refused_in_words(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only(monkeypatch, "overwrite")
    with pytest.raises(RunRefused, match=r"journal\.jsonl: cannot be written \(Read-only"):
        Journal(Path("/journal.jsonl"), print, world.as_process("observer").files)


def test_a_disk_that_has_become_read_only_still_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else controller and watchdog would both end with a traceback, and nobody would put anything back."""
    file, really_open = tmp_path / "lock", os.open

    def read_only_open(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return really_open(path, flags, mode)

    with DISK.lock(file, "held"):
        pass
    monkeypatch.setattr(os, "open", read_only_open)
    with DISK.lock(file, "held"), pytest.raises(RunRefused, match="held"), DISK.lock(file, "held"):
        pass
    with DISK.lock(file, "held"):
        pass
    with (
        pytest.raises(RunRefused, match=r"none: cannot be locked \(No such file"),
        DISK.lock(tmp_path / "none", "held"),
    ):
        pass
