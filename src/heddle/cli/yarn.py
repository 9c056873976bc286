"""`heddle yarn`: a real YARN."""

from __future__ import annotations

import typer

from heddle.cli import (
    yarn_bridge,
    yarn_dashboard,
    yarn_fidelity,
    yarn_local,
    yarn_monitoring,
    yarn_run,
    yarn_sls,
    yarn_steer,
    yarn_storm,
    yarn_trace,
    yarn_trial,
    yarn_twin,
    yarn_workload,
)
from heddle.cli.group import CommandGroup

app = typer.Typer(
    cls=CommandGroup,
    help="Start, watch and steer a real Apache Hadoop YARN.\n\n"
    "\b\nExamples:\n"
    "  heddle yarn up                      a real cluster on this machine\n"
    "  heddle yarn run tasks.csv           its tasks as real containers\n"
    "  heddle yarn steer --mode live       usage feedback on it; put back when it ends\n"
    "  heddle yarn status\n"
    "  heddle yarn down",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("up")(yarn_local.up)
app.command("down")(yarn_local.down)
app.command("status")(yarn_local.status)
app.command("logs")(yarn_local.logs)
app.command("links")(yarn_local.links)
app.command("run")(yarn_run.run)
app.command("track")(yarn_trace.track)
app.command("observe")(yarn_trace.observe)
app.command("steer")(yarn_steer.steer)
app.command("restore")(yarn_steer.restore)
app.command("twin")(yarn_twin.twin)
app.command("dashboard")(yarn_dashboard.dashboard)
app.command("monitoring")(yarn_monitoring.monitoring)
app.command("why")(yarn_twin.why)
app.command("trial")(yarn_trial.trial)
app.command("fidelity")(yarn_fidelity.fidelity)
app.command("workload")(yarn_workload.workload)
app.command("sls")(yarn_sls.sls)
app.command("storm")(yarn_storm.storm)
app.add_typer(yarn_bridge.app, name="bridge")
