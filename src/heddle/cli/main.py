"""The command `heddle`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from heddle.cli import bench, compare, policies, simulate, workload, yarn
from heddle.cli.output import BAD_INPUT, DONE, INTERRUPTED, report, say, show_warnings_briefly
from heddle.model.errors import HeddleError

app = typer.Typer(
    name="heddle",
    help="Simulate and compare scheduling policies of Apache Hadoop YARN clusters.\n\n"
    "\b\nExamples:\n"
    "  heddle compare                      baselines of your choice on the built-in mix\n"
    "  heddle compare --policy fifo --policy drf --seeds 5 --report report.html\n"
    "  heddle simulate tasks.csv --policy capacity --cluster 10x65536x24\n"
    "  heddle policies                     all policies, with their parameters",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("policies")(policies.policies)
app.add_typer(workload.app, name="workload")
app.command("simulate")(simulate.simulate)
app.command("compare")(compare.compare)
app.command("bench")(bench.bench)
app.add_typer(yarn.app, name="yarn")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("heddle"))
        raise typer.Exit


@app.callback()
def heddle(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that stand before the command."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 stalled or a check failed, 2 bad input, 130 interrupted."""
    show_warnings_briefly()
    try:
        code: Any = app(args=None if arguments is None else list(arguments), standalone_mode=False)
        sys.stdout.flush()
    except HeddleError as error:
        return report(error)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if (show := getattr(error, "show", None)) is None:  # the parser's own errors know how to show themselves
            raise
        show()
        return BAD_INPUT
    if code == INTERRUPTED:
        say("interrupted; nothing half-written is left behind")
    return code if isinstance(code, int) else DONE


def main() -> None:
    sys.exit(run())
