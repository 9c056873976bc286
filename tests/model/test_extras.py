"""What is missing is named in words that pip understands, without the name of another project on the index."""

import sys

import pytest

from heddle.cli.main import run
from heddle.model.extras import how_to_install


@pytest.mark.parametrize(("extra", "package"), [("optimum", "ortools"), ("spark", "pyspark"), ("kerberos", "gssapi")])
def test_extras_are_named_by_what_they_are(extra: str, package: str) -> None:
    assert how_to_install(extra).startswith(f"pip install '{package}")
    assert "heddle" not in how_to_install(extra)


def test_what_every_run_needs() -> None:
    assert "'numba" in how_to_install("")
    assert "ortools" not in how_to_install("")
    assert "heddle" not in how_to_install("yarn")


def test_a_command_without_its_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("ortools", "ortools.sat", "ortools.sat.python"):
        monkeypatch.setitem(sys.modules, module, None)
    assert run(["bound", "burst(jobs=2)", "--optimum"]) == 2
    assert "pip install 'ortools>=" in capsys.readouterr().err
