"""research sample: a part of a knowledge base."""

import json

from cli.conftest import done

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity


def test_sample_keeps_what_a_corpus_names_and_draws_the_same_again(tmp_path):
    KnowledgeBase.build((Entity(f"C{i}", f"name {i}") for i in range(40)), tmp_path / "kb")
    corpus = tmp_path / "dev.jsonl"
    mention = {"start": 0, "end": 3, "label": "", "ids": ["C7", "not there"]}
    corpus.write_text(json.dumps({"id": "1", "text": "abc", "mentions": [mention]}) + "\n")
    draws = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        args = ("research", "sample", tmp_path / "kb", tmp_path / name, "--share", 0.25, "--keep", corpus)
        assert done(*args, "--seed", seed, "--json").json["entities"] == 1 + 10
        draws.append(KnowledgeBase.from_disk(tmp_path / name))
        assert "C7" in draws[-1] and draws[-1].source["sample"]["of"]
    assert draws[0].fingerprint == draws[1].fingerprint != draws[2].fingerprint
