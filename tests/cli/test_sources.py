"""Whose names are in a knowledge base: after each step of a licensee's, in its files and its pipeline's."""

import json
import pickle
import shutil

import pytest
import spacy
from pages import ROOT

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.sources import check_may_be_passed_on
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.types import Entity

from .conftest import done, refused

pytestmark = pytest.mark.slow
UMLS = "UMLS Metathesaurus, U.S. National Library of Medicine"
NEW = {f"C99999{i:02}": [f"veltracopathy {i}", f"veltra disease {i}"] for i in range(4)}
RELEASES = {
    "2030AA": {"C0004096": ["Asthma", "wheezopathia nova"], **NEW},
    "2030AB": {"C0004096": ["Asthma", "wheezopathia secunda"], **{k: NEW[k] for k in list(NEW)[:3]}, "C9999907": ["x"]},
}


def umls(folder, release, concepts):
    """A META folder of these names, each concept below the one before it."""
    meta = folder / release / "META"
    meta.mkdir(parents=True)
    rows = [(cui, f"A{cui}{i}", name) for cui, names in sorted(concepts.items()) for i, name in enumerate(names)]
    lines = [f"{cui}|ENG|P|L1|PF|S1|Y|{atom}||||MSH|PT|D1|{name}|0|N||\n" for cui, atom, name in rows]
    (meta / "MRCONSO.RRF").write_text("".join(lines))
    kinds = [f"{cui}|T047|A|Disease or Syndrome|A1||\n" for cui in sorted(concepts)]
    (meta / "MRSTY.RRF").write_text("".join(kinds))
    pairs = zip(sorted(concepts)[1:], sorted(concepts), strict=False)
    (meta / "MRREL.RRF").write_text("".join(f"{a}|A|CUI|PAR|{b}|A|CUI||R|R|MSH|MSH|||N||\n" for a, b in pairs))
    return meta


def everywhere(pipeline):
    """What kb info, info, both meta.json, and pickled and copied pipelines say of the UMLS, and the entities."""
    nlp = load_pipeline(pipeline).nlp
    copy = spacy.load(pipeline).from_bytes(nlp.to_bytes())
    saved = json.loads((pipeline / "meta.json").read_text())
    metas = [saved, nlp.meta, pickle.loads(pickle.dumps(nlp)).meta, copy.meta]
    lists = {json.dumps([one for one in meta["sources"] if "UMLS" in one["name"]]) for meta in metas}
    counts = {meta["knowledge_bases"]["proxy_entity_linker"]["entities"] for meta in metas}
    assert len(lists) == len(counts) == 1 and "81,990" not in json.dumps(saved)
    info = [done("kb", "info", pipeline, "--json").json, done("info", pipeline, "--json").json["kb"]]
    assert [one["counts"]["entities"] for one in info] == [*counts] * 2
    assert info[0]["sources"] == info[1]["sources"] and info[0]["sources"][0]["name"] == "mondo"
    (own,) = [one for one in info[0]["sources"] if one["name"] == UMLS]
    text = (pipeline / "proxy_entity_linker" / "kb" / "meta.json").read_text()
    assert "not to be passed on" in own["licence"] and f"{own['version']}, {own['entities']} entities" in lists.pop()
    return own["version"], own["entities"], *counts, [release for release in RELEASES if release in text]


def test_two_releases_on_top_of_the_default(tmp_path):
    pipeline = tmp_path / "mine"
    shutil.copytree(ROOT / "assets" / "pel_medmentions", pipeline)
    before = KnowledgeBase.from_disk(pipeline / "proxy_entity_linker" / "kb")["C0004096"]
    done("kb", "licences", pipeline)
    added = done("kb", "add", pipeline, umls(tmp_path, "2030AA", RELEASES["2030AA"]), "--json").json
    assert (added["added"], added["extended"], added["updated"], added["n_missing"]) == (4, 1, 0, 0)
    assert everywhere(pipeline) == ("2030AA", 5, 106_801, ["2030AA"])
    release = umls(tmp_path, "2030AB", RELEASES["2030AB"])
    added = done("kb", "add", pipeline, release, "--retire-missing", "--json").json
    assert (added["added"], added["updated"], added["retired"], added["unchanged"]) == (1, 1, 1, 3)
    assert everywhere(pipeline) == ("2030AB", 5, 106_801, ["2030AB"])
    kb = KnowledgeBase.from_disk(pipeline / "proxy_entity_linker" / "kb")
    assert set(kb["C0004096"].aliases) == {*before.aliases, "Asthma", "wheezopathia secunda"}
    assert kb["C0004096"].definition == before.definition and "C9999903" not in kb
    assert "2030AB" in refused("E147", "kb", "licences", pipeline, "--allow", UMLS)


