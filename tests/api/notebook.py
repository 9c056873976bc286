"""Runs a notebook's cells in one namespace and notes what a notebook would show: no Jupyter needed.

`python -m api.notebook docs/tutorial.ipynb` in tests/ writes the outputs into the file.
"""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def execute(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The code cells with fresh outputs; an error of a cell is the caller's."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(tree, f"cell {number}", "exec"), names)
            shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names) if last else None
        cell["execution_count"] = number
        cell["outputs"] = []
        if printed.getvalue():
            lines = printed.getvalue().splitlines(keepends=True)
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": lines})
        if shown is not None:
            data = {"text/plain": repr(shown).splitlines(keepends=True)}
            if hasattr(shown, "_repr_html_"):
                data["text/html"] = shown._repr_html_().splitlines(keepends=True)
            result = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}
            cell["outputs"].append(result)
    return cells


if __name__ == "__main__":
    path = Path(sys.argv[1])
    document = json.loads(path.read_text())
    execute(document)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
