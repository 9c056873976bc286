"""A process, or a machine, that may open no further file: that passes, so nobody ends over it."""

import errno
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from heddle.dashboard.board import Board
from heddle.model.errors import RunRefused
from heddle.yarn.live.files import DISK, Disk, OutOfFiles
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.watchdog import start_watchdog, watchdog_lives
from yarn_live.fake_cluster import FakeCluster

from .fake_world import FakeWorld, _Disk, _Processes
from .test_whole_session import LEASE_S, OWN, as_found, at_work, cluster, desk_of_process, kill, sizes, step, world

__all__ = ["cluster", "world"]  # fixtures


def refusing(number: int) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def out_of_files(monkeypatch: pytest.MonkeyPatch, *methods: str) -> None:
    for method in methods:
        monkeypatch.setattr(_Disk, method, refusing(errno.EMFILE))


def test_a_step_without_a_file_for_its_beat_changes_nothing_and_the_next_goes_on(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with at_work(world, said) as session:
        step(world, session)
        assert not as_found(cluster)
        before = sizes(cluster)
        cluster.nodes["a:1"].used_memory_mb = 3000
        with monkeypatch.context() as meanwhile:
            out_of_files(meanwhile, "overwrite", "write", "read")
            assert session.step() is None
            assert session.step() is None
            assert sizes(cluster) == before
        assert "beat: cannot be written (Too many open files), so heddle changes nothing; retrying" in said[-1]
        assert session.trouble in said[-1]
        assert session.step() is not None
        assert sizes(cluster) != before
    assert as_found(cluster)


def test_without_a_file_for_longer_than_the_lease_all_is_back_and_it_begins_anew(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with at_work(world, said) as session:
        step(world, session)
        with monkeypatch.context() as meanwhile:
            out_of_files(meanwhile, "overwrite")
            for _ in range(round(LEASE_S) + 2):
                assert session.step() is None
                world.pass_s(1)
        assert as_found(cluster), "by the watchdog"
        assert said.count("inactive for longer than the lease: restoring everything and starting over") == 1
        assert session.step() is not None
        assert "began anew" in said
        step(world, session)
        assert not as_found(cluster)
    assert as_found(cluster)


def test_what_cannot_be_remembered_on_disk_is_not_changed(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_work(world, []) as session:
        step(world, session)
        cluster.add_node("c:1", 4096, 4)
        cluster.nodes["c:1"].used_memory_mb = 100
        with monkeypatch.context() as meanwhile:
            out_of_files(meanwhile, "write")
            assert session.step() is None
            assert sizes(cluster)["c:1"] == 4096
        step(world, session)
        step(world, session)
        assert desk_of_process(world).load() is not None
    assert sizes(cluster) == {**OWN, "c:1": 4096}


def test_a_watchdog_that_cannot_be_started_now_is_started_at_the_next_step(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with at_work(world, []) as session:
        step(world, session)
        (watchdog,) = world.watchdogs
        world.kill(watchdog)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(_Processes, "start", refusing(errno.ENFILE))
            assert session.step() is None
        assert session.step() is not None
        assert len(world.watchdogs) == 1
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(_Processes, "start", refusing(errno.ENOENT))
            with pytest.raises(RunRefused, match="no watchdog can be started") as caught:
                start_watchdog(desk_of_process(world), 5)
            assert not isinstance(caught.value, OutOfFiles)
    assert as_found(cluster)


def test_a_watchdog_that_cannot_read_its_baseline_now_does_not_think_that_its_work_is_done(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = ExitStack()
    step(world, opened.enter_context(at_work(world, [])))
    kill(world, opened)
    with monkeypatch.context() as meanwhile:
        out_of_files(meanwhile, "read")
        world.pass_s(5)
        assert not as_found(cluster)
        assert list(world.watchdogs) == ["watchdog 1"]
    world.pass_s(5)
    assert as_found(cluster)


def test_a_lock_that_cannot_be_asked_for_is_not_one_that_is_held(
    world: FakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", refusing(errno.EMFILE))
    with pytest.raises(OutOfFiles, match="lock: cannot be locked"), DISK.lock(tmp_path / "lock", "held"):
        pass
    monkeypatch.undo()
    monkeypatch.setattr(_Disk, "lock", lambda _, path, busy: DISK.lock(tmp_path / "none" / path.name, busy))
    monkeypatch.setattr(os, "open", refusing(errno.EMFILE))
    with pytest.raises(OutOfFiles):
        watchdog_lives(desk_of_process(world))


def test_a_controller_at_its_end_tries_again(
    world: FakeWorld, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    tries: list[str] = []
    really = _Disk.write

    def out_of_files_once(disk: _Disk, path: Path, data: bytes) -> None:
        tries.append(path.name)
        if len(tries) == 1:
            refusing(errno.EMFILE)()
        really(disk, path, data)

    with at_work(world, said) as session:
        step(world, session)
        cluster.nodes["a:1"].memory_mb = 9000  # by a person: what is left to them is written down
        monkeypatch.setattr(_Disk, "write", out_of_files_once)
    assert tries
    assert said[-1].startswith("restored and verified")
    assert sizes(cluster) == {**OWN, "a:1": 9000}


def test_the_dashboard_beside_it_goes_on(world: FakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "baseline.json").touch()
    board = Board("http://rm:8088", Desk(tmp_path), 15)
    monkeypatch.setattr(Disk, "read", refusing(errno.EMFILE))
    with at_work(world, []) as session:
        seen = session.step()
        assert seen is not None
        board.saw(seen.snapshot)
    assert board.news(0, -1)["nodes"]
