"""A process that submits one application and then may go on to wait for it. The id that it got is in its log."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_SUBMITTED: Final = re.compile(r"Submitted application (application_\d+_\d+)")
_THROWN: Final = re.compile(r"Exception in thread|\S+(Exception|Error):")
_EXCERPT: Final = 400  # characters of a log that go into a message


class ClientProcess:
    """One running client. Ask it for its application's id until it has one. `what` names it where it fails."""

    def __init__(
        self, what: str, command: Sequence[str | Path], environment: Mapping[str, str], work: Path, log: Path
    ) -> None:
        self._what, self._log = what, log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=work, env=environment
            )

    def app_id(self) -> str | None:
        found = _SUBMITTED.search(self._said())
        return found[1] if found else None

    def failed(self) -> str | None:
        """Why there will never be an application."""
        if self._process.poll() is None or self.app_id():
            return None
        lines = self._said().splitlines()
        thrown = next((line for line in lines if _THROWN.match(line)), "\n".join(lines[-3:]))
        return f"{self._what} ended with {self._process.returncode}: {thrown[:_EXCERPT]}"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def _said(self) -> str:
        return self._log.read_text(errors="replace")
