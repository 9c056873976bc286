"""Mutants are what they say: one operator of code that runs, found again whatever changes elsewhere."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

from heddle.model.code_folders import engine_folder, levers_folder
from mutation import one_test, run
from mutation.carried import Contents, is_of_engine, piece_of
from mutation.equivalent import EQUIVALENT, Equivalent
from mutation.run import TOP, every_mutant, is_ahead, sample_of, summary
from mutation.sites import Mutant, mutants_of
from mutation.targets import ABOUT_TEXT, TARGETS, target_of

SOURCE = '''\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    NOTHING = 1 + 1


def first(a: int | None, b=(1 + 2)) -> "a + b":
    """a + b, not a < b"""
    if a is not None and (  # a < b and b
        a <= b[0] < 9
    ):
        return f"{a + 1}"
    return not a


class Kept:
    def second(self, a):
        return a not in (a - 1 - 2, "a - b")
'''


def mutants(text: str, folder: Path) -> list[Mutant]:
    file = folder / "source.py"
    file.write_text(text)
    return mutants_of(file, folder)


def test_every_operator_that_runs_is_swapped_once(tmp_path: Path) -> None:
    found = mutants(SOURCE, tmp_path)
    assert [mutant.name.removeprefix("source.py:") for mutant in found] == [
        "first:+ -> -:0",
        "first:is not -> is:0",
        "first:and -> or:0",
        "first:<= -> <:0",
        "first:< -> <=:0",
        "first:not -> nothing:0",
        "Kept.second:not in -> in:0",
        "Kept.second:- -> +:0",
        "Kept.second:- -> +:1",
    ]
    changed = {mutant.name: mutant.applied(SOURCE) for mutant in found}
    for text in changed.values():
        lines = zip(SOURCE.splitlines(), text.splitlines(), strict=True)
        assert sum(one != other for one, other in lines) == 1
        ast.parse(text)
    assert "if a is None and (  # a < b and b" in changed["source.py:first:is not -> is:0"]
    assert "if a is not None or (  # a < b and b" in changed["source.py:first:and -> or:0"]
    assert "        a < b[0] < 9" in changed["source.py:first:<= -> <:0"]
    assert "    return a\n" in changed["source.py:first:not -> nothing:0"]
    assert '(a - 1 + 2, "a - b")' in changed["source.py:Kept.second:- -> +:1"]


def test_what_changes_elsewhere_changes_no_name(tmp_path: Path) -> None:
    before = mutants(SOURCE, tmp_path)
    after = mutants("def new(a):\n    return a - 1\n\n\n" + SOURCE, tmp_path)
    assert {mutant.name for mutant in before} < {mutant.name for mutant in after}
    assert before[0].begin != after[1].begin
    assert before[0].rank(1) == after[1].rank(1) != before[0].rank(2)


def test_the_sample_is_of_these_sources() -> None:
    sample = sample_of(300, 22)
    assert sample[:50] == sample_of(50, 22)
    assert {target_of(mutant.file) for mutant in sample} == set(TARGETS)
    for mutant in sample[:60]:
        text = (TOP / mutant.file).read_text()
        assert ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))


def test_what_must_notice_is_there() -> None:
    for path in (*ABOUT_TEXT, *(test for target in TARGETS for test in target.tests)):
        assert (TOP / path).exists(), path


def test_what_is_said_to_be_equivalent_is_still_there() -> None:
    there = {mutant.name: line_of(mutant) for mutant in every_mutant() if mutant.name in EQUIVALENT}
    assert there == {name: one.line for name, one in EQUIVALENT.items()}, "look again whether these are equivalent"


def line_of(mutant: Mutant) -> str:
    return (TOP / mutant.file).read_text().splitlines()[mutant.begin[0] - 1].strip()


def test_the_score_counts_what_was_tried_on_this_source(monkeypatch: pytest.MonkeyPatch) -> None:
    killed, survived, same, changed, late = sample = sample_of(5, 22)
    verdicts = {
        mutant.name: {"mutant": mutant.name, "line": 1, "part": target_of(mutant.file).name, "verdict": verdict,
                      "source": run.digest(mutant)}
        for mutant, verdict in ((killed, "killed"), (survived, "survived"), (same, "survived"), (late, "out of time"))
    }  # fmt: skip
    verdicts[changed.name] = {**verdicts[killed.name], "mutant": changed.name, "source": "of yesterday"}
    monkeypatch.setitem(EQUIVALENT, same.name, Equivalent("as it is", "shown in the test"))
    assert [mutant for mutant in sample if is_ahead(mutant, verdicts, again=False)] == [changed]
    assert [mutant for mutant in sample if is_ahead(mutant, verdicts, again=True)] == [survived, changed]
    said = summary(sample, verdicts)
    assert "1 of 5 are equivalent. 3 of the others tried: 2 noticed (67%)" in said
    assert f"survived: {survived.name} (line 1)" in said
    assert same.name not in said


def test_no_test_may_take_much_longer_than_without_a_mutant(tmp_path: Path) -> None:
    took, test = tmp_path / "took.json", tmp_path / "test_of_a_mutant.py"
    busy = "from time import process_time\ndef test():\n    began_s = process_time()\n    while {}: pass\n"

    def run(condition: str, **told: str) -> int:
        test.write_text(busy.format(condition))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n0", "-p", one_test.__name__, "--rootdir", str(tmp_path), test],
            cwd=tmp_path, capture_output=True, check=False, timeout=300,
            env={**os.environ, "PYTHONPATH": str(TOP / "tests"), **told},
        ).returncode  # fmt: skip

    assert run("process_time() < began_s + 0.5", **{one_test.TOOK: str(took)}) == 0
    (taken_s,) = json.loads(took.read_text()).values()
    assert 0.5 <= taken_s < one_test.MORE_S
    twice = f"process_time() < began_s + {2 * taken_s}"
    assert run(twice, **{one_test.UNCHANGED: str(took)}) == 0
    took.write_text(json.dumps({"test_of_a_mutant.py::test": -0.3 * one_test.MORE_S}))  # a tenth of the limit is left
    assert run("True", **{one_test.UNCHANGED: str(took)}) == -signal.SIGPROF


def test_the_time_that_numba_takes_to_compile_does_not_count() -> None:
    clock, began_s = one_test.Clock(), process_time()
    signal.setitimer(signal.ITIMER_PROF, 100)
    try:
        clock.on_start(None)
        clock.on_start(None)  # what the first one calls
        while process_time() < began_s + 0.5:
            assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
        clock.on_end(None)
        clock.on_end(None)
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 99
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    assert clock.now_s() < process_time() - 0.4


def test_what_does_not_contain_a_mutant_is_carried_over(tmp_path: Path) -> None:
    contents = Contents(
        {"units/end": frozenset({"sim/a.py:end", "sim/a.py:helper"}), "units/begin": frozenset({"sim/a.py:begin"}),
         "sim_a/a.helper": frozenset({"sim/a.py:helper"}), "heddle.policy.levers.fifo.key": frozenset({"x"})},
        frozenset({"sim/a.py:declare"}),
    )  # fmt: skip
    files = (
        "cpu/resources-2/units/end.code", "cpu/resources-2/units/begin.code", "cpu/resources-2/complete", "compiling",
        "sim_a/a.helper-12.py311.nbi", "sim_a/a.helper-12.py311.1.nbc", "sim_a/a.unknown-1.py311.nbi",
        "cpu/heddle.policy.levers.fifo.key-0123456789ab.code",
    )  # fmt: skip
    for name in files:
        (tmp_path / "old" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / name).write_text(name)

    def mutant(function: str, file: str = "src/heddle/sim/a.py") -> Mutant:
        return Mutant(file, function, 0, "+", "-", (1, 0), (1, 1))

    def carried(function: str, file: str = "src/heddle/sim/a.py") -> set[str]:
        into = tmp_path / f"of {function} in {file.replace('/', '-')}"
        contents.carry(tmp_path / "old", into, mutant(function, file))
        return {str(path.relative_to(into)) for path in into.rglob("*") if path.is_file()}

    def compiled_with(function: str) -> set[str]:
        found = contents.pieces_with(mutant(function), [tmp_path / "old"])
        return {str(path.relative_to(tmp_path / "old")) for path in found}

    end, begin, hook = files[0], files[1], files[-1]
    assert compiled_with("helper") == {end, *files[4:6]}
    assert compiled_with("plain") == set()  # so it need not be compiled again
    assert carried("helper") == {begin, hook}  # neither the unit that calls it, nor itself, nor what nobody knows
    assert carried("plain") == {name for name in files if "unknown" not in name and name != "compiling"}
    assert carried("declare") == carried("") == carried("any", "src/heddle/sim/numba/units.py") == set()


def test_every_piece_of_compiled_code_is_known() -> None:
    """With all that it contains: else a mutant would run code of the unchanged sources."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.mutation.contents"], cwd=TOP, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": f"{TOP / 'src'}:{TOP}"},
    )  # fmt: skip
    contents = Contents.read(told.stdout)
    inside_engine = {name for piece, inside in contents.pieces.items() if is_of_engine(piece) for name in inside}
    assert compiled_functions() <= inside_engine
    assert contents.pieces["units/end"] < inside_engine
    files = [file for folder in (engine_folder(), levers_folder()) for file in folder.rglob("*.code")]
    assert not {piece_of(file) for file in files} - contents.pieces.keys()


def compiled_functions() -> set[str]:
    """What the engine's sources declare as compiled, as they stand there."""
    found = set()
    for file in (TOP / "src/heddle/sim").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
                if marks & {"compiled", "inlined", "unit"}:
                    found.add(f"{file.relative_to(TOP / 'src/heddle')}:{node.name}")
    return found
