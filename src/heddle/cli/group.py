"""A group of commands whose help says of each what it does in full: the parser's own would cut it at the line's end."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class CommandGroup(TyperGroup):
    """Lists its commands with the first paragraph of their help, on as many lines as it takes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [
            (name, " ".join((one.help or "").partition("\n\n")[0].split()))
            for name, one in commands
            if one is not None and not one.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
