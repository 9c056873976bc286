"""Sizing rules from practice: what a node is expected to use at most takes the place of what it has promised.

    borg-default   a fixed part of what is promised
    n-sigma        mean + n standard deviations of the node's recent use over what it promised
    percentile     per container, a percentile of its recent use over its reservation
    max-predictor  the larger of the last two
    oracle         the true future peak (clairvoyant)

All predict P; total = allocated + allowance - P. The load of others (background), as last reported, is added.
"""

from __future__ import annotations

from heddle.model.compiled import callable_too
from heddle.model.resources import MAX_RESOURCES, ONE
from heddle.model.view import EVENT_ALLOCATED, EVENT_FINISHED, EVENT_REPORTED, EVENT_STOPPED
from heddle.model.workload import INNER
from heddle.policy.lever import Columns, Lever, Parameter, Question

MAX_SAMPLES = 32
RATIO_CAP = 16 * ONE
CHANGES = (EVENT_ALLOCATED, EVENT_FINISHED, EVENT_STOPPED, EVENT_REPORTED)

# Columns: how many reports the node has made; then, per resource, how many samples were taken and a ring of the last.
SEEN = 0
PER_RESOURCE = 1 + MAX_SAMPLES
RING_COLUMNS = 1 + MAX_RESOURCES * PER_RESOURCE


@callable_too
def taken(rows, row, r):
    return rows[row, 1 + r * PER_RESOURCE]


@callable_too
def sample(rows, row, r, i):
    return rows[row, 2 + r * PER_RESOURCE + i]


@callable_too
def isqrt(value):
    """The integer square root, by Newton's method from a float guess."""
    root = int(value**0.5)
    while root * root > value:
        root -= 1
    while (root + 1) * (root + 1) <= value:
        root += 1
    return root


@callable_too
def background(view, node, r):
    return view.node["used"][node, r] - view.node["containers_used"][node, r]


@callable_too
def samples_due(state, node, value, every):
    """Of the node's `value` more reports, how many are an every-th one; counts them as seen."""
    seen = state.node[node, SEEN]
    state.node[node, SEEN] = seen + value
    return (seen + value) // every - seen // every


@callable_too
def push(rows, row, r, ratio, times, samples):
    """Puts the ratio into the ring, as often as it was seen (once round at most: older ones are overwritten)."""
    count = taken(rows, row, r)
    for i in range(max(0, times - samples), times):
        rows[row, 2 + r * PER_RESOURCE + (count + i) % samples] = ratio
    rows[row, 1 + r * PER_RESOURCE] = count + times


