"""A short run of the fuzzer; `python tests/traces/fuzz_imports.py --seconds 3600` is the long one."""

from traces.fuzz_imports import fuzz


def test_damaged_traces_are_imported_with_an_account_or_refused() -> None:
    outcomes, defects = fuzz(seconds=60.0, seed=1, real=None, most=300)
    assert defects == []
    assert outcomes["imported"] > 50
    assert outcomes["refused"] > 20
