"""A record's accounts against YARN's own memorySeconds and vcoreSeconds."""

from collections.abc import Set

from heddle.analysis.waste.ledger import waste_ledger
from heddle.record.run import Run

WITHIN = 0.02


def agrees_with_yarn(record: Run, jobs: Set[str]) -> None:
    """Of these jobs together; what else the session ran meanwhile may have been seen in part only."""
    accounts = waste_ledger(record).yarn
    assert accounts is not None
    of_mine = [job.amounts for job in accounts.jobs if job.name in jobs]
    assert len(of_mine) == len(jobs)
    numbers = record.jobs.filter(record.jobs["name"].is_in(jobs))["job"]
    held = record.attempts.filter(record.attempts["job"].is_in(numbers.implode())).join(record.shapes, on="shape")
    for r, resource in enumerate(accounts.resources):
        ours, theirs = (sum(amounts[r][side] for amounts in of_mine) for side in (0, 1))
        assert theirs > 0
        # YARN rounds what each container held down to whole seconds, and when it ended is seen to a second at best.
        second_each = 1000 * int(held[resource].sum())
        assert abs(ours - theirs) <= max(WITHIN * theirs, second_each), (resource, accounts)
