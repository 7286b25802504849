"""Attack the package with damaged files, damaged folders and unusual texts.

    python -m benchmarks.attack --seconds 600 --seed 1

runs every attack for its share of the time and prints a table: inputs, how many were refused with one line
that names the file (and of these how many only by the net below all checks), how many were accepted with
valid results, and the failures: raw exceptions, wrong results or errors, crashes, hangs. It exits with 1 if
there is one. Inputs are made from the seed and their number, so each failure can be repeated:

    python -m benchmarks.attack --target corpus-bioc --seed 1 --number 1234 --keep attacked
"""

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.attack.folders import FolderAttack, folder_attacks
from benchmarks.attack.readers import ReaderAttack, reader_attacks
from benchmarks.attack.runner import ACCEPTED, FAILURES, NET, REFUSED, Attack, Tally, prepared, run_attack, verdict_of
from benchmarks.attack.texts import TextAttack

_SHOWN = 20  # failures of one attack


def attacks(only: str | None = None) -> dict[str, Attack]:
    """By name; of one kind, or all."""
    made: list[Attack] = []
    if only in (None, "readers"):
        made += reader_attacks()
    if only in (None, "folders"):
        made += folder_attacks()
    if only in (None, "texts"):
        made.append(TextAttack())
    return {attack.name: attack for attack in made}


def table_of(tallies: list[Tally]) -> Table:
    """A row for each attack."""
    table = Table(title="Attacks")
    for title in ("attack", "inputs", REFUSED, NET, ACCEPTED, *FAILURES, "worst, s", "of input"):
        table.add_column(title, justify="left" if title == "attack" else "right")
    for tally in tallies:
        counts = [tally.counts[key] for key in (REFUSED, NET, ACCEPTED, *FAILURES)]
        counted = (f"{count:,}" for count in (tally.inputs, *counts))
        table.add_row(tally.name, *counted, f"{tally.worst:.2f}", str(tally.slowest))
    return table


def main(
    seconds: Annotated[float, typer.Option(min=0.1, help="For all attacks together.")] = 60.0,
    only: Annotated[str | None, typer.Option(help="readers, folders or texts.")] = None,
    target: Annotated[list[str] | None, typer.Option(help="Names of attacks (repeatable).")] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    inputs: Annotated[int | None, typer.Option(help="At most this many of each attack.")] = None,
    hang: Annotated[float, typer.Option(help="Seconds after which an input hangs.")] = 30.0,
    number: Annotated[int | None, typer.Option(help="Repeat this input, in this process.")] = None,
    keep: Annotated[Path | None, typer.Option(help="A folder for the input that is repeated.")] = None,
) -> None:
    """Run attacks and print what became of the inputs; exit with 1 if one succeeded."""
    if only not in (None, "readers", "folders", "texts"):
        raise typer.BadParameter("expected readers, folders or texts", param_hint="--only")
    found = attacks(only)
    if unknown := sorted(set(target or ()) - found.keys()):
        raise typer.BadParameter(f"expected some of {', '.join(found)}, got {', '.join(unknown)}")
    chosen = [found[name] for name in target or found]
    with tempfile.TemporaryDirectory(prefix="attack_") as place:
        if number is not None:
            for attack in chosen:
                folder = (keep or Path(place)) / attack.name
                prepared(attack, folder)
                if isinstance(attack, (ReaderAttack, FolderAttack)):
                    attack.kept = keep is not None
                attack.begin(folder)
                verdict, text = verdict_of(attack, seed, number, folder)
                typer.echo(f"{attack.name}: {verdict}: {text}")
            return
        tallies = []
        end = time.monotonic() + seconds
        for at, attack in enumerate(chosen):
            share = max(0.1, (end - time.monotonic()) / (len(chosen) - at))
            folder = Path(place) / attack.name
            tallies.append(run_attack(attack, seed=seed, seconds=share, most=inputs, hang=hang, folder=folder))
            for failure in tallies[-1].failures[:_SHOWN]:
                typer.echo(f"python -m benchmarks.attack --target {failure}")
    Console(width=160).print(table_of(tallies))
    if any(tally.failures for tally in tallies):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
