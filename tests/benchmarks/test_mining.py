"""The benchmark of mining, on a small knowledge base."""

import json

from benchmarks.mining import main, part_of
from spacy_pel.corpora import write_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.examples import linked_mentions
from spacy_pel.types import Document, Entity, Mention

ENTITIES = [Entity(f"C{i}", f"name {i}") for i in range(60)]
DOCUMENTS = [
    Document(f"d{i}", f"name {i * 2} here", [Mention(0, len(f"name {i * 2}"), "", (f"C{i * 2}", "C59"))])
    for i in range(20)
]


def test_parts_keep_the_gold_entities():
    kb = KnowledgeBase(ENTITIES)
    kb.retire(["C1"])
    mentions = linked_mentions(kb, DOCUMENTS)
    part, chosen = part_of(kb, mentions, 25, 8)
    assert len(part) == 25 and len(chosen) == 8
    for mention in chosen:
        assert part.ids_at(part.live_rows[mention.entities]) == list(mention.ids)
    assert len(part_of(kb, mentions, 5, 8)[0]) == 9, "as many as the mentions need"
    assert part_of(kb, mentions, 1000, 8)[0] is kb


def test_the_table_has_a_row_for_each_size(tmp_path, run):
    KnowledgeBase.build(ENTITIES, tmp_path / "kb")
    HashEmbed(width=32).to_disk(tmp_path / "model")
    write_corpus(tmp_path / "corpus.jsonl", DOCUMENTS)
    sizes = ["--entities", "30", "--entities", "60", "--mentions", "10", "--depth", "5"]
    kinds = ["--index", "flat", "--index", "ivf", "--output", tmp_path / "rows.jsonl"]
    result = run(main, tmp_path / "kb", tmp_path / "model", tmp_path / "corpus.jsonl", *sizes, *kinds)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(row["entities"], row["index"]) for row in rows] == [
        *((30, "flat"), (30, "ivf"), (60, "flat"), (60, "ivf"))
    ]
    for row in rows:
        parts = row["seconds_mentions"] + row["seconds_entities"] + row["seconds_search"]
        assert abs(row["seconds"] - parts) < 1e-6 and row["mentions"] == 10
    assert "of these: search" in result.output.replace("\n", " ")
