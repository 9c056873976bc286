"""Does FIFO beat Fair and DRF in a batch because their many reduces hold containers idle? The number of reduces varied.

Reduces start early and hold their containers until the maps are done. Under Fair and DRF more jobs run at once, and
more such reduces wait. Against that stands the end of the last job under FIFO, when little else is left to run.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import partial

from heddle.reproduce.claims import Table, mean_text
from heddle.reproduce.haste.batches import Batch
from heddle.reproduce.haste.measures import idle, makespan, measure
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
            relative(results, str(count), policy, reference, of) for policy in policies for of in (makespan, idle)
        ]
        cells = [mean_text({seed: 100 * value for seed, value in seeds.items()}) for seeds in ratios]
        rows.append((f"{count} reduces to a job of 40 maps", *cells))
    heads = [f"{policy}: {what}" for policy in policies for what in ("makespan", "idle")]
    return Findings(
        tables=[
            Table(
                "Why: the number of reduces in the batch of same jobs",
                ("jobs", *heads),
                tuple(rows),
                f"In percent of {reference}'s: makespan, and memory that reduces hold while they wait for maps.",
            )
        ]
    )


def _with_reduces(batch: Batch, count: int) -> Batch:
    return replace(batch, kinds=tuple((name, replace(kind, reduces=count)) for name, kind in batch.kinds))
