"""Random policies, and random ways to look at a cluster."""

from __future__ import annotations

from hypothesis import strategies as st

from .trace import Lever, Observation, Policy

SIZINGS: tuple[Lever, ...] = (
    ("reservation", {}),
    ("borg-default", {"fraction": 0.7}),
    ("usage-feedback", {"damping": 0.25}),
    ("usage-feedback", {"damping": 0.25, "headroom": "prototype", "young_reports": 2}),
    ("usage-feedback", {"damping": 0.5, "side": "worker", "forget": 1}),
    ("usage-feedback", {"side": "worker", "young_reports": 3, "headroom": "prototype", "forget": 1}),
    ("usage-feedback", {"damping": 0.25, "target_failures": 20.0}),
    ("usage-feedback", {"target_failures": 40.0, "young_reports": 2, "forget": 1}),
    ("n-sigma", {"n": 2, "samples": 3}),
    ("percentile", {"percent": 80, "samples": 3}),
    ("max-predictor", {"n": 1, "percent": 50, "samples": 2, "every": 2}),
    ("oracle", {}),
)
ORDERINGS: tuple[Lever, ...] = (
    ("fifo", {}),
    ("fifo", {"blocking": 0}),
    ("fifo", {"yarn": 1}),
    ("fifo", {"yarn": 1, "blocking": 0}),
    ("random-order", {}),
    ("sjf", {}),
    ("srpt", {}),
    ("smallest-first", {}),
    ("smallest-first", {"demand": "whole"}),
    ("leaf-order", {}),
    ("leaf-order", {"default": "fair"}),
    ("leaf-order", {"default": "drf"}),
    ("ffd-dp", {}),
    ("ffd-dp", {"ties": "even"}),
    ("tetris", {}),
    ("tetris", {"weight": 0.3}),
    ("haste", {}),
    ("haste", {"urgency": "assigned", "initial": 0}),
    ("haste", {"progress": "finished"}),
    ("haste", {"hold_reduces": 1}),
    ("haste-a", {}),
    ("haste-a", {"aggressiveness": 0.5, "fitness": 0, "urgency": "assigned"}),
)
QUEUES: tuple[Lever, ...] = (
    ("one-leaf", {}),
    ("fair", {}),
    ("fair", {"threshold_mb": 512, "nodes": 0.5}),
    ("fair", {"reserve": "always"}),
    ("fair", {"reserve": "capacity"}),
    ("drf", {}),
    ("drf", {"threshold_mb": 512, "threshold_vcores": 1, "nodes": 0.3}),
    ("drf", {"reserve": "none"}),
    ("capacity", {}),
    ("capacity", {"reserve": 0}),
)
ADMISSIONS: tuple[Lever, ...] = (
    ("admit-all", {}),
    ("max-running", {"jobs": 2}),
    ("am-share", {"percent": 0.3}),
    ("fair-am-share", {}),
    ("fair-am-share", {"percent": 0.3, "shares": "dominant"}),
    ("admission-control", {}),
    ("admission-control", {"rule": "literal", "cold_start": "none"}),
    ("admission-control", {"rule": "literal"}),
    ("admission-control", {"backlog": 0.0}),
    ("admission-control", {"capacity": "usable"}),
    ("admission-control-scaled", {"rule": "literal"}),
    ("admission-control", {"rule": "literal", "backlog": 0.7}),
    ("whole-jobs", {}),
)
PARTITIONS: tuple[Lever, ...] = (
    ("shared", {}),
    ("small-pool", {"share": 0.3, "theta": 0.5}),
    ("dress-pools", {"theta": 0.3}),
    ("dress-pools", {"theta": 0.4, "basis": "available", "initial_share": 0.5, "window_s": 2}),
    ("dress-pools", {"theta": 0.3, "demand": "asked", "release": "literal", "t_s": 2, "t_e": 1, "window_s": 5}),
    ("dress-pools", {"theta": 0.4, "alg3": "literal", "t_s": 3, "t_e": 2}),
    ("dress-pools", {"theta": 0.4}),
)
PLACEMENTS: tuple[Lever, ...] = (
    ("most-free", {}),
    ("first-fit", {}),
    ("best-fit", {}),
    ("random-node", {}),
    ("delay-locality", {"wait_s": 2}),
    ("near-last", {}),
    ("network-aware", {}),
    ("network-aware", {"busy_s": 0.5, "wait_s": 1}),
    ("network-aware", {"by": "nearness"}),
    ("network-aware", {"by": "fetch"}),
    ("network-aware", {"early": 1}),
    ("network-aware", {"early": 1, "by": "fetch"}),
)


def observations() -> st.SearchStrategy[Observation]:
    """Looks and reports that come late, by polls, or never."""
    return st.builds(
        Observation,
        poll_ms=st.sampled_from((0, 300, 1000, 2500)),
        lag_ms=st.sampled_from((0, 1, 700, 4200)),
        loss_permyriad=st.sampled_from((0, 3000)),
    )


def policies() -> st.SearchStrategy[Policy]:
    """Any combination of the levers."""
    return st.builds(
        Policy,
        admission=st.sampled_from(ADMISSIONS),
        sizing=st.sampled_from(SIZINGS),
        partition=st.sampled_from(PARTITIONS),
        ordering=st.sampled_from(ORDERINGS),
        placement=st.sampled_from(PLACEMENTS),
        queues=st.sampled_from(QUEUES),
    )
