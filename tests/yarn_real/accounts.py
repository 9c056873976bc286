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
    for r, resource in enumerate(accounts.resources):
        ours, theirs = (sum(amounts[r][side] for amounts in of_mine) for side in (0, 1))
        assert theirs > 0
        # YARN counts whole seconds: of a short job, one more or less of a single container may be more than that.
        second = 1000 * int(record.shapes[resource].max())  # type: ignore[arg-type]
        assert abs(ours - theirs) <= max(WITHIN * theirs, second), (resource, accounts)
