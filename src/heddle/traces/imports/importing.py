"""An import from beginning to end: files, format, workload, and the account of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heddle.model.errors import BadInput, Problem
from heddle.traces.check import check_structure
from heddle.traces.imports.format import Format, Imported
from heddle.traces.imports.registry import detect, format_of, sort_files
from heddle.traces.imports.rows import Reconciliation
from heddle.traces.imports.source import Source, find_sources
from heddle.traces.imports.usage_models import UsageModel


@dataclass(frozen=True)
class ImportResult:
    """What was made, and the account."""

    format: Format
    detected: bool
    imported: Imported
    account: Reconciliation
    sources: tuple[Source, ...]


def import_trace(
    paths: Sequence[str],
    format_name: str | None = None,
    *,
    assumed: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    usage_model: UsageModel | None = None,
    strict: bool = False,
) -> ImportResult:
    """Read the files; BadInput where nothing can be made of them, or where `strict` and a row was set aside."""
    sources = find_sources(list(paths))
    chosen = detect(sources) if format_name is None else format_of(format_name)
    if columns and chosen.name != "csv":
        raise BadInput.of("--map", f"names columns of a csv; {chosen.name} has its own")
    given = chosen.given(assumed or {}, columns or {})
    files, others = sort_files(chosen, sources, asked=format_name is not None)
    if format_name is not None and len(sources) == 1 and not files:
        raise BadInput.of(sources[0].name, f"is not {chosen.name}: {chosen.summary}")
    chosen.require(files)
    read = tuple(source for group in files.values() for source in group)
    imported = chosen.read(files, given)
    imported.notes[:0] = [f"{source.name} {remark}" for source in read for remark in source.remarks]
    account = Reconciliation.close((s.rows for s in read), ((s.name, f"not a file of {chosen.name}") for s in others))
    check_structure(imported.workload, chosen.name).raise_if_any()
    if strict and (set_aside := account.of_kind("set_aside")):
        raise BadInput(
            Problem("--strict", f"{count} rows set aside: {reason} ({', '.join(account.examples(reason))})")
            for reason, count in set_aside.items()
        )
    if usage_model is not None:
        imported.workload = usage_model.applied(imported.workload)
    return ImportResult(chosen, format_name is None, imported, account, read)
