"""Cross references, and broader and narrower entities."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase, arrow_store, store_writer
from spacy_pel.kb.compare import diff
from spacy_pel.kb.from_files import subtree
from spacy_pel.types import Entity
from spacy_pel.util import arrow_files

from .conftest import collide

#     A
#    / \\
#   B   C     F <-> G (a cycle), H is its own parent
#    \\ / \\
#     D   E
PARENTS = {"A": "unknown", "B": "A", "C": "A", "D": "B C", "E": "C unknown", "F": "G", "G": "F", "H": "H"}
XREFS_BY_ID = {"B": "MSH:D001249 ICD10:J45", "C": "mesh:D001249 MESH:D001249", "E": "FBbt:1 icd-10:J45.9"}


def make_kb():
    entities = [
        Entity(name, f"name {name}", parents=parents.split(), xrefs=XREFS_BY_ID.get(name, "").split())
        for name, parents in PARENTS.items()
    ]
    return KnowledgeBase(entities, redirects={"old B": "B", "gone": "nowhere"})


@pytest.fixture(params=["memory", "disk", "bytes", "overlay"])
def kb(request, tmp_path):
    made = make_kb()
    if request.param == "disk":
        made.to_disk(tmp_path / "kb")
        return KnowledgeBase.from_disk(tmp_path / "kb")
    if request.param == "bytes":
        return KnowledgeBase.from_bytes(made.to_bytes())
    if request.param == "overlay":  # what is stored has all changed
        kb = KnowledgeBase([Entity(name, "x", parents=("A", "H"), xrefs=("MESH:D9",)) for name in PARENTS])
        kb.release([*made.entities(), Entity("old B", "x")], {})
        kb.release([], {"old B": "B"})
        return kb
    return made


def test_xrefs(kb):
    assert kb.xrefs("B") == kb.xrefs("old B") == ["MSH:D001249", "ICD10:J45"] and kb.xrefs("A") == []
    for spelling in ("MESH:D001249", "msh:D001249", "MeSH:d001249", " mesh: D001249 "):
        assert kb.ids_of_xref(spelling) == ["B", "C"]
    assert kb.ids_of_xref("fbBT:1") == kb.ids_of_xref("ICD-10:J45.9") == ["E"]
    assert kb.ids_of_xref("ICD10CM:J45") == kb.ids_of_xref("MESH:D9") == kb.ids_of_xref("") == []
    rows = kb.rows_of_xrefs(["ICD10:J45", "nothing", "MESH:D001249", "ICD10:J45"])
    assert [found.tolist() for found in rows] == [[1], [], [1, 2], [1]]
    assert all(found.dtype == np.int64 for found in rows) and kb.rows_of_xrefs([]) == []
    with pytest.raises(PelError, match="PEL-E100.*'X'"):
        kb.xrefs("X")
    with pytest.raises(PelError, match="PEL-E011.*None"):
        kb.ids_of_xref(None)


def test_broader_and_narrower_entities(kb):
    assert kb.parents("D") == ["B", "C"] and kb.parents("A") == kb.parents("H") == []
    assert kb.children("C") == ["D", "E"] and kb.children("E") == []
    assert kb.ancestors("D") == ["B", "C", "A"] and kb.descendants("A") == ["B", "C", "D", "E"]
    assert kb.descendants("old B") == ["D"]
    assert kb.ancestors("F") == kb.descendants("F") == kb.parents("F") == kb.children("F") == ["G"]

    def below(*ids):
        return "".join(kb.ids_at(np.flatnonzero(kb.rows_below(ids))))

    assert below("old B", "F") == "BDFG" and below("A") == "ABCDE" and below("H") == "H"
    assert below() == below("unknown", "gone") == ""
    for method in (kb.parents, kb.children, kb.ancestors, kb.descendants):
        with pytest.raises(PelError, match="PEL-E100.*'unknown'"):
            method("unknown")
    with pytest.raises(PelError, match="PEL-E115"):
        kb.rows_below("A")


def test_changes_count_at_once(kb, tmp_path):
    assert kb.descendants("A") == ["B", "C", "D", "E"]  # what is remembered of it must not stay
    kb.put([Entity("I", "new", parents=("E", "unknown"), xrefs=("NCI:C1",)), Entity("unknown", "now known")])
    kb.put([replace(kb["C"], parents=(), xrefs=("MESH:D2",)), replace(kb["D"], parents=("old B",))])
    kb.rename({"E": "other"})
    assert kb.parents("A") == ["unknown"] and kb.ancestors("I") == ["E", "unknown", "C"]
    assert kb.descendants("A") == ["B", "D"] and kb.descendants("C") == ["E", "I"]
    assert kb.ids_of_xref("MESH:D001249") == ["B"] and kb.ids_of_xref("MESH:D2") == ["C"]
    assert kb.ids_of_xref("NCIT:c1") == ["I"] and kb.ids_of_xref("ICD10:J45.9") == ["E"]
    kb.retire(["B", "E"], {"E": "C"})
    assert kb.ids_of_xref("ICD10:J45") == kb.children("A") == [] and kb.parents("I") == ["C", "unknown"]
    assert not kb.rows_below(["B"]).any()
    kb.to_disk(tmp_path / "saved")
    saved = KnowledgeBase.from_disk(tmp_path / "saved")
    for entity_id in kb:
        assert kb.parents(entity_id) == saved.parents(entity_id) and kb.xrefs(entity_id) == saved.xrefs(entity_id)
    assert saved.ids_of_xref("ICD10:J45") == [] and saved.ids_of_xref("MESH:D2") == ["C"]
    for one in (kb, saved):
        one.withdraw(["B", "E", "C", "D", "I"])
        assert one.descendants("B") == ["D"] and one.ids_of_xref("MESH:D001249") == ["B", "C"]
        assert one["E"] == make_kb()["E"]


def test_several_chunks_and_colliding_hashes(tmp_path, monkeypatch):
    monkeypatch.setattr(store_writer, "_CHUNK", 4)
    collide(monkeypatch, 2, store_writer, arrow_store, arrow_files)
    entities = [Entity(f"E{i}", "x", xrefs=(f"V:{i % 7}", f"W:{i:03d}"), parents=(f"E{i // 2}",)) for i in range(30)]
    kb = KnowledgeBase.build(entities, tmp_path / "kb")
    assert kb.ids_of_xref("v:3") == ["E3", "E10", "E17", "E24"] and kb.ids_of_xref("W:011") == ["E11"]
    assert kb.ids_of_xref("V:8") == [] and kb.ancestors("E29") == ["E14", "E7", "E3", "E1", "E0"]


def test_a_subtree_has_its_redirects():
    kb = make_kb()
    for ids, kept, redirects in (
        (["A", "D"], "ABCDE", {"old B": "B"}),
        (["C"], "CDE", {}),
        (["old B"], "BD", {"old B": "B"}),
    ):
        entities, found = subtree(kb, ids)
        assert ("".join(entity.concept_id for entity in entities), found) == (kept, redirects)


def test_differences_have_both():
    kb, other = make_kb(), make_kb()
    other.put([replace(other["B"], xrefs=("ICD10:J45", "MSH:D001249")), replace(other["D"], parents=("B",))])
    other.put([replace(other["E"], xrefs=())])
    assert diff(kb, other).changed == {"D": ["parents"], "E": ["xrefs"]}
