"""The curve over the number of corrections, on a small pipeline."""

import json

import numpy as np
import pytest
from rich.console import Console

from benchmarks.teach import corrections_of, link, plot, read_mentions, run, show
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker
from spacy_pel.linking.combiners import LinearCombiner
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.types import Document, Entity, Mention

NAMES = ["aspirin", "fever", "asthma", "stroke"]
SLANG = ["asa", "hot", "wheeze", "insult"]  # what the texts call them


@pytest.fixture
def linker():
    kb = KnowledgeBase([Entity(f"C{i}", name) for i, name in enumerate(NAMES)])
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissFlat())
    return Linker(kb, encoder, index, LinearCombiner(), LogisticNil())


def documents(n):
    made = []
    for i in range(n):
        words = [SLANG[i % 4], NAMES[(i + 1) % 4], "nothing"]
        ids = [(f"C{i % 4}",), (f"C{(i + 1) % 4}",), ()]
        starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:3].tolist()
        mentions = [Mention(s, s + len(w), "X", g) for s, w, g in zip(starts, words, ids, strict=True)]
        made.append(Document(str(i), " ".join(words), mentions))
    return made


def test_corrections_lift_the_curve_and_are_undone(linker, tmp_path):
    taught, test = (read_mentions(linker, documents(8), tmp_path / "vectors") for _ in range(2))
    assert len(list((tmp_path / "vectors").iterdir())) == 1
    before = link(linker, test)
    wrong, made = corrections_of(before, test)
    assert len(wrong) == len(made) == (~before.hits).sum() >= 4
    rows = run(linker, taught, {"test": test, "old": test}, [0, 2, 1000], 0)
    assert [row["corrections"] for row in rows] == [0, 2, len(made)]
    accuracies = [row["test"]["accuracy"] for row in rows]
    assert accuracies[0] == before.hits.mean() < accuracies[1] < accuracies[2] == 1.0
    assert rows[0]["test"]["gain"] == 0.0 and rows[2]["test"]["gain_low"] > 0
    assert rows[2]["test"]["decided"] > 0 and rows[2]["test"]["decided_right"] == 1.0
    assert link(linker, test).links == before.links and not linker.memory.learned
    plot(rows, tmp_path / "teach.png")
    assert (tmp_path / "teach.png").read_bytes().startswith(b"\x89PNG")
    console = Console(width=200, record=True)
    show(rows, console)
    assert "100.0" in console.export_text()
    json.dumps(rows)
