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

from heddle.model.compilable import callable_too
from heddle.policy.lever import Column, several

SEEN_ABOVE = 5  # t_s and t_e: containers
ROUND_MS = 1000  # t + 1 is one round later
NOT_YET = -1
NEWEST, OLDER = 0, 1  # phases of a job

# Columns of state.job, which all functions here get as `jobs`. `seen`: the newest phase is more than a small group.
PHASES = (
    *several(SEEN_ABOVE, "starts", "ends"),  # times of the last ones
    *several(2, "first", "last", "amount", "count", "left", "released", "gamma"),  # of each phase
    *(Column(name) for name in ("n_starts", "n_ends", "phase", "older_until", "seen")),
)  # phase: number of the newest; older_until: the older one has the containers of phases up to this


@callable_too
def within_window(times, count, job, now_ms, window_ms):
    """Whether SEEN_ABOVE happened within the window that ends now, which makes more than SEEN_ABOVE with this one."""
    return count >= SEEN_ABOVE and times[job, count % SEEN_ABOVE] > now_ms - window_ms


@callable_too
def nothing_ended(jobs, job, now_ms, window_ms):
    """Whether no container of the job ended within the window that ends now."""
    ended = jobs["n_ends"][job]
    return ended == 0 or jobs["ends"][job, (ended - 1) % SEEN_ABOVE] <= now_ms - window_ms


@callable_too
def clear_counts(jobs, job, phase):
    jobs["amount"][job, phase] = jobs["count"][job, phase] = 0
    jobs["left"][job, phase] = jobs["released"][job, phase] = 0


@callable_too
def move_rest(jobs, job, source, target):
    """What is left of one phase counts to another."""
    jobs["amount"][job, target] += jobs["amount"][job, source] - jobs["released"][job, source]
    jobs["count"][job, target] += jobs["left"][job, source]
    jobs["left"][job, target] += jobs["left"][job, source]
    clear_counts(jobs, job, source)


@callable_too
def clear(jobs, job, phase, now_ms):
    jobs["first"][job, phase], jobs["last"][job, phase], jobs["gamma"][job, phase] = now_ms, now_ms, NOT_YET
    clear_counts(jobs, job, phase)


@callable_too
def keep_as_older(jobs, job):
    """What is known of the newest phase is that of the older one from now on."""
    for column in (
        jobs["first"], jobs["last"], jobs["amount"], jobs["count"], jobs["left"], jobs["released"], jobs["gamma"],
    ):  # fmt: skip
        column[job, OLDER] = column[job, NEWEST]
    jobs["older_until"][job] = jobs["phase"][job]


@callable_too
def begin_phase(jobs, job, now_ms, window_ms):
    """A container starts after a pause: with it, a new phase."""
    trails = jobs["gamma"][job, NEWEST] != NOT_YET and nothing_ended(jobs, job, now_ms, window_ms)
    if jobs["seen"][job] and not trails:
        move_rest(jobs, job, OLDER, NEWEST)
        keep_as_older(jobs, job)
        clear(jobs, job, NEWEST, now_ms)
    else:
        amount, left = jobs["amount"][job, NEWEST] - jobs["released"][job, NEWEST], jobs["left"][job, NEWEST]
        clear(jobs, job, NEWEST, now_ms)
        jobs["amount"][job, NEWEST], jobs["count"][job, NEWEST], jobs["left"][job, NEWEST] = amount, left, left
    jobs["seen"][job] = 0
    jobs["phase"][job] += 1


@callable_too
def starts(jobs, job, amount, now_ms, window_ms):
    """A container of this dominant share starts (Alg. 1). The number of its phase."""
    if jobs["phase"][job] == 0:
        clear(jobs, job, NEWEST, now_ms)
        jobs["phase"][job] = 1
    elif jobs["last"][job, NEWEST] <= now_ms - window_ms:
        begin_phase(jobs, job, now_ms, window_ms)
    count = jobs["n_starts"][job]
    if within_window(jobs["starts"], count, job, now_ms, window_ms):
        jobs["seen"][job] = 1
    jobs["starts"][job, count % SEEN_ABOVE], jobs["n_starts"][job] = now_ms, count + 1
    jobs["last"][job, NEWEST] = now_ms
    jobs["amount"][job, NEWEST] += amount
    jobs["count"][job, NEWEST] += 1
    jobs["left"][job, NEWEST] += 1
    return jobs["phase"][job]


@callable_too
def ends(jobs, job, phase_number, amount, now_ms, window_ms):
    """A container of this phase ends (Alg. 2)."""
    phase = OLDER if phase_number <= jobs["older_until"][job] else NEWEST
    count = jobs["n_ends"][job]
    if jobs["gamma"][job, phase] == NOT_YET:
        if jobs["count"][job, phase] <= SEEN_ABOVE:
            jobs["gamma"][job, phase] = now_ms
        elif within_window(jobs["ends"], count, job, now_ms, window_ms):
            jobs["gamma"][job, phase] = jobs["ends"][job, count % SEEN_ABOVE]
    jobs["ends"][job, count % SEEN_ABOVE], jobs["n_ends"][job] = now_ms, count + 1
    jobs["released"][job, phase] += amount
    jobs["left"][job, phase] -= 1


@callable_too
def begun(jobs, job, phase):
    """Whether the phase has begun to release and is not over."""
    return jobs["left"][job, phase] > 0 and jobs["gamma"][job, phase] != NOT_YET


@callable_too
def count_trailing(jobs, job, now_ms, window_ms):
    """Nothing has ended for a window since the older phase began to release: what is left of it trails."""
    if begun(jobs, job, OLDER) and nothing_ended(jobs, job, now_ms, window_ms):
        move_rest(jobs, job, OLDER, NEWEST)
        jobs["older_until"][job] = 0


@callable_too
def phase_release(jobs, job, phase, now_ms):
    """What the phase will have released a round from now and has not yet: (3), counted once."""
    gamma = jobs["gamma"][job, phase]
    span_ms = max(ROUND_MS, jobs["last"][job, phase] - jobs["first"][job, phase])
    if jobs["left"][job, phase] == 0 or gamma == NOT_YET or now_ms > gamma + span_ms:
        return 0
    by_then = jobs["amount"][job, phase] * min(span_ms, now_ms + ROUND_MS - gamma) // span_ms
    return max(0, by_then - jobs["released"][job, phase])


@callable_too
def job_release(jobs, job, now_ms, window_ms):
    """(2). The newest phase tells nothing before its starts are over."""
    total = phase_release(jobs, job, OLDER, now_ms)
    if jobs["last"][job, NEWEST] <= now_ms - window_ms:
        total += phase_release(jobs, job, NEWEST, now_ms)
    return total


@callable_too
def releases(jobs, job):
    """Whether a phase of the job has begun to release and is not over."""
    return begun(jobs, job, NEWEST) or begun(jobs, job, OLDER)
