"""Compare pipelines that differ in the encoder, the index or the evidence, before any is calibrated.

    python -m benchmarks.pipelines corpus/st21pv_dev.jsonl --pipeline training/pipeline_without_dev \
        --pipeline training/other_pipeline

Each ranks its own candidates with weights that are fitted on four fifths of the documents and judged on the
other fifth, for each fifth, so that a corpus of the size of MedMentions dev serves for both. Knowledge bases,
indexes and encoders must not know the corpus.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.differences import table_of_differences
from benchmarks.evidence import N_SAMPLES, first_is_right, read_examples
from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.bootstrap import Difference, share_difference
from spacy_pel.evaluation.outcomes import Flags
from spacy_pel.linking.calibration import Examples
from spacy_pel.linking.combiner import is_gold
from spacy_pel.util import machine_note, progress, write_json

MEASURES = ("recall@1", "recall@1, seen", "recall@1, unseen", "candidates")


class Run(NamedTuple):
    """What one pipeline makes of the mentions that have an entity.

    Attributes:
        first: (n,), whether the first candidate is the entity.
        found: (n,), whether any candidate is.
        unseen: (n,), whether annotated text of the index never named the entity.
        documents: (n,), the document of each mention.
        surfaces: (n,), the mentions.
    """

    first: Flags
    found: Flags
    unseen: Flags
    documents: NDArray[np.int64]
    surfaces: list[str]


def run_of(examples: Examples, unseen: Flags) -> Run:
    """Of the mentions of a pipeline, with weights cross-fitted."""
    table = examples.table
    found = is_gold(table.kb_rows, examples.gold).any(axis=1)
    first = first_is_right(examples, table)
    return Run(first, found, unseen, examples.document_numbers, examples.surfaces)


def compare(base: Run, other: Run, *, seed: int = 0) -> dict[str, Difference]:
    """Compare two runs on the same mentions.

    Args:
        seed: random seed of the bootstrap over documents.

    Returns:
        For each of ``MEASURES``, seen and unseen as the first run has it.

    Raises:
        PelError: if the mentions are not the same.
    """
    if other.surfaces != base.surfaces:
        raise PelError(
            "Expected pipelines that have the same entities of the corpus in their knowledge bases, got "
            f"{len(base.surfaces):,} mentions with an entity for the first and {len(other.surfaces):,} for "
            "another. Build them with the same knowledge base."
        )
    everyone = np.ones(len(base.first), dtype=np.bool_)
    pairs = (
        (base.first, other.first, everyone),
        (base.first, other.first, ~base.unseen),
        (base.first, other.first, base.unseen),
        (base.found, other.found, everyone),
    )
    return {
        name: share_difference(a, b, counted, base.documents, n_samples=N_SAMPLES, rng=np.random.default_rng(seed))
        for name, (a, b, counted) in zip(MEASURES, pairs, strict=True)
    }


def main(
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    pipeline: Annotated[list[Path], typer.Option(help="A pipeline with the linker (repeatable); first the base.")],
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
) -> None:
    """Print recall@1 of each pipeline, whether the entity is among its candidates, and the differences."""
    try:
        runs = {
            str(path): run_of(*read_examples(path, corpus))
            for path in progress(pipeline, description="Linking", total=len(pipeline))
        }
        base = next(iter(runs.values()))
        found = {path: compare(base, run) for path, run in runs.items()}
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    unseen, n = int(base.unseen.sum()), len(base.first)
    counts = dict(zip(MEASURES, (n, n - unseen, unseen, n), strict=True))
    if output is not None:
        figures = {path: {name: one._asdict() for name, one in row.items()} for path, row in found.items()}
        write_json(output, {"machine": machine_note(), "mentions": counts, "pipelines": figures})
    title = "Recall in %, and the difference to the first pipeline"
    Console(width=150).print(table_of_differences(found, counts, what="pipeline", title=title))
    Console(width=150).print(machine_note(), soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
