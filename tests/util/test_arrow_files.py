"""Searching entities by a part of a name."""

import random

import pyarrow as pa
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.util.arrow_files import search_names

ENTITIES = [
    Entity("C1", "Diabetes mellitus", ("DM", "sugar diabetes")),
    Entity("C2", "Diabetes mellitus, type 2", ("adult-onset diabetes",)),
    Entity("C3", "Diabetes insipidus"),
    Entity("C4", "Prediabetes", ("mellitus of diabetes",)),
    Entity("C5", "Größe", ("قلب",)),
]


@pytest.fixture
def kb():
    return KnowledgeBase(ENTITIES)


def ids(kb, text, n=20):
    return [one for one, _ in kb.search(text, n)]


def test_the_nearest_names_come_first(kb):
    assert ids(kb, "diabetes mellitus") == ["C1", "C2", "C4"]  # the name, its beginning, its words
    assert ids(kb, "diab") == ["C1", "C3", "C2", "C4"]  # the shortest beginning, and words that begin so
    assert ids(kb, "MELL diab") == ["C1", "C4", "C2"]
    assert ids(kb, "betes") == ["C4", "C1", "C3", "C2"]  # within a word, the shortest first
    assert ids(kb, "diab", n=2) == ["C1", "C3"]
    assert kb.search("onset") == [("C2", "adult onset diabetes")]
    assert kb.search("dm") == [("C1", "dm")]


def test_any_text_may_be_searched(kb):
    assert ids(kb, "GRÖSSE") == ids(kb, "قل") == ["C5"]
    assert [ids(kb, text) for text in ("", "  ", "zebra", "diabetes zebra", "\ud800", "betes sugar x")] == [[]] * 6
    with pytest.raises(PelError, match="E011"):
        kb.search(None)


def test_changes_are_searched(kb):
    kb.put([Entity("N1", "Diabetes of the moon", ("lunar diabetes",)), Entity("C3", "Renamed")])
    kb.retire(["C2"])
    assert ids(kb, "diabetes") == ["C1", "N1", "C4"]
    assert kb.search("luna") == [("N1", "lunar diabetes")]
    assert ids(kb, "insipidus") == ids(kb, "onset") == [] and ids(kb, "renam") == ["C3"]
    again = KnowledgeBase.from_bytes(kb.to_bytes())
    assert [again.search(text) for text in ("diabetes", "luna", "onset")] == [
        kb.search(text) for text in ("diabetes", "luna", "onset")
    ]


def slow(names, text, n):
    """What ``search_names`` finds, name by name."""
    found = []
    for place, name in enumerate(names):
        words = text.split()
        if not all(word in name for word in words):
            continue
        begins = all(name.startswith(word) or f" {word}" in name for word in words)
        rank = 0 if name == text else 1 if name.startswith(text) else 2 if begins else 3
        found.append((rank, len(name), name, place))
    return sorted(found)[:n]


def test_as_a_slow_search():
    rng = random.Random(0)
    pieces = ["ab", "b", "aa", "ä", "abba", "c"]
    names = sorted({" ".join(rng.choices(pieces, k=rng.randint(1, 4))) for _ in range(300)})
    rng.shuffle(names)
    cuts = [0, 7, 7, 100, len(names)]
    chunks = [pa.array(names[a:b], type=pa.string()) for a, b in zip(cuts, cuts[1:], strict=False)]
    chunks[2] = pa.array(["c", *names[7:100]]).slice(1)  # a view of a longer array
    for text in ("a", "ab", "b a", "ä c", "abba ab", "bb", "a b c", "c"):
        # of equal rank and length, which names are among the best of a chunk is not said
        best = [one[:2] for one in search_names(chunks, text, 9)]
        assert best == [one[:2] for one in slow(names, text, 9)]
        assert list(map(tuple, search_names(chunks, text, 999))) == slow(names, text, 999)
