"""The simulated bridge keeps requests off the nodes that a table vetoes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from heddle.policy.parse import parse_policy
from heddle.stock_yarn.vetoed import NODES_PER_WORD, VETO, VETOED, vetoed_as, write_vetoes

STAGES, NODES = 9, 3 * NODES_PER_WORD - 1


def test_what_is_written_is_refused_and_nothing_else() -> None:
    random = np.random.default_rng(7)
    view = SimpleNamespace(stage=np.zeros(STAGES), node=np.zeros(NODES))
    assert VETOED.prepare is not None
    state = SimpleNamespace(**VETOED.prepare(SimpleNamespace(view=view)))
    for share in (0.5, 0.01, 0.0):
        wanted = random.random((STAGES, NODES)) < share
        write_vetoes(np.argwhere(wanted), STAGES, state.vetoed)
        allows = VETOED.hooks["allows"]
        found = [[allows(view, state, None, node, stage) == VETO for node in range(NODES)] for stage in range(STAGES)]
        assert found == wanted.tolist()


def test_it_asks_of_each_stage_where_the_policys_own_placement_does() -> None:
    placement = parse_policy("network-aware").placement
    assert not vetoed_as(placement).by_stage
    assert vetoed_as(placement.with_values({"early": True})).by_stage
