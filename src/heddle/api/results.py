"""Results that read well in a notebook: Polars frames, and a short table where one is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from heddle.analysis.comparison.compare import COMPARED, Comparison, metric_value
from heddle.analysis.measures.metrics import run_metrics
from heddle.analysis.waiting.explain import Explained, explain, find_job
from heddle.model.visible_text import visible
from heddle.model.workload import KIND_NAMES
from heddle.record.files import write_record
from heddle.record.run import Run
from heddle.report.comparison import comparison_html, write_comparison_report
from heddle.report.wording import METRIC, Scale, judgement, range_pct, scales, signed_pct, verdict


class Result:
    """One run. `metrics` is the document that `heddle simulate --json` prints."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def metrics(self) -> dict[str, Any]:
        return run_metrics(self.run)

    @property
    def outcome(self) -> str:
        """finished, or stalled, or, of what a killed run left, partial: then `metrics["reason"]` says more."""
        return str(self.run.manifest["outcome"])

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row per job, times in seconds."""
        wait, took = (pl.col(end) - pl.col("submit_at_ms") for end in ("started_at_ms", "ended_at_ms"))
        return self.run.jobs.select(
            "job", "name", "queue", "user", "outcome", "tasks",
            (pl.col("submit_at_ms") / 1000).alias("submit_s"), (wait / 1000).alias("wait_s"),
            (took / 1000).alias("completion_s"), (pl.col("alone_ms") / 1000).alias("alone_s"),
            pl.when(pl.col("alone_ms") > 0).then(took / pl.col("alone_ms")).alias("slowdown"),
        )  # fmt: skip

    @cached_property
    def tasks(self) -> pl.DataFrame:
        """One row per attempt to run a task (each task's last, unless the run was recorded), times in seconds."""
        run = self.run
        frame = run.attempts.join(run.jobs.select("job", pl.col("name").alias("job_name")), on="job")
        frame = frame.join(run.stages.select("stage", pl.col("name").alias("stage_name")), on="stage")
        frame = frame.join(run.nodes.select("node", pl.col("name").alias("node_name")), on="node", how="left")
        kinds = pl.col("kind").replace_strict(dict(enumerate(KIND_NAMES)), return_dtype=pl.String)
        times = [
            (pl.col(f"{name}_at_ms") / 1000).alias(f"{name}_s") for name in ("asked", "allocated", "started", "ended")
        ]
        return frame.select("task", "job_name", "stage_name", kinds, "attempt", "node_name", *times)

    def explain(self, job: str | int) -> Explanation:
        """Why a job took as long as it did; the run must have been recorded (`record=True`)."""
        return Explanation(explain(self.run, find_job(self.run, str(job))))

    def save(self, folder: str | Path) -> None:
        """Write the run record, for `heddle explain` and everything else that reads records."""
        write_record(self.run, Path(folder))

    def __repr__(self) -> str:
        metrics = self.metrics
        return (
            f"<heddle run of {visible(metrics['workload'])} under {visible(metrics['policy'])}: {self.outcome}, "
            f"{metrics['jobs']} jobs>"
        )

    def _repr_html_(self) -> str:
        metrics = self.metrics
        rows = [("outcome", self.outcome + (f": {metrics['reason']}" if metrics["reason"] else ""))]
        rows.append(("jobs", f"{metrics['finished_jobs']} finished, {metrics['failed_jobs']} failed"))
        for metric in COMPARED:
            value = metric_value(metrics, metric.name)
            if value is not None:
                rows.append((metric.title, Scale.of(metric, [value]).write(value)))
        title = f"{metrics['workload']} under {metrics['policy']}, seed {metrics['seed']}"
        return f"<b>{_shown(title)}</b>" + _html_table(("", ""), rows)


class Explanation:
    """Where the time of one job went."""

    def __init__(self, explained: Explained) -> None:
        self.explained = explained

    @cached_property
    def spans(self) -> pl.DataFrame:
        """The life of the job, piece by piece; times in seconds since its submission."""
        zero = self.explained.submit_at_ms
        columns = ("from_s", "to_s", "state", "reason", "waiting", "running")
        rows = [
            ((one.from_ms - zero) / 1000, (one.to_ms - zero) / 1000, one.state, one.cause, one.waiting, one.running)
            for one in self.explained.spans
        ]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def causes_s(self) -> dict[str, float]:
        """Seconds by cause, the largest first; they add up to the job's completion time."""
        return {cause: ms / 1000 for cause, ms in self.explained.causes_ms.items()}

    def __repr__(self) -> str:
        main = self.explained.main_wait or "never waited"
        return visible(f"<{self.explained.name}: {self.explained.taken_ms / 1000:g} s; mostly {main}>")

    def _repr_html_(self) -> str:
        one = self.explained
        title = f"{one.name} under {one.policy}: {one.taken_ms / 1000:,.1f} s, alone {one.alone_ms / 1000:,.1f} s"
        rows = [(cause, f"{seconds:,.1f} s") for cause, seconds in self.causes_s.items()]
        return f"<b>{_shown(title)}</b>" + _html_table(("where the time went", ""), rows)


class ComparisonResult:
    """Policies against a baseline. `comparison` has everything; the frames have what one looks at first."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @cached_property
    def summary(self) -> pl.DataFrame:
        """A row per cluster, policy and metric: estimate and change against the baseline, with 95 % intervals."""
        rows = []
        for row in self.comparison.summary:
            low, high = row["ci95"] or (None, None)
            change_low, change_high = row["vs_ci95"] or (None, None)
            rows.append(
                {
                    "cluster": row["cluster"], "policy": row["policy"], "metric": row["metric"], "mean": row["mean"],
                    "low": low, "high": high, "change_pct": row["vs_baseline_pct"], "change_low": change_low,
                    "change_high": change_high, "judgement": judgement(row) or None, "runs": row["runs"],
                    "stalled_runs": row["stalled_runs"], "all_runs": row["all_runs"],
                }
            )  # fmt: skip
        floats = ("mean", "low", "high", "change_pct", "change_low", "change_high")
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(floats, pl.Float64) | {"judgement": pl.String})

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run, with every compared metric."""
        return pl.DataFrame(
            [
                {"cluster": run.metrics["cluster"], "policy": run.policy, "seed": run.seed}
                | {"outcome": run.metrics["outcome"]}
                | {metric.name: metric_value(run.metrics, metric.name) for metric in COMPARED}
                for run in self.comparison.runs
            ],
            schema_overrides={metric.name: pl.Float64 for metric in COMPARED},
        )

    @cached_property
    def worse(self) -> pl.DataFrame:
        """Queues and users under each policy, the ones that lost most first."""
        rows = [
            {
                "cluster": one.cluster, "policy": one.policy, "who": kind, "name": group.name, "jobs": group.jobs,
                "baseline_s": group.baseline_s, "policy_s": group.policy_s, "change_pct": group.change_pct,
            }
            for one in self.comparison.losers
            for kind, groups in (("queue", one.queues), ("user", one.users))
            for group in groups
        ]  # fmt: skip
        return pl.DataFrame(rows)

    @property
    def verdict(self) -> str:
        """What the comparison shows, in plain words; one sentence per cluster."""
        return " ".join(verdict(self.comparison, cluster).sentence for cluster in self.comparison.clusters)

    def report(self, path: str | Path) -> None:
        """Write the HTML report."""
        write_comparison_report(path, self.comparison)

    def html(self) -> str:
        """The HTML report as text."""
        return comparison_html(self.comparison)

    def __repr__(self) -> str:
        return visible(f"<heddle comparison: {self.verdict}>")

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{_shown(self.verdict)}</b></p>"]
        for cluster in self.comparison.clusters:
            scale = scales(self.comparison, cluster)
            shown = ("makespan_s", "jct_s.mean", "jct_s.p95", "wait_s.mean")
            rows = []
            for policy in self.comparison.policies:
                found = [self.comparison.row(cluster, policy, name) for name in shown]
                cells = [scale[row["metric"]].write(row["mean"]) for row in found]
                lead = found[1]
                change = "baseline" if policy == self.comparison.baseline else "–"
                if lead["vs_baseline_pct"] is not None:
                    spread = f" ({range_pct(lead['vs_ci95'])})" if lead["vs_ci95"] else ""
                    change = f"{signed_pct(lead['vs_baseline_pct'])}{spread} {judgement(lead)}"
                rows.append((policy, *cells, change))
            heads = ("policy", *(METRIC[name].title for name in shown), "mean completion against the baseline")
            parts.append(f"<p>cluster {_shown(cluster)}</p>" + _html_table(heads, rows))
        return "".join(parts)


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{_shown(text)}</th>" for text in heads) if any(heads) else ""
    body = "".join(f"<tr>{''.join(f'<td>{_shown(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(text: str) -> str:
    return escape(visible(text))
