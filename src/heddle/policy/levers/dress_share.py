"""Alg. 3 of DRESS: how the share delta moves, as the text means it and as it is printed.

P1, P2: what small and large jobs still want; Ac1, Ac2: what is free in their pools; f1, f2: what their running jobs
will release within the next round. With F the text has
    Ac1 + F1 >= P1 (small jobs have more than they ask for):  delta falls
    else Ac2 + F2 >= P2 (large jobs do):                      delta rises
    else the smallest jobs of each pool are counted in, and what large ones leave is lent to further small jobs
As printed it slips: (1) has A_c in F already, so that Ac + F counts it twice; line 14 gives the second pool F1; loops
leave out the last job; `>` refuses exact fits; line 23 charges a loan to the second pool alone, and line 24 raises
delta also where nothing was lent, so that what large jobs leave plays no part; line 8 takes delta to 0 when no small
job waits. `mended` has F without A_c, each pool its own, all jobs, exact fits; a loan takes what is left in both pools
and moves delta by what it takes from the large ones'; and delta moves by no more than the other pool lacks. `printed`
has every slip but line 21's, which counts i and tests j: it goes on with the small jobs that were passed over.
"""

from __future__ import annotations

from heddle.model.compilable import callable_too
from heddle.policy.levers.dress_demand import collect_demands, next_demand


@callable_too
def lent_to_small(view, state, small_room, large_room, asked):
    """Lines 13 to 24: how much of the large pool's room goes to small jobs, the smallest ones first."""
    n_large, n_small = collect_demands(view, state, asked)
    demand, jobs = next_demand(state.of_large, n_large, 0)
    while jobs > 0 and demand <= large_room:
        taken = min(jobs, large_room // demand)
        large_room -= taken * demand
        demand, jobs = next_demand(state.of_large, n_large, demand) if taken == jobs else (0, 0)
    lent = 0
    demand, jobs = next_demand(state.of_small, n_small, 0)
    while jobs > 0 and demand <= small_room + large_room:
        own = min(jobs, small_room // demand)
        small_room -= own * demand
        on_loan = min(jobs - own, (small_room + large_room) // demand)
        if on_loan > 0:
            loan = on_loan * demand - small_room
            small_room = 0
            large_room -= loan
            lent += loan
        demand, jobs = next_demand(state.of_small, n_small, demand) if own + on_loan == jobs else (0, 0)
    return lent


@callable_too
def mended(view, state, small, large, asked):
    """By how much delta moves. Of each pool: what is free, what will be released, what is wanted."""
    small_room, large_room = small[0] + small[1], large[0] + large[1]
    small_waits, large_waits = small[2], large[2]
    if small_room >= small_waits:
        return -min(small_room - small_waits, max(0, large_waits - large_room))
    if large_room >= large_waits:
        return min(large_room - large_waits, small_waits - small_room)
    return lent_to_small(view, state, small_room, large_room, asked)


@callable_too
def raised_as_printed(view, state, small_room, asked):
    """Lines 13 to 24 as they stand: line 24 adds every small job that was passed over, whatever large ones leave."""
    n_small = collect_demands(view, state, asked)[1]
    raised, seen = 0, 0
    demand, jobs = next_demand(state.of_small, n_small, 0)
    while jobs > 0:
        seen += jobs
        jobs -= seen == n_small  # the last one is left out
        while jobs > 0 and demand < small_room:
            small_room -= demand
            jobs -= 1
        raised += jobs * demand
        demand, jobs = next_demand(state.of_small, n_small, demand)
    return raised


@callable_too
def printed(view, state, small, large, asked):
    """By how much delta moves, slips included."""
    small_room, large_room = 2 * small[0] + small[1], 2 * large[0] + large[1]
    if small_room >= small[2]:
        return small[2] - small_room
    if large_room >= large[2]:
        return large_room - large[2]
    return raised_as_printed(view, state, small_room, asked)
