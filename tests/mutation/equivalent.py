"""Mutants that no test can tell from the source, by name, with the reason. They are not tried."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Equivalent:
    line: str  # as it stood when the argument was made: after an edit, the name may mean another operator
    because: str


EQUIVALENT = {
    "src/heddle/policy/levers/admission_backlog.py:more_is_wanted:< -> <=:0": Equivalent(
        'if view.job["state"][other] < JOB_FINISHED:',
        "a job that finishes leaves the list before anybody asks for admission; only failed ones may still be in it",
    ),
    "src/heddle/policy/levers/admission_collector.py:task_event:> -> >=:0": Equivalent(
        "if demand > state.largest[at]:",
        "of a task as large as the largest, it is only forgotten how many jobs have one: looked up again when one ends",
    ),
    "src/heddle/policy/levers/admission_control.py:observe:and -> or:0": Equivalent(
        "smaller = task_event(view, state, stage, -1 if ended else 1) or (ended and params.backlog != UNBOUNDED)",
        "asks again, too, where no answer can have changed, like the reference, which always asks",
    ),
    "src/heddle/policy/levers/haste_initial.py:value_of:> -> >=:0": Equivalent(
        'if view.clock["counts"][0, r] and view.node["allowance"][node, r] > 0:',
        "only an allowance of 0 is let in as well, and compiled code divides by 0 to 0: nothing is added",
    ),
    "src/heddle/sim/containers/physics.py:renew_rates:> -> >=:2": Equivalent(
        "if capped > capacity:",
        "given * capacity // capped is what was given where both are equal",
    ),
    "src/heddle/sim/containers/reduce_demand.py:room_needed:== -> !=:2": Equivalent(
        'if held == 0 or done + held == total or each == 0 or setting["by_label"][0]:',
        "looks that do nothing are no instants; of reduces without memory none are due before maps have enough, or all",
    ),
    "src/heddle/sim/engine.py:advance:> -> >=:7": Equivalent(
        'if ideal and control["waiting"][0] > 0:',
        "reports are taken in a pass for which nothing waits, instead of before the next one that counts",
    ),
    "src/heddle/sim/memory/queue_tree.py:QueueTree.share_out:> -> >=:1": Equivalent(
        "amount = np.where(below[above] > 0, amount * least // np.maximum(1, below[above]), amount)",
        "where the children's amounts add up to 0 each of them is 0, and so is any part of it",
    ),
    "src/heddle/sim/scheduling/choosing.py:_next_leaf:< -> <=:4": Equivalent(
        'if view.queue["first_child"][q] < 0:',
        "queue 0 is a root, so no queue's child",
    ),
    "src/heddle/sim/scheduling/preemption.py:_goes_before:> -> >=:3": Equivalent(
        'return slot["task"][s] > slot["task"][other]',
        "no two containers are of the same task, and none is compared with itself",
    ),
    "src/heddle/sim/scheduling/skipping.py:next_report_that_matters:+ -> -:0": Equivalent(
        'at = max(clock["now_ms"][0] + 1, control["next_report_ms"][0])',
        "whoever waits at the end of an instant waited at its offers, so its reports were taken: the next come later",
    ),
    "src/heddle/sim/scheduling/skipping.py:_wants_that_count:or -> and:1": Equivalent(
        'if setting["heads_differ"][0] or setting["has_pools"][0] or control["news"][0] or control["n_gained"][0]:',
        "only lets more reports go without an instant of their own; what has no room has none under any pool's limit",
    ),
}
