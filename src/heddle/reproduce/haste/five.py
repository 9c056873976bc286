"""The five settings: who has the shortest makespan, at what response time and with how much allocated."""

from __future__ import annotations

from heddle.reproduce.claims import Source
from heddle.reproduce.haste.held import held_reduces, recorded_runs
from heddle.reproduce.haste.recorded import recorded_batches
from heddle.reproduce.haste.scored import Scored
from heddle.reproduce.haste.settings import FIVE, Results, Settings
from heddle.reproduce.haste.side import side_results
from heddle.reproduce.haste.yarn_fifo import against_yarn_fifo, yarn_fifo_runs
from heddle.reproduce.lab import Findings, Part


def five(settings: Settings) -> Part:
    known = settings.known
    forms: list[str] = [f"urgency={form}" for form in known["policy.urgency_forms"]]
    held = [f"{name}({forms[0]},{known['policy.held']})" for name in ("haste", "haste-a")]
    ours = [f"{name}({form})" for form in forms for name in ("haste", "haste-a")]
    baselines: list[str] = known["policy.baselines"]
    recorded = recorded_batches(settings)
    plan = settings.runs([*baselines, *ours, *known["policy.ablations"], *held], settings.seeds)
    plan.update(yarn_fifo_runs(settings, settings.seeds))
    plan.update(recorded_runs(settings, recorded, [known["policy.reference"], "ffd-dp", ours[0], held[0]]))
    results: Results = yield plan
    text, other = (Scored(settings, results, baselines, f"haste({form})", f"haste-a({form})") for form in forms)
    found = Findings(
        claims=[
            *(claim for setting in FIVE for claim in text.of_setting(setting)),
            *side_results(text),
            *(claim for setting in FIVE for claim in other.of_setting(setting, "-running", Source.OURS)),
            *against_yarn_fifo(text),
        ],
        drawings=[text.bars(setting) for setting in FIVE],
        tables=[
            *(text.table(setting, [known["policy.yarn_fifo"], *ours[2:], *text.ablations, *held]) for setting in FIVE),
            text.by_size_of_reduces([*text.policies, *held]),
        ],
        remarks=[
            f"Urgency: the paper's claims are scored with `{forms[0]}`, which is how its text has it; those called "
            f"`-running` are the same with `{forms[1]}`. The formula is lost in our copy of the paper: both are "
            "reconstructions that keep its rules R1-R3.",
            "FIFO: the paper's claims are scored with a FIFO that blocks, as its text has it; those called `-yarn` are "
            f"of `{known['policy.yarn_fifo']}`, YARN's own, which counts memory only. Under it tasks use all that they "
            "ask for, and share vcores that are promised twice.",
        ],
    )
    found.add(held_reduces(text, recorded, *held))
    return found
