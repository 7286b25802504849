"""Measure how encoders read bare head nouns: "deficiency" in a text that also has "vitamin D deficiency".

    python -m benchmarks.head_nouns corpus/kb_sample corpus/st21pv_dev.jsonl \
        --encoder assets/pel_medmentions --encoder training/document_encoder/model-best

The nearest entity by vectors alone, over cards and names. Counts of annotated text, annotated mentions and
spelling are not used: they would hide what an encoder reads in the rest of the text. Neither the knowledge
base nor the encoders may know the corpus.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from spacy_pel_studies.retrieval import Retrieval

from benchmarks.differences import table_of_differences
from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.bootstrap import Difference, share_difference
from spacy_pel.evaluation.outcomes import Flags, Outcomes
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.commands.train import open_bi_encoder
from spacy_pel.types import Document
from spacy_pel.util import machine_note, write_json

KINDS = ("card", "alias")
N_SAMPLES = 1000
UNNAMED, NAMED, REST = "bare, no name of its entity", "bare, a name of its entity", "all other mentions"


def kinds_of(document: Document, kb: KnowledgeBase) -> list[str]:
    """Sort the mentions of a text. A bare one is a single word that a longer mention of the text ends with.

    Returns:
        ``UNNAMED`` where the word is no name of the entity, so that only the rest of the
        text tells which is meant; ``NAMED`` where it is one; ``REST`` where the mention is not bare.
    """
    texts = [document.text[mention.start : mention.end].lower() for mention in document.mentions]
    heads = {words[-1] for words in map(str.split, texts) if len(words) > 1}
    kinds = []
    for text, mention in zip(texts, document.mentions, strict=True):
        # by rows: an annotation may have the id of an entity that has another one by now
        named = text in heads and bool(np.isin(kb.rows_of_aliases([text])[0], kb.rows(mention.ids)).any())
        kinds.append(REST if text not in heads else NAMED if named else UNNAMED)
    return kinds


def retrieve(kb: KnowledgeBase, encoder: BiEncoder, documents: list[Document]) -> Outcomes:
    """Of all mentions, the entities ranked by the cosines of the encoder alone."""
    index = EntityIndex.build(kb, encoder, index=FaissIVF(flat_below=None), kinds=KINDS, show_progress=True)
    return Outcomes.of(Retrieval(kb, index, encoder).predict(documents))


def measure(outcomes: Outcomes, base: Outcomes, mask: Flags) -> Difference:
    """Of recall@1 to the first encoder, on those of the mask that have an entity."""
    return share_difference(
        base.rank == 1,
        outcomes.rank == 1,
        mask & ~base.is_nil,
        base.document,
        n_samples=N_SAMPLES,
        rng=np.random.default_rng(0),
    )


def main(
    kb: Annotated[Path, typer.Argument(help="The knowledge base, made without the corpus.")],
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    encoder: Annotated[
        list[Path], typer.Option(help="An encoder, or a pipeline with one (repeatable); first the base.")
    ],
    output: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file.")] = None,
) -> None:
    """Print recall@1 of each encoder on bare head nouns and on the other mentions."""
    try:
        opened, documents = KnowledgeBase.from_disk(kb), list(read_corpus(corpus))
        kinds = np.array([kind for document in documents for kind in kinds_of(document, opened)])
        if not len(kinds):
            raise PelError(f"Expected mentions in {corpus}, got none.")
        runs = {str(path): retrieve(opened, open_bi_encoder(path), documents) for path in encoder}
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    base = next(iter(runs.values()))
    masks: dict[str, Flags] = {kind: kinds == kind for kind in (UNNAMED, NAMED, REST)}
    counts = {kind: int((mask & ~base.is_nil).sum()) for kind, mask in masks.items()}
    found = {name: {kind: measure(run, base, mask) for kind, mask in masks.items()} for name, run in runs.items()}
    title = "recall@1 by vectors alone, and the difference to the first encoder"
    Console(width=150).print(table_of_differences(found, counts, what="encoder", title=title))
    Console(width=150).print(machine_note(), soft_wrap=True)
    if output is not None:
        figures = {name: {kind: one._asdict() for kind, one in row.items()} for name, row in found.items()}
        write_json(output, {"machine": machine_note(), "mentions": counts, "encoders": figures})


if __name__ == "__main__":
    typer.run(main)
