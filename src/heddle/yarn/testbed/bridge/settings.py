"""What a ResourceManager must have to load the bridge: a folder with the jar and the secret, and these settings."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Final

from heddle.model.whole_files import or_bad_input, whole_file

JAR_NAME: Final = "heddle-bridge.jar"
SECRET_NAME: Final = "secret"
ALLOCATOR_SETTING: Final = "yarn.scheduler.app-placement-allocator.class"
FILTERS_SETTING: Final = "hadoop.http.filter.initializers"
SECRET_SETTING: Final = "heddle.bridge.secret-file"
ALLOCATOR: Final = "heddle.bridge.BridgeAllocator"
ENDPOINT: Final = "heddle.bridge.BridgeEndpoint"
# The ResourceManager puts its own authentication in front only where nothing, or the second alone, is set.
_FILTERS: Final = (
    "org.apache.hadoop.yarn.server.security.http.RMAuthenticationFilterInitializer",
    "org.apache.hadoop.http.lib.StaticUserWebFilter",
)


def rm_settings(folder: Path, filters: tuple[str, ...] = _FILTERS) -> dict[str, str]:
    """Of the ResourceManager alone. `filters`: those that it has without us."""
    return {
        ALLOCATOR_SETTING: ALLOCATOR,
        FILTERS_SETTING: ",".join([*(one for one in filters if one != ENDPOINT), ENDPOINT]),
        SECRET_SETTING: str(folder / SECRET_NAME),
    }


def lay_out(folder: Path, jar: Path) -> None:
    """The jar and, unless there is one, a secret that its owner alone can read."""
    with or_bad_input(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / JAR_NAME, durable=True) as fresh:
            shutil.copyfile(jar, fresh)
        secret = folder / SECRET_NAME
        if not secret.exists():
            with whole_file(secret, durable=True, mode=0o600) as fresh:
                fresh.write_text(secrets.token_hex(32) + "\n")


def how_to_install(folder: Path) -> str:
    """What is left to do, in words that can be copied."""
    settings = "\n".join(
        f"  <property><name>{name}</name><value>{value}</value></property>"
        for name, value in rm_settings(folder).items()
    )
    return f"""\
{folder / JAR_NAME} and {folder / SECRET_NAME} are written. On every ResourceManager, standbys first:

1. Put both into {folder}, owned by the ResourceManager's user; the secret with mode 600, the same on all of them.
2. In hadoop-env.sh or yarn-env.sh, for the ResourceManager only:
  export HADOOP_CLASSPATH="{folder / JAR_NAME}:$HADOOP_CLASSPATH"
3. In the yarn-site.xml of the ResourceManager only (a daemon without the jar does not start with the second of
   these; if {FILTERS_SETTING} is set already, add {ENDPOINT} at its end):
{settings}
4. Restart it. `heddle yarn bridge check` says when all of them have it. Until a leaf asks it, nothing changes.
5. `heddle yarn bridge install --leaf root.NAME` makes a leaf ask it."""


def how_to_remove() -> str:
    return (
        "To take it out for good, in this order: no leaf may name it, also not in capacity-scheduler.xml, or a"
        f" ResourceManager without the jar does not start; take {FILTERS_SETTING}, {ALLOCATOR_SETTING} and"
        f" {SECRET_SETTING} out of yarn-site.xml and restart each ResourceManager; only then delete the jar"
        " (`heddle yarn bridge remove --from FOLDER`)."
    )


def delete(folder: Path) -> None:
    """Jar and secret, and nothing else that is there."""
    with or_bad_input(folder, "cannot be deleted"):
        for name in (JAR_NAME, SECRET_NAME):
            (folder / name).unlink(missing_ok=True)
