"""Releases of a source: what they retire, what they lack, and what they leave alone."""

import json
import shutil
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.from_files import Changes, apply_changes, read_changes
from spacy_pel.kb.readers.mesh_kb import MeshKB
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.kb.readers.snomed_loinc_kb import LoincKB, Rf2KB
from spacy_pel.kb.readers.umls_kb import UmlsKB
from spacy_pel.types import Entity

META = Path(__file__).parents[1] / "fixtures" / "kb" / "umls" / "META"
TERMS = [Entity(f"X:{i}", f"term {name}") for i, name in enumerate(("one", "two", "three", "four"), start=1)]


def obo(*stanzas):
    return "format-version: 1.2\n\n" + "\n".join(f"[Term]\n{one}\n" for one in stanzas)


def obograph(*nodes):
    return json.dumps({"graphs": [{"id": "http://purl.obolibrary.org/obo/x.json", "nodes": nodes}]})


def node(number, name, **meta):
    return {"id": f"http://purl.obolibrary.org/obo/X_{number}", "lbl": name, "type": "CLASS", "meta": meta}


REPLACED = [
    {"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "http://purl.obolibrary.org/obo/X_3"},
    {"pred": "http://www.geneontology.org/formats/oboInOwl#consider", "val": "http://purl.obolibrary.org/obo/X_4"},
]
LIVE = ("id: X:3\nname: term three", "id: X:4\nname: term four")
GONE = "id: X:1\nis_obsolete: true"
CIRCLE = (f"{GONE}\nreplaced_by: X:5", "id: X:5\nis_obsolete: true\nreplaced_by: X:1")
LIVE_NODES = (node(3, "term three"), node(4, "term four"))
REPLACED_NODE = node(1, "", deprecated=True, basicPropertyValues=REPLACED)
RELEASES = {
    "obsolete": ("x.obo", obo(f"{GONE}\nname: term one", *LIVE), None, ()),
    "replaced": ("x.obo", obo(f"{GONE}\nreplaced_by: X:3", *LIVE), "X:3", None),
    "alternative id": ("x.obo", obo(LIVE[0] + "\nalt_id: X:1", LIVE[1]), "X:3", None),
    "consider": ("x.obo", obo(f"{GONE}\nconsider: X:3\nconsider: X:4", *LIVE), None, ("X:3", "X:4")),
    "replaced by one that is nowhere": ("x.obo", obo(f"{GONE}\nreplaced_by: Y:7", *LIVE), None, ("Y:7",)),
    "in a circle": ("x.obo", obo(*CIRCLE, *LIVE), None, ()),
    "graph, replaced": ("x.json", obograph(REPLACED_NODE, *LIVE_NODES), "X:3", None),
}


def untyped(entities):
    return {one.concept_id: one.canonical_name for one in entities}


@pytest.mark.parametrize("case", RELEASES)
def test_a_release_retires_what_it_calls_obsolete(tmp_path, case):
    name, text, successor, perhaps = RELEASES[case]
    (tmp_path / name).write_text(text)
    kb = KnowledgeBase(TERMS)
    update = apply_changes(kb, read_changes(OboKB(), [tmp_path / name]))
    assert list(update.retired) == ["X:1"] and kb.resolve("X:1") == successor
    assert update.obsolete == ({} if successor else {"X:1": perhaps})
    assert (update.missing, update.n_others) == (["X:2"], 0) and "X:2" in kb
    assert not kb.edits and "term one" not in untyped(kb.entities()).values()


def test_what_a_release_lacks_is_retired_on_demand(tmp_path):
    (tmp_path / "x.obo").write_text(RELEASES["obsolete"][1])
    kb = KnowledgeBase([*TERMS, Entity("MY:1", "own"), Entity("E11", "own code")])
    update = apply_changes(kb, read_changes(OboKB(), [tmp_path / "x.obo"]), retire_missing=True)
    assert update.missing == ["X:2"] and update.n_others == 2
    assert list(kb) == ["X:3", "X:4", "MY:1", "E11"] and kb.resolve("X:2") is None


def test_unchanged_entities_are_not_touched(tmp_path):
    release = obo(*(f"id: {one.concept_id}\nname: {one.canonical_name}\nnamespace: t" for one in TERMS))
    (tmp_path / "x.obo").write_text(release)
    kb = KnowledgeBase(OboKB()([tmp_path / "x.obo"]))
    before, seen = kb.fingerprint, []

    class Listener:
        def hear(self, kb, rows):
            seen.append(rows.tolist())

    listener = Listener()
    kb.on_change(listener.hear)
    update = apply_changes(kb, read_changes(OboKB(), [tmp_path / "x.obo"]))
    assert update.unchanged == 4 and kb.fingerprint == before and seen == []
    (tmp_path / "x.obo").write_text(release.replace("term two", "term 2"))
    apply_changes(kb, read_changes(OboKB(), [tmp_path / "x.obo"]))
    assert seen == [[1]], "only the entity that changed is embedded again"


@pytest.mark.parametrize("prefix, missing", [("", ["X:1", "X:2"]), ("X:1", ["X:1"]), ("Z", [])])
def test_the_prefix_of_ids_limits_what_is_missing(tmp_path, prefix, missing):
    (tmp_path / "x.obo").write_text(obo(*LIVE, "id: X:11\nname: eleven", "id: Z:1\nname: zet"))
    kb = KnowledgeBase([*TERMS, Entity("X:12", "twelve"), Entity("Z:1", "zet")])
    changes = read_changes(OboKB(id_prefix=prefix), [tmp_path / "x.obo"])
    assert apply_changes(kb, changes).missing == [*missing, *(["X:12"] if prefix != "Z" else [])]


def test_types_limit_what_is_missing(tmp_path):
    (tmp_path / "x.obo").write_text(obo("id: X:1\nname: one\nnamespace: a"))
    kb = KnowledgeBase(
        [Entity("X:1", "one", (), ("a",)), Entity("X:2", "two", (), ("a",)), Entity("X:3", "b", (), ("b",))]
    )
    update = apply_changes(kb, read_changes(OboKB(types=["a"]), [tmp_path / "x.obo"]))
    assert (update.missing, update.n_others) == (["X:2"], 1)


def test_a_file_that_is_no_release_retires_nothing(tmp_path):
    (tmp_path / "x.obo").write_text(obo(LIVE[0]))
    kb = KnowledgeBase(TERMS)
    changes = read_changes(OboKB(), [tmp_path / "x.obo"])
    with pytest.raises(PelError, match="E125.* 3 of 4 entities, such as 'X:1'"):
        apply_changes(kb, changes, retire_missing=True)
    assert len(kb) == 4


@pytest.mark.parametrize(
    "reader, files, obsolete, live",
    [
        (LoincKB(), ("loinc/Loinc.csv", "loinc/MapTo.csv"), {"90003-7": ("90001-1", "90004-5")}, "90001-1"),
        (Rf2KB(), ("rf2",), {"10000004": ()}, "10000001"),
    ],
)
def test_released_tables_retire_what_is_withdrawn(reader, files, obsolete, live):
    paths = [META.parent.parent / name for name in files]
    entities = list(reader(paths))
    kb = KnowledgeBase([*entities, *(Entity(old, "an old name") for old in obsolete)])
    update = apply_changes(kb, read_changes(reader, paths))
    assert list(update.retired) == list(obsolete) and update.obsolete == obsolete and live in kb


def test_umls_retires_merged_deleted_and_split_concepts(tmp_path):
    meta = Path(shutil.copytree(META, tmp_path / "2024AA" / "META"))
    history = {
        "C0000020": ("SY", "C0000001"),
        "C0000021": ("DEL", ""),
        "C0000022": ("RB", "C0000002"),
        "C0000023": ("RN", "C0000003"),
        "C0000024": ("RO", "C0000005"),
        "C0000025": ("SY", "C0000020"),  # merged twice
        "C0000026": ("SY", "C0000099"),  # into one that is in no file
    }
    lines = [f"{old}|2024AA|{relation}|||{new}|Y|" for old, (relation, new) in history.items()]
    lines.insert(3, "C0000022|2024AA|RB|||C0000003|Y|")
    (meta / "MRCUI.RRF").write_text("\n".join(lines) + "\n")
    reader = UmlsKB()
    kb = KnowledgeBase([*reader([meta]), *(Entity(old, old) for old in history), Entity("C0000030", "lost")])
    update = apply_changes(kb, read_changes(UmlsKB(), [meta]))
    merged = dict.fromkeys(("C0000020", "C0000025"), "C0000001")
    assert {old: kb.resolve(old) for old in history} == {**dict.fromkeys(history), **merged}
    perhaps = {21: (), 22: (2, 3), 23: (3,), 24: (5,), 26: (99,)}
    assert update.obsolete == {f"C{old:07}": tuple(f"C{new:07}" for new in ids) for old, ids in perhaps.items()}
    assert update.missing == ["C0000030"] and update.unchanged == 4
    built = UmlsKB()
    list(built([meta]))
    assert built.redirects == {"C0000020": "C0000001"} and not built.obsolete, "a build needs no more"


def test_the_history_of_mesh_names_successors_too(tmp_path):
    (tmp_path / "history.yaml").write_text("'MESH:D2' : 'MESH:D1'\n")
    (tmp_path / "desc.tsv").write_text("D1\tfever\tpyrexia\tC23.888\t\nD3\tcough\t\tC08.618\t\n")
    kb = KnowledgeBase([Entity("D1", "fever"), Entity("D2", "heat"), Entity("D3", "cough"), Entity("D4", "x")])
    changes = read_changes(MeshKB(), [tmp_path / "history.yaml", tmp_path / "desc.tsv"])
    update = apply_changes(kb, changes)
    assert (list(update.retired), update.missing, kb.resolve("D2")) == (["D2"], ["D4"], "D1")


def test_edits_are_not_missing_from_a_release(tmp_path):
    (tmp_path / "x.obo").write_text(obo(LIVE[0], "id: X:2\nname: term two"))
    kb = KnowledgeBase(TERMS)
    kb.put([Entity("X:77", "own")])
    kb.retire(["X:4"])
    update = apply_changes(kb, read_changes(OboKB(), [tmp_path / "x.obo"]), retire_missing=True)
    assert (update.missing, update.n_others, update.conflicts) == (["X:1", "X:4"], 1, {})
    kb.withdraw(["X:77", "X:4"])
    assert list(kb) == ["X:2", "X:3"], "as the release has it"


def test_lines_retire_what_a_curator_added_or_retired_before():
    kb = KnowledgeBase(TERMS)
    kb.put([Entity("MY:1", "own")])
    kb.retire(["X:4"])
    lines = Changes(retired={"MY:1": None, "X:4": "X:3"})
    update = apply_changes(kb, lines)
    assert "MY:1" in kb and kb.resolve("X:4") is None
    assert update.conflicts == {"X:4": "retired in favour of X:3"}
    with pytest.raises(PelError, match="'X:4', which is retired already. Nothing"):
        apply_changes(kb, lines)
    apply_changes(kb, Changes(retired={"MY:1": None}), as_edits=True)
    assert "MY:1" not in kb and list(kb.edits) == ["X:4"]


def test_a_line_may_give_an_entity_and_another_one_retire_it():
    kb = KnowledgeBase(TERMS)
    changes = Changes([Entity("X:1", "last name")], retired={"X:1": "X:2"})
    assert apply_changes(kb, changes).retired == {"X:1": "X:2"} and kb.resolve("X:1") == "X:2"


def test_a_release_of_mesh_retires_no_concepts_of_the_umls(tmp_path):
    (tmp_path / "x.obo").write_text(obo("id: D000001\nname: one", "id: D000002\nname: two"))
    ids = [f"{beginning}00000{n}" for beginning in ("C0", "D") for n in (1, 2, 3)]
    kb = KnowledgeBase([Entity(one, f"name {one}") for one in ids])
    changes = read_changes(OboKB(), [tmp_path / "x.obo"])
    update = apply_changes(kb, changes, retire_missing=True)
    assert (list(update.retired), update.obsolete, update.n_others) == (["D000003"], {"D000003": ()}, 3)
