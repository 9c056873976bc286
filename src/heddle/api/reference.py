"""docs/api-reference.md, made of the signatures and docstrings of what `import heddle` offers:

python -m heddle.api.reference > docs/api-reference.md
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import heddle

BEGINNING: Final = """\
# Python

What `import heddle` offers; the [guide](guide.md#8-from-python) and the [notebook](tutorial.ipynb) show it at work.
(Written by `python -m heddle.api.reference`.)
"""


def page() -> str:
    """The text of docs/api-reference.md."""
    offered = {name: getattr(heddle, name) for name in heddle.__all__}
    functions = [_function(name, one, "##") for name, one in offered.items() if inspect.isfunction(one)]
    classes = [_class(name, one) for name, one in offered.items() if inspect.isclass(one)]
    return "\n\n".join([BEGINNING.rstrip(), *functions, *classes]) + "\n"


def _class(name: str, one: type) -> str:
    parts = [f"## {name}", inspect.getdoc(one) or ""]
    for member, what in _members(one):
        if isinstance(what, property | cached_property):
            told = what.fget if isinstance(what, property) else what.func
            assert told is not None
            parts.append(f"- `{member}`: {_annotation(told)}".rstrip() + _told(told))
    parts += [_function(f"{name}.{member}", what, "###") for member, what in _members(one) if inspect.isfunction(what)]
    return "\n\n".join(part for part in parts if part)


def _members(one: type) -> Iterator[tuple[str, Any]]:
    """Its own public ones, in the order in which they are written."""
    for name, what in vars(one).items():
        if not name.startswith("_"):
            yield name, what.__func__ if isinstance(what, classmethod) else what


def _function(name: str, one: Any, level: str) -> str:
    signature = inspect.signature(one)
    given = list(_parameters(signature))
    line = f"{name}({', '.join(given)}) -> {signature.return_annotation}"
    if len(line) > 100:
        line = "\n".join([f"{name}(", *(f"    {one}," for one in given), f") -> {signature.return_annotation}"])
    return f"{level} {name}\n\n```python\n{line}\n```\n\n{inspect.getdoc(one) or ''}".rstrip()


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    starred = False
    for name, one in signature.parameters.items():
        if name in ("self", "cls"):
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield f"{name}: {one.annotation}" + ("" if one.default is one.empty else f" = {one.default!r}")


def _annotation(function: Any) -> str:
    return f"`{inspect.signature(function).return_annotation}`"


def _told(function: Any) -> str:
    text = " ".join((inspect.getdoc(function) or "").split())
    return f" - {text}" if text else ""


if __name__ == "__main__":
    print(page(), end="")
