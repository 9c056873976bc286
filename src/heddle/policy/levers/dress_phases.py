"""Phases of a job, found from its containers' starts and ends, and what they will release soon (DRESS, paper 5).

Tasks of a phase do the same to similar data, so they end in the order in which they started and over as long a time.
Alg. 1: a phase is seen when more than t_s containers start within a window; its starts are over when none starts for a
window; d_ps is the time from its first start to its last. Alg. 2: its release begins, at gamma, with the first of more
than t_e ends within a window, which leaves out *heading* tasks that end early. *Trailing* tasks, left over when nothing
has ended for a window, count to the next phase.
    p(t) = 0 before gamma;  (t - gamma) / d_ps * c until gamma + d_ps;  0 after        (3)
    f = sum over the job's phases                                                       (2)
The text calls f the release *frequency*, and (3) is what has been released since gamma: what comes within the next
round is its increment, and no more than is left. With `release=literal` it is (3) itself, round after round.
Two phases of a job are kept: the newest, and the one before it. A group of t_s containers or less is too small to see:
it joins the next phase. One of t_e or less begins to release with its first end.

A start is the allocation, because a ResourceManager that is polled does not tell when a container began to run. AMs
are in no phase. Amounts are dominant shares in units of ONE, so that containers of all sizes can be added.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.lever import Column, several

MOST_SEEN = 10  # t_s and t_e are at most this: so many times are kept
ROUND_MS = 1000  # t + 1 is one round later
NOT_YET = -1
NEWEST, OLDER = 0, 1  # phases of a job

# Columns of state.job; all functions here get a job's row. `seen`: the newest phase is more than a small group.
PHASES = (
    *several(MOST_SEEN, "starts", "ends"),  # times of the last ones
    *several(2, "first", "last", "amount", "count", "left", "released", "gamma"),  # of each phase
    *(Column(name) for name in ("n_starts", "n_ends", "phase", "older_until", "seen")),
)  # phase: number of the newest; older_until: the older one has the containers of phases up to this


@callable_too
def within_window(times, count, enough, now_ms, window_ms):
    """Whether `enough` happened within the window that ends now: with this one, more than that."""
    return count >= enough and times[(count - enough) % MOST_SEEN] > now_ms - window_ms


@callable_too
def nothing_ended(job, now_ms, window_ms):
    """Whether no container of the job ended within the window that ends now."""
    return job["n_ends"] == 0 or job["ends"][(job["n_ends"] - 1) % MOST_SEEN] <= now_ms - window_ms


@callable_too
def clear(job, phase, now_ms):
    job["first"][phase], job["last"][phase], job["gamma"][phase] = now_ms, now_ms, NOT_YET
    job["amount"][phase], job["count"][phase], job["left"][phase], job["released"][phase] = 0, 0, 0, 0


@callable_too
def move_rest(job, source, target, now_ms):
    """What is left of one phase counts to another."""
    job["amount"][target] += job["amount"][source] - job["released"][source]
    job["count"][target] += job["left"][source]
    job["left"][target] += job["left"][source]
    clear(job, source, now_ms)


@callable_too
def begin_phase(job, now_ms, window_ms):
    """A container starts after a pause: with it, a new phase."""
    trails = job["gamma"][NEWEST] != NOT_YET and nothing_ended(job, now_ms, window_ms)
    if job["seen"] and not trails:
        move_rest(job, OLDER, NEWEST, now_ms)
        for of in (job["first"], job["last"], job["gamma"], job["amount"], job["released"], job["count"], job["left"]):
            of[OLDER] = of[NEWEST]
        job["older_until"] = job["phase"]
        clear(job, NEWEST, now_ms)
    else:
        amount, left = job["amount"][NEWEST] - job["released"][NEWEST], job["left"][NEWEST]
        clear(job, NEWEST, now_ms)
        job["amount"][NEWEST], job["count"][NEWEST], job["left"][NEWEST] = amount, left, left
    job["seen"] = 0
    job["phase"] += 1


@callable_too
def starts(job, amount, now_ms, window_ms, t_s):
    """A container of this dominant share starts (Alg. 1). The number of its phase."""
    if job["phase"] == 0:
        clear(job, NEWEST, now_ms)
        job["phase"] = 1
    elif job["last"][NEWEST] <= now_ms - window_ms:
        begin_phase(job, now_ms, window_ms)
    if within_window(job["starts"], job["n_starts"], t_s, now_ms, window_ms):
        job["seen"] = 1
    job["starts"][job["n_starts"] % MOST_SEEN] = job["last"][NEWEST] = now_ms
    job["n_starts"] += 1
    job["amount"][NEWEST] += amount
    job["count"][NEWEST] += 1
    job["left"][NEWEST] += 1
    return job["phase"]


@callable_too
def ends(job, phase_number, amount, now_ms, window_ms, t_e):
    """A container of this phase ends (Alg. 2)."""
    phase = OLDER if phase_number <= job["older_until"] else NEWEST
    if job["gamma"][phase] == NOT_YET:
        if job["count"][phase] <= t_e:
            job["gamma"][phase] = now_ms
        elif within_window(job["ends"], job["n_ends"], t_e, now_ms, window_ms):
            job["gamma"][phase] = job["ends"][(job["n_ends"] - t_e) % MOST_SEEN]
    job["ends"][job["n_ends"] % MOST_SEEN] = now_ms
    job["n_ends"] += 1
    job["released"][phase] += amount
    job["left"][phase] -= 1


@callable_too
def begun(job, phase):
    """Whether the phase has begun to release and is not over."""
    return job["left"][phase] > 0 and job["gamma"][phase] != NOT_YET


@callable_too
def count_trailing(job, now_ms, window_ms):
    """Nothing has ended for a window since the older phase began to release: what is left of it trails."""
    if begun(job, OLDER) and nothing_ended(job, now_ms, window_ms):
        move_rest(job, OLDER, NEWEST, now_ms)
        job["older_until"] = 0


@callable_too
def phase_release(job, phase, now_ms, literal):
    """What the phase will release within the next round; `literal`: (3), all that it will have released by then."""
    gamma, span_ms = job["gamma"][phase], max(ROUND_MS, job["last"][phase] - job["first"][phase])
    if not begun(job, phase) or now_ms > gamma + span_ms:
        return 0
    by_then = job["amount"][phase] * min(span_ms, now_ms + ROUND_MS - gamma) // span_ms
    if literal:
        return by_then
    so_far = job["amount"][phase] * (now_ms - gamma) // span_ms
    return min(by_then - so_far, job["amount"][phase] - job["released"][phase])


@callable_too
def job_release(job, now_ms, window_ms, literal):
    """(2). The newest phase tells nothing before its starts are over."""
    total = phase_release(job, OLDER, now_ms, literal)
    if job["last"][NEWEST] <= now_ms - window_ms:
        total += phase_release(job, NEWEST, now_ms, literal)
    return total


@callable_too
def releases(job):
    return begun(job, NEWEST) or begun(job, OLDER)
