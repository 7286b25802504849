"""How often is a name that is found in text, without reading its context, annotated as its entity?

    python -m benchmarks.phrases corpus/worlds

A world is a folder with a knowledge base (``kb``) and text that is annotated with it (``test.jsonl``). A find
is right if an annotation begins and ends where it does and has the id of an entity with that name. Worlds
count equally, and so do the distinct names of a world: otherwise a few frequent words, such as "cells", would
decide everything. ``phrase_probability`` has the weights that this prints.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from spacy_pel.candidates.other_forms import variants
from spacy_pel.corpora.formats.jsonl import read_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.nil import logistic
from spacy_pel.pipeline.detectors.name_search import NameTable, best_reading, relative_length
from spacy_pel.util import machine_note, normalize_alias
from spacy_pel.util.names import runs_of

_ENDS = (3, 5, 8, 13, 20, 10_000)  # characters of the longest name of a column
_N_BINS = 10


class Finds(NamedTuple):
    """Names found in the text of a world.

    Attributes:
        lengths: see ``relative_length``.
        characters: theirs.
        right: whether the text is annotated so.
        weights: 1 in all, divided equally among the distinct names.
    """

    lengths: NDArray[np.float64]
    characters: NDArray[np.int64]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64]


def main(worlds: Annotated[Path, typer.Argument(help="A folder with a folder for each ontology.")]) -> None:
    """Print how often names are right by their length, the weights fitted on all worlds, and how far the
    probabilities fitted on the other worlds are off on each."""
    found = {path.parent.name: finds(path.parent) for path in sorted(worlds.glob("*/kb"))}
    if len(found) < 2:
        typer.echo(f"Error: Expected two or more folders with a KB (kb) in {worlds}, got {len(found)}.", err=True)
        raise typer.Exit(2)
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 150)
    console.print(table_of(found))
    bias, weight = fit(list(found.values()))
    console.print(f"weights: bias {bias:.2f}, length {weight:.2f}\n{machine_note()}", soft_wrap=True)


def finds(world: Path) -> Finds:
    """The names of a world's knowledge base in its text."""
    kb = KnowledgeBase.from_disk(world / "kb")
    table = NameTable(name for names in kb.names_at(kb.live_rows) for name in names)
    surfaces: list[str] = []
    right: list[bool] = []
    for document in read_corpus(world / "test.jsonl"):
        runs = runs_of(document.text)
        gold = {(mention.start, mention.end): set(mention.ids) for mention in document.mentions}
        for found in best_reading(list(table.search(document.text, runs)), len(runs.words)):
            surface = document.text[found.start : found.end]
            form = normalize_alias(surface)
            named = kb.rows_of_aliases([form, *variants(form)], normalized=True)
            ids = {one for rows in named for one in kb.ids_at(rows)}
            surfaces.append(surface)
            right.append(bool(ids & gold.get((found.start, found.end), set())))
    counts = Counter(map(str.lower, surfaces))
    return Finds(
        np.array([relative_length(surface) for surface in surfaces]),
        np.array([len(surface) for surface in surfaces]),
        np.array(right, dtype=np.bool_),
        np.array([1.0 / counts[surface.lower()] / len(counts) for surface in surfaces]),
    )


def fit(worlds: Sequence[Finds]) -> tuple[float, float]:
    """Bias and weight of a logistic regression on the length."""
    from sklearn.linear_model import LogisticRegression

    lengths, right, weights = (
        np.concatenate([getattr(world, name) for world in worlds]) for name in ("lengths", "right", "weights")
    )
    model = LogisticRegression(C=1e6).fit(lengths[:, None], right, sample_weight=weights)
    return float(model.intercept_[0]), float(model.coef_[0, 0])


def table_of(found: dict[str, Finds]) -> Table:
    """A row for each world."""
    table = Table(title="Share of finds that are annotated so, by characters; errors of P(right) in points")
    starts = (1, *(end + 1 for end in _ENDS[:-1]))
    columns = [f"{start}-{end}" for start, end in zip(starts, _ENDS[:-1], strict=False)]
    for column in ("world", "finds", *columns, f"{starts[-1]}+", "all", "mean P", "ECE", "ECE of 1"):
        table.add_column(column, justify="left" if column == "world" else "right")
    for name, own in found.items():
        bias, weight = fit([other for world, other in found.items() if world != name])
        probability = logistic(bias + weight * own.lengths)
        bins = np.searchsorted(_ENDS, own.characters)
        shares = [_mean(own.right, own.weights * (bins == column)) for column in range(len(_ENDS))]
        errors = [_error(p, own) for p in (probability, np.ones(len(probability)))]
        shown = [*shares, _mean(own.right, own.weights), _mean(probability, own.weights)]
        cells = [*(f"{share:.2f}" for share in shown), *(f"{100 * error:.1f}" for error in errors)]
        table.add_row(name, f"{len(own.right):,}", *cells)
    return table


def _mean(values: NDArray[np.generic], weights: NDArray[np.float64]) -> float:
    return float((values * weights).sum() / weights.sum()) if weights.sum() else float("nan")


def _error(probability: NDArray[np.float64], own: Finds) -> float:
    """The expected calibration error."""
    bins = np.minimum((probability * _N_BINS).astype(np.int64), _N_BINS - 1)
    return float(np.abs(np.bincount(bins, weights=own.weights * (probability - own.right))).sum())


if __name__ == "__main__":
    typer.run(main)
