"""Differences between knowledge bases, and files of changes."""

import json
import re

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.compare import diff
from spacy_pel.kb.from_files import apply_changes, read_changes
from spacy_pel.kb.readers.csv_kb import CsvKB
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.readers.medic_kb import MedicKB
from spacy_pel.types import Entity

OLD = [
    Entity("C1", "Fever", ("heat", "hot"), ("T1",)),
    Entity("C2", "Cough"),
    Entity("C3", "Pain"),
    Entity("C4", "Itch"),
]
RETIRED = {"concept_id": "C2", "retired": True}


def write(path, lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return path


def counts(update):
    return len(update.added), len(update.changed), len(update.retired)


def test_diff():
    old, new = KnowledgeBase(OLD), KnowledgeBase(OLD[::-1])
    found = diff(old, new)
    assert (found.added, found.retired, found.changed) == ([], {}, {})
    new.retire(["C2", "C3"], {"C2": "C1"})
    new.put([Entity("C5", "Rash")])
    new.put([Entity("C1", "Fever", ("hot", "heat"), ("T2",), "Hot.")])
    found = diff(old, new)
    assert found.added == ["C5"]
    assert found.retired == {"C2": "C1", "C3": None}
    assert found.changed == {"C1": ["types", "definition"]}
    back = diff(new, old)
    assert set(back.added) == {"C2", "C3"} and back.retired == {"C5": None}


def test_changes(tmp_path):
    lines = [
        {"concept_id": "C2", "retired": True, "successor": "C6"},
        {"concept_id": "C3", "retired": True},
        {**Entity("C6", "Tussis").to_json(), "retired": False},
        Entity("C1", "Pyrexia").to_json(),
        "",
    ]
    kb = KnowledgeBase(OLD)
    changes = read_changes(JsonlKB(), [write(tmp_path / "changes.jsonl", lines)])
    assert not changes.repairs
    assert counts(apply_changes(kb, changes)) == (1, 1, 2)
    assert kb["C2"].concept_id == "C6" and "C3" not in kb and kb.ids("pyrexia") == ["C1"]
    assert kb.ids("heat") == []
    again = read_changes(JsonlKB(), [write(tmp_path / "again.jsonl", [Entity("C2", "Cough").to_json()])])
    assert counts(apply_changes(kb, again)) == (1, 0, 0)
    assert kb.row("C2") == 1 and not kb.edits


def test_a_filter_that_leaves_no_entity_leaves_what_is_retired(tmp_path, caplog):
    lines = [RETIRED, Entity("X1", "Rash").to_json(), {"concept_id": "X9", "retired": True}]
    path = write(tmp_path / "changes.jsonl", lines)
    changes = read_changes(JsonlKB(id_prefix="C"), [path])
    assert not changes.entities and changes.retired == {"C2": None} and "W144" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        '{"concept_id": "C1", "retired": tru',
        '{"concept_id": "C1", "retired": true, "successor": 5}',
        '{"concept_id": "C1"}',
        '{"concept_id": "C9", "retired": true}\n{"concept_id": "C9", "retired": true, "successor": "C1"}',
    ],
)
def test_bad_change_lines_are_named(tmp_path, line):
    path = write(tmp_path / "changes.jsonl", [Entity("C9", "Good").to_json(), line])
    with pytest.raises(PelError, match="line [23]"):
        read_changes(JsonlKB(), [path])


@pytest.mark.parametrize(
    ("lines", "got"),
    [
        ([{"concept_id": "C77", "retired": True}], "got 'C77', which the knowledge base does not have"),
        ([{"concept_id": "C1", "retired": True, "successor": "C77"}], "successor at .* got 'C77'"),
        ([{"concept_id": "C1", "retired": True, "successor": "C2"}, RETIRED], "got 'C2', which is retired, too"),
    ],
)
def test_changes_that_do_not_fit_name_the_line_and_change_nothing(tmp_path, lines, got):
    new = Entity("C9", "Good").to_json()
    changes, kb = read_changes(JsonlKB(), [write(tmp_path / "changes.jsonl", [new, *lines])]), KnowledgeBase(OLD)
    with pytest.raises(PelError, match=r"/changes\.jsonl, line 2") as caught:
        apply_changes(kb, changes)
    assert re.search(got, str(caught.value)) and str(caught.value).count("PEL-E") == 1
    assert "C9" not in kb and kb.fingerprint == KnowledgeBase(OLD).fingerprint


def test_lines_are_repaired_and_those_that_cannot_be_are_named(tmp_path, caplog):
    path = tmp_path / "changes.jsonl"
    lines = [{"concept_id": "C9", "canonical_name": ""}, {"concept_id": " NIL", "canonical_name": "x"}]
    with pytest.raises(PelError, match="E120.*changes.jsonl, got none"):
        read_changes(JsonlKB(), [write(path, lines)])
    caplog.clear()
    changes = read_changes(JsonlKB(), [write(path, [*lines, {"concept_id": "C8", "canonical_name": "y"}])])
    assert changes.entities == [Entity("C8", "y")] and changes.repairs == {"nameless": 1, "reserved_id": 1}
    assert "W106" in caplog.text and f"{path}, line 1 ('C9'); {path}, line 2 ('NIL')" in caplog.text
    with pytest.raises(PelError, match="line 1.*nameless"):
        read_changes(JsonlKB(strict=True), [path])


def test_other_readers_give_changes_too(tmp_path):
    (tmp_path / "kb.csv").write_text("code,name\nC1,Pyrexia\nC1,Febris\nC9,Good\n")
    kb = KnowledgeBase(OLD)
    changes = read_changes(CsvKB(), [tmp_path / "kb.csv"])
    assert counts(apply_changes(kb, changes)) == (1, 1, 0)
    assert kb["C1"].canonical_name == "Pyrexia" and kb["C1"].aliases == ("Febris",)
    (tmp_path / "medic.txt").write_text("C1|C2|OTHER||fever\n")  # the other ids lead to the first
    update = apply_changes(kb, read_changes(MedicKB(), [tmp_path / "medic.txt"]))
    assert list(update.retired) == ["C2"]
    assert kb["C2"].concept_id == "C1"
