"""Curators' edits: they stay through releases of the source, and can be withdrawn."""

import json
import pickle

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

FEVER = Entity("C1", "Fever", ("heat",), ("T1",))
COUGH, PAIN = Entity("C2", "Cough"), Entity("C3", "Pain")
BASE = [FEVER, COUGH, PAIN]
# what a curator does, and what is to be seen of it, whatever the release says
NAME, OWN, BOTH = {"C1": "Pyrexia"}, Entity("C1", "Own", ("name",)), Entity("C1", "Pyrexia", ("Own", "name"))


def is_renamed(kb):
    return kb["C1"].canonical_name == "Pyrexia" and kb.ids("pyrexia") == ["C1"]


EDITS = {
    "retired": (lambda kb: kb.retire(["C1"]), lambda kb: kb.resolve("C1") is None and not kb.ids("fever")),
    "retired for another": (lambda kb: kb.retire(["C1"], {"C1": "C2"}), lambda kb: kb.resolve("C1") == "C2"),
    "renamed": (lambda kb: kb.rename(NAME), is_renamed),
    "old name lost": (lambda kb: kb.rename(NAME, keep_old=False), lambda kb: is_renamed(kb) and not kb.ids("Fever")),
    "replaced": (lambda kb: kb.put([OWN]), lambda kb: kb["C1"] == OWN),
    "replaced and renamed": (lambda kb: (kb.put([OWN]), kb.rename(NAME)), lambda kb: kb["C1"] == BOTH),
    "renamed and retired": (lambda kb: (kb.rename(NAME), kb.retire(["C1"])), lambda kb: kb.resolve("C1") is None),
}
# what the next release says of C1, the conflict, and what the entity is once the edit is withdrawn
RELEASES = {
    "as before": ([FEVER], {}, None, FEVER),
    "changed": ([Entity("C1", "Fever", ("hot",), ("T2",))], {}, "changed (aliases, types)", None),
    "retired": ([], {"C1": None}, "retired", None),
    "replaced": ([], {"C1": "C3"}, "retired in favour of C3", PAIN),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_wins_over_a_release_until_it_is_withdrawn(edit, release):
    do, holds = EDITS[edit]
    entities, retired, conflict, after = RELEASES[release]
    kb = KnowledgeBase(BASE)
    do(kb)
    assert holds(kb) and list(kb.edits) == ["C1"]
    update = kb.release([*entities, COUGH, PAIN], retired)
    assert holds(kb), "no release undoes it"
    is_same = release == "retired" and edit in ("retired", "renamed and retired")
    assert update.conflicts == ({} if conflict is None or is_same else {"C1": conflict})
    assert update.edited == ([] if is_same else ["C1"])
    kb.withdraw(["C1"])
    assert not kb.edits
    if release == "retired":
        assert kb.resolve("C1") is None and not kb.ids("pyrexia")
    else:
        assert kb["C1"] == (after or entities[0]) and not kb.ids("pyrexia")


def test_a_renamed_entity_gets_the_new_aliases_of_the_release():
    kb = KnowledgeBase(BASE)
    kb.rename({"C1": "Pyrexia"})
    update = kb.release([Entity("C1", "Fever", ("heat", "high temperature"))], {})
    assert kb["C1"] == Entity("C1", "Pyrexia", ("Fever", "heat", "high temperature"))
    assert list(update.changed) == ["C1"]


def test_an_added_entity_is_no_part_of_a_release_and_goes_when_withdrawn():
    kb = KnowledgeBase(BASE)
    kb.put([Entity("MY:1", "Own thing")])
    assert kb.edits["MY:1"].kind == "added"
    kb.withdraw(["MY:1"])
    assert "MY:1" not in kb and kb.ids("own thing") == [] and not kb.edits
    kb.put([Entity("MY:1", "Own thing")])
    update = kb.release([Entity("MY:1", "Theirs")], {})
    assert kb["MY:1"].canonical_name == "Own thing" and update.conflicts == {"MY:1": "added"}
    kb.withdraw(["MY:1"])
    assert kb["MY:1"].canonical_name == "Theirs"


def test_what_changes_nothing_is_no_edit():
    kb = KnowledgeBase(BASE)
    kb.put([FEVER])
    kb.rename({"C1": "Fever"})
    assert not kb.edits
    kb.retire(["C1"])
    kb.put([FEVER])
    kb.put([Entity("N1", "new")])
    kb.retire(["N1"])
    assert not kb.edits, "undone by hand"


def test_edits_are_kept_wherever_a_knowledge_base_goes(tmp_path):
    KnowledgeBase.build(BASE, tmp_path / "kb")
    kb = KnowledgeBase.from_disk(tmp_path / "kb")
    kb.rename({"C1": "Py\u2028rexia", "C3": "Dolor"})
    kb.retire(["C2"], {"C2": "C3"})
    kb.put([Entity("N1", "new")])
    kinds = {"C1": "renamed", "C3": "renamed", "C2": "retired", "N1": "added"}
    copies = [pickle.loads(pickle.dumps(kb)), KnowledgeBase.from_bytes(kb.to_bytes())]
    kb.to_disk(tmp_path / "kb")
    copies += [kb, KnowledgeBase.from_disk(tmp_path / "kb"), pickle.loads(pickle.dumps(kb))]
    KnowledgeBase.from_disk(tmp_path / "kb").to_disk(tmp_path / "copy")
    copies.append(KnowledgeBase.from_disk(tmp_path / "copy"))
    for copy in copies:
        assert {one: edit.kind for one, edit in copy.edits.items()} == kinds
        assert copy.meta["counts"]["edits"] == 4 and copy.edits["C1"].at
        copy.release([FEVER, COUGH], {"C3": None})
        assert copy.resolve("C2") == "C3" and copy["C3"].canonical_name == "Dolor"
        copy.withdraw(["C1", "C2"])
        assert (copy["C1"], copy["C2"], list(copy.edits)) == (FEVER, COUGH, ["C3", "N1"])
    lines = (tmp_path / "copy" / "edits.jsonl").read_text(encoding="utf8").split("\n")
    assert len(lines) == 5 and "entity" in json.loads(lines[0])["release"]


def test_an_edit_that_no_row_shows_is_saved_too(tmp_path):
    KnowledgeBase.build(BASE, tmp_path / "kb")
    kb = KnowledgeBase.from_disk(tmp_path / "kb")
    kb.retire(["C1"])
    kb.to_disk(tmp_path / "kb")
    kb.release([], {"C1": None})  # changes nothing but what withdrawing leads to
    kb.to_disk(tmp_path / "kb")
    kb = KnowledgeBase.from_disk(tmp_path / "kb")
    kb.withdraw(["C1"])
    kb.to_disk(tmp_path / "kb")
    assert not (tmp_path / "kb" / "edits.jsonl").exists()
    assert "C1" not in KnowledgeBase.from_disk(tmp_path / "kb")


def test_only_edits_can_be_withdrawn():
    kb = KnowledgeBase(BASE)
    kb.retire(["C1"])
    for wrong, code in ((["C1", "C2"], "E126.*'C2'"), ("C1", "E115")):
        with pytest.raises(PelError, match=code):
            kb.withdraw(wrong)
    assert kb.is_retired("C1")


def test_damaged_edits_are_refused(tmp_path):
    kb = KnowledgeBase(BASE)
    kb.retire(["C1"])
    for damage in (b"{}\n", b"\xff", b'"x"\n', kb.to_bytes()[:3]):
        store = KnowledgeBase.from_bytes(kb.to_bytes())
        store.stored.buffers["edits.jsonl"] = damage
        with pytest.raises(PelError, match="PEL-E004.*edits"):
            _ = store.edits