def test_a_release_is_read_as_the_build_was(tmp_path):
    kb, settings = tmp_path / "kb", ("--types", "T047", "--set", "relations=true")
    done("kb", "build", kb, umls(tmp_path, "2030AA", NEW), *settings)
    mixed = umls(tmp_path, "2030AB", {**NEW, "C9999909": ["y"]})
    (mixed / "MRSTY.RRF").write_text((mixed / "MRSTY.RRF").read_text().replace("09|T047", "09|T121"))
    result = done("kb", "add", kb, mixed, "--retire-missing", "--json")
    assert (result.json["added"], result.json["unchanged"]) == (0, 4)
    assert "as before relations true, types T047" in result.err
    opened = KnowledgeBase.from_disk(kb)
    assert opened.parents("C9999901") == ["C9999900"] and opened.source["version"] == "2030AB"
    assert opened.source["settings"] == {"types": ["T047"], "relations": True} and len(opened.sources) == 1
    result = done("kb", "add", kb, mixed, "--types", "T121", "--json")
    assert result.json["added"] == 1 and "now types T121, before T047" in result.err


@pytest.mark.parametrize(
    "rows, options, aliases, counts",
    [
        ("HP:1,Hemiparesis,one-sided weakness", (), ("old", "Hemiparesis", "one-sided weakness"), (1, 0)),
        ("HP:1,Weakness,new", ("--as-edits",), ("old", "new"), (1, 0)),
        ("HP:1,Hemiparesis,", ("--replace",), (), (0, 1)),
        ("HP:1,Weakness,new", ("--source-name", "HP", "--retire-missing"), ("new",), (0, 1)),
    ],
)
def test_rows_of_known_ids_add_names(tmp_path, rows, options, aliases, counts):
    whole = Entity("HP:1", "Weakness", ("old",), ("sign",), "Less strength.", ("MESH:D1",), ("HP:2",))
    build = {"name": "HP", "licence": "CC0"}
    KnowledgeBase([whole, Entity("HP:2", "All")], source=build).to_disk(tmp_path / "kb")
    (tmp_path / "mine.csv").write_text(f"code,name,synonyms\n{rows}\nHP:2,All,\n")
    added = done("kb", "add", tmp_path / "kb", tmp_path / "mine.csv", *options, "--json").json
    kb = KnowledgeBase.from_disk(tmp_path / "kb")
    assert (added["extended"], added["updated"]) == counts and kb["HP:1"].aliases == aliases
    if counts[0]:
        kept = kb["HP:1"]
        assert (kept.definition, kept.xrefs, kept.parents) == (whole.definition, whole.xrefs, whole.parents)
        kb.release([Entity("HP:1", "Asthenia"), Entity("HP:2", "All")], {})  # the next release keeps them
        assert set(aliases) - {"old"} <= {kb["HP:1"].canonical_name, *kb["HP:1"].aliases}
        name = "own edits" if options else "mine.csv"
        assert [one["name"] for one in kb.sources] == ["HP", name]
        said = refused("E147", "kb", "licences", tmp_path / "kb")
        n_entities = "1 entity" if options else "2 entities"
        assert f"{name} ({n_entities}, licence not known" in said and "HP (" not in said
        assert "HP" in done("kb", "licences", tmp_path / "kb", "--allow", name).out


def test_a_source_that_says_nothing_new_keeps_its_entities(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    rows = [f"X:{i},name {i}\n" for i in range(3)]
    first.write_text("code,name\n" + "".join(rows))
    shutil.copy(first, second)
    done("kb", "build", tmp_path / "kb", first)
    assert done("kb", "add", tmp_path / "kb", second, "--json").json["unchanged"] == 3
    first.write_text("code,name\n" + "".join(rows[:2]))
    added = done("kb", "add", tmp_path / "kb", first, "--retire-missing", "--json").json
    assert added["retired"] == 0 and added["unchanged"] == 3
    second.write_text(first.read_text())
    added = done("kb", "add", tmp_path / "kb", second, "--retire-missing", "--json").json
    assert added["retired"] == 1 and list(KnowledgeBase.from_disk(tmp_path / "kb")) == ["X:0", "X:1"]


def test_another_reader_of_a_source_adds_to_its_record(tmp_path):
    kb, table, lines = tmp_path / "kb", tmp_path / "a.csv", tmp_path / "b.jsonl"
    table.write_text("code,name,type\nX:1,one,t\nX:2,two,u\n")
    done("kb", "build", kb, table, "--types", "t", "--licence", "CC0")
    lines.write_text('{"concept_id": "X:3", "canonical_name": "three", "types": ["u"]}\n')
    done("kb", "add", kb, lines, "--source-name", "a.csv")
    record = KnowledgeBase.from_disk(kb).source
    assert (record["licence"], record["files"], record["reader"]) == ("CC0", ["a.csv", "b.jsonl"], "csv")
    assert done("kb", "add", kb, table, "--json").json["added"] == 0, "as before: types t"


@pytest.mark.parametrize(
    "licence, is_free",
    [
        ("CC BY 4.0", True),
        ("HPO licence: free use; cite, show the version, do not alter the content", True),
        ("UMLS Metathesaurus Licence", False),
        ("SNOMED CT Affiliate Licence", False),
        ("CPT, American Medical Association", False),
        ("may not be redistributed", False),
        ("for internal use", False),
        ("", False),
    ],
)
def test_licences_that_forbid_passing_on(licence, is_free):
    sources = [{"name": "a", "entities": 1234, "licence": licence}]
    if is_free:
        check_may_be_passed_on(sources)
    else:
        with pytest.raises(PelError, match=r"E147.*a \(1,234 entities"):
            check_may_be_passed_on(sources)
