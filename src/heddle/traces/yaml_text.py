"""YAML from anybody, with what its parser lets pass: keys that are given twice, and files that mean to never end.

A few lines of aliases of aliases stand for billions of values, which a merge (`<<`) writes out while it reads and
everybody else when they walk through. Python also takes ages for a number of a million digits.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import yaml

from heddle.model.errors import BadInput
from heddle.model.nested_text import DEEPEST, TOO_DEEP, is_too_deep

from .problems import Problems

MOST_VALUES: Final = 1_000_000  # with aliases written out, or
TIMES_WHAT_IS_WRITTEN: Final = 10  # as many as in the file, where that is more
LONGEST_NUMBER: Final = 100  # characters
_DEEPER: Final = f"values more than {DEEPEST} deep in others"
# Each value in a block stands further right than what it is in, so that this bounds how deep blocks can be: libyaml
# follows them on a stack that ends somewhere.
_INDENTED: Final = re.compile(r"^(?:[ \t]|[-?:][ \t]){2000}", re.MULTILINE)
_Loader: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where PyYAML has it: six times as fast
_NUMBERS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def from_yaml(content: str, problems: Problems) -> Any:
    """As yaml.safe_load. A key given twice is added to the problems; what cannot be read is raised as BadInput."""
    try:
        if is_too_deep(content):
            raise ValueError(TOO_DEEP)
        if _INDENTED.search(content):
            raise ValueError(_DEEPER)
        loader = _Loader(content)
        try:
            top = loader.get_single_node()
            if top is None:
                return None
            _Values(problems).check(top)
            return loader.construct_document(top)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        row = None if error.problem_mark is None else error.problem_mark.line + 1
        raise BadInput.of(problems.where, f"not YAML: {error.problem or error.context}", row=row) from None
    except RecursionError:
        raise BadInput.of(problems.where, f"not YAML: {_DEEPER}") from None
    except (ValueError, yaml.YAMLError) as error:  # such as a date in month 13
        raise BadInput.of(problems.where, f"not YAML: {error}") from None
    except (ArithmeticError, AttributeError, LookupError) as error:  # such as `!!int ""`, or `!!bool x`
        what = f"not YAML: a value is not of the type that it is said to have ({type(error).__name__})"
        raise BadInput.of(problems.where, what) from None


class _Extent(NamedTuple):
    """With aliases written out."""

    size: int
    depth: int


class _Values:
    """What a document holds, before anything is made of it."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._extents: dict[yaml.Node, _Extent | None] = {}  # None inside of itself

    def check(self, top: yaml.Node) -> None:
        size, depth = self._extent(top)
        if depth > DEEPEST:
            raise ValueError(_DEEPER)
        most = max(MOST_VALUES, TIMES_WHAT_IS_WRITTEN * len(self._extents))
        if size > most:
            raise ValueError(f"its aliases stand for {size:,} values, and {most:,} are the most")

    def _extent(self, node: yaml.Node) -> _Extent:
        if node not in self._extents:
            self._extents[node] = None
            inside = [self._extent(one) for one in self._inside(node)]
            self._extents[node] = _Extent(
                1 + sum(one.size for one in inside), 1 + max((one.depth for one in inside), default=0)
            )
        extent = self._extents[node]
        if extent is None:
            raise self._wrong(node, "an alias stands for something that it is part of")
        return extent

    def _inside(self, node: yaml.Node) -> list[yaml.Node]:
        if isinstance(node, yaml.MappingNode):
            self._report_repeated(node)
            return [one for pair in node.value for one in pair]
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise self._wrong(node, f"a number of {len(node.value):,} characters")
        return []

    def _report_repeated(self, mapping: yaml.MappingNode) -> None:
        """YAML lets the last one win, silently."""
        names = set()
        for key, _ in mapping.value:
            name = str(key.value)
            if name in names:
                row = key.start_mark.line + 1
                self._problems.add("the key is given twice in one mapping", row=row, field=name)
            names.add(name)

    def _wrong(self, node: yaml.Node, what: str) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(problem=what, problem_mark=node.start_mark)
