"""The knowledge base: look-ups, changes, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase, store_writer
from spacy_pel.types import Entity
from spacy_pel.util import arrow_files, normalize_alias

from .conftest import ENTITIES, REDIRECTS, collide, many, same


def test_by_id(kb):
    assert len(kb) == kb.n_rows == 4
    assert list(kb.entities()) == ENTITIES == [kb[entity.concept_id] for entity in ENTITIES]
    assert "C1" in kb and "C91" in kb and "C5" not in kb and 1 not in kb
    assert [kb.row(key) for key in ("C3", "C91", "C5", "", "\ud800")] == [2, 0, -1, -1, -1]
    assert kb.rows(["C91", "C5", "C4"]).tolist() == [0, -1, 3]
    assert kb.rows(["C5", "C4"]).dtype == np.int64 and kb.rows([]).tolist() == []
    assert (kb.resolve("C1"), kb.resolve("C91"), kb.resolve("C5")) == ("C1", "C1", None)
    with pytest.raises(PelError, match="PEL-E100.*'C5'"):
        kb["C5"]


def test_by_row(kb):
    assert kb.ids_at([3, 0, 0]) == ["C4", "C1", "C1"] and kb.ids_at(np.array([], dtype=int)) == []
    assert (kb.id_at(1), kb.name_at(3), kb.entity_at(2)) == ("C2", "Naïve T cell 🧫", ENTITIES[2])
    expected = [[ENTITIES[row].canonical_name, *ENTITIES[row].aliases] for row in (2, 0, 2)]
    assert kb.names_at([2, 0, 2]) == expected and kb.names_at([]) == []
    for row in (-1, 4):
        with pytest.raises(PelError, match=f"PEL-E110.*{row}"):
            kb.ids_at([0, row])
        with pytest.raises(PelError, match="PEL-E110"):
            kb.entity_at(row)


def test_by_name(kb):
    assert kb.ids("asa") == ["C1", "C2"]
    assert kb.ids("FIBROBLAST growth-factor 1") == ["C3"] and kb.ids("fgf_1") == ["C3"]
    assert kb.ids("خلية تائية") == ["C4"] and kb.ids("naïve t cell 🧫") == kb.ids("Naïve T-cell") == ["C4"]
    assert kb.ids("") == kb.ids(" ") == kb.ids("as") == []
    rows = kb.rows_of_aliases(["ASA", "nothing", "hbgf1", "ASA"])
    assert [found.tolist() for found in rows] == [[0, 1], [], [2], [0, 1]]
    assert all(found.dtype == np.int64 for found in rows)
    assert kb.rows_of_aliases([]) == []


@pytest.mark.parametrize("hashing", ["good", "colliding"])
def test_many_chunks_and_colliding_hashes(tmp_path, monkeypatch, hashing):
    monkeypatch.setattr(store_writer, "_CHUNK", 8)
    monkeypatch.setattr(store_writer, "_NAME_CHUNK", 5)
    if hashing == "colliding":
        collide(monkeypatch, 3, store_writer, arrow_files)
    entities = many(50)
    redirects = {f"R{i}": f"M{i}" for i in range(20)}
    kb = KnowledgeBase.build(entities, tmp_path / "kb", redirects=redirects)
    expected = {}
    for row, entity in enumerate(entities):
        for name in dict.fromkeys(map(normalize_alias, (entity.canonical_name, *entity.aliases))):
            expected.setdefault(name, []).append(row)
    found = kb.rows_of_aliases(list(expected))
    assert {name: rows.tolist() for name, rows in zip(expected, found, strict=True)} == expected
    assert [kb.ids(name) for name in ("alias 7", "name 5x", "other 50")] == [[], [], []]
    ids = [entity.concept_id for entity in entities]
    order = np.random.default_rng(0).permutation(50)
    assert kb.rows([ids[i] for i in order]).tolist() == order.tolist()
    assert kb.ids_at(order) == [ids[i] for i in order]
    assert kb.row("M50") == kb.row("M5x") == -1
    assert [kb.resolve(old) for old in redirects] == ids[:20] and kb.resolve("R20") is None
    assert list(kb.entities()) == entities
    assert kb.types() == {f"T{t}": sum(i % 3 == t for i in range(1, 50, 2)) for t in (1, 0, 2)}
    assert np.flatnonzero(kb.rows_with_types(["T1"])).tolist() == list(range(1, 50, 6))


def test_redirects_end_well():
    redirects = {"a": "b", "b": "a", "C1": "C2", "c": "gone", "C2": "C2"}
    kb = KnowledgeBase(ENTITIES, redirects=redirects)
    assert [kb.resolve(old) for old in ("a", "b", "C1", "c", "C2")] == [None, None, "C1", None, "C2"]
    assert kb.redirects() == {"a": "b", "b": "a", "c": "gone"}  # a live id leads to itself


def test_add(kb):
    before = kb.fingerprint
    assert kb.rows_with_types(["T047"]).tolist() == [False, True, False, False]
    rows = kb.put([Entity("C5", "Cough", ("Tussis", "asa"), ("T184", "T047")), Entity("C6", "Fever")])
    assert rows.tolist() == [4, 5] and len(kb) == kb.n_rows == 6
    assert kb.ids("tussis") == ["C5"] and kb.ids("ASA") == ["C1", "C2", "C5"]
    assert kb.rows(["C6", "C1", "x", "C5"]).tolist() == [5, 0, -1, 4]
    assert kb.ids_at([5, 0]) == ["C6", "C1"] and kb.name_at(4) == "Cough"
    assert kb.types()["T047"] == 2 and kb.rows_with_types(["T047"]).tolist() == [0, 1, 0, 0, 1, 0]
    assert kb.live_rows.tolist() == list(range(6)) and kb.fingerprint != before


@pytest.mark.parametrize("wrong", [["C7", "C7"], [" "]])
def test_put_refuses_and_changes_nothing(kb, wrong):
    before = kb.fingerprint
    with pytest.raises(PelError, match="PEL-E1(13|17)"):
        kb.put([Entity("C8", "Good"), *(Entity(entity_id, "A name") for entity_id in wrong)])
    assert kb.fingerprint == before and "C8" not in kb


def test_update(kb):
    changed = Entity("C1", "Aspirin", ("ASS",), ("T200",), None)
    assert kb.put([changed]).tolist() == [0]
    assert kb.names_at([0, 1])[0] == [changed.canonical_name, *changed.aliases]
    assert kb["C1"] == changed and kb.ids("ass") == ["C1"] and kb.ids("ASA") == ["C2"]
    assert "T109" not in kb.types() and kb.types()["T200"] == 1
    kb.put([ENTITIES[0]])
    assert kb.ids("ass") == [] and kb.ids("asa") == ["C1", "C2"]
    assert kb.fingerprint == KnowledgeBase(ENTITIES, redirects=REDIRECTS).fingerprint


def test_retire(kb):
    assert kb.retire(["C1", "C3"], {"C1": "C2"}).tolist() == [0, 2]
    assert (len(kb), kb.n_rows, kb.live_rows.tolist()) == (2, 4, [1, 3])
    assert kb["C1"] == kb["C91"] == ENTITIES[1] and "C3" not in kb
    assert kb.ids("aspirin") == kb.ids("hbgf1") == [] and kb.ids("asa") == ["C2"]
    assert kb.types() == {"T047": 1} and not kb.rows_with_types(["T116"]).any()
    assert kb.id_at(0) == "C1"  # a tombstone
    assert [entity.concept_id for entity in kb.entities()] == list(kb) == ["C2", "C4"]
    for ids, successor in ((["C3"], {}), (["C9"], {}), (["C2"], {"C2": "C3"}), (["C2"], {"C2": "C2"})):
        with pytest.raises(PelError, match="PEL-E1(00|12|14)"):
            kb.retire(ids, successor)
    for successor in ({"C4": "C2"}, "C4"):  # of an id that stays, of none
        with pytest.raises(PelError, match="E011.*successor.*from ids among .'C2'.*got "):
            kb.retire(["C2"], successor)
    assert kb.put([ENTITIES[0]]).tolist() == [0]  # back in its own row, and no longer redirected
    assert kb.resolve("C1") == "C1" and "C1" not in kb.redirects()
    kb.retire(["C1"])
    assert kb.resolve("C1") is None


def test_empty_in_memory_but_never_built(tmp_path):
    kb = KnowledgeBase()
    assert (len(kb), kb.n_rows, kb.ids("a"), kb.row("a"), kb.types()) == (0, 0, [], -1, {})
    assert kb.rows_with_types(["T1"]).tolist() == [] and kb.live_rows.tolist() == []
    kb.put(ENTITIES)
    assert list(kb.items()) == list(KnowledgeBase(ENTITIES).items()) and kb.ids_at([3, 1]) == ["C4", "C2"]
    assert kb.fingerprint == KnowledgeBase(ENTITIES).fingerprint
    assert same(KnowledgeBase(), KnowledgeBase.from_bytes(KnowledgeBase().to_bytes()))
    with pytest.raises(PelError, match="PEL-E102"):
        KnowledgeBase.build([], tmp_path / "kb")
    assert list(tmp_path.iterdir()) == []


def test_fingerprint_depends_on_every_part():
    def print_of(entities=tuple(ENTITIES), **settings):
        return KnowledgeBase(entities, **settings).fingerprint

    first, *rest = ENTITIES
    variants = [{"concept_id": "C0"}, {"canonical_name": "aspirin"}, {"definition": None}]
    variants += [{"aliases": first.aliases[:1]}, {"types": first.types[:1]}]
    variants.append({"aliases": (*first.aliases, "T109"), "types": first.types[1:]})
    prints = [print_of([replace(first, **variant), *rest]) for variant in variants]
    prints += [print_of(), print_of(ENTITIES[::-1]), print_of(redirects={"x": "C1"}), print_of(rest)]
    assert len(set(prints)) == len(prints)
    assert print_of() == print_of(source={"licence": "CC BY"})
