"""Policies that nobody means."""

import pytest

from heddle.model.errors import BadInput
from heddle.policy.parse import LONGEST, parse_policy


@pytest.mark.parametrize("unit", ["fifo+", "(", "fifo(a=1,", "x"])
def test_a_policy_of_a_million_characters_is_refused_at_once_and_not_repeated(unit: str) -> None:
    with pytest.raises(BadInput, match="are the most") as refused:
        parse_policy(unit * 200_000)
    assert len(str(refused.value)) < 200


def test_a_long_policy_is_read() -> None:
    assert str(parse_policy("+".join(["fifo"] * (LONGEST // 5)))) == str(parse_policy("fifo"))
