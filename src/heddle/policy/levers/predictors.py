"""Sizing rules from practice: what a node is expected to use at most takes the place of what it has promised.

    borg-default   a fixed part of what is promised
    n-sigma        mean + n standard deviations of the node's recent use over what it promised
    percentile     per container, a percentile of its recent use over its reservation
    max-predictor  the larger of the last two
    oracle         the true future peak (clairvoyant)

All predict P; total = allocated + allowance - P. The load of others (background), as last reported, is added.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.model.resources import ONE
from heddle.model.view import EVENT_REPORTED
from heddle.model.workload import INNER
from heddle.policy.lever import Parameter, Sizing, State, per_resource

MAX_SAMPLES = 32
RATIO_CAP = 16 * ONE
# How many samples were taken, and a ring of the last ones.
RING = (*per_resource("taken"), *per_resource("sample", length=MAX_SAMPLES))


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
def samples_due(state, params, node, value):
    """Of the node's `value` more reports, how many are an every-th one; counts them as seen."""
    seen, every = state.node["seen"][node], params.every // 1000
    state.node["seen"][node] = seen + value
    return (seen + value) // every - seen // every


@callable_too
def push(rows, row, r, ratio, times, samples):
    """Puts the ratio into the ring, as often as it was seen (once round at most: older ones are overwritten)."""
    count = rows["taken"][row, r]
    for i in range(max(0, times - samples), times):
        rows["sample"][row, r, (count + i) % samples] = ratio
    rows["taken"][row, r] = count + times


@callable_too
def sigma_prediction(view, state, node, r, n_milli, samples):
    promised = view.node["allocated"][node, r]
    if state.node["taken"][node, r] < samples:
        return promised
    total, squares = 0, 0
    for i in range(samples):
        ratio = state.node["sample"][node, r, i]
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
            if state.container["taken"][container, r] < samples:
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
        candidate = state.container["sample"][container, r, i]
        if candidate < best:
            below = 0
            for j in range(samples):
                if state.container["sample"][container, r, j] <= candidate:
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
    sample_node(view, state, node, samples_due(state, params, node, value), params.samples // 1000)
    return 0


def observe_containers(view, state, params, kind, node, stage, container, value):
    sample_containers(view, state, node, samples_due(state, params, node, value), params.samples // 1000)
    return 0


def observe_both(view, state, params, kind, node, stage, container, value):
    times = samples_due(state, params, node, value)
    sample_node(view, state, node, times, params.samples // 1000)
    sample_containers(view, state, node, times, params.samples // 1000)
    return 0


@callable_too
def spare(view, node, r, predicted):
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - predicted - background(view, node, r)


def borg_total(view, state, params, node, r):
    return spare(view, node, r, params.fraction * view.node["allocated"][node, r] // 1000)


def sigma_total(view, state, params, node, r):
    return spare(view, node, r, sigma_prediction(view, state, node, r, params.n, params.samples // 1000))


def percentile_total(view, state, params, node, r):
    return spare(view, node, r, percentile_prediction(view, state, node, r, params.percent, params.samples // 1000))


def max_total(view, state, params, node, r):
    by_sigma = sigma_prediction(view, state, node, r, params.n, params.samples // 1000)
    by_percentile = percentile_prediction(view, state, node, r, params.percent, params.samples // 1000)
    return spare(view, node, r, max(by_sigma, by_percentile))


def oracle_total(view, state, params, node, r):
    """Background is in the peak."""
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - state.truth["future_peak"][node, r]


N = Parameter("n", 5.0, "standard deviations above the mean", low=0)
PERCENT = Parameter("percent", 95.0, "percentile of a container's use over its reservation", low=0, high=100)
SAMPLES = Parameter("samples", 24, "number of recent samples to use", low=1, high=MAX_SAMPLES)
EVERY = Parameter("every", 1, "take a sample at every n-th usage report", low=1)

BORG_DEFAULT = Sizing(
    name="borg-default",
    summary="expects a fixed share of reservations to be used",
    total=borg_total,
    parameters=(Parameter("fraction", 0.9, "of what is promised", low=0, high=1),),
)

N_SIGMA = Sizing(
    name="n-sigma",
    summary="expects the mean plus n standard deviations of the node's recent use",
    total=sigma_total,
    on_event=observe_node,
    parameters=(N, SAMPLES, EVERY),
    state=State(node=("seen", RING)),
    listens=(EVENT_REPORTED,),
)

PERCENTILE = Sizing(
    name="percentile",
    summary="expects a percentile of each container's recent use; young ones count at their reservation",
    total=percentile_total,
    on_event=observe_containers,
    parameters=(PERCENT, SAMPLES, EVERY),
    state=State(node="seen", container=RING),
    listens=(EVENT_REPORTED,),
    reads_containers=True,
)

MAX_PREDICTOR = Sizing(
    name="max-predictor",
    summary="expects the larger of n-sigma and percentile",
    total=max_total,
    on_event=observe_both,
    parameters=(N, PERCENT, SAMPLES, EVERY),
    state=State(node=("seen", RING), container=RING),
    listens=(EVENT_REPORTED,),
    reads_containers=True,
)

ORACLE = Sizing(
    name="oracle",
    summary="expects the true future peak of the node's containers",
    total=oracle_total,
    truth=("future_peak",),
    depends_on="time",
)
