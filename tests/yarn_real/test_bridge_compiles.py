"""The bridge's sources against the Hadoop that it is for, and the oldest one that people still run."""

from __future__ import annotations

import pytest

from heddle.model.errors import RunRefused
from heddle.yarn.testbed.bridge.jar import RELEASE, bridge_jar, sources
from heddle.yarn.testbed.local.jars import DEFAULT_HADOOP, hadoop_home, lib_of, rm_api_jars
from heddle.yarn.testbed.local.own_jar import jar_of

from .conftest import absent

OLDER = "3.3.6"


def test_against_the_hadoop_that_it_is_for(hadoop: None) -> None:
    assert bridge_jar(DEFAULT_HADOOP).exists()


def test_against_an_older_hadoop(hadoop: None) -> None:
    try:
        jars = rm_api_jars(OLDER)
    except RunRefused as refused:
        absent(str(refused))
    servlet_api = next(lib_of(hadoop_home(DEFAULT_HADOOP)).glob("javax.servlet-api-*.jar"))
    assert jar_of("heddle-bridge", sources(), OLDER, f"{jars}/*:{servlet_api}", RELEASE).exists()


def test_what_does_not_compile_says_so(hadoop: None) -> None:
    with pytest.raises(RunRefused, match="cannot be compiled against Hadoop none"):
        jar_of("heddle-bridge", sources(), "none", "", RELEASE)
