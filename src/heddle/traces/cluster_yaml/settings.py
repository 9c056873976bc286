"""The flat parts of a cluster file: timing, physics, map_reduce, preemption, observation, faults.

One table per part says how each key of the file and each attribute of the model translate, in both directions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from heddle.model.cluster import (
    CPU_RULES,
    IDEAL,
    OOM_RULES,
    YARN,
    Faults,
    MapReduce,
    Observation,
    Physics,
    Preemption,
    Timing,
)
from heddle.traces.cluster_yaml.keys import Keys, one_of, scaled, truth

S = TypeVar("S", Timing, Physics, MapReduce, Preemption, Observation, Faults)
PROFILES = {"ideal": IDEAL, "yarn": YARN}


@dataclass(frozen=True)
class Setting:
    """One key of the file, and the attribute it sets; numbers are multiplied by `scale` on the way in."""

    key: str
    attribute: str
    convert: Callable[[Any], Any]
    scale: int = 1

    def shown(self, value: Any) -> Any:
        return value if isinstance(value, str | bool) else unscaled(value, self.scale)


def unscaled(value: int, scale: int) -> int | float:
    return value // scale if value % scale == 0 else value / scale


def _number(key: str, attribute: str = "", scale: int = 1, low: int = 0, high: int = 10**12) -> Setting:
    return Setting(key, attribute or key, scaled(scale, low=low, high=high), scale)


TIMING = (
    *(_number(field.name, high=10**9) for field in dataclasses.fields(Timing) if field.name != "heartbeat_at_end"),
    Setting("heartbeat_at_end", "heartbeat_at_end", truth),
)
PHYSICS = (
    Setting("oom", "oom", one_of(OOM_RULES)),
    Setting("cpu", "cpu", one_of(CPU_RULES)),
    Setting("pmem_check", "pmem_check", truth),
    _number("max_attempts", low=1, high=1000),
    _number("am_max_attempts", low=1, high=1000),
    _number("livelock_crashes", low=1, high=10**9),
)
MAP_REDUCE = (
    _number("ramp_up_limit_percent", "ramp_up_limit_permille", 10, high=1000),
    _number("preemption_limit_percent", "preemption_limit_permille", 10, high=1000),
    _number("no_headroom_delay_ms", high=10**9),
    _number("unconditional_delay_ms", high=10**9),
)
PREEMPTION = (
    _number("every_ms", high=10**9),
    _number("starved_ms", high=10**9),
    _number("round_percent", "round_permille", 10, high=1000),
)
OBSERVATION = (
    _number("poll_ms", high=3_600_000),
    _number("lag_ms", high=3_600_000),
    _number("loss_percent", "loss_permyriad", 100, high=10_000),
    _number("latency_ms", low=1, high=3_600_000),
)
FAULTS = (
    _number("node_mtbf_s", high=10**9),
    _number("node_repair_s", high=10**9),
    _number("task_failure_percent", "task_failure_permyriad", 100, high=10_000),
    _number("slow_nodes_percent", "slow_node_permille", 10, high=1000),
    _number("slow_speed", "slow_speed_permille", 1000, low=1, high=100_000),
)


def read_settings(keys: Keys, settings: tuple[Setting, ...], defaults: S) -> S:
    """The part of the model with what the file says in place of the defaults."""
    given = {
        setting.attribute: keys.take(setting.key, setting.convert, getattr(defaults, setting.attribute))
        for setting in settings
    }
    keys.done()
    return dataclasses.replace(defaults, **given)


def read_timing(top: Keys) -> Timing:
    """`ideal`, `yarn`, or a mapping; in a mapping `like: yarn` gives the values it does not mention."""
    if isinstance(top.data.get("timing"), str):
        return PROFILES[top.take("timing", one_of(tuple(PROFILES)), "ideal")]
    keys = top.below("timing")
    return read_settings(keys, TIMING, PROFILES[keys.take("like", one_of(tuple(PROFILES)), "ideal")])


def show_settings(settings: tuple[Setting, ...], value: S, defaults: S) -> dict[str, Any]:
    """The keys that differ from the defaults."""
    return {
        setting.key: setting.shown(getattr(value, setting.attribute))
        for setting in settings
        if getattr(value, setting.attribute) != getattr(defaults, setting.attribute)
    }
