"""`--check` on a run that is looked at piece by piece, on random small workloads: it sees what happened in the order in
which it did, and finds in a damaged log what it finds in all of it at once."""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from engine_trace import policy_text
from heddle.analysis.soundness.happenings import ALLOCATED, ENDED, HAPPENED, STARTED, in_order
from heddle.analysis.soundness.invariants import Invariants, broken_invariants
from heddle.model.errors import RunRefused
from heddle.policy.parse import parse_policy
from heddle.run_blocks import AlignedBlocks
from heddle.run_check import BlockWatch
from heddle.sim import codes
from heddle.sim.run import run_blocks, run_engine
from heddle.traces.blocks import BlocksInMemory
from in_blocks import in_order as jobs_in_order
from log_pieces import broken_in_pieces
from reference.features import Features
from reference.random_policies import policies
from reference.random_workloads import pairs
from test_engine_equals_reference import FEATURES

Log = npt.NDArray[Any]
UNTIL_MS = 200_000
EXAMPLES = int(os.environ.get("HEDDLE_EXAMPLES", "12"))
SETTINGS = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
OF_ATTEMPTS = (ALLOCATED, STARTED, ENDED)


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_a_run_over_blocks_is_seen_in_order_and_found_good(features: Features) -> None:
    @SETTINGS
    @given(pairs(features), policies(), st.integers(0, 5), st.integers(1, 12))
    def compare(pair, policy, seed, tasks):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        assume(jobs_in_order(workload))
        seen: list[Log] = []
        blocks = AlignedBlocks(BlocksInMemory(workload, tasks), cluster)
        chosen = parse_policy(policy_text(policy))
        with pytest.MonkeyPatch.context() as patch:
            add = Invariants.add
            patch.setattr(Invariants, "add", lambda self, rows: (seen.append(rows.copy()), add(self, rows)))
            watch = BlockWatch(blocks, workload, cluster, BytesIO())
            try:
                ended = run_blocks(blocks, cluster, chosen, seed, watch, UNTIL_MS)
            except RunRefused:
                event("refused")
                return
            broken = watch.broken(ended)
        event(f"{min(4, len(seen))} pieces")
        assert broken == []
        whole = run_engine(workload, cluster, chosen, seed, True, UNTIL_MS)
        told, wanted = np.concatenate(seen), in_order(whole.logs, whole.attempts, workload)
        for name in HAPPENED.names or ():
            assert told[name].tolist() == wanted[name].tolist(), name

    compare()


def damaged(log: Log, draw: st.DrawFn) -> Log:
    """A row is gone, comes twice or elsewhere, or says something else."""
    row, other = draw(st.integers(0, len(log) - 1)), draw(st.integers(0, len(log) - 1))
    match draw(st.sampled_from(["gone", "twice", "elsewhere", "at_ms", "node", "attempt", "code"])):
        case "gone":
            return np.delete(log, row)
        case "twice":
            return np.insert(log, other, log[row])
        case "elsewhere":
            return np.insert(np.delete(log, row), min(other, len(log) - 2), log[row])
        case "at_ms":
            log["at_ms"][row] += draw(st.sampled_from([-5000, -1, 1, 5000]))
        case "node":
            log["node"][row] = log["node"][log["kind"] == ALLOCATED].max(initial=0)
        case field:
            lives = np.flatnonzero(np.isin(log["kind"], OF_ATTEMPTS))
            log[field][lives[row % len(lives)]] += 1
    return log


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_damage_is_found_in_pieces_as_in_the_whole(features: Features) -> None:
    @SETTINGS
    @given(pairs(features), policies(), st.integers(1, 40), st.integers(1, 12), st.data())
    def compare(pair, policy, rows, tasks, data):  # type: ignore[no-untyped-def]
        workload, cluster = pair
        assume(jobs_in_order(workload))
        ended = run_engine(workload, cluster, parse_policy(policy_text(policy)), 0, True, UNTIL_MS)
        log = in_order(ended.logs, ended.attempts, workload)
        assume(np.isin(log["kind"], OF_ATTEMPTS).any())
        finished = ended.status == codes.FINISHED
        for _ in range(data.draw(st.integers(1, 3))):
            log = damaged(log, data.draw)
        found = broken_invariants(log, workload, cluster, ended.counts, finished=finished)
        event(f"{min(3, len(found))} kinds of damage")
        pieces = broken_in_pieces(log, rows, tasks, workload, cluster, ended.counts, finished=finished)
        assert pieces == found

    compare()
