"""The formats by name, and which of them files are."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Final

from heddle.model.errors import BadInput
from heddle.model.suggestion import did_you_mean
from heddle.traces.imports.format import Files, Format
from heddle.traces.imports.source import Source

_MODULES: Final = {
    "csv": "csv",
    "sls": "sls",
    "rumen": "rumen",
    "synth": "synth",
    "jhist": "jhist",
    "spark-eventlog": "spark_eventlog",
    "swf": "swf",
    "swim": "swim",
    "google2011": "google2011",
    "google2019": "google2019",
    "alibaba2017": "alibaba2017",
    "openb": "openb",
    "philly": "philly",
    "azure-v1": "azure_v1",
    "nextflow": "nextflow",
    "ksegments": "ksegments",
    "bitbrains": "bitbrains",
    "wfcommons": "wfcommons",
    "tpch": "tpch",
    "coflow": "coflow",
}


def names() -> tuple[str, ...]:
    return tuple(_MODULES)


def format_of(name: str) -> Format:
    """The format of this name; BadInput with the nearest for any other."""
    if name not in _MODULES:
        hint = did_you_mean(name, _MODULES) or ";"
        raise BadInput.of("--format", f"no format {name}{hint} known are {', '.join(_MODULES)}")
    declared: Format = importlib.import_module(f"heddle.traces.formats.{_MODULES[name]}").FORMAT
    return declared


def all_formats() -> Iterator[Format]:
    return (format_of(name) for name in _MODULES)


def sort_files(wanted: Format, sources: list[Source], *, asked: bool) -> tuple[Files, list[Source]]:
    """(the format's files by role, the others); `asked`: the user named the format."""
    role_of = wanted.role_when_asked if asked and wanted.role_when_asked is not None else wanted.role
    files: Files = {}
    others: list[Source] = []
    for source in sources:
        role = role_of(source.head())
        if role is None:
            others.append(source)
        else:
            files.setdefault(role, []).append(source)
    return files, others


def detect(sources: list[Source]) -> Format:
    """The one format that these files are; BadInput where it is none or more than one."""
    heads = [source.head() for source in sources]
    found: dict[str, int] = {}
    for candidate in all_formats():
        roles = {role for role in map(candidate.role, heads) if role is not None}
        if candidate.complete({role: [] for role in roles}):
            found[candidate.name] = sum(candidate.role(head) is not None for head in heads)
    where = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    if not found and any("job.submit_at_ms" in head.columns for head in heads):
        raise BadInput.of(where, "already a heddle workload: use it as it is")
    if not found:
        raise BadInput.of(where, f"unknown format; name one with --format: {', '.join(_MODULES)}")
    if len(found) > 1:
        counts = ", ".join(f"{name} ({count} files)" for name, count in found.items())
        raise BadInput.of(where, f"could be several formats: {counts}; choose one with --format")
    return format_of(next(iter(found)))
