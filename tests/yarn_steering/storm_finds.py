"""What the storm finds when a guard is taken out: every guard of guards.py is in one of these lists."""

from typing import Final

from .guards import Guard

MOST_STEPS: Final = 15_000
# What has to happen: names of kinds of faults. Of a guard that is not named here: nothing but the storm's own.
NEEDS: Final = {
    "controller killed": "CONTROLLER_KILLED",
    "controller hangs": "CONTROLLER_HANGS",
    "controller hung and goes on": "CONTROLLER_HANGS RM_SLOW",
    "controller hung within a step and goes on": "CONTROLLER_HANGS RM_SLOW RM_TIMES_OUT_AFTER",
    "watchdog killed": "WATCHDOG_KILLED CONTROLLER_KILLED",
    "both killed, next start": "BOTH_KILLED",
    "both killed, restore": "BOTH_KILLED",
    "killed before what was found is on disk": "NODE_LOST",
    "NodeManager killed or hanging": "NODE_HANGS",
    "NodeManager starts anew with its own size": "NODE_ANEW NODE_LOST",
    "RM restarted, its nodes not back yet": "RM_RESTARTS",
    "RM restarted, nodes come one by one": "RM_RESTARTS BOTH_KILLED",
    "RM restarted, or hung (SIGSTOP), for longer than the lease": "RM_RESTARTS RM_TIMES_OUT_BEFORE",
    "RM away for longer than the lease": "RM_RESTARTS RM_TIMES_OUT_BEFORE",
    "RM away when the controller dies": "RM_RESTARTS CONTROLLER_KILLED",
    "RM restarted: containers are numbered from 1 again": "RM_RESTARTS",
    "node added": "NODE_LOST",
    "node removed": "RM_RESTARTS RM_FAILS_OVER CONTROLLER_ENDS",
    "node resized by somebody else": "NODE_RESIZED",
    "node that joined later, resized by somebody else": "NODE_RESIZED RM_RESTARTS NODE_LOST",
    "queue or application changed by somebody else": "QUEUE_CHANGED NODE_RESIZED APP_CHANGED",
    "changed by somebody else just before the end": "NODE_RESIZED QUEUE_CHANGED CONTROLLER_ENDS",
    "answers are stale when things are put back": "RM_STALE BOTH_KILLED CONTROLLER_ENDS",
    "answer without a field": "RM_GARBLES",
    "answer of another shape": "RM_GARBLES",
    "answer that is not JSON, or half of it": "RM_GARBLES RM_CUTS_OFF",
    "answer cut off": "RM_CUTS_OFF",
    "401, 403, 500": "RM_REFUSES",
    "a change refused, or made and denied": "RM_REFUSES_CHANGES RM_CUTS_OFF",
    "clock jumps: lease": "CLOCK_JUMPS CONTROLLER_HANGS",
    "clock jumps: heartbeat": "CLOCK_JUMPS CONTROLLER_HANGS",
    "disk full under the baseline": "DISK_FULL DISK_READ_ONLY",
    "observer killed": "OBSERVER_KILLED",
    "observer killed within a line": "OBSERVER_KILLED",
    "disk full under the record": "DISK_FULL DISK_READ_ONLY",
    "job that came and went while the observer was away": "OBSERVER_KILLED RM_TIMES_OUT_BEFORE",
    "changed by somebody else when the controller is dead": "NODE_RESIZED BOTH_KILLED CONTROLLER_HANGS",
    "disk that refuses under the watchdog": "DISK_READ_ONLY CONTROLLER_KILLED RM_RESTARTS",
    "failover": "RM_FAILS_OVER",
    "bridge: a table left behind at the end": "CONTROLLER_ENDS BRIDGE_FORGETS",
    "applications missing from an answer: looking": "RM_REORDERS",
    "applications missing from an answer: putting back": "RM_REORDERS BOTH_KILLED CONTROLLER_ENDS",
    "node decommissioned and taken back: levers": "NODE_DECOMMISSIONED",
    "node decommissioned and taken back: putting back": "NODE_DECOMMISSIONED",
    "controller begins while the watchdog puts back": "RM_SLOW CONTROLLER_ENDS CONTROLLER_KILLED",
    "controller begins after another that has not beaten for long": "RM_SLOW CONTROLLER_ENDS CONTROLLER_KILLED",
    "what is owed is refused": "RM_REFUSES_CHANGES BOTH_KILLED NODE_LOST RM_RESTARTS",
    "settings without a queue's guarantee": "RM_REORDERS BOTH_KILLED CONTROLLER_ENDS",
    "RM restarted just after sizes were put back": "RM_RESTARTS CONTROLLER_ENDS",
    "some answers are stale after a person's change": "RM_STALE NODE_RESIZED QUEUE_CHANGED APP_CHANGED",
    "changed by somebody else while guards ask": "QUEUE_CHANGED RM_SLOW",
    "changed by somebody else while other things are put back": "QUEUE_CHANGED RM_LATE CONTROLLER_ENDS",
    "one setting of a queue changed by somebody else": "QUEUE_CHANGED",
    "one guarantee changed by somebody else": "QUEUE_CHANGED QUEUE_ADDED",
    "a change that is refused when things are put back": "QUEUE_CHANGED QUEUE_ADDED CONTROLLER_ENDS",
}
# Only where policies move pools.
OF_POOLS: Final = frozenset(
    {
        "settings without a queue's guarantee",
        "one setting of a queue changed by somebody else",
        "one guarantee changed by somebody else",
        "a change that is refused when things are put back",
        "changed by somebody else while guards ask",
    }
)
# Steps until a storm broke.
FOUND: Final = {
    "controller killed": 9,
    "controller hangs": 318,
    "settings without a queue's guarantee": 8_776,
    "watchdog killed": 2,
    "both killed, next start": 10,
    "both killed, restore": 400,
    "killed before what was found is on disk": 1,
    "NodeManager killed or hanging": 502,
    "NodeManager starts anew with its own size": 2_216,
    "RM restarted, its nodes not back yet": 2,
    "RM restarted, nodes come one by one": 315,
    "RM restarted just after sizes were put back": 6_735,
    "RM restarted, or hung (SIGSTOP), for longer than the lease": 351,
    "RM away for longer than the lease": 351,
    "RM away when the controller dies": 7_143,
    "node added": 1,
    "node removed": 7_211,
    "node resized by somebody else": 8,
    "queue or application changed by somebody else": 8,
    "changed by somebody else just before the end": 792,
    "answers are stale when things are put back": 6_065,
    "changed by somebody else while guards ask": 1_319,
    "YARN preempts where nodes shrink": 296,
    "a ResourceManager that does not say whether it preempts": 1_719,
    "answer without a field": 236,
    "answer of another shape": 238,
    "answer that is not JSON, or half of it": 9,
    "answer cut off": 7,
    "401, 403, 500": 7,
    "a change refused, or made and denied": 316,
    "clock jumps: lease": 309,
    "clock jumps: heartbeat": 478,
    "disk full under the baseline": 501,
    "disk full under the record": 330,
    "a shrink that kills": 3,
    "observer killed": 457,
    "observer killed within a line": 762,
    "job that came and went while the observer was away": 147,
    "failover": 300,
    "RM restarted: containers are numbered from 1 again": 324,
    "changed by somebody else when the controller is dead": 724,
    "node decommissioned and taken back: levers": 9_753,
    "node decommissioned and taken back: putting back": 456,
    "applications missing from an answer: looking": 811,
    "bridge: a table left behind at the end": 315,
    "another policy takes over": 125,
    "another policy takes over, and a node holds more than its own size": 47,
    "another policy is found better too late": 23,
}
# Below what the storm simulates.
BELOW: Final = {
    "two controllers": "the lock of a real file system",
    "slow answer": "the timeout of a real connection",
    "applications without number come and go": "memory, which a storm does not look at",
    "RM away for an hour when the controller dies": "longer than a storm lasts",
    "bridge: a leaf switched where a ResourceManager lacks the jar": "the command that installs the bridge",
    "bridge: the jar is deleted while it is in use": "the command that removes the bridge",
}
# Above it, and why no storm can see that it is gone.
MISSED: Final = {
    "controller begins while the watchdog puts back": "a ResourceManager must be slow, a controller end, its watchdog"
    " be at work, and the next controller start within those seconds; one storm of the long run was so (seed 211)",
    "controller begins after another that has not beaten for long": "the same seconds",
    "what is owed is refused": "refusals of the storm end after some seconds, and then the next step succeeds",
    "controller hung and goes on": "the rule for a ResourceManager that has not answered for as long does the same",
    "controller hung within a step and goes on": "whoever saves again and starts a watchdog keeps the promises, too",
    "some answers are stale after a person's change": "a stale answer has to come between true ones, within three looks"
    " of a person's change, which one storm of the long run had (seed 5027)",
    "changed by somebody else while other things are put back": "a person has to change a queue in the seconds in which"
    " sizes are awaited, which one storm of the long run had (seed 10070)",
    "one setting of a queue changed by somebody else": "without it more is left alone, which breaks no promise",
    "one guarantee changed by somebody else": "the storm's people change both shares, since YARN refuses one alone",
    "a change that is refused when things are put back": "the storm's refusals end after some seconds, and then"
    " everything is put back in one go",
    "node that joined later, resized by somebody else": "the next look finds it, and nobody in the storm is quicker",
    "YARN preempts where pools move": "the storm's YARN does not begin to preempt while somebody steers, and at the"
    " start `steer` refuses pools where it does",
    "YARN preempts within a queue": "the storm's queues do not",
    "disk that refuses under the watchdog": "a disk has to refuse, a controller to die and a node to be away at once",
    "applications missing from an answer: putting back": "answers have to omit an application in the seconds in which"
    " things are put back, which one storm of the long run had (seed 140327)",
}


def is_below(guard: Guard) -> bool:
    return guard.file.endswith(".java") or guard.fault in BELOW


def in_words() -> str:
    """For the page."""
    found = ", ".join(f"*{fault}* {steps:,}" for fault, steps in FOUND.items())
    below = "\n".join(f"- *{fault}*: {why}" for fault, why in BELOW.items())
    missed = "\n".join(f"- *{fault}*: {why}" for fault, why in MISSED.items())
    return (
        f"Found, within so many steps: {found}.\n\n"
        f"Below what is simulated, beside the guards that are written in Java and run inside the ResourceManager:\n\n"
        f"{below}\n\n"
        f"Above it, and not found within {MOST_STEPS:,} steps:\n\n{missed}\n"
    )


if __name__ == "__main__":
    print(in_words())
