"""What commands print: results on stdout, messages on stderr."""

import json
from typing import Any, Callable, Dict

import typer

JSON = typer.Option(False, "--json", help="Print the result as one JSON object.")


def emit(result: Dict[str, Any], *, as_json: bool, text: Callable[[Dict[str, Any]], str]) -> None:
    """Print a command's result on stdout.

    result (Dict[str, Any]): the command's result, as JSON data.
    as_json (bool): print it as one JSON object.
    text (Callable): makes human-readable text of the result.
    """
    typer.echo(json.dumps(result, ensure_ascii=False) if as_json else text(result))


def message(text: str) -> None:
    """Print a message on stderr."""
    typer.echo(text, err=True)


def key_values(result: Dict[str, Any]) -> str:
    """The plain text of a flat result: one aligned ``key  value`` line per entry."""
    width = max((len(key) for key in result), default=0)
    return "\n".join(f"{key:<{width}}  {_show(value)}" for key, value in result.items())


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
