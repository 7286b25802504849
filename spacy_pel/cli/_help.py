"""Help pages in plain text: commands by panel, whole sentences, and values without the types of Python."""

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_PANELS = ["Link", "Knowledge bases", "Corpora", "Train", "Evaluate", "Research"]  # in the order of use
_UNCUT = 1000  # characters; click cuts a sentence after 45
_TYPE = re.compile(r" <([^<>]*)>$")  # typer adds it to a name, e.g. " <list[Path]>"


class HelpGroup(TyperGroup):
    """Lists commands by their ``rich_help_panel``, without rich's boxes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        names = self.list_commands(ctx)
        for name in names:
            command: Any = self.get_command(ctx, name)
            row = (name.ljust(max(map(len, names))), command.get_short_help_str(_UNCUT))
            panels.setdefault(command.rich_help_panel or "Commands", []).append(row)
        for panel in sorted(panels, key=[*_PANELS, *panels].index):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


class HelpCommand(TyperCommand):
    """Names its values by their metavars alone."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = (re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx))
        return [re.sub(r"(\.\.\.\]?)\.\.\.$", r"\1", piece) for piece in pieces]  # [FOLDER...]...

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records: dict[str, list[Any]] = {"argument": [], "option": []}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                name = _TYPE.sub("" if param.param_type_name == "argument" else r" \1", record[0])
                records[param.param_type_name].append((name, record[1]))
        for kind, rows in records.items():
            if rows:
                with formatter.section(f"{kind.title()}s"):
                    formatter.write_dl(rows)


class HelpTyper(typer.Typer):
    """An app with such help pages for its commands."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": HelpCommand, **settings})
