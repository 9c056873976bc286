"""A user's file with one lever, as tests write it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = """from heddle.model.view import *
from heddle.policy.lever import *

"""


@pytest.fixture
def lever(tmp_path: Path) -> Callable[[str], str]:
    """Writes a file that begins with HEAD; the policy that names its lever `mine`."""

    def write(text: str) -> str:
        path = tmp_path / "mine.py"
        path.write_text(HEAD + text)
        return f"{path}:mine"

    return write
