"""Constants: every one has an origin and is used, and the hash is of the file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import heddle.reproduce
from heddle.reproduce.constants import parse_constants, read_constants

FOLDER = Path(heddle.reproduce.__file__).parent
PAPERS = sorted(path.stem for path in (FOLDER / "constants").glob("*.toml"))


@pytest.mark.parametrize("paper", PAPERS)
def test_hash_is_of_the_file(paper: str) -> None:
    data = (FOLDER / "constants" / f"{paper}.toml").read_bytes()
    assert read_constants(paper).hash == hashlib.sha256(data).hexdigest()[:16]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_constant_is_used(paper: str) -> None:
    """A constant that nothing reads would be documented and mean nothing."""
    sources = "".join(path.read_text() for path in (FOLDER / paper.replace("-", "_")).rglob("*.py"))
    sources += "".join((FOLDER / name).read_text() for name in ("lab.py", "yarn_cluster.py"))
    for name in read_constants(paper).values:
        group, _, last = name.rpartition(".")
        by_name = re.search(rf'["\'.]{re.escape(last)}["\']', sources) is not None
        assert by_name or f'of("{group}")' in sources, f"{paper}.toml: nothing reads {name}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a]\nvalue = 1\n", "a needs `value` and `from`"),
        ('[a]\nvalue = 1\nfrom = " "\n', "a needs"),
        ('[a.b]\nvalue = 1\nfrom = "x"\nunit = "s"\n', "a.b needs"),
        ("a = 1\n", "a stands alone"),
    ],
)
def test_a_constant_without_origin_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_constants("paper", text.encode())


def test_names_are_dotted() -> None:
    read = parse_constants("paper", b'[a.b]\nvalue = [1, 2]\nfrom = "x"\n[a.c]\nvalue = 2\nfrom = "y"\n')
    assert read["a.b"] == [1, 2]
    assert read.of("a") == {"b": [1, 2], "c": 2}
    assert read.origins == {"a.b": "x", "a.c": "y"}
