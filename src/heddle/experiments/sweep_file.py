"""The file that describes a sweep: one YAML or TOML, read and checked as a whole before anything runs.

workloads: ["mix(jobs={jobs})"]        # built-in names or files; {words} are filled in from `parameters`
policies: [fifo, "drf+n-sigma(n={n})"]
clusters: [8x65536x24]                 # left out: what the workload suggests
loads: [0.8, 1.0, 1.2]                 # how much faster jobs are submitted; left out: 1
parameters: {jobs: [20, 40], n: [2, 3, 5]}
executors: [native, yarn-knobs]        # and bridge; left out: native
seeds: 5                               # or a list of seeds
"""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from heddle.analysis.certainty.sampling import SEEDS, THE_TRACE, Sampling
from heddle.analysis.measures.edges import Edges
from heddle.experiments.compare import Source, sampling_of
from heddle.experiments.rearrange import at_load
from heddle.experiments.sweep_run import SweepRun
from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, HeddleError, Problem, RunRefused
from heddle.model.nested_text import from_toml
from heddle.model.suggestion import did_you_mean
from heddle.model.workload import Workload
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy
from heddle.run import EXECUTORS, Executor, check_executor, check_run
from heddle.traces.catalogue import suggested_cluster
from heddle.traces.clusters import load_cluster
from heddle.traces.imports.store import cluster_beside
from heddle.traces.load import is_built_in, load_workload
from heddle.traces.problems import Problems
from heddle.traces.yaml_text import from_yaml

Value = float | str
_KEYS: Final = (
    "name", "workloads", "policies", "executors", "clusters", "loads", "parameters", "seeds", "warm_up_s",
    "cool_down_s", "block_s",
)  # fmt: skip
MOST_RUNS: Final = 1_000_000
MOST_LOAD: Final = 1_000_000


@dataclass(frozen=True)
class Sweep:
    """A checked sweep: all its runs, and the policies that must be compiled for them."""

    name: str
    runs: tuple[SweepRun, ...]
    policies: tuple[Policy, ...]


def read_sweep(path: Path) -> Sweep:
    """The sweep of a file; BadInput with everything that is wrong with it."""
    problems = Problems(str(path))
    data = _parse(path, problems)
    for key in data:
        if key not in _KEYS:
            problems.add(
                f"unknown key{did_you_mean(str(key), _KEYS) or '; known: ' + ', '.join(_KEYS)}", field=str(key)
            )
    texts = {key: _texts(data, key, problems) for key in ("workloads", "policies", "clusters")}
    for key in ("workloads", "policies"):
        if not texts[key] and key not in {found.field for found in problems.found}:
            problems.add("missing: at least one is needed", field=key)
    loads = _numbers(data, "loads", problems) or [1.0]
    executors = _executors(data, problems)
    parameters = _parameters(data, problems)
    seeds = _seeds(data, problems)
    edges = Edges(_number(data, "warm_up_s", problems), _number(data, "cool_down_s", problems))
    block_s = _number(data, "block_s", problems) or None
    _check_parameters(parameters, texts["workloads"] + texts["policies"], problems)
    problems.raise_if_any()
    times = len(loads) * len(executors) * len(seeds) * max(1, len(texts["clusters"]))
    _refuse_too_many(texts["workloads"], texts["policies"], parameters, times, problems)
    problems.raise_if_any()

    policies: dict[str, Policy] = {}
    workloads: dict[str, Workload] = {}
    clusters: dict[str, Cluster] = {}
    for _, text, _ in _filled(texts["policies"], parameters):
        _try(problems, "policies", lambda text=text: policies.setdefault(text, parse_policy(text)))
    for _, text, _ in _filled(texts["workloads"], parameters):
        _try(problems, "workloads", lambda text=text: workloads.setdefault(text, load_workload(text, seeds[0])))
    for text in texts["clusters"]:
        _try(problems, "clusters", lambda text=text: clusters.setdefault(text, load_cluster(text)))
    problems.raise_if_any()

    runs: dict[str, SweepRun] = {}
    for template, text, chosen in _filled(texts["workloads"], parameters):
        on = _clusters_of(text, clusters, problems)
        for _, cluster in on:
            _try(problems, "workloads", lambda text=text, on=cluster: check_run(workloads[text], on, max(seeds)))
        for (_, cluster), executor, (_, policy, _) in itertools.product(
            on, executors, _filled(texts["policies"], parameters, chosen)
        ):
            _check_executor(policies[policy], executor, workloads[text], cluster, problems)
        for load in loads if on else ():
            sampling, block_ms = _sampling(text, at_load(workloads[text], load), on[0][1], seeds, block_s, problems)
            for seed, (name, cluster), executor, (policy_template, policy, more) in itertools.product(
                seeds, on, executors, _filled(texts["policies"], parameters, chosen)
            ):  # what runs the same jobs stands together: they are made once
                one = SweepRun(
                    Source(text, load, block_ms), cluster, policy, executor, seed, edges, sampling,
                    template, policy_template, name, tuple(sorted((chosen | more).items())),
                )  # fmt: skip
                runs.setdefault(one.key, one)
    problems.raise_if_any()
    return Sweep(str(data.get("name") or path.stem), tuple(runs.values()), tuple(policies.values()))


