"""`heddle doctor --security`: who else on this machine could read, change or run what is heddle's."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from heddle.cli.doctor import OK, WEAK, WRONG, Finding
from heddle.cli.settings import SETTINGS_FILE
from heddle.model.access import read_by_others, why_not_ours

_PROC: Final = Path("/proc")
_LEVER_FILE: Final = re.compile(r"([^\s+()]+\.py):")
_PAGES: Final = {"--metrics-host": "metrics", "--host": "dashboard"}
_LOOPBACK: Final = "127.0.0.1"
_RESOURCE_MANAGER: Final = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
_SECRET_OPTIONS: Final = ("bridge_secret", "salt_file")


def security_findings() -> Iterator[Finding]:
    if os.geteuid() == 0:
        yield Finding("user", WEAK, "root: heddle needs root only for `yarn up --hosts`")
    yield from _state()
    yield from _cache()
    yield from _settings()
    yield from _tls()
    yield from _ticket()
    yield from _running()


def _state() -> Iterator[Finding]:
    from heddle.yarn.live.private_folders import state_folder
    from heddle.yarn.testbed.bridge.settings import SECRET_NAME

    root = state_folder().parent
    if not root.exists():
        yield Finding("state", OK, f"{root}: does not exist yet; it will be private")
        return
    folders = [root, *(path for path in root.rglob("*") if path.is_dir() and len(path.relative_to(root).parts) <= 3)]
    open_ones = [f"{path} {why}" for path in folders if (why := why_not_ours(path) or _readable(path))]
    yield _all_of("state", open_ones, f"{root}: {len(folders)} folders, closed to others")
    secrets = list(root.rglob(SECRET_NAME))
    yield from (_secret(path) for path in secrets if path.is_file())


def _readable(path: Path) -> str | None:
    return "can be read by others (the next command that uses it closes it)" if read_by_others(path) else None


def _cache() -> Iterator[Finding]:
    from heddle.model.code_folders import cache_folder

    folder = cache_folder()
    if folder.exists():
        inside = [folder.resolve(), *(path for path in folder.resolve().iterdir() if path.is_dir())]
        theirs = [f"{path} {why}" for path in inside if (why := why_not_ours(path))]
        yield _all_of("cache", theirs, f"{folder}: compiled code that nobody else can have written")


def _settings() -> Iterator[Finding]:
    from heddle.cli.settings import read_settings_file

    path = Path(SETTINGS_FILE)
    if not path.is_file():
        return
    _, said = read_settings_file(None)  # one that is not ours has ended the command before it came here
    yield Finding("settings", OK, f"{SETTINGS_FILE} of this folder is yours")
    for name, value in _leaves(said):
        if name.replace("-", "_") in _SECRET_OPTIONS and Path(str(value)).is_file():
            yield _secret(Path(str(value)))
        if what := _PAGES.get(f"--{name.replace('_', '-')}"):
            yield _offered(what, str(value), f"{SETTINGS_FILE}: {name}")
        if name == "rm":
            yield _address(str(value), SETTINGS_FILE)
        for file in _LEVER_FILE.findall(str(value)):
            if Path(file).is_file():
                why = why_not_ours(Path(file).resolve())
                detail = f"{file} {why}, and it is code" if why else f"{file}: code that runs as you, and yours"
                yield Finding("lever", WRONG if why else OK, detail)


def _leaves(said: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(said, dict):
        for key, value in said.items():
            yield from _leaves(value, key)
    elif isinstance(said, list):
        for value in said:
            yield from _leaves(value, name)
    else:
        yield name, said


def _tls() -> Iterator[Finding]:
    context = ssl.create_default_context()
    checked = context.verify_mode == ssl.CERT_REQUIRED and context.check_hostname
    state, words = (OK, "certificates and names are checked") if checked else (WRONG, "certificates are NOT checked")
    yield Finding("TLS", state, f"{words}, from {context.minimum_version.name.replace('v', ' ').replace('_', '.')} on")
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        named = os.environ.get(variable)
        if named is None:
            continue
        path = Path(named)
        if not path.exists():
            yield Finding(variable, WRONG, f"{path} is not there: no certificate can be checked")
        elif why := why_not_ours(path.resolve()):
            yield Finding(variable, WRONG, f"{path} {why}: it decides whom heddle trusts")
        else:
            yield Finding(variable, OK, f"{path}: whom heddle trusts, and yours")


def _ticket() -> Iterator[Finding]:
    named = os.environ.get("KRB5CCNAME", f"FILE:/tmp/krb5cc_{os.geteuid()}")
    path = Path(named.removeprefix("FILE:"))
    if ":" not in named.removeprefix("FILE:") and path.is_file():
        yield _secret(path)


def _running() -> Iterator[Finding]:
    """Commands of ours that run now, by their arguments; and clusters of `heddle yarn up`."""
    for number, words in _our_processes():
        where = f"process {number}"
        if _RESOURCE_MANAGER in words:
            detail = f"{where}: a ResourceManager without passwords: every user of this machine can run programs as you"
            yield Finding("local cluster", WEAK, detail)
        if not any(Path(word).name == "heddle" for word in words):
            continue
        given = dict(pairwise(words)) | dict(word.split("=", 1) for word in words if "=" in word)
        if "--metrics-port" in given:
            yield _offered("metrics", given.get("--metrics-host", _LOOPBACK), where)
        if "dashboard" in words or "--dashboard" in words:
            yield _offered("dashboard", given.get("--host", _LOOPBACK), where)
        if "--rm" in given:
            yield _address(given["--rm"], where)
        if given.get("--on", "").startswith("dask"):
            detail = f"{where}: {given['--on']}: whoever can connect to its scheduler or workers can run code as you"
            yield Finding("Dask", WEAK, detail)


def _our_processes() -> Iterator[tuple[str, list[str]]]:
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                yield entry.name, (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:  # ended meanwhile
            continue


def _offered(what: str, host: str, where: str) -> Finding:
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = host == "localhost"
    if inside:
        return Finding(what, OK, f"{where}: on {host}, for this machine alone")
    if what == "dashboard":
        return Finding(what, WEAK, f"{where}: on {host}, over plain HTTP: anyone on the path can read its token")
    return Finding(what, WEAK, f"{where}: on {host}: anyone who can reach it can read nodes' names and use")


def _address(rm: str, where: str) -> Finding:
    plain = [one for one in rm.split(",") if not one.strip().startswith("https://")]
    if not plain:
        return Finding("ResourceManager", OK, f"{where}: over TLS")
    return Finding(
        "ResourceManager", WEAK, f"{where}: over plain HTTP: anyone on the path can read and change the traffic"
    )


def _secret(path: Path) -> Finding:
    if read_by_others(path):
        return Finding("secret", WRONG, f"{path} can be read by others: chmod 600")
    return Finding("secret", OK, f"{path}: readable by its owner alone")


def _all_of(what: str, wrong: list[str], well: str) -> Finding:
    return Finding(what, WRONG, "; ".join(wrong)) if wrong else Finding(what, OK, well)
