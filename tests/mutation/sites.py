"""Where a source can be made wrong by one swapped operator, and the source with it.

A mutant is named by its function, the change, and how many of the same come before it in there: so its name and its
place in the sample stay the same when other functions change.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

SWAPS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
NEGATION = "not"
Place = tuple[int, int]  # line, column


@dataclass(frozen=True)
class Mutant:
    file: str  # from the top of the repository
    function: str
    number: int  # among the same changes in this function
    was: str
    becomes: str
    begin: Place
    end: Place

    @property
    def name(self) -> str:
        return f"{self.file}:{self.function}:{self.was} -> {self.becomes or 'nothing'}:{self.number}"

    def rank(self, seed: int) -> str:
        """Its place in the sample."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()

    def applied(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        (first, begin), (last, end) = self.begin, self.end
        before, after = lines[first - 1][:begin], lines[last - 1][end:]
        return "".join([*lines[: first - 1], before + self.becomes + after, *lines[last:]])


def mutants_of(file: Path, top: Path) -> list[Mutant]:
    text = file.read_text(encoding="utf-8")
    name, counted = str(file.relative_to(top)), Counter[tuple[str, str, str]]()
    found = []
    for function, was, becomes, begin, end in sorted(_swaps(text), key=lambda swap: swap[3:]):
        kind = function, was, becomes
        found.append(Mutant(name, function, counted[kind], was, becomes, begin, end))
        counted[kind] += 1
    return found


def _swaps(text: str) -> Iterator[tuple[str, str, str, Place, Place]]:
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.COMMENT]
    tree = ast.parse(text)
    for node, function in _code(tree, ""):
        swapped: list[tuple[ast.AST, ast.expr, ast.expr]]
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            swapped = list(zip(node.ops, operands, node.comparators, strict=False))
        elif isinstance(node, ast.BinOp):
            swapped = [(node.op, node.left, node.right)]
        elif isinstance(node, ast.BoolOp):
            swapped = [(node.op, *pair) for pair in zip(node.values, node.values[1:], strict=False)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            line, column = node.lineno, node.col_offset
            yield function, NEGATION, "", (line, column), (line, column + len("not "))
            continue
        else:
            continue
        for op, left, right in swapped:
            if type(op) in SWAPS:
                was, becomes = SWAPS[type(op)]
                yield function, was, becomes, *_between(tokens, left, right, was)


def _between(tokens: list[tokenize.TokenInfo], left: ast.AST, right: ast.AST, was: str) -> tuple[Place, Place]:
    """Where the operator stands: between its operands, apart from brackets and line ends."""
    begin, end = (left.end_lineno, left.end_col_offset), (right.lineno, right.col_offset)  # type: ignore[attr-defined]
    words, first = was.split(), bisect_left(tokens, begin, key=lambda token: token.start)
    inside = [token for token in takewhile(lambda token: token.end <= end, tokens[first:]) if token.string in words]
    return inside[0].start, inside[-1].end


def _code(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """What runs, with the function that it is in: not annotations, nor what only a type checker sees; nor what is put
    into texts, of which the tokens of Python 3.11 say nothing."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = f"{function}.{node.name}".lstrip(".")
    yield node, function
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr) and not _is_typing(child):
                yield from _code(child, function)


def _is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