def _parse(path: Path, problems: Problems) -> dict[str, Any]:
    kind = "TOML" if path.suffix == ".toml" else "YAML"
    try:
        content = path.read_bytes().decode()
        data = from_toml(content) if kind == "TOML" else from_yaml(content, problems)
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise BadInput.of(str(path), f"not {kind}: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise BadInput.of(str(path), "a sweep is a mapping: workloads, policies, ... (heddle sweep run --help)")
    return data


def _try(problems: Problems, field: str, read: Any) -> None:
    try:
        read()
    except BadInput as error:
        problems.found += [Problem(problems.where, str(found), field=field) for found in error.problems]
    except HeddleError as error:
        problems.add(str(error), field=field)


def _texts(data: Mapping[str, Any], key: str, problems: Problems) -> list[str]:
    found = data.get(key, [])
    listed = found if isinstance(found, list) else [found]
    if not all(isinstance(one, str) for one in listed):
        problems.add("must be a text, or a list of texts", field=key)
        return []
    for one in sorted(one for one, times in Counter(listed).items() if times > 1):
        problems.add(f"{one} is given twice", field=key)
    return listed


def _executors(data: Mapping[str, Any], problems: Problems) -> list[Executor]:
    named = _texts(data, "executors", problems)
    for one in named:
        if one not in EXECUTORS:
            hint = did_you_mean(one, EXECUTORS) or f"; known: {', '.join(EXECUTORS)}"
            problems.add(f"{one} is not known{hint}", field="executors")
    return [one for one in EXECUTORS if one in named] or ["native"]


def _check_executor(
    policy: Policy, executor: Executor, workload: Workload, cluster: Cluster, problems: Problems
) -> None:
    """What stock YARN cannot be made to do is said once, whichever workloads it was asked for."""
    try:
        check_executor([policy], workload, cluster, executor)
    except RunRefused as refused:
        what = f"{executor} cannot run {policy.name}: {refused}"
        if what not in {found.what for found in problems.found}:
            problems.add(what, field="executors")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(data: Mapping[str, Any], key: str, problems: Problems) -> list[float]:
    found = data.get(key, [])
    listed = found if isinstance(found, list) else [found]
    if not all(_is_number(one) and 1 / MOST_LOAD <= one <= MOST_LOAD for one in listed):
        problems.add(f"must be numbers above 0, up to {MOST_LOAD:,}", field=key)
        return []
    return [float(one) for one in listed]


def _number(data: Mapping[str, Any], key: str, problems: Problems) -> float:
    found = data.get(key, 0.0)
    if not _is_number(found) or found < 0:
        problems.add("must be a number of seconds, 0 or more", field=key)
        return 0.0
    return float(found)


def _parameters(data: Mapping[str, Any], problems: Problems) -> dict[str, list[Value]]:
    given = data.get("parameters", {})
    if not isinstance(given, dict):
        problems.add("must map names to lists of values", field="parameters")
        return {}
    found: dict[str, list[Value]] = {}
    for name, values in given.items():
        listed = values if isinstance(values, list) else [values]
        if not listed or not all(_is_number(one) or isinstance(one, str) for one in listed):
            problems.add("must be a list of numbers or texts", field=f"parameters.{name}")
        elif len({type(one) is str for one in listed}) > 1:
            problems.add("must be all numbers or all texts", field=f"parameters.{name}")
        else:
            found[str(name)] = list(listed)
    return found


def _seeds(data: Mapping[str, Any], problems: Problems) -> list[int]:
    found = data.get("seeds", 5)
    if isinstance(found, int) and not isinstance(found, bool) and 1 <= found <= 100_000:
        return list(range(found))
    if isinstance(found, list) and found and all(isinstance(one, int) and one >= 0 for one in found):
        return list(dict.fromkeys(found))
    problems.add("must be how many, or a list of seeds of 0 or more", field="seeds")
    return [0]


def _words(template: str) -> list[str]:
    """The {words} of a template; a template that is no format string has none."""
    try:
        return [word for _, word, _, _ in string.Formatter().parse(template) if word]
    except ValueError:
        return []


def _is_plain(template: str) -> bool:
    """Whether words are filled in as they are: a format could ask for a billion characters, or for any attribute."""
    fields = [field for field in string.Formatter().parse(template) if field[1] is not None]
    return not any(how or as_what or not word or set(word) & set(".[") for _, word, how, as_what in fields)


def _check_parameters(parameters: Mapping[str, Any], templates: Sequence[str], problems: Problems) -> None:
    used = {word for template in templates for word in _words(template)}
    for word in sorted(used - parameters.keys()):
        problems.add(f"{{{word}}} is used, but has no values{did_you_mean(word, parameters)}", field="parameters")
    for template in templates:
        if _words(template) and not _is_plain(template):
            problems.add(f"{template:.80}: only {{word}} is filled in, without a format", field="parameters")
    for name in sorted(parameters.keys() - used):
        problems.add("is used in no workload and no policy", field=f"parameters.{name}")


def _refuse_too_many(
    workloads: Sequence[str],
    policies: Sequence[str],
    parameters: Mapping[str, list[Value]],
    times: int,
    problems: Problems,
) -> None:
    """Before any of them is made. `times`: what each workload runs with, under each policy."""
    count = len(workloads) * len(policies) * times
    if count <= MOST_RUNS:
        count = times * sum(
            math.prod(len(parameters[word]) for word in {*_words(workload), *_words(policy)})
            for workload, policy in itertools.product(workloads, policies)
        )
    if count > MOST_RUNS:
        problems.add(f"{count:,} runs are too many: at most {MOST_RUNS:,}")


def _filled(
    templates: Sequence[str], parameters: Mapping[str, list[Value]], fixed: Mapping[str, Value] | None = None
) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """Every template with every value of its words: (template, text, the values). Words already fixed stay so."""
    for template in templates:
        words = list(dict.fromkeys(_words(template)))
        choices = [[(fixed or {})[word]] if word in (fixed or {}) else parameters[word] for word in words]
        for values in itertools.product(*choices):
            chosen = dict(zip(words, values, strict=True))
            yield template, template.format(**chosen) if words else template, chosen


def _clusters_of(workload: str, clusters: Mapping[str, Cluster], problems: Problems) -> list[tuple[str, Cluster]]:
    if clusters:
        return list(clusters.items())
    if is_built_in(workload):
        return [("suggested", suggested_cluster(workload))]
    if (beside := cluster_beside(Path(workload))) is not None:
        return [("suggested", load_cluster(str(beside)))]
    problems.add(f"{workload} suggests no cluster: name one", field="clusters")
    return []


def _sampling(
    text: str, workload: Workload, cluster: Cluster, seeds: Sequence[int], block_s: float | None, problems: Problems
) -> tuple[Sampling, int | None]:
    """How the seeds of this workload at one load differ, by the rule of `heddle compare`."""
    found: list[tuple[Sampling, int | None]] = []

    def look() -> None:
        found.append(sampling_of(text, workload, cluster, len(seeds), None, None if is_built_in(text) else block_s))

    _try(problems, "workloads", look)
    sampling, block_ms = found[0] if found else (SEEDS, None)
    if sampling.kind == "blocks" and THE_TRACE not in seeds:
        problems.add(f"{THE_TRACE} is missing: it runs {text} as it was recorded, others resample it", field="seeds")
    return sampling, block_ms
