"""How a generator documents its parameters: as annotations of the arguments of `make`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heddle.model.workload import Workload


@dataclass(frozen=True)
class Says:
    """What a parameter means, and its bounds: `Annotated[int, Says("number of jobs", low=1)]`."""

    what: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter as shown to users."""

    name: str
    kind: type  # int, float or bool
    default: int | float | bool
    what: str
    low: float | None
    high: float | None


def parameters_of(make: Callable[..., Workload]) -> tuple[Parameter, ...]:
    """All keyword parameters of a generator, from its signature."""
    found = []
    for argument in inspect.signature(make, eval_str=True).parameters.values():
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        annotation: Any = argument.annotation
        (says,) = annotation.__metadata__
        found.append(Parameter(argument.name, annotation.__origin__, argument.default, says.what, says.low, says.high))
    return tuple(found)


def origin(generator: str, seed: int, **parameters: int | float | bool) -> dict[str, Any]:
    """What a generated workload says about where it comes from."""
    return {"generator": generator, "seed": seed, "parameters": parameters}
