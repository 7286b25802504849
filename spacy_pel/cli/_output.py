"""What commands print: results on stdout, messages on stderr."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from itertools import islice
from typing import Any

import typer

from ..errors import one_line
from ..util.console import is_share, percent

_N_EXAMPLES = 3
_N_ROWS = 20  # types, labels
_WIDEST = 1000  # characters of a line that is not for a terminal
AS_JSON = ContextVar("as_json", default=False)  # of the command that runs
Text = Callable[[dict[str, Any]], str]


def message(text: str) -> None:
    """Print a message on stderr, in one line."""
    typer.echo(one_line(text), err=True)


def is_utf8(stream: Any) -> bool:
    """Whether a stream can hold any text."""
    return (getattr(stream, "encoding", None) or "utf8").lower().startswith("utf")


def key_values(result: dict[str, Any]) -> str:
    """The plain text of a flat result: one aligned ``key  value`` line per entry."""
    width = max((len(key) for key in result), default=0)
    return "\n".join(f"{key:<{width}}  {plain(value, key)}" for key, value in result.items())


def plain(value: Any, name: str = "") -> str:
    """A JSON value as text, a share in percent; an empty one is "none", None is "–"."""
    if value is None:
        return "–"
    if type(value) is int:
        return f"{value:,}"
    if isinstance(value, float):
        small = f"{value:.4f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"
        return percent(value) if is_share(name) else small
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(item, key)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "none"
    return one_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def count_with_examples(n: int, examples: Iterable[str]) -> str:
    """A number, and the first examples."""
    shown = ", ".join(islice(examples, _N_EXAMPLES))
    return f"{n:,}, e.g. {shown}" if shown else f"{n:,}"


def emit(result: dict[str, Any], text: Text = key_values) -> None:
    """Print a command's result on stdout.

    Args:
        result: the command's result, as JSON data; one object with ``--json``.
        text: makes human-readable text of the result.
    """
    typer.echo(json.dumps(result, ensure_ascii=not is_utf8(sys.stdout)) if AS_JSON.get() else text(result))


def first_rows(name: str, counts: Mapping[str, int]) -> dict[str, str]:
    """Rows "type: T047" for the first counts, and one for the number of others."""
    rows = {f"{name}: {key}": f"{count:,}" for key, count in islice(counts.items(), _N_ROWS)}
    return rows | ({f"more {name}s": f"{len(counts) - _N_ROWS:,}"} if len(counts) > _N_ROWS else {})


def type_rows(counts: Mapping[str, int]) -> dict[str, str]:
    """Rows for the first types, semantic types by their names."""
    from ..types.semantic_types import type_label

    return first_rows("type", {type_label(kind): count for kind, count in counts.items()})


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> str:
    """A table of texts: as wide as a terminal, elsewhere as wide as its cells.

    Args:
        header: the titles of the columns.
        rows: their cells.
        numbers: all columns but the first are aligned to the right.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for number, title in enumerate(header):
        table.add_column(Text(title), justify="right" if numbers and number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else _WIDEST, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def link_table(mentions: list[dict[str, Any]], kb: Any) -> str:
    """A table of the mentions of a document, as ``link`` writes them."""
    from ..evaluation.links import PROBABILITY, LinkRow, link_row

    titles = {"kb_id": "id", "probability": PROBABILITY, "runner_up": "runner-up"}
    header = [titles.get(column, column) for column in LinkRow._fields]
    rows = [link_row(mention, kb.__getitem__) for mention in mentions]
    return text_table(header, rows, numbers=False) if rows else "No mentions were found."
