"""A small knowledge base, in memory and in a folder, and what the tests compare it with."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

ENTITIES = [
    Entity(
        *("C1", "Aspirin", ("ASA", "acetylsalicylic acid"), ("T109", "T121"), "A drug.\nOld."),
        *(("MESH:D001241", "RXNORM:1191"), ("C8",)),
    ),
    Entity("C2", "Atrial septal aneurysm", ("ASA",), ("T047",)),
    Entity("C3", "Fibroblast growth factor-1", ("FGF 1", "FGF-1", "HBGF1"), ("T116",), parents=("C1", "C4")),
    Entity("C4", "Naïve T cell 🧫", ("خلية تائية",), ()),
]
REDIRECTS = {"C90": "C1", "C91": "C90"}


@pytest.fixture
def kb():
    return KnowledgeBase(ENTITIES, redirects=REDIRECTS, source={"licence": "CC0"})


@pytest.fixture
def folder(tmp_path):
    KnowledgeBase.build(iter(ENTITIES), tmp_path / "kb", redirects=REDIRECTS, source={"licence": "CC0"})
    return tmp_path / "kb"


def many(n):
    return [Entity(f"M{i}", f"name {i}", (f"alias {i % 7}", f"other-{i}"), (f"T{i % 3}",) * (i % 2)) for i in range(n)]


def collide(monkeypatch, n, *modules):
    """Let texts have one of n hashes."""
    for module in modules:
        monkeypatch.setattr(
            module, "hash_strings", lambda texts: np.array([len(t) % n for t in texts], dtype=np.uint64)
        )


def same(a, b):
    """Do two knowledge bases give the same answers to everything?"""
    assert a.fingerprint == b.fingerprint
    assert a.meta["counts"] == b.meta["counts"]
    assert list(a.items()) == list(b.items())
    assert a.types() == b.types()
    ids = [entity.concept_id for entity, _ in a.items()] + list(REDIRECTS) + ["nowhere"]
    names = [name for entity, _ in a.items() for name in (entity.canonical_name, *entity.aliases)] + ["nothing"]
    assert a.rows(ids).tolist() == b.rows(ids).tolist()
    for left, right in zip(a.rows_of_aliases(names), b.rows_of_aliases(names), strict=True):
        assert left.tolist() == right.tolist()
    xrefs = ["nowhere:1", *(xref for entity, _ in a.items() for xref in entity.xrefs)]
    for left, right in zip(a.rows_of_xrefs(xrefs), b.rows_of_xrefs(xrefs), strict=True):
        assert left.tolist() == right.tolist()
    assert all(a.ancestors(entity_id) == b.ancestors(entity_id) for entity_id in a)
    return True


def changed(kb):
    kb.put([Entity("C5", "Cough", ("ASA",), ("T184",)), Entity("C6", "Fever")])
    kb.put([Entity("C2", "Septal aneurysm", ("ASA", "aneurysm"), ("T190",)), Entity("C6", "Pyrexia")])
    kb.put([replace(kb["C4"], xrefs=("CL:0000898",), parents=("C2",))])
    kb.retire(["C3", "C5"], {"C3": "C1"})
    return kb
