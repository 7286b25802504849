"""Faulty entities are repaired and counted."""

import json

import pytest
from cases import cases

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.repair import ends_of_chains
from spacy_pel.types import Entity

FAULTS = [
    # what is given, what is kept, how it is counted
    (Entity(" ", "A name"), None, {"empty_id": 1}),
    (Entity("NIL", "A name"), None, {"reserved_id": 1}),
    (Entity("C1", " ", ("", "\t")), None, {"blank_alias": 2, "nameless": 1}),
    (Entity("C1", "", ("Fever", "heat")), Entity("C1", "Fever", ("heat",)), {"empty_name": 1}),
    (Entity("C1", "Fever", (" ", "heat")), Entity("C1", "Fever", ("heat",)), {"blank_alias": 1}),
    (Entity("C1", "Fever", (), ("", "T1")), Entity("C1", "Fever", (), ("T1",)), {"blank_type": 1}),
    (Entity("C1", "Fe\x00ver\n"), Entity("C1", "Fe ver"), {"control_character": 1}),
    (Entity("C1", "Fe\ud800ver"), Entity("C1", "Fe\ufffdver"), {"bad_unicode": 1}),
    (Entity("C1", "F", (), (), "1\n\t2\x00"), Entity("C1", "F", (), (), "1\n\t2"), {"control_character": 1}),
    # white space and repetitions are no faults
    (Entity(" C1", "Fever ", ("heat", "heat", " hot")), Entity("C1", "Fever", ("heat", "hot")), {}),
    (Entity("C1", "Fever", (), ("T1", "T1"), "  "), Entity("C1", "Fever", (), ("T1",)), {}),
]


@pytest.mark.parametrize("given, kept, report", FAULTS)
def test_faults_are_repaired_and_counted(given, kept, report):
    other = Entity("C2", "Cough")
    kb = KnowledgeBase([other, given])
    assert list(kb.entities()) == ([other, kept] if kept else [other])
    assert kb.meta["report"] == report


TAGGED = ["Zorb (disorder)", "Vex (Dose Form)", "Pex, nos"]


@pytest.mark.parametrize("names, read, report", cases("names_of_readers", "names_are_read_as_they_are_meant"))
def test_names_are_read_as_they_are_meant(tmp_path, names, read, report):
    entity = Entity("C1", names[0], tuple(names[1:]))
    (tmp_path / "kb.jsonl").write_text(json.dumps(entity.to_json()), encoding="utf8")
    reader = JsonlKB()
    (kept,) = reader([tmp_path / "kb.jsonl"])
    assert [kept.canonical_name, *kept.aliases] == (read or names) and reader.report == report
    assert KnowledgeBase([kept]).meta["report"] == {}


def test_chains_of_redirects_are_followed_once():
    n = 100_000  # in quadratic time, minutes
    chain = {f"R{number}": f"R{number + 1}" for number in range(n)}
    assert set(ends_of_chains(chain, {f"R{n}"}).values()) == {f"R{n}"}
    loops = {"a": "b", "b": "c", "c": "b", "d": "a", "e": "live", "live": "f", "f": "e"}
    ends = {"a": "b", "b": "b", "c": "c", "d": "b", "e": "live", "live": "live", "f": "live"}
    assert ends_of_chains(loops, {"live"}) == ends


def test_ids_of_redirects_are_repaired_as_those_of_entities():
    redirects = {"O\ud800": "C1", "O\n2 ": "C\ufffd", " ": "C1", "C\ud800": "C1", "O3": "C\ud800"}
    kb = KnowledgeBase([Entity("C1", "Fever"), Entity("C\ud800", "Cough")], redirects=redirects)
    assert kb.redirects() == {"O\ufffd": "C1", "O 2": "C\ufffd", "O3": "C\ufffd"}
    assert kb.meta["report"] == {"bad_unicode": 4, "control_character": 1, "empty_id": 1}


def test_duplicate_ids_are_merged():
    entities = [
        Entity("C1", "Fever", ("heat",), ("T1",)),
        Entity("C2", "Cough"),
        Entity("C1", "Pyrexia", ("heat", "Fever", "hot"), ("T2", "T1"), "Being hot."),
        Entity("C1", "Fever"),
    ]
    kb = KnowledgeBase(iter(entities), redirects={"C3": "C1", "C2": "C1"})
    merged = Entity("C1", "Fever", ("heat", "Pyrexia", "hot"), ("T1", "T2"), "Being hot.")
    assert list(kb.entities()) == [merged, entities[1]]
    assert kb.meta["report"] == {"duplicate_id": 2}
    assert (kb.ids("pyrexia"), kb.row("C2"), kb.resolve("C3")) == (["C1"], 1, "C1")
    assert kb.fingerprint == KnowledgeBase([merged, entities[1]], redirects={"C3": "C1"}).fingerprint


def test_duplicates_leave_no_files_of_the_first_pass(tmp_path):
    KnowledgeBase.build([Entity("C1", "Fever")] * 2, tmp_path / "two")
    KnowledgeBase.build([Entity("C1", "Fever")], tmp_path / "one")
    assert {path.name for path in (tmp_path / "two").iterdir()} == {path.name for path in (tmp_path / "one").iterdir()}


@pytest.mark.parametrize(
    "wrong", [Entity("C1", None), Entity("C1", "x", (1,)), Entity(7, "x"), Entity("C1", "x", (), (), 3)]
)
def test_what_is_no_text_is_always_an_error(wrong):
    with pytest.raises(PelError, match="PEL-E105"):
        KnowledgeBase([wrong])
