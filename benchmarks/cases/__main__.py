"""Try the package on small inputs from the field, and show what is right and what comes.

    python -m benchmarks.cases ../shared/cases

The folder has ``codes.csv``, the table that the name finder is tried on, and files that `convert`, `kb build`
and `kb add` read. ``--only`` runs some cases, ``--pipeline`` names another default pipeline. Exits with 1 if
one of the cases that must be right is not.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from . import faults, files, first, text  # noqa: F401 - they register their cases
from .field import CASES, Case, Field, Row


def main(
    folder: Annotated[Path, typer.Argument(help="The folder of cases.", exists=True, file_okay=False)],
    pipeline: Annotated[Path, typer.Option(help="The default pipeline.")] = Path("assets/pel_medmentions"),
    only: Annotated[list[int] | None, typer.Option(help="Numbers of cases (repeatable).")] = None,
) -> None:
    """Print each case with the right value and what came; exit with 1 if one that must be right is not."""
    table = Table(title="Cases from the field", show_lines=True)
    for title in ("#", "case", "input", "right", "got", "ok"):
        table.add_column(title, overflow="fold")
    failed = []
    with tempfile.TemporaryDirectory(prefix="cases_") as work:
        field = Field(folder, Path(work), pipeline)
        for number in only or sorted(CASES):
            title, must, function = CASES[number]
            for row in _rows(function, field):
                is_right = row.right == row.got if row.is_right is None else row.is_right
                cells = (row.given, _shown(row.right), _shown(row.got))
                table.add_row(str(number), title, *map(escape, cells), "yes" if is_right else "NO")
                if must and not is_right:
                    failed.append(number)
    Console(width=200).print(table)
    if failed:
        typer.echo(f"Not right: {', '.join(map(str, sorted(set(failed))))}")
        raise typer.Exit(1)


def _rows(function: Case, field: Field) -> Sequence[Row]:
    rows: list[Row] = []
    try:
        for row in function(field):
            rows.append(row)
    except Exception as error:  # noqa: BLE001 - the other cases still run
        rows.append(Row("", "no exception", f"{type(error).__name__}: {error}", False))
    return rows


def _shown(value: Any) -> str:
    return repr(value) if not isinstance(value, str) else value[:400]


if __name__ == "__main__":
    typer.run(main)
