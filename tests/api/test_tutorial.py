"""The tutorial notebook runs from top to bottom, and its stored outputs are what it gives."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import polars as pl

from api.notebook import execute

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


def test_the_tutorial_runs_and_shows_what_it_says() -> None:
    notebook = json.loads(TUTORIAL.read_text())
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with pl.Config():  # the notebook sets how frames are drawn
        fresh = [cell["outputs"] for cell in execute(deepcopy(notebook))]
    assert sum(bool(outputs) for outputs in fresh) >= 8
    assert [[one["output_type"] for one in outputs] for outputs in stored] == [
        [one["output_type"] for one in outputs] for outputs in fresh
    ]
    for before, now in zip(stored, fresh, strict=True):
        for old, new in zip(before, now, strict=True):
            text = "".join(new.get("data", {}).get("text/plain", ()))
            if text.startswith("<"):  # heddle's own words; how Polars draws a frame is Polars' business
                assert "".join(old["data"]["text/plain"]) == text, "run `python -m api.notebook ...` (api/notebook.py)"
