"""Phases of a job, found from its containers' starts and ends, and what they will release soon (DRESS, paper 5).

Tasks of a phase do the same to similar data, so they end in the order in which they started and over as long a time.
Alg. 1: a phase is seen when more than t_s containers start within a window; its starts are over when none starts for a
window; d_ps is the time from its first start to its last. Alg. 2: its release begins, at gamma, with the first of more
than t_e ends within a window, which leaves out *heading* tasks that end early. *Trailing* tasks, left over when nothing
has ended for a window, count to the next phase.
    p(t) = 0 before gamma;  (t - gamma) / d_ps * c until gamma + d_ps;  0 after        (3)
    f = sum over the job's phases                                                       (2)
Two phases of a job are kept: the newest, and the one before it. A group of t_s containers or less is too small to see:
it joins the next phase, and until then its release begins with its first end.

A start is the allocation, because a ResourceManager that is polled does not tell when a container began to run. AMs
are in no phase. Amounts are dominant shares in units of ONE, so that containers of all sizes can be added.
"""

from __future__ import annotations

from heddle.model.compiled import callable_too

SEEN_ABOVE = 5  # t_s and t_e: containers
ROUND_MS = 1000  # t + 1 is one round later
NOT_YET = -1
# Columns of state.job. The last SEEN_ABOVE starts and ends, each with how many there were.
N_STARTS, STARTS, N_ENDS, ENDS = 0, 1, 6, 7
PHASE, OLDER_UNTIL = 12, 13  # number of the newest phase; the older one has the containers of phases up to this
NEWEST, OLDER = 14, 21  # where the columns of a phase begin:
FIRST, LAST, AMOUNT, COUNT, LEFT, RELEASED, GAMMA = 0, 1, 2, 3, 4, 5, 6
SEEN = 28  # whether the newest phase is more than a small group
JOB_COLUMNS = 29


@callable_too
def within_window(job, count, ring, now_ms, window_ms):
    """Whether SEEN_ABOVE happened within the window that ends now, which makes more than SEEN_ABOVE with this one."""
    return job[count] >= SEEN_ABOVE and job[ring + job[count] % SEEN_ABOVE] > now_ms - window_ms


@callable_too
def push(job, count, ring, now_ms):
    job[ring + job[count] % SEEN_ABOVE] = now_ms
    job[count] += 1


@callable_too
def nothing_ended(job, now_ms, window_ms):
    """Whether no container of the job ended within the window that ends now."""
    return job[N_ENDS] == 0 or job[ENDS + (job[N_ENDS] - 1) % SEEN_ABOVE] <= now_ms - window_ms


@callable_too
def move_rest(job, source, target):
    """What is left of one phase counts to another."""
    job[target + AMOUNT] += job[source + AMOUNT] - job[source + RELEASED]
    job[target + COUNT] += job[source + LEFT]
    job[target + LEFT] += job[source + LEFT]
    for column in (AMOUNT, COUNT, LEFT, RELEASED):
        job[source + column] = 0


@callable_too
def clear(job, phase, now_ms):
    job[phase + FIRST], job[phase + LAST], job[phase + GAMMA] = now_ms, now_ms, NOT_YET
    for column in (AMOUNT, COUNT, LEFT, RELEASED):
        job[phase + column] = 0


@callable_too
def begin_phase(job, now_ms, window_ms):
    """A container starts after a pause: with it, a new phase."""
    trails = job[NEWEST + GAMMA] != NOT_YET and nothing_ended(job, now_ms, window_ms)
    if job[SEEN] and not trails:
        move_rest(job, OLDER, NEWEST)
        for column in range(GAMMA + 1):
            job[OLDER + column] = job[NEWEST + column]
        job[OLDER_UNTIL] = job[PHASE]
        clear(job, NEWEST, now_ms)
    else:
        amount, left = job[NEWEST + AMOUNT] - job[NEWEST + RELEASED], job[NEWEST + LEFT]
        clear(job, NEWEST, now_ms)
        job[NEWEST + AMOUNT], job[NEWEST + COUNT], job[NEWEST + LEFT] = amount, left, left
    job[SEEN] = 0
    job[PHASE] += 1


@callable_too
def starts(job, amount, now_ms, window_ms):
    """A container of this dominant share starts (Alg. 1). The number of its phase."""
    if job[PHASE] == 0:
        clear(job, NEWEST, now_ms)
        job[PHASE] = 1
    elif job[NEWEST + LAST] <= now_ms - window_ms:
        begin_phase(job, now_ms, window_ms)
    if within_window(job, N_STARTS, STARTS, now_ms, window_ms):
        job[SEEN] = 1
    push(job, N_STARTS, STARTS, now_ms)
    job[NEWEST + LAST] = now_ms
    job[NEWEST + AMOUNT] += amount
    job[NEWEST + COUNT] += 1
    job[NEWEST + LEFT] += 1
    return job[PHASE]


@callable_too
def ends(job, phase_number, amount, now_ms, window_ms):
    """A container of this phase ends (Alg. 2)."""
    phase = OLDER if phase_number <= job[OLDER_UNTIL] else NEWEST
    if job[phase + GAMMA] == NOT_YET:
        if job[phase + COUNT] <= SEEN_ABOVE:
            job[phase + GAMMA] = now_ms
        elif within_window(job, N_ENDS, ENDS, now_ms, window_ms):
            job[phase + GAMMA] = job[ENDS + job[N_ENDS] % SEEN_ABOVE]
    push(job, N_ENDS, ENDS, now_ms)
    job[phase + RELEASED] += amount
    job[phase + LEFT] -= 1


@callable_too
def count_trailing(job, now_ms, window_ms):
    """Nothing has ended for a window since the older phase began to release: what is left of it trails."""
    if job[OLDER + LEFT] > 0 and job[OLDER + GAMMA] != NOT_YET and nothing_ended(job, now_ms, window_ms):
        move_rest(job, OLDER, NEWEST)
        job[OLDER_UNTIL] = 0


@callable_too
def phase_release(job, phase, now_ms):
    """What the phase will have released a round from now and has not yet: (3), counted once."""
    gamma = job[phase + GAMMA]
    span_ms = max(ROUND_MS, job[phase + LAST] - job[phase + FIRST])
    if job[phase + LEFT] == 0 or gamma == NOT_YET or now_ms > gamma + span_ms:
        return 0
    by_then = job[phase + AMOUNT] * min(span_ms, now_ms + ROUND_MS - gamma) // span_ms
    return max(0, by_then - job[phase + RELEASED])


@callable_too
def job_release(job, now_ms, window_ms):
    """(2). The newest phase tells nothing before its starts are over."""
    total = phase_release(job, OLDER, now_ms)
    if job[NEWEST + LAST] <= now_ms - window_ms:
        total += phase_release(job, NEWEST, now_ms)
    return total


@callable_too
def releases(job):
    """Whether a phase of the job has begun to release and is not over."""
    newest = job[NEWEST + GAMMA] != NOT_YET and job[NEWEST + LEFT] > 0
    return newest or (job[OLDER + GAMMA] != NOT_YET and job[OLDER + LEFT] > 0)
