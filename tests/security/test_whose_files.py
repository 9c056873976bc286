"""What others can read, have written or have put a link in the way of."""

import os
import stat
import sys
from pathlib import Path

import pytest

from dashboard.showing_up import controller
from heddle.cli.main import run
from heddle.dashboard.controls import PAUSE, ask
from heddle.model import code_folders
from heddle.model.access import make_folders
from heddle.model.errors import BadInput, RunRefused
from heddle.model.whole_files import write_whole
from heddle.tune.journal import TRIALS
from heddle.tune.journal import Journal as Trials
from heddle.tune.trial import Tried
from heddle.yarn.live.bridge.endpoint import read_secret
from heddle.yarn.live.files import DISK
from heddle.yarn.live.private_folders import private_folder, state_folder
from heddle.yarn.live.steering.desk import Desk, desk_of
from heddle.yarn.live.steering.watchdog import start_watchdog
from heddle.yarn.live.world import OwnProcesses
from heddle.yarn.observe.journal import Journal
from heddle.yarn.testbed.bridge.settings import SECRET_NAME, lay_out
from yarn_steering.watching import wait_for

SOMEBODY_ELSE = 54_321


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def heddles_own(folder: Path) -> list[Path]:
    return [folder, *(above for above in folder.parents if "heddle" in above.relative_to("/").parts)]


def test_state_folders_are_private_whatever_the_umask() -> None:
    before = os.umask(0)
    try:
        folder = desk_of("http://rm:8088").folder
    finally:
        os.umask(before)
    own = heddles_own(folder)
    assert len(own) == 4
    assert {mode(path) for path in own} == {0o700}


def test_a_state_folder_of_an_earlier_version_is_closed() -> None:
    state_folder().mkdir(parents=True)
    state_folder().chmod(0o755)
    private_folder("steer")
    assert mode(state_folder()) == 0o700


def test_a_state_folder_that_everybody_can_write_is_refused() -> None:
    state_folder().mkdir(parents=True)
    state_folder().chmod(0o777)
    with pytest.raises(RunRefused, match="is writable by everyone"):
        desk_of("http://rm:8088")


def test_a_state_folder_of_somebody_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    private_folder("steer")
    if os.geteuid() == 0:
        os.chown(state_folder(), SOMEBODY_ELSE, SOMEBODY_ELSE)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY_ELSE)
    with pytest.raises(RunRefused, match="belongs to another user"):
        desk_of("http://rm:8088")


def test_a_state_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    state_folder().parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    state_folder().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunRefused, match="symbolic link"):
        desk_of("http://rm:8088")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_links_are_not_followed_by_what_steering_writes(tmp_path: Path) -> None:
    precious, link = tmp_path / "precious", tmp_path / "link"
    precious.write_text("precious")
    link.symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        DISK.overwrite(link, b"x")
    with pytest.raises(OSError, match="symbolic link"):
        DISK.extend(link, 0, b"x")
    with pytest.raises(RunRefused, match="symbolic link"), DISK.lock(link, "busy"):
        pass
    with pytest.raises(RunRefused, match="symbolic link"):
        Journal(link)
    assert precious.read_text() == "precious"


def test_links_are_not_followed_by_what_appends_or_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious, desk = tmp_path / "precious", Desk(tmp_path / "desk")
    precious.write_text("precious")
    desk.folder.mkdir()
    (desk.folder / "actions.log").symlink_to(precious)
    with controller(desk) as running, pytest.raises(RunRefused, match="symbolic link"):
        ask(desk, PAUSE, running.name, "here")
    assert not desk.paused, "what cannot be logged is not done"

    (desk.folder / "watchdog.log").symlink_to(precious)
    with pytest.raises(RunRefused, match=r"no watchdog can be started .*symbolic link"):
        start_watchdog(desk, 5)

    trials = Trials(tmp_path / "trials")
    (tmp_path / "trials" / TRIALS).symlink_to(precious)
    with pytest.raises(BadInput, match="symbolic link"):
        trials.put([Tried("key", stalled=False, failed_jobs=0, values=())])

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    make_folders(code_folders.engine_folder(), 0o755)
    (code_folders.engine_folder() / "compiling").symlink_to(precious)
    with pytest.raises(RunRefused, match="symbolic link"), code_folders.compiling_alone():
        pass
    assert precious.read_text() == "precious"


def test_what_a_watchdog_says_goes_to_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    OwnProcesses().start([sys.executable, "-c", "import sys; print('one'); print('two', file=sys.stderr)"], log)
    wait_for(lambda: len(log.read_text().split()) == 3, within_s=60)
    assert set(log.read_text().split()) == {"before", "one", "two"}


def test_a_link_where_a_file_is_being_written_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name beside the target can be guessed."""
    precious, target = tmp_path / "precious", tmp_path / "report.html"
    precious.write_text("precious")
    monkeypatch.setattr("threading.get_ident", lambda: 1)
    (tmp_path / f".report.html.{os.getpid()}-1.partial").symlink_to(precious)
    write_whole(target, "new")
    target.unlink()
    target.symlink_to(precious)
    write_whole(target, "new")
    assert (precious.read_text(), target.read_text()) == ("precious", "new")


def test_the_bridges_secret_is_private_and_refused_when_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "jar").write_bytes(b"jar")
    before = os.umask(0)
    try:
        lay_out(tmp_path / "bridge", tmp_path / "jar")
    finally:
        os.umask(before)
    secret = tmp_path / "bridge" / SECRET_NAME
    assert mode(secret) == 0o600
    assert len(read_secret(secret)) == 64
    secret.chmod(0o640)
    with pytest.raises(BadInput, match="chmod 600"):
        read_secret(secret)


def test_settings_that_somebody_else_put_here_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They can name a lever's file, which is code."""
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "heddle.toml"
    settings.write_text("quiet = true\n")
    settings.chmod(0o666)
    assert run(["policies"]) == 2
    assert "use --config heddle.toml to read it anyway" in capsys.readouterr().err
    assert run(["--config", "heddle.toml", "policies"]) == 0


def test_compiled_code_that_others_may_have_written_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    make_folders(folder, 0o755)
    code_folders.refuse_others(folder)
    folder.chmod(0o777)
    code_folders.refuse_others.cache_clear()
    with pytest.raises(RunRefused, match="NUMBA_CACHE_DIR"):
        code_folders.refuse_others(folder)
