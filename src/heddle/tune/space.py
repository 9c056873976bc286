"""What `tune` may choose: for each question of a policy some levers, for each of their parameters a few values.

Values are grids, in order, so that a candidate has neighbours and can be met again. Levers that know the future are
not among them, and queues are not searched: which scheduler a cluster runs is not for a controller to change.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from heddle.model.cluster import Cluster
from heddle.model.errors import RunRefused
from heddle.model.workload import NO_SEGMENTS, Workload
from heddle.policy.lever import Question
from heddle.policy.parameter import Value, literal
from heddle.policy.parse import parse_policy
from heddle.policy.presets import LEVERS, PRESETS
from heddle.run import Executor, check_executor
from heddle.yarn.live.levers import YOUNG_MS, charging_young


@dataclass(frozen=True)
class Option:
    """A lever with the values of its parameters that are tried; the first of each is where the search begins."""

    lever: str
    grids: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.lever)


OPTIONS: Final[Mapping[Question, tuple[Option, ...]]] = {
    Question.SIZING: (
        Option(
            "usage-feedback",
            {
                "damping": (0.125, 0.03, 0.06, 0.25, 0.5, 1.0),
                "young_reports": (10, 0, 2, 30),
                "forget": (False, True),
            },
        ),
        Option("n-sigma", {"n": (5.0, 2.0, 3.0, 8.0), "samples": (24, 8, 16, 32)}),
        Option("borg-default", {"fraction": (0.9, 0.6, 0.7, 0.8, 0.95)}),
    ),
    Question.ADMISSION: (
        Option("admission-control", {"backlog": ("unbounded", 0.5, 0.75, 1.0, 1.5, 2.0)}),
        Option("am-share", {"percent": (0.1, 0.05, 0.2, 0.3, 0.5)}),
    ),
    Question.PARTITION: (
        Option("dress-pools", {"theta": (0.1, 0.05, 0.2), "initial_share": (0.1, 0.05, 0.2)}),
        Option("small-pool", {"share": (0.1, 0.05, 0.2), "theta": (0.1, 0.05, 0.2)}),
    ),
    Question.ORDERING: (Option("smallest-first"), Option("haste"), Option("haste-a"), Option("ffd-dp")),
    Question.PLACEMENT: (
        Option("best-fit"), Option("network-aware"), Option("delay-locality", {"wait_s": (3.0, 1.0, 10.0)}),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """One lever of a candidate, with its parameters."""

    option: Option
    values: tuple[tuple[str, Value], ...]

    @classmethod
    def first(cls, option: Option) -> Choice:
        return cls(option, tuple((name, grid[0]) for name, grid in option.grids.items()))

    def having(self, name: str, value: Value) -> Choice:
        """The same with another value of one parameter."""
        return Choice(self.option, tuple((key, value if key == name else was) for key, was in self.values))

    def __str__(self) -> str:
        """As a user would write it: without what is the default anyway."""
        default = {one.name: one.default for one in LEVERS[self.option.lever].parameters}
        inside = ", ".join(f"{name}={literal(value)}" for name, value in self.values if value != default[name])
        return f"{self.option.lever}({inside})" if inside else self.option.lever


@dataclass(frozen=True)
class Candidate:
    """The present policy with some of its levers replaced; without any, the present policy itself."""

    choices: tuple[tuple[Question, Choice], ...] = ()  # in the order of Question

    @classmethod
    def of(cls, choices: Mapping[Question, Choice]) -> Candidate:
        return cls(tuple((question, choices[question]) for question in Question if question in choices))

    @property
    def by_question(self) -> dict[Question, Choice]:
        return dict(self.choices)

    def policy(self, present: str) -> str:
        """As a user would write it."""
        return "+".join([present, *(str(choice) for _, choice in self.choices)])


@dataclass(frozen=True)
class NotSearched:
    """An option that cannot act on this cluster, and why."""

    lever: str
    why: str


@dataclass(frozen=True)
class Space:
    """What is searched around a present policy."""

    present: str
    options: Mapping[Question, tuple[Option, ...]]
    not_searched: tuple[NotSearched, ...]

    @property
    def size(self) -> int:
        """How many candidates there are."""
        total = 1
        for options in self.options.values():
            total *= 1 + sum(_combinations(option) for option in options)
        return total

    def single(self) -> Iterator[Candidate]:
        """Every lever alone, with its first values."""
        for question, options in self.options.items():
            for option in options:
                yield Candidate.of({question: Choice.first(option)})

    def woven(self) -> Candidate:
        """The preset weave, or as much of it as can act here."""
        chosen: dict[Question, Choice] = {}
        for lever in PRESETS["weave"]:
            option = next((one for one in self.options.get(lever.question, ()) if one.lever == lever.name), None)
            if option is not None:
                grids = option.grids.items()
                values = {name: lever.parameter(name) for name, _ in grids}
                here = tuple((name, values[name] if values[name] in grid else grid[0]) for name, grid in grids)
                chosen[lever.question] = Choice(option, here)
        return Candidate.of(chosen)

    def screened(self) -> list[Candidate]:
        """weave, and every lever alone: with its first values, and with each parameter at either end of its grid."""
        found = [self.woven(), *self.single()]
        for question, options in self.options.items():
            for option in options:
                for name, grid in option.grids.items():
                    ends = (min(grid, key=_in_order), max(grid, key=_in_order))
                    found += [Candidate.of({question: Choice.first(option).having(name, end)}) for end in ends]
        return [one for one in dict.fromkeys(found) if one.choices]

    def neighbours(self, candidate: Candidate) -> list[Candidate]:
        """One lever taken up, dropped or replaced, or one parameter moved by one place of its grid."""
        found: list[Candidate] = []
        chosen = candidate.by_question
        for question, options in self.options.items():
            now = chosen.get(question)
            others = {key: one for key, one in chosen.items() if key is not question}
            if now is not None:
                found.append(Candidate.of(others))
                found += [Candidate.of(others | {question: moved}) for moved in _moved(now)]
            found += [
                Candidate.of(others | {question: Choice.first(option)})
                for option in options
                if now is None or now.option != option
            ]
        return list(dict.fromkeys(found))

    def anywhere(self, chance: np.random.Generator) -> Candidate:
        """Any candidate: each question is left alone half of the time, else gets any lever with any values."""
        chosen: dict[Question, Choice] = {}
        for question, options in self.options.items():
            if chance.random() < 0.5:
                continue
            option = options[chance.integers(len(options))]
            values = tuple((name, grid[chance.integers(len(grid))]) for name, grid in option.grids.items())
            chosen[question] = Choice(option, values)
        return Candidate.of(chosen)

    def joined(self, left: Candidate, right: Candidate) -> Candidate:
        """What both changed; where they differ, as the left one has it."""
        return Candidate.of(right.by_question | left.by_question)


def space_around(
    present: str,
    workload: Workload,
    cluster: Cluster,
    executor: Executor,
    options: Mapping[Question, tuple[Option, ...]] = OPTIONS,
) -> Space:
    """What this executor can bring about on this cluster; for each lever and value that it cannot, why not."""
    own = str(parse_policy(present))
    kept: dict[Question, tuple[Option, ...]] = {}
    refused: list[NotSearched] = []

    knows_use = bool((workload.tasks["first_segment"] != NO_SEGMENTS).any())

    def why_not(question: Question, choice: Choice) -> str:
        if question is Question.SIZING and not knows_use:
            return "no use is recorded, so nothing would show what promising more than there is breaks"
        policy = parse_policy(Candidate.of({question: choice}).policy(present))
        acting = charging_young(policy, YOUNG_MS, cluster.timing.usage_report_ms)
        if question is Question.SIZING and executor != "native" and acting != policy:
            return f"`steer` counts new containers in full for {YOUNG_MS / 1000:g} s at least"
        try:
            check_executor([policy], workload, cluster, executor)
        except RunRefused as error:
            return str(error)
        return ""

    for question, listed in options.items():
        here: list[Option] = []
        for option in listed:
            first = Choice.first(option)
            if why := why_not(question, first):
                refused.append(NotSearched(option.lever, why))
                continue
            grids: dict[str, tuple[Value, ...]] = {}
            for name, grid in option.grids.items():
                words = {value: why_not(question, first.having(name, value)) for value in grid}
                refused += [
                    NotSearched(f"{option.lever}({name}={literal(value)})", why) for value, why in words.items() if why
                ]
                grids[name] = tuple(value for value, why in words.items() if not why)
            able = Option(option.lever, grids)
            if _combinations(able) > 1 or str(parse_policy(Candidate.of({question: first}).policy(present))) != own:
                here.append(able)
        if here:
            kept[question] = tuple(here)
    return Space(present, kept, tuple(refused))


def _combinations(option: Option) -> int:
    total = 1
    for grid in option.grids.values():
        total *= len(grid)
    return total


def _moved(choice: Choice) -> Iterable[Choice]:
    """The same lever with one parameter at a neighbouring value of its grid, in order of size."""
    for name, value in choice.values:
        grid = sorted(choice.option.grids[name], key=_in_order)
        at = grid.index(value)
        for near in itertools.chain(grid[max(0, at - 1) : at], grid[at + 1 : at + 2]):
            yield choice.having(name, near)


def _in_order(value: Value) -> tuple[int, float]:
    """Numbers by size; words, which stand for no limit, after them."""
    return (1, 0.0) if isinstance(value, str) else (0, float(value))
