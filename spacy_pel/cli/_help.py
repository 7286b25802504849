"""Help pages: commands in the order of use, whole phrases, and words that say what a value is."""

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# groups of commands -> panels of their help pages -> commands; others come last
_PANELS: dict[str, dict[str, list[str]]] = {
    "pel": {
        "Link": ["quickstart", "demo", "link", "explain", "teach", "serve", "verify"],
        "Knowledge bases": ["kb"],
        "Corpora": ["convert", "corpus"],
        "Train": [*("debug", "train", "average", "index", "recode", "calibrate"), *("mine", "candidates", "ranker")],
        "Evaluate": ["evaluate", "compare", "report"],
        "Research": ["research"],
    },
    "kb": {"Commands": ["build", "info", "show", "add", "diff", "merge", "sample"]},
    "candidates": {"Commands": ["build", "eval", "add"]},
    "ranker": {"Commands": ["train", "add"]},
    "corpus": {"Commands": ["info", "folds", "restore"]},
}
_WHOLE = 1000  # characters of a phrase that is not cut
_TYPE = re.compile(r" <([^<>]*)>$")  # that typer adds to a name, e.g. " <list[Path]>"


class HelpGroup(TyperGroup):
    """Lists its commands in the order of use, and a phrase about each that is not cut."""

    def list_commands(self, ctx: Any) -> list[str]:
        known = super().list_commands(ctx)
        ordered = [name for names in _PANELS.get(self.name or "", {}).values() for name in names]
        return [*(name for name in ordered if name in known), *(name for name in known if name not in ordered)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        panels = _PANELS.get(self.name or "", {})
        panel_of = {name: panel for panel, names in panels.items() for name in names}
        rows: dict[str, list[Any]] = {panel: [] for panel in panels}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = panel_of.get(name, "More commands" if panels else "Commands")
                rows.setdefault(panel, []).append((name, command.get_short_help_str(_WHOLE)))
        width = max((len(name) for found in rows.values() for name, _ in found), default=0)
        for panel, found in rows.items():
            if found:
                with formatter.section(panel):
                    formatter.write_dl([(name.ljust(width), text) for name, text in found])


class HelpCommand(TyperCommand):
    """Names its values by their metavars alone, without the types that they have in Python."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = (re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx))
        return [re.sub(r"(\.\.\.\]?)\.\.\.$", r"\1", piece) for piece in pieces]  # [FOLDER...]...

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                is_argument = param.param_type_name == "argument"
                name = _TYPE.sub("" if is_argument else r" \1", record[0])
                sections["Arguments" if is_argument else "Options"].append((name, record[1]))
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class HelpTyper(typer.Typer):
    """An app with such help pages for its commands."""

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **settings: Any
    ) -> Callable[[Any], Any]:
        return super().command(name, cls=cls or HelpCommand, **settings)
