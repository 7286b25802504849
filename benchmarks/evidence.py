"""Measure what each kind of evidence brings: recall@1 without it, with refitted weights.

    python -m benchmarks.evidence training/pipeline_without_dev corpus/st21pv_dev.jsonl

Weights are fitted on four fifths of the documents and judged on the other fifth, for each fifth. The
candidates stay the same, so that only their order is measured. Knowledge base, index and encoder of the
pipeline must not know the corpus.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from spacy_pel.candidates.evidence import OF_NAMES
from spacy_pel.corpora import read_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.bootstrap import Difference, share_difference
from spacy_pel.linking.calibration import Examples, collect, count_label_types
from spacy_pel.linking.combiner import LinearCombiner, right_first
from spacy_pel.pipeline.gold import query_maker
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.types import LABEL_TYPE, MENTION_TYPE, TOPIC, CandidateTable
from spacy_pel.util import machine_note, progress, write_json
from spacy_pel.util.arrays import best_first

Flags = NDArray[np.bool_]
N_FOLDS, N_SAMPLES = 5, 1000
# kind -> features to set to 0
KINDS: dict[str, tuple[str, ...]] = {
    "vectors": ("name", "mention", "vote"),
    "vectors of annotated mentions": ("mention", "vote"),
    "counts of annotated text": ("prior", "popularity", "seen", TOPIC),
    "labels": (LABEL_TYPE,),
    "types by context": (MENTION_TYPE,),
    "topics": (TOPIC,),
    "equal names": ("exact",),
    "formulas": ("formula",),
    "variants": ("variant",),
    "derivations": ("derivation",),
    "preferred names": ("preferred",),
    "abbreviations": ("abbreviation",),
    "names that say more": ("extension",),
    "spelling": ("edit", "partial"),
    "all names and spelling": (*OF_NAMES, "abbreviation"),
    "all but vectors": ("prior", "popularity", "seen", TOPIC, *OF_NAMES, "abbreviation"),
}


def shuffled(table: CandidateTable, seed: int) -> CandidateTable:
    """Put the candidates of each mention into a random order. They come by their cosines, and where features
    are equal, the earlier candidate ranks first: what is left out would still have a say.

    Returns:
        With the same mentions.
    """
    chance = np.random.default_rng(seed).random(table.kb_rows.shape)
    order = best_first(np.where(table.filled, chance, -1.0))
    features = {name: np.take_along_axis(values, order, 1) for name, values in table.features.items()}
    return replace(table, kb_rows=np.take_along_axis(table.kb_rows, order, 1), features=features)


def without(table: CandidateTable, features: tuple[str, ...]) -> CandidateTable:
    """With these features 0 everywhere. Their ranks follow the table's order, so
    that it has to be ``shuffled``."""
    return table.plus(dict.fromkeys(features, np.zeros(table.kb_rows.shape, dtype=np.float32)))


def first_is_right(examples: Examples, table: CandidateTable) -> Flags:
    """Fit weights on four fifths of the documents, and rank the mentions of the other one, for each.

    Args:
        examples: n mentions with an entity.
        table: their candidates.

    Returns:
        (n,), whether the first candidate is the entity; False without candidates.
    """
    numbers = np.unique(np.array(examples.documents), return_inverse=True)[1]
    fold = numbers % N_FOLDS
    hits = np.zeros(len(examples), dtype=np.bool_)
    for held_out in range(N_FOLDS):
        fitted, judged = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        combiner = LinearCombiner()
        combiner.fit(table.take(fitted), [examples.gold[one] for one in fitted])
        part, gold = table.take(judged), [examples.gold[one] for one in judged]
        hits[judged] = right_first(part, combiner(part), gold)
    return hits


def measure(examples: Examples, unseen: Flags, *, seed: int = 0) -> list[tuple[str, Difference, Difference]]:
    """Leave out each kind of evidence in turn.

    Args:
        examples: n mentions with an entity.
        unseen: (n,), whether it is an entity that no annotated text named.
        seed: random seed of the order of candidates, and of the bootstrap over documents.

    Returns:
        For each kind recall@1 with and without it, of all
        mentions and of those with an unseen entity.
    """
    document = np.unique(np.array(examples.documents), return_inverse=True)[1]
    table = shuffled(examples.table, seed)
    every, everyone = first_is_right(examples, table), np.ones(len(examples), dtype=np.bool_)
    rows = []
    for kind, features in progress(KINDS.items(), description="Fitting", total=len(KINDS)):
        hits = first_is_right(examples, without(table, features))
        of_all, of_unseen = (
            share_difference(every, hits, counted, document, n_samples=N_SAMPLES, rng=np.random.default_rng(seed))
            for counted in (everyone, unseen)
        )
        rows.append((kind, of_all, of_unseen))
    return rows


def read_examples(pipeline: Path, corpus: Path) -> tuple[Examples, Flags]:
    """The mentions whose entity is in the knowledge base, and which
    of these entities the annotated text of the index does not name.

    Raises:
        PelError: if the pipeline or the corpus cannot be read.
    """
    nlp, name, component = load_pipeline(pipeline)
    ask, documents = query_maker(nlp, name=name), list(read_corpus(corpus))
    queries = [query for document in documents for query in ask(document)]
    _, [found] = count_label_types([collect(component.linker, queries, documents).linkable])
    priors = component.linker.index.priors
    unseen = np.array([not (priors.total(rows) > 0).any() for rows in found.gold], dtype=np.bool_)
    return found, unseen


def table_of(rows: list[tuple[str, Difference, Difference]], title: str) -> Table:
    """A row for all evidence, and one for each kind left out."""
    table = Table(title=title)
    for column in ("without", "recall@1", "difference", "unseen", "difference, unseen"):
        table.add_column(column, justify="left" if column == "without" else "right", no_wrap=True)
    _, of_all, of_unseen = rows[0]
    table.add_row("nothing", f"{100 * of_all.a:.1f}", "", f"{100 * of_unseen.a:.1f}", "")
    for kind, one, other in rows:
        table.add_row(kind, f"{100 * one.b:.1f}", one.in_points, f"{100 * other.b:.1f}", other.in_points)
    return table


def main(
    pipeline: Annotated[Path, typer.Argument(help="A pipeline with the linker, made without the corpus.")],
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
) -> None:
    """Print recall@1 without each kind of evidence, and the difference with its 95% interval."""
    try:
        examples, unseen = read_examples(pipeline, corpus)
        rows = measure(examples, unseen)
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    n = f"{len(examples):,} mentions with an entity, {int(unseen.sum()):,} unseen"
    Console(width=130).print(table_of(rows, f"{pipeline.name}: {n}"))
    Console(width=130).print(machine_note(), soft_wrap=True)
    if output is not None:
        figures = {kind: {"all": one._asdict(), "unseen": other._asdict()} for kind, one, other in rows}
        found = {"machine": machine_note(), "mentions": len(examples), "unseen": int(unseen.sum())}
        write_json(output, {**found, "without": figures})


if __name__ == "__main__":
    typer.run(main)
