"""Measure how long mining hard negatives takes, and where the time goes.

    python -m benchmarks.mining corpus/kb training/encoder/model-best corpus/st21pv_train.jsonl

mines with the whole knowledge base and all mentions, or with parts of both (``--entities``,
``--mentions``), and prints a table.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.retriever.examples import LinkedMention, linked_mentions, live_numbers
from spacy_pel.training.retriever.miner import mine_corpus

_COLUMNS = {
    "entities": "{:,}",
    "mentions": "{:,}",
    "seconds": "{:,.1f}",
    "seconds_mentions": "{:,.1f}",
    "seconds_entities": "{:,.1f}",
    "seconds_search": "{:,.1f}",
    "gold_first": "{:.3f}",
    "gold_in_depth": "{:.3f}",
}


def part_of(
    kb: KnowledgeBase, mentions: list[LinkedMention], n_entities: int, n_mentions: int, *, seed: int = 0
) -> "tuple[KnowledgeBase, list[LinkedMention]]":
    """Draw mentions, and a part of the knowledge base with their entities and others.

    Args:
        n_entities, n_mentions: sizes; there are more entities if the mentions need more.
        seed: random seed of both draws.

    Returns:
        The part, and the mentions with the positions of their entities in it.
    """
    rng = np.random.default_rng(seed)
    drawn = sorted(rng.choice(len(mentions), min(n_mentions, len(mentions)), replace=False).tolist())
    chosen = [mentions[i] for i in drawn]
    if n_entities >= len(kb):
        return kb, chosen
    gold = np.unique(np.concatenate([mention.entities for mention in chosen]))
    others = rng.permutation(np.setdiff1d(np.arange(len(kb)), gold))[: max(0, n_entities - len(gold))]
    places = np.sort(np.concatenate([gold, others]))
    part = KnowledgeBase(kb.entity_at(int(row)) for row in kb.live_rows[places])
    place = live_numbers(part)
    found = [place[part.rows(kb.ids_at(kb.live_rows[mention.entities]))] for mention in chosen]
    return part, [mention._replace(entities=entities) for mention, entities in zip(chosen, found, strict=True)]


def main(
    kb: Annotated[Path, typer.Argument(help="The KB folder.")],
    model: Annotated[Path, typer.Argument(help="The model folder.")],
    corpus: Annotated[Path, typer.Argument(help="The annotated corpus (JSON lines).")],
    entities: Annotated[list[int] | None, typer.Option(help="Sizes of the KB; may be given several times.")] = None,
    mentions: Annotated[list[int] | None, typer.Option(help="Numbers of mentions; may be given several times.")] = None,
    depth: Annotated[int, typer.Option(help="Entities for each mention.")] = 64,
    backend: Annotated[str | None, typer.Option(help="Backend that computes the vectors.")] = None,
    gpu_id: Annotated[int, typer.Option(help="CUDA device; -1 = CPU.")] = -1,
    output: Annotated[Path | None, typer.Option(help="Also write the rows as JSON lines.")] = None,
) -> None:
    """Mine and print a table. Without sizes: all entities and all mentions."""
    whole = KnowledgeBase.from_disk(kb)
    everything = linked_mentions(whole, read_corpus(corpus))
    encoder: Any = load_encoder(model, backend=registry.resolve_short("pel_backends", backend)() if backend else None)
    if gpu_id >= 0:
        encoder.towers.to(f"cuda:{gpu_id}")
    rows: list[dict[str, Any]] = []
    for n_entities in entities or [len(whole)]:
        for n_mentions in mentions or [len(everything)]:
            part, chosen = part_of(whole, everything, n_entities, n_mentions)
            rows.append(mine_corpus(part, encoder, chosen, depth=depth)[1])
            Console(stderr=True).print(rows[-1])
    table = Table(title=f"Mining the {depth} nearest wrong entities; seconds in total, and of the parts")
    for name in _COLUMNS:
        table.add_column(name.replace("seconds_", "of these: "), justify="right")
    for row in rows:
        table.add_row(*(form.format(row[name]) for name, form in _COLUMNS.items()))
    Console(width=140).print(table)
    if output is not None:
        output.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
