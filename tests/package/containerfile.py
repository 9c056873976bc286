"""The commands of the Containerfile, without containers: a stage is a bare virtual environment, a path a folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def stages() -> list[list[str]]:
    """The lines of each stage, from FROM on."""
    lines = [line for line in (ROOT / "Containerfile").read_text().splitlines() if line and not line.startswith("#")]
    starts = [number for number, line in enumerate(lines) if line.startswith("FROM ")]
    return [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]


def build(stage: list[str], environment: Path, places: Mapping[str, Path]) -> dict[str, str]:
    """Run what a stage says in a new environment; the variables that it leaves behind.

    `places` says where the image's folders are here. COPY has nothing to do then, but for what it copies being there.
    """
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    kept = ("HOME", "XDG_CACHE_HOME", "LANG", "SSL_CERT_FILE")
    variables = {name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")}
    variables["PATH"] = f"{environment / 'bin'}:/usr/bin:/bin"
    for line in stage:
        word, _, rest = line.partition(" ")
        for place, here in places.items():
            rest = re.sub(rf"{re.escape(place)}\b", str(here), rest)
        if word == "RUN":
            done = subprocess.run(rest, shell=True, env=variables, cwd=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        elif word == "ENV":
            name, _, value = rest.partition("=")
            variables[name] = value
        else:
            assert word in ("FROM", "COPY", "WORKDIR", "ENTRYPOINT", "CMD"), f"{line}: not known here"
    return variables
