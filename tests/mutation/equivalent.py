"""Mutants that no test can tell from the source, by name, with the reason."""

EQUIVALENT: dict[str, str] = {
    "src/heddle/policy/levers/admission_backlog.py:more_is_wanted:< -> <=:0": (
        "a job that finishes leaves the list before anybody asks for admission; only failed ones may still be in it"
    ),
    "src/heddle/policy/levers/admission_collector.py:task_event:> -> >=:0": (
        "of a task as large as the largest, it is only forgotten how many jobs have one: looked up again when one ends"
    ),
    "src/heddle/policy/levers/admission_control.py:observe:and -> or:0": (
        "asks again, too, where no answer can have changed, like the reference, which always asks"
    ),
    "src/heddle/policy/levers/haste_initial.py:value_of:> -> >=:0": (
        "only an allowance of 0 is let in as well, and compiled code divides by 0 to 0: nothing is added"
    ),
    "src/heddle/sim/containers/physics.py:renew_rates:> -> >=:2": (
        "given * capacity // capped is what was given where both are equal"
    ),
    "src/heddle/sim/engine.py:advance:> -> >=:7": (
        "reports are taken in a pass for which nothing waits, instead of before the next one that counts"
    ),
    "src/heddle/sim/scheduling/skipping.py:_wants_that_count:or -> and:1": (
        "only lets more reports go without an instant of their own; what has no room has none under any pool's limit"
    ),
}
