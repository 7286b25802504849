"""Compare what the readers give with what an independent parser finds in the same files.

    pip install bioc obonet rdflib
    python -m benchmarks.readers --data /path/to/data

The data folder holds published files under the names in ``ENTRIES``; files that are missing are left out.
To add a file, add an entry to corpora.py, ontologies.py or releases.py: its path, its format, and two
functions from the file to counts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.readers import corpora, ontologies, releases
from benchmarks.readers.entry import Entry
from spacy_pel.errors import PelError
from spacy_pel.util import machine_note, write_json

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
ENTRIES: list[Entry] = [*corpora.ENTRIES, *ontologies.ENTRIES, *releases.ENTRIES]
NOT_A_REASON = {"documents", "mentions", "mismatches"}  # counts of a report that explain no difference


def located(entry: Entry, data: Path | None) -> list[Path]:
    """The files of an entry, in the data folder or the fixtures; empty if one is
    missing."""
    for folder in (data, FIXTURES):
        paths = [folder / path for path in entry.paths] if folder else []
        if paths and all(path.exists() for path in paths):
            return paths
    return []


def compare(entry: Entry, paths: list[Path]) -> dict[str, Any]:
    """The counts of one entry by our reader and by the other parser, and what the
    report of our reader says about the difference."""
    ours, failure, theirs = entry.ours(paths), "", {}
    try:
        theirs = entry.theirs(paths)
    except ModuleNotFoundError:
        raise
    except Exception as err:  # whatever the other parser raises on a file that it cannot read
        failure = f"the other parser failed: {err!r}"
    reasons = {key: n for key, n in ours.report.items() if n and key not in NOT_A_REASON}
    return {
        "file": ", ".join(path.name for path in paths),
        "format": entry.format,
        "ours": ours.counts,
        "theirs": theirs,
        "equal": ours.counts == theirs,
        "report": reasons,
        "note": failure or entry.note,
    }


def table_of(rows: Iterable[dict[str, Any]]) -> Table:
    """A row for each file; where the counts differ, with the reader's report."""
    table = Table("file", "format", "counted", "ours", "theirs", "equal, or the reader's report")
    for row in rows:
        names = list(dict.fromkeys([*row["ours"], *row["theirs"]]))
        reasons = [row["note"]] if row["note"] else []
        reasons += [f"{n:,} {key.replace('_', ' ')}" for key, n in row["report"].items()]
        shown = ["\n".join(f"{row[side].get(name, 0):,}" for name in names) for side in ("ours", "theirs")]
        table.add_row(
            row["file"],
            row["format"],
            "\n".join(names),
            *shown,
            "equal" if row["equal"] else ", ".join(reasons) or "unexplained",
        )
    return table


def main(
    data: Annotated[Path | None, typer.Option(help="The folder of published files.")] = None,
    only: Annotated[str, typer.Option(help="Compare the entries of this format.")] = "",
    output: Annotated[Path | None, typer.Option(help="Write the counts to this JSON file.")] = None,
) -> None:
    """Print the counts of each file by our reader and by an independent parser."""
    rows = []
    for entry in ENTRIES:
        paths = located(entry, data)
        if not paths:
            typer.echo(f"Left out, not there: {', '.join(entry.paths)}", err=True)
        elif only in ("", entry.format):
            try:
                rows.append(compare(entry, paths))
            except ModuleNotFoundError as err:
                typer.echo(f"Error: Expected the package {err.name}. Run: pip install {err.name}", err=True)
                raise typer.Exit(2) from err
            except PelError as err:
                typer.echo(f"Error: {err}", err=True)
                raise typer.Exit(2) from err
    Console(width=130).print(table_of(rows))
    Console(width=130).print(machine_note(), soft_wrap=True)
    if output is not None:
        write_json(output, {"machine": machine_note(), "files": rows})


if __name__ == "__main__":
    typer.run(main)