@callable_too
def sigma_prediction(view, state, node, r, n_milli, samples):
    promised = view.node["allocated"][node, r]
    if taken(state.node, node, r) < samples:
        return promised
    total, squares = 0, 0
    for i in range(samples):
        ratio = sample(state.node, node, r, i)
        total += ratio
        squares += ratio * ratio
    mean = total // samples
    spread = isqrt(max(0, squares // samples - mean * mean))
    return min(ONE, mean + n_milli * spread // 1000) * promised // ONE


@callable_too
def percentile_prediction(view, state, node, r, percent_milli, samples):
    rank = max(1, (percent_milli * samples + 99_999) // 100_000)
    predicted = 0
    container = view.node["first_container"][node]
    while container >= 0:
        stage = view.container["stage"][container]
        reserved = view.shape["demand"][view.stage_spec["shape"][stage], r]
        if view.stage_spec["kind"][stage] != INNER:
            if taken(state.container, container, r) < samples:
                predicted += reserved
            else:
                predicted += ranked(state, container, r, rank, samples) * reserved // ONE
        container = view.container["next"][container]
    return predicted


@callable_too
def ranked(state, container, r, rank, samples):
    """The rank-th smallest sample: the smallest that at least `rank` samples do not exceed."""
    best = RATIO_CAP + 1
    for i in range(samples):
        candidate = sample(state.container, container, r, i)
        if candidate < best:
            below = 0
            for j in range(samples):
                if sample(state.container, container, r, j) <= candidate:
                    below += 1
            if below >= rank:
                best = candidate
    return best


@callable_too
def sample_node(view, state, node, times, samples):
    for r in range(view.shape["demand"].shape[1]):
        promised = view.node["allocated"][node, r]
        if promised > 0:
            ratio = min(ONE, view.node["containers_used"][node, r] * ONE // promised)
            push(state.node, node, r, ratio, times, samples)


@callable_too
def sample_containers(view, state, node, times, samples):
    container = view.node["first_container"][node]
    while container >= 0:
        shape = view.stage_spec["shape"][view.container["stage"][container]]
        for r in range(view.shape["demand"].shape[1]):
            reserved = view.shape["demand"][shape, r]
            ratio = min(RATIO_CAP, view.container["used"][container, r] * ONE // reserved) if reserved > 0 else 0
            push(state.container, container, r, ratio, times, samples)
        container = view.container["next"][container]


def observe_node(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_REPORTED:
        sample_node(view, state, node, samples_due(state, node, value, params[2] // 1000), params[1] // 1000)
    return 0


def observe_containers(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_REPORTED:
        sample_containers(view, state, node, samples_due(state, node, value, params[2] // 1000), params[1] // 1000)
    return 0


def observe_both(view, state, params, kind, node, stage, container, value):
    if kind == EVENT_REPORTED:
        times = samples_due(state, node, value, params[3] // 1000)
        sample_node(view, state, node, times, params[2] // 1000)
        sample_containers(view, state, node, times, params[2] // 1000)
    return 0


@callable_too
def spare(view, node, r, predicted):
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - predicted - background(view, node, r)


def borg_total(view, state, params, node, r):
    return spare(view, node, r, params[0] * view.node["allocated"][node, r] // 1000)


def sigma_total(view, state, params, node, r):
    return spare(view, node, r, sigma_prediction(view, state, node, r, params[0], params[1] // 1000))


def percentile_total(view, state, params, node, r):
    return spare(view, node, r, percentile_prediction(view, state, node, r, params[0], params[1] // 1000))


def max_total(view, state, params, node, r):
    by_sigma = sigma_prediction(view, state, node, r, params[0], params[2] // 1000)
    by_percentile = percentile_prediction(view, state, node, r, params[1], params[2] // 1000)
    return spare(view, node, r, max(by_sigma, by_percentile))


def oracle_total(view, state, params, node, r):
    """The simulator writes the true future peak into state.node[node, r]; background is in it."""
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - state.node[node, r]


N = Parameter("n", 5.0, "standard deviations above the mean", low=0)
PERCENT = Parameter("percent", 95.0, "percentile of a container's use over its reservation", low=0, high=100)
SAMPLES = Parameter("samples", 24, "recent samples that are looked at", low=1, high=MAX_SAMPLES)
EVERY = Parameter("every", 1, "take a sample at every so manieth usage report", low=1)

BORG_DEFAULT = Lever(
    name="borg-default",
    question=Question.SIZING,
    summary="a fixed part of what is promised is expected to be used",
    hooks={"total": borg_total},
    parameters=(Parameter("fraction", 0.9, "of what is promised", low=0, high=1),),
    listens=CHANGES,
    changes="allocation",
)

N_SIGMA = Lever(
    name="n-sigma",
    question=Question.SIZING,
    summary="mean plus n standard deviations of the node's recent use is expected",
    hooks={"total": sigma_total, "on_event": observe_node},
    parameters=(N, SAMPLES, EVERY),
    columns=Columns(node=RING_COLUMNS),
    listens=CHANGES,
    changes="allocation",
)

PERCENTILE = Lever(
    name="percentile",
    question=Question.SIZING,
    summary="a percentile of each container's recent use is expected; young ones count at their reservation",
    hooks={"total": percentile_total, "on_event": observe_containers},
    parameters=(PERCENT, SAMPLES, EVERY),
    columns=Columns(node=1, container=RING_COLUMNS),
    listens=CHANGES,
    changes="allocation",
    reads_containers=True,
)

MAX_PREDICTOR = Lever(
    name="max-predictor",
    question=Question.SIZING,
    summary="the larger of n-sigma and percentile is expected",
    hooks={"total": max_total, "on_event": observe_both},
    parameters=(N, PERCENT, SAMPLES, EVERY),
    columns=Columns(node=RING_COLUMNS, container=RING_COLUMNS),
    listens=CHANGES,
    changes="allocation",
    reads_containers=True,
)

ORACLE = Lever(
    name="oracle",
    question=Question.SIZING,
    summary="the true future peak of what a node holds is expected (clairvoyant)",
    hooks={"total": oracle_total},
    columns=Columns(node=MAX_RESOURCES),
    clairvoyant=True,
    changes="allocation",
)
