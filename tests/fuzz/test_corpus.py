"""Every input of the corpus, and every one that once broke a reader, is read or refused within its limits: in CI."""

from functools import partial

import pytest

from .limits import took
from .targets import CORPUS, FINDINGS, LARGEST, TARGETS, beginnings, refuses_or_reads


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_what_broke_a_reader_no_longer_does(target: str) -> None:
    found = beginnings(target)
    assert found, "a target without a beginning"
    for data in [*found, b"", b"\0", found[0][: len(found[0]) // 2]]:
        needed = took(partial(refuses_or_reads, target), data)
        assert not needed.is_too_much, needed


def test_the_corpus_is_small_and_all_of_it_is_of_a_target() -> None:
    files = [path for folder in (CORPUS, FINDINGS) for path in folder.glob("*/*")]
    assert {path.parent.name for path in files} <= TARGETS.keys()
    assert sum(path.stat().st_size for path in files) < LARGEST
