"""The kb commands: results on stdout, one line per error, exit code 2."""

import gzip
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import spacy

from spacy_pel.cli import kb_changes
from spacy_pel.cli._kb import reader_of
from spacy_pel.cli.kb_changes import changed_kb
from spacy_pel.corpora import read_links
from spacy_pel.engines.output import write_links
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.util import write_jsonl
from spacy_pel.util.saved_folder import verify_folders
from spacy_pel.util.writing import _held, locked

from .conftest import done, run

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[1] / "fixtures" / "kb"
ENTITIES = [
    Entity("C1", "Aspirin", ("ASA",), ("T109",), "A drug.", ("MESH:D001241", "RXNORM:1191", "MESH:C1", "own")),
    Entity("C2", "Fever", ("heat",), ("T184",)),
    Entity("D3", "Cough", (), ("T184", "sign"), parents=("C2", "X9")),
]


def run_json(*args):
    return done(*args, "--json").json


def fails(*args):
    """The one line on stderr (after progress bars) of a command that fails."""
    result = run(*args)
    assert result.code == 2 and result.out == ""
    assert "Traceback" not in result.err
    lines = [line for line in result.err.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1 and result.err.endswith(lines[0] + "\n")
    return lines[0]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "kb.jsonl"
    path.write_text("".join(json.dumps(entity.to_json()) + "\n" for entity in ENTITIES))
    return path


@pytest.fixture
def kb(source, tmp_path):
    assert run("kb", "build", tmp_path / "kb", source, "--reader", "jsonl").code == 0
    return tmp_path / "kb"


def test_build_and_info(source, tmp_path):
    built = run_json("kb", "build", tmp_path / "kb", "--reader", "jsonl", source)
    assert (built["entities"], built["aliases"], built["repairs"]) == (3, 2, {})
    info = run_json("kb", "info", tmp_path / "kb")
    assert info["fingerprint"] == built["fingerprint"] == KnowledgeBase(ENTITIES).fingerprint
    assert info["types"] == {"T184": 2, "T109": 1, "sign": 1}
    assert info["source"]["reader"] == "jsonl" and info["source"]["files"] == ["kb.jsonl"]
    assert str(tmp_path) not in json.dumps(info)
    text = " ".join(run("kb", "info", tmp_path / "kb").out.split())
    for shown in (info["fingerprint"], "type: Sign or Symptom (T184, Disorders) 2", "sign 1"):
        assert shown in text


def test_filters(source, tmp_path):
    def ids(*filters):
        run_json("kb", "build", tmp_path / "kb", "--reader", "jsonl", source, *filters)
        return [entity.concept_id for entity in KnowledgeBase.from_disk(tmp_path / "kb").entities()]

    assert ids("--types", "T184,T999") == ["C2", "D3"]
    assert ids("--types", "T184", "--types", "T109") == ["C1", "C2", "D3"]
    assert ids("--id-prefix", "C", "--types", "T184") == ["C2"]
    assert KnowledgeBase.from_disk(tmp_path / "kb").source["settings"] == {"types": ["T184"], "id_prefix": "C"}


HPO = [
    Entity("HP:0000001", "All"),
    Entity("HP:0000118", "Phenotypic abnormality", parents=("HP:0000001",)),
    Entity("HP:0001945", "Fever", parents=("HP:0000118",), xrefs=("UMLS:C0015967",)),
    Entity("HP:0000005", "Mode of inheritance", parents=("HP:0000001",)),
]


@pytest.fixture
def hpo(tmp_path):
    write_jsonl(tmp_path / "hp.jsonl", (entity.to_json() for entity in HPO))
    return tmp_path / "hp.jsonl"


def test_below(hpo, tmp_path):
    def built(*ids, source=hpo):
        below = [text for entity_id in ids for text in ("--below", entity_id)]
        return "kb", "build", tmp_path / "kb", "--reader", "jsonl", source, *below

    assert run_json(*built("HP:0000118"))["entities"] == 2
    kb = KnowledgeBase.from_disk(tmp_path / "kb")
    assert list(kb.entities()) == HPO[1:3] and kb.parents("HP:0000118") == []
    assert kb.source["below"] == ["HP:0000118"] and kb.source["files"] == ["hp.jsonl"]
    assert run_json(*built("HP:0001945", "HP:0000005"))["entities"] == 2
    said = fails(*built("HP:0000118", "HP:118"))
    assert "E145" in said and "'HP:118' (did you mean 'HP:0000118', Phenotypic abnormality" in said
    assert "'HP:0001945', Fever" in fails(*built("fever"))
    write_jsonl(tmp_path / "flat.jsonl", [Entity("C1", "Aspirin").to_json()])
    assert "E146" in fails(*built("C1", source=tmp_path / "flat.jsonl"))
    assert len(KnowledgeBase.from_disk(tmp_path / "kb")) == 2  # the failures left it


def test_add_below(hpo, tmp_path):
    run_json("kb", "build", tmp_path / "kb", "--reader", "jsonl", hpo, "--below", "HP:0000118")
    release = [*HPO[:2], Entity("HP:0002315", "Headache", parents=("HP:0000118",)), HPO[3]]
    write_jsonl(hpo, (entity.to_json() for entity in release))
    added = run_json("kb", "add", tmp_path / "kb", hpo, "--below", "HP:0000118")
    assert (added["added"], added["unchanged"], added["missing"]) == (1, 1, ["HP:0001945"])
    assert KnowledgeBase.from_disk(tmp_path / "kb").children("HP:0000118") == ["HP:0001945", "HP:0002315"]
    assert "E145" in fails("kb", "add", tmp_path / "kb", hpo, "--below", "HP:9")


def test_settings_of_a_reader(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("code;canonical_name;aliases\nC1;Fever;heat/hot\n")
    columns = 'columns={"concept_id": "code"}'
    settings = ["--set", columns, "--set", "list_separator=/"]
    run_json("kb", "build", tmp_path / "kb", "--reader", "csv", table, *settings)
    assert KnowledgeBase.from_disk(tmp_path / "kb").ids("hot") == ["C1"]
    assert "PEL-E208" in fails("kb", "build", tmp_path / "kb", "--reader", "csv", table, "--set", "x=1")
    for given in ("columns=1", "types=T047", "strict=perhaps"):
        said = fails("kb", "build", tmp_path / "kb", "--reader", "csv", table, "--set", given)
        assert "PEL-E209" in said and given.partition("=")[0] in said
    assert "Expected the setting strict of 'csv' to be a valid boolean, got 'perhaps'." in said
    assert "PEL-E211" in fails("kb", "build", tmp_path / "kb", "--reader", "csv", table, "--set", "x")


def test_show(kb):
    assert run_json("kb", "show", kb, "C1") == {**ENTITIES[0].to_json(), "parent_names": {}, "children": {}}
    assert run("kb", "show", kb, "C1").out.splitlines() == [
        "C1  Aspirin",
        "types       Organic Chemical (T109, Chemicals & Drugs)",
        "definition  A drug.",
        "names       Aspirin · ASA",
        "codes       MESH:D001241 · RXNORM:1191 · MESH:C1 · own",
    ]
    assert run_json("kb", "show", kb, "D3")["parent_names"] == {"C2": "Fever", "X9": None}
    assert run_json("kb", "show", kb, "C2")["children"] == {"D3": "Cough"}
    for found in ("aspirin", "ASA", "rxnorm:1191", "MSH:D001241"):  # a name or a code of one entity
        assert run_json("kb", "show", kb, found)["concept_id"] == "C1"
    assert "PEL-E127" in fails("kb", "show", kb, "C9") and "'C2', Fever" in fails("kb", "show", kb, "c2")


def test_show_lists_the_entities_that_share_a_name_or_code(tmp_path):
    entities = [Entity("A", "cold", xrefs=("MESH:D1",)), Entity("B", "Cold", xrefs=("MESH:D1",)), Entity("C", "heat")]
    KnowledgeBase(entities).to_disk(tmp_path / "kb")
    for text in ("cold", "MESH:D1"):
        assert "did you mean 'A', cold; 'B', Cold?" in fails("kb", "show", tmp_path / "kb", text)


def test_add_and_diff(kb, tmp_path):
    old = tmp_path / "old"
    KnowledgeBase.from_disk(kb).to_disk(old)
    changes = tmp_path / "changes.jsonl"
    lines = [
        {"concept_id": "C2", "retired": True, "successor": "C4"},
        Entity("C4", "Pyrexia").to_json(),
        Entity("C1", "Aspirin", ("ASS",)).to_json(),
    ]
    changes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    added = run_json("kb", "add", kb, changes, "--replace")
    assert added["added"] == added["updated"] == added["retired"] == 1
    assert added["fingerprint"] == run_json("kb", "info", kb)["fingerprint"]
    assert run_json("kb", "show", kb, "C2")["successor_of"] == "C2"
    found = run_json("kb", "diff", old, kb)
    assert (found["added"], found["removed"]) == (["C4"], {"C2": "C4"})
    assert found["changed"] == {"C1": ["aliases", "types", "definition", "xrefs"]}
    shown = run("kb", "diff", old, kb).out.splitlines()
    assert "+ C4 Pyrexia" in shown and "- C2 Fever -> C4" in shown
    assert "~ C1 Aspirin (aliases, types, definition, xrefs)" in shown
    assert "C4" not in run("kb", "diff", old, kb, "--limit", "0").out
    assert "changes.jsonl, line 1" in fails("kb", "add", kb, changes)
    assert run_json("kb", "info", kb)["fingerprint"] == added["fingerprint"]


def test_additions_at_once_are_all_there(kb, tmp_path, monkeypatch):
    def add(number):
        with changed_kb(kb) as (opened, _):
            opened.put([Entity(f"N{number}", f"name {number}")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert {f"N{number}" for number in range(4)} < set(KnowledgeBase.from_disk(kb))
    (tmp_path / "a.csv").write_text("code,name\nA,x\n")
    monkeypatch.setattr(kb_changes, "recorded", lambda *args: {"name": str(kb.resolve() in _held.paths)})
    done("kb", "add", kb, tmp_path / "a.csv")
    names = [one["name"] for one in KnowledgeBase.from_disk(kb).sources]
    assert "True" in names, "the record is read when nobody can change it any more"
    monkeypatch.setattr(kb_changes, "_PATIENCE", 0.1)
    with locked(kb), ThreadPoolExecutor(1) as pool, pytest.raises(PelError, match="E014.*Nothing was changed"):
        pool.submit(add, 5).result()


def test_add_takes_the_readers_of_build(kb, tmp_path):
    table = tmp_path / "codes.csv"
    table.write_text("code;term;other;kind\nC1;Fever;heat/pyrexia;sign\nX1;Rash;;sign\nX2;Stroke;;disease\n")
    columns = ["--set", 'columns={"canonical_name": "term", "aliases": "other", "types": "kind"}']
    added = run_json("kb", "add", kb, table, *columns, "--set", "list_separator=/", "--types", "sign")
    assert (added["added"], added["updated"], added["extended"]) == (1, 0, 1)
    assert KnowledgeBase.from_disk(kb).ids("pyrexia") == ["C1"] and "X2" not in KnowledgeBase.from_disk(kb)
    table.rename(tmp_path / "codes.txt.bak")
    assert "--reader" in fails("kb", "add", kb, tmp_path / "codes.txt.bak")
    assert run_json("kb", "add", kb, tmp_path / "codes.txt.bak", "--reader", "csv", *columns)["added"] == 1


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv", "c.txt.gz", "changes"])
def test_add_takes_json_lines_of_any_name(kb, tmp_path, name):
    line = json.dumps({"definition": None, "concept_id": "N1", "canonical_name": "Rash"})
    with (gzip.open if name.endswith(".gz") else open)(tmp_path / name, "wt", encoding="utf-8-sig") as file:
        file.write(f"\n{line}\n")
    assert run_json("kb", "add", kb, tmp_path / name)["added"] == 1


def test_add_refuses_files_without_changes(kb, tmp_path):
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"code,name\nN1,Rash\n" * 999)[:-20])
    assert "E002" in fails("kb", "add", kb, tmp_path / "c.csv.gz") and "E686" in fails("kb", "add", tmp_path, kb)
    rash = '{"concept_id": "N1", "canonical_name": "Rash"}\n'
    for name, text, *options in (("a.jsonl", ""), ("d.csv", "code,name\n"), ("e.jsonl", rash, "--id-prefix", "X")):
        (tmp_path / name).write_text(text)
        said = fails("kb", "add", kb, tmp_path / name, *options)
        assert name in said
    assert "E144" in said and len(KnowledgeBase.from_disk(kb)) == 3
    retired = change(tmp_path / "retired.jsonl", {"concept_id": "C1", "retired": True})
    assert run_json("kb", "add", kb, retired, tmp_path / "a.jsonl")["retired"] == 1
    assert run("kb", "show", kb, "C1").out.startswith("C1  Aspirin\nretired     without a successor\n")


def test_add_says_that_files_are_of_different_kinds(kb, tmp_path):
    table, lines = tmp_path / "b.csv", tmp_path / "y.txt"
    table.write_text("code,name\nX1,Rash\n")
    lines.write_text('{"concept_id": "X2", "canonical_name": "Stroke"}\n')
    said = fails("kb", "add", kb, table, lines)
    assert "E698" in said and f"{table} ('csv') and {lines} ('jsonl')" in said
    assert run_json("kb", "add", kb, table, shutil.copy(table, tmp_path / "more.rows"))["added"] == 1


@pytest.mark.parametrize(
    "args, code",
    [
        (("info", "{tmp}/nowhere"), "PEL-E007"),
        (("info", "{tmp}"), "PEL-E686"),
        (("add", "{tmp}/nowhere", "{tmp}/kb.jsonl"), "PEL-E007"),
        (("build", "{tmp}/out", "--reader", "jsonl", "{tmp}/nowhere.jsonl"), "PEL-E002"),
        (("build", "{tmp}/out", "--reader", "jsonl", "{tmp}/kb.jsonl", "--languages", "ENG"), "PEL-E208"),
        (("build", "{tmp}/out", "--reader", "jsonl", "{tmp}/kb.jsonl", "--types", "T9"), "PEL-E144"),
        (("build", "{tmp}", "--reader", "jsonl", "{tmp}/kb.jsonl"), "PEL-E111"),
        (("build", "{tmp}/out", "--reader", "jsonl"), "--help"),
    ],
)
def test_bad_input_is_one_clear_line(source, tmp_path, args, code):
    assert code in fails("kb", *(arg.format(tmp=tmp_path) for arg in args))
    assert [path.name for path in tmp_path.iterdir()] == ["kb.jsonl"]


# -- the knowledge base of a pipeline --------------------------------------------------------------


def linked(pipeline, text):
    return [span.kb_id_ for span in spacy.load(pipeline)(text).ents]


def change(path, *records):
    write_jsonl(path, records)
    return path


def test_commands_read_the_knowledge_base_of_a_pipeline(pipeline):
    own = pipeline / "proxy_entity_linker" / "kb"
    assert run_json("kb", "info", pipeline) == {**run_json("kb", "info", own), "abbreviations": 0}
    forms = {"counts": {"aspirin": 7}, "n_others": 0, "n_mentions": 7}
    assert run_json("kb", "show", pipeline, "C0") == {**run_json("kb", "show", own, "C0"), "forms": forms}
    assert "in annotated text  aspirin 7" in run("kb", "show", pipeline, "C0").out
    assert run_json("kb", "diff", pipeline, own)["n_changed"] == 0
    (own / "meta.json").unlink()
    assert "E004" in fails("kb", "diff", own, own)  # damaged, and still a KB


def test_changes_of_a_pipeline_are_linked_at_once(pipeline, tmp_path):
    (pipeline / "NOTES.md").write_text("mine")
    text = "aspirin for a stroke"
    assert linked(pipeline, text) == ["C0", "C3"]
    entity = {"concept_id": "NEW", "canonical_name": "stroke", "aliases": ["brain attack"]}
    retired = {"concept_id": "C3", "retired": True, "successor": "NEW"}
    added = run_json("kb", "add", pipeline, change(tmp_path / "a.jsonl", entity, retired))
    assert (added["added"], added["retired"]) == (1, 1)
    assert linked(pipeline, text) == ["C0", "NEW"]
    assert (pipeline / "NOTES.md").read_text() == "mine", "the other files of the folder are kept"
    verify_folders(pipeline / "proxy_entity_linker")


def test_a_change_that_fails_leaves_the_pipeline(pipeline, tmp_path):
    files = {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()}
    entity = {"concept_id": "NEW", "canonical_name": "stroke"}
    retired = {"concept_id": "nowhere", "retired": True, "successor": None}
    assert "nowhere" in fails("kb", "add", pipeline, change(tmp_path / "a.jsonl", entity, retired))
    assert {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()} == files


def test_the_folder_inside_a_pipeline_is_refused(pipeline, tmp_path):
    inside = pipeline / "proxy_entity_linker" / "kb"
    said = fails("kb", "add", inside, change(tmp_path / "a.jsonl", {"concept_id": "N", "canonical_name": "n"}))
    assert "PEL-E655" in said and f"kb add {pipeline} " in said
    assert linked(pipeline, "aspirin") == ["C0"]


# -- releases, edits, old results ------------------------------------------------------------------


def test_the_summary_says_what_a_release_did_not_touch(kb, tmp_path):
    release, same = tmp_path / "x.obo", ("--source-name", "kb.jsonl")
    release.write_text(
        "[Term]\nid: C1\nname: Aspirin\nis_obsolete: true\nconsider: C4\nconsider: C5\n\n"
        "[Term]\nid: C4\nname: Heat\nalt_id: D3\n\n[Term]\nid: C5\nname: Rash\n"
    )
    KnowledgeBase.from_disk(kb).to_disk(tmp_path / "other")
    shown = run("kb", "add", kb, release, *same).out
    assert re.search("^not in the release +1, e.g. C2; retire them with --retire-missing$", shown, re.MULTILINE)
    result = run_json("kb", "add", tmp_path / "other", release, *same, "--retire-missing")
    assert (result["retired"], result["n_missing"], result["perhaps"]) == (3, 0, {"C1": ["C4", "C5"]})
    assert result["successors"] == {"D3": "C4", "C1": None, "C2": None}
    assert "C2" in KnowledgeBase.from_disk(kb) and "C2" not in KnowledgeBase.from_disk(tmp_path / "other")


def test_edits_are_listed_and_dropped(kb, tmp_path):
    assert run("kb", "edits", kb).out == "no edits\n"
    lines = [
        {"concept_id": "C2", "retired": True, "successor": "D3"},
        Entity("C1", "Aspirin", ("ASS",)).to_json(),
        Entity("N1", "Rash").to_json(),
    ]
    mine = change(tmp_path / "mine.jsonl", *lines)
    added = run_json("kb", "add", kb, mine, "--as-edits", "--replace")
    assert (added["added"], added["n_missing"]) == (1, 0)  # no release, which would be whole
    assert "Nothing has changed" in run("kb", "add", kb, mine, "--as-edits", "--replace").err
    again = run_json("kb", "add", kb, tmp_path / "kb.jsonl")  # the source, as it was
    assert again["edited"] == {"C1": "replaced", "C2": "retired"} and not again["conflicts"]
    assert run_json("kb", "show", kb, "C2")["concept_id"] == "D3" and again["n_missing"] == 0
    listed = run_json("kb", "edits", kb)["edits"]
    assert {one["concept_id"]: one["edit"] for one in listed} == {"C1": "replaced", "N1": "added", "C2": "retired"}
    assert listed[0]["was"] == ENTITIES[0].to_json() and listed[0]["is"] == lines[1]
    shown = run("kb", "edits", kb).out
    assert "C2  retired  Fever -> D3" in shown and "C1  replaced  Aspirin\n" in shown and "N1  added  Rash\n" in shown
    assert run_json("kb", "info", kb)["counts"]["edits"] == 3
    assert "E126" in fails("kb", "edits", kb, "--drop", "C1", "--drop", "D3")
    assert run("kb", "edits", kb, "--drop", "C1", "--drop", "N1").out.endswith("edits left: 1\n")
    assert run_json("kb", "show", kb, "C1").items() >= ENTITIES[0].to_json().items()
    assert "N1" not in KnowledgeBase.from_disk(kb)
    changed = change(tmp_path / "v2.jsonl", Entity("C2", "Pyrexia").to_json())
    assert "conflict: C2 retired here" in run("kb", "add", kb, changed).out


def test_corrections_to_a_retired_entity_are_reported(pipeline, tmp_path):
    taught = change(tmp_path / "t.jsonl", {"text": "aspirin", "start": 0, "end": 7, "kb_id": "C3"})
    assert run("teach", pipeline, taught).code == 0
    retired = change(tmp_path / "r.jsonl", {"concept_id": "C3", "retired": True})
    assert run_json("kb", "add", pipeline, retired)["corrections_without_entity"] == [1]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_migrate_replaces_ids_in_old_results(tmp_path, ending):
    """A9 is redirected by the old KB, A0 and A1 by the new one; A4 is retired and A5 gone."""
    entities = [Entity(f"A{i}", f"name {i}") for i in range(6)]
    KnowledgeBase.build(entities, tmp_path / "old", redirects={"A9": "A0"})
    better = Entity("B1", "better name", xrefs=("MESH:D1",))
    new = KnowledgeBase([better, *entities[2:5]], redirects={"A0": "B1", "A1": "B1"})
    new.retire(["A4"])
    new.to_disk(tmp_path / "new")
    shared = {"start": 0, "end": 1, "text": "a", "label": "X"}
    first = {**shared, "ids": ["A0"], "kb_id": "A0", "name": "name 0", "score": 0.5}
    first["codes"] = {"MESH": []}
    first["candidates"] = [["A0", 0.5], ["A2", 0.4], ["A1", 0.3]]
    second = {**shared, "ids": ["A9", "A4", "A5"], "kb_id": "A9", "candidates": [["A9", 0.5]]}
    unknown = {**shared, "ids": ["Z7"], "kb_id": "Z7", "candidates": []}
    record = {"id": "1", "text": "a text", "mentions": [first, second, unknown], "meta": {"year": 2020}}
    links = tmp_path / f"links{ending}"
    write_links(links, [record], ending.strip("."), ["MESH"])
    out = run_json("kb", "migrate", links, tmp_path / "old", tmp_path / "new")
    assert out["replaced"] == {"A0": "B1", "A1": "B1", "A9": "B1"} and out["changed"] == 2
    assert (out["retired"], out["unknown"]) == ({"A4": 1, "A5": 1}, {"Z7": 1})
    (expected,) = read_links(links)
    first, second, _ = expected["mentions"]
    first.update(
        ids=["B1"], kb_id="B1", name="better name", codes={"MESH": ["D1"]}, candidates=[["B1", 0.5], ["A2", 0.4]]
    )
    second.update(ids=["B1", "A4", "A5"], kb_id="B1", candidates=[["B1", 0.5]])
    assert list(read_links(tmp_path / f"links.migrated{ending}")) == [expected]


def test_migrate_reads_tables_and_folders_of_parts(kb, tmp_path):
    KnowledgeBase([Entity("B1", "better, name", xrefs=("MESH:D1",))], redirects={"C1": "B1"}).to_disk(tmp_path / "new")
    header = "document,start,end,text,label,id,name,p_right,p_nil,MESH,id_of"
    table = f"{header}\n1,0,1,a,X,{{}},.5,.1,{{}},C1\n1,2,3,b,X,C9,,.5,.1,,\n"
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for path in (tmp_path / "links.csv", folder / "part-000000.csv", folder / "part-000001.csv"):
        path.write_text(table.format("C1,Aspirin", "D2"))
    for links, target, n in ((tmp_path / "links.csv", "links.migrated.csv", 1), (folder, "links.migrated", 2)):
        out = run_json("kb", "migrate", links, kb, tmp_path / "new")
        assert (out["documents"], out["mentions"], out["changed"], out["unknown"]) == (n, 2 * n, n, {"C9": n})
        target = tmp_path / target
        for path in sorted(target.glob("*")) if target.is_dir() else [target]:
            expected = table.format('B1,"better, name"', "D1")
            assert path.read_text() == ("" if path.name == "_SUCCESS" else expected)


def test_migrate_names_the_columns_that_a_table_needs_and_fills_empty_names(kb, tmp_path):
    KnowledgeBase([Entity("B1", "better")], redirects={"C1": "B1"}).to_disk(tmp_path / "new")
    table = tmp_path / "links.csv"
    table.write_text("document,id,name\n1,C1,\n")
    run_json("kb", "migrate", table, kb, tmp_path / "new")
    assert (tmp_path / "links.migrated.csv").read_text() == "document,id,name\n1,B1,better\n"
    table.write_text("id,kb_id\n1,C1\n")
    said = fails("kb", "migrate", table, kb, tmp_path / "new")
    assert "PEL-E691" in said and "got the columns id, kb_id" in said


def test_migrate_reads_predictions(kb, tmp_path):
    KnowledgeBase([Entity("B1", "better")], redirects={"C1": "B1"}).to_disk(tmp_path / "new")
    line = dict(doc="1", start=0, end=1, gold=["C1"], kb_id="NIL", candidates=[["C1", 1.0]], x={"y": 1})
    words = ("kb", "migrate", change(tmp_path / "predictions.jsonl", line), kb, tmp_path / "new")
    done(*words, "--output", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {**line, "gold": ["B1"], "candidates": [["B1", 1.0]]}
    for wrong in ({"ids": [1]}, {"codes": 5}, 7):
        change(tmp_path / "predictions.jsonl", line, {"mentions": [wrong]})
        said = fails(*words)
        assert "PEL-E012" in said and "predictions.jsonl" in said


def test_migrate_counts_no_mention_where_a_document_failed(kb, tmp_path):
    lines = ({"id": "1", "error": "too long"}, {"id": "2", "text": "a", "mentions": []})
    out = run_json("kb", "migrate", change(tmp_path / "links.jsonl", *lines), kb, kb)
    assert (out["documents"], out["mentions"]) == (2, 0)
    assert list(read_links(tmp_path / "links.migrated.jsonl")) == list(lines)


def test_migrate_names_the_path_that_is_wrong(kb, tmp_path):
    links = change(tmp_path / "links" / "part-000000.jsonl", {"id": "1", "text": "a", "mentions": []})
    inside = fails("kb", "migrate", links.parent, kb, kb, "--output", links.parent / "new" / "links")
    assert "outside of" in inside and [*links.parent.iterdir()] == [links]
    assert "part-* files" in fails("kb", "migrate", kb, kb, kb)
    said = fails("kb", "migrate", links, kb, kb, "--output", tmp_path / "out.doc")
    assert f"got {tmp_path / 'out.doc'}." in " ".join(said.split()) and [*tmp_path.glob("*out*")] == []


def test_filters_of_a_table_that_match_nothing(tmp_path):
    table = tmp_path / "codes.csv"
    table.write_text("code,name,type\nHP:1,Pain,disease\nHP:2,Aspirin,drug\nHP:3,Ibuprofen,drug\n")
    build = ("kb", "build", tmp_path / "kb", "--reader", "csv", table)
    assert "id prefix 'hp:' (did you mean 'HP:'?); the files have 'HP:' (3)." in fails(*build, "--id-prefix", "hp:")
    assert not (tmp_path / "kb").exists()
    said = done(*build, "--types", "disease,drugs").err
    assert "PEL-W144] Nothing matches the types 'drugs' (did you mean 'drug'?)" in said
    assert "W144" not in done(*build, "--types", "disease").err


def test_readers_of_releases(tmp_path):
    for path, reader in (("loinc/MapTo.csv", "loinc"), ("rxnorm/rrf", "rxnorm"), ("umls/META", "umls")):
        assert reader_of(FIXTURES / path) == reader
    paths = sorted((FIXTURES / "rf2").iterdir())
    build = ("kb", "build", tmp_path / "kb", "--reader")
    assert run_json(*build, "rf2", *paths)["entities"] == 3
    assert KnowledgeBase.from_disk(tmp_path / "kb").resolve("10000003") == "10000001"
    assert "Use --reader rf2" in fails(*build, "csv", *paths)
    assert run_json("kb", "add", tmp_path / "kb", *paths)["unchanged"] == 3
    assert run_json(*build, "loinc", *sorted((FIXTURES / "loinc").iterdir()))["entities"] == 2
    assert run_json(*build, "rxnorm", FIXTURES / "rxnorm" / "rrf", "--sources", "RXNORM")["entities"] == 2
