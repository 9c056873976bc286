"""A check as one JSON document, for cron jobs and for the next check's --since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from heddle.analysis.trace_contents.advice import document as advice_document
from heddle.check.checked import Checked
from heddle.check.findings import Finding, verdict
from heddle.check.next_step import next_steps
from heddle.check.since import Since
from heddle.check.unknown import Unknown, use_told_by


def document(
    checked: Checked,
    address: str,
    found: list[Finding],
    unknown: Sequence[Unknown],
    changes: Sequence[Since] | None,
    command: str,
) -> dict[str, Any]:
    gathered, jobs, tried = checked.gathered, checked.jobs, checked.tried
    return {
        "resource_manager": {"address": address, "version": gathered.manager.version},
        "verdict": verdict(checked, found),
        "findings": [asdict(one) for one in found],
        "since": None if changes is None else [asdict(one) for one in changes],
        "accounts": asdict(checked.accounts),
        "cluster": {
            "nodes": gathered.now.nodes,
            "away": dict(gathered.now.away),
            "policy": gathered.present.policy,
            "queues": [queue.name for queue in gathered.present.cluster.queues],
            "assumed": [
                {"setting": one.setting, "value": one.value, "why": one.why} for one in gathered.present.assumed
            ],
        },
        "jobs": {
            "read_in_detail": len(gathered.sample) + gathered.spark_read + len(gathered.watched),
            "mapreduce": gathered.mapreduce,
            "mapreduce_read": len(gathered.sample),
            "spark": gathered.spark,
            "spark_read": gathered.spark_read,
            "watched": len(gathered.watched),
            "known": {} if jobs is None else dict(jobs.known),
            "left_out": dict(checked.left_out),
        },
        "use": {
            "from": use_told_by(checked),
            "memory_used_of_reserved": None if checked.use is None else checked.use.ratio,
            "nodes_report_now": asdict(gathered.now.use),
        },
        "waiting": [asdict(one) for one in gathered.now.waiting],
        "am_deadlock": None if checked.risk is None else asdict(checked.risk),
        "requests": advice_document(list(checked.advice), checked.no_advice, checked.rule),
        "ledger": None
        if checked.waste is None
        else {
            "of": "what was watched" if checked.ledger_is_real else "a simulation of the past under the present policy"
        }
        | checked.waste.ledger.document(),
        "policies": None
        if tried is None
        else {
            "baseline": tried.comparison.baseline,
            "by_knobs": tried.by_knobs,
            "present_mean_jct_s": {"simulated": checked.simulated_s, "real": None if jobs is None else jobs.mean_s},
            "sampling": tried.comparison.sampling.as_json(),
            "summary": tried.comparison.summary,
            "refused": dict(tried.refused),
        },
        "could_not_be_known": [asdict(one) for one in unknown],
        "next": [asdict(one) for one in next_steps(checked, address, command)],
    }
