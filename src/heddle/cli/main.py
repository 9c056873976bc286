"""The command `heddle`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from heddle.cli.engines import until_the_command_ends
from heddle.cli.group import CommandGroup
from heddle.cli.output import (
    BAD_INPUT,
    DONE,
    INTERRUPTED,
    be_quiet,
    fail,
    print_line,
    report,
    show_warnings_briefly,
    tell_errors_as_json,
)
from heddle.cli.settings import SETTINGS_FILE, option_defaults, read_settings_file
from heddle.model.errors import HeddleError, Problem
from heddle.policy.endless import watch

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

COMMANDS: Final = (  # each in a module of its name, as a function of that name or as a group: `app`
    "check", "policies", "certify", "workload", "traces", "cluster", "simulate", "compare", "sweep", "tune", "explain",
    "twin", "bound", "efficiency", "ledger", "advise", "docs", "doctor", "bench", "reproduce", "effects", "yarn",
)  # fmt: skip


def app_of(names: Iterable[str]) -> typer.Typer:
    """`heddle` with these commands. To read the signatures of all of them takes longer than most of them run."""
    app = typer.Typer(
        cls=CommandGroup,
        name="heddle",
        help="Simulate and compare scheduling policies of Apache Hadoop YARN clusters.\n\n"
        "\b\nExamples:\n"
        "  heddle check http://rm.example:8088   what is wrong with this cluster?\n"
        "  heddle compare                      baselines of your choice on the built-in mix\n"
        "  heddle compare --policy fifo --policy drf --seeds 5 --report report.html\n"
        "  heddle simulate tasks.csv --policy capacity --cluster 10x65536x24\n"
        "  heddle policies                     all policies, with their parameters\n"
        "  heddle doctor                       is everything here?\n\n"
        "Defaults of options can come from heddle.toml, with a table for each command; flags win over it.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(heddle)
    for name in names:
        module = import_module(f"heddle.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from heddle.model.own_sources import own_version

        print_line(own_version())
        raise typer.Exit


def heddle(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Default options, as TOML [default: heddle.toml in this folder, if any].")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only results and errors. Also accepted after the command.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that go before the command."""
    path, said = read_settings_file(config)
    if path is not None:
        context.default_map = option_defaults(path, said, context.command)
    be_quiet(quiet or said.get("quiet") is True)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 stalled or a check failed, 2 bad input, 130 interrupted."""
    show_warnings_briefly()
    be_quiet(False)
    given = list(sys.argv[1:] if arguments is None else arguments)
    tell_errors_as_json("--json" in given)
    watch.tell = _tell_of_endless_lever
    try:
        with until_the_command_ends:
            code: Any = app_of(_commands_for(given))(args=_quiet_first(given), standalone_mode=False)
        sys.stdout.flush()
    except HeddleError as error:
        return report(error)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        _write_no_more()
        return DONE
    except OSError as error:
        if error.errno not in DISK_FULL:
            if error.filename is None:
                raise
            return fail("bad-input", [Problem(str(error.filename), error.strerror or str(error))], BAD_INPUT)
        _write_no_more()
        what = (
            f"{error.strerror}: {error.filename or 'what it prints'} cannot be written; free some space and try again"
        )
        return fail("disk-full", [Problem("", what)], BAD_INPUT)
    except Exception as error:
        if (show := getattr(error, "show", None)) is None:  # the parser's own errors know how to show themselves
            raise
        if "--json" in given:
            return fail("usage", [Problem("", _said_by(error))], BAD_INPUT)
        show()
        return BAD_INPUT
    if code == INTERRUPTED:
        fail("interrupted", [Problem("", "interrupted; no partial files are left behind")], INTERRUPTED)
    return code if isinstance(code, int) else DONE


def _commands_for(given: Sequence[str]) -> Sequence[str]:
    """The one that is called, where that is plain; help, completion and a file of settings may be about any."""
    return given[:1] if given and given[0] in COMMANDS and not Path(SETTINGS_FILE).is_file() else COMMANDS


def _tell_of_endless_lever(what: str, exit_code: int) -> None:
    fail("interrupted" if exit_code == INTERRUPTED else "bad-input", [Problem("", what)], exit_code)


def _said_by(error: Exception) -> str:
    """The parser's error in words, with the option that it is about."""
    words = getattr(error, "format_message", None)
    return str(words() if words is not None else error)


def _write_no_more() -> None:
    """What Python would still write to stdout at its end goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _quiet_first(arguments: Sequence[str]) -> list[str]:
    """--quiet is an option of `heddle` itself, but people write it at the end."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    rest = [one for one in arguments[:end] if one not in ("--quiet", "-q")]
    asked = len(rest) < end
    return [*(["--quiet"] if asked else []), *rest, *arguments[end:]]


def main() -> None:
    sys.exit(run())
