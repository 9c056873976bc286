"""Why FIFO beats Fair and DRF in the paper's batch, or does not here: how many reduces a job has.

Reduces start early and hold their containers until the maps are done. Where many jobs run at once, as under Fair and DRF,
many such reduces wait for maps that they keep from running.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial

from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.haste.batches import Batch
from heddle.reproduce.haste.measures import measure
from heddle.reproduce.haste.settings import SAME, Settings, relative
from heddle.reproduce.lab import Findings, Part, Work


def reduces(settings: Settings) -> Part:
    known = settings.known
    counts, policies, reference = known["why.reduces"], known["why.policies"], known["policy.reference"]
    same = {name: given for (setting, name), given in settings.batches().items() if setting == SAME}
    plan: dict[Hashable, Work] = {
        (str(count), name, policy, seed): partial(measure, _with_reduces(batch, count), cluster, policy, seed)
        for count in counts
        for name, (batch, cluster) in same.items()
        for policy in (reference, *policies)
        for seed in settings.seeds
    }
    results = yield plan
    rows = []
    for count in counts:
        ratios = [
            relative(results, str(count), policy, reference, lambda measured: measured.makespan_s)
            for policy in policies
        ]
        cells = [mean_text({seed: 100 * value for seed, value in seeds.items()}) for seeds in ratios]
        rows.append((f"{count} reduces to a job of 40 maps", *cells))
    return Findings(
        tables=[
            Table(
                "Why: the number of reduces in the batch of same jobs",
                ("jobs", *policies),
                tuple(rows),
                f"Makespan in percent of {reference}'s: above 100, {reference} is ahead.",
            )
        ]
    )


def _with_reduces(batch: Batch, count: int) -> Batch:
    return replace(batch, kinds=tuple((name, replace(kind, reduces=count)) for name, kind in batch.kinds))
