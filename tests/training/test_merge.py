"""Merging ontologies by cross reference; twins; names from annotated text."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from confection import Config
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.corpora.corpus_names_kb import CorpusNamesKB
from spacy_pel.training.merge import Merge, _resembles
from spacy_pel.training.merge_config import parse_merge_config
from spacy_pel.training.merge_record import MergeRecord, plain_name
from spacy_pel.training.merge_rules import (
    Rules,
    Witnesses,
    choose_preferred_names,
    find_annotated_twins,
    find_twins,
    without_circles,
)
from spacy_pel.types import Entity

FIXTURES = Path(__file__).parents[1] / "fixtures" / "kb"
ONTO, BASE = FIXTURES / "onto", FIXTURES / "base"
TERMS = (FIXTURES / "hp_terms.obo").read_text()
NAMES = {"files": ["c.jsonl"], "reader": "corpusnames", "forms": True}


def run(folder=ONTO, **overrides):
    config = Config().from_disk(FIXTURES / f"{folder.name}_merge.cfg", overrides=overrides)
    merge = Merge(parse_merge_config(config["merge"]), folder)
    return merge, {entity.concept_id: entity for entity in merge()}


def facts_of(tmp_path, files, sources, **merge_settings):
    """The merge of files that are given as text."""
    for name, text in files.items():
        (tmp_path / name).write_text(text.lstrip("\n"))
    merge = Merge(parse_merge_config({"sources": sources, **merge_settings}), tmp_path)
    return merge, {entity.concept_id: entity for entity in merge()}


def ontology(name, **settings):
    """A source whose terms refer to the UMLS."""
    return {"files": [f"{name}.obo"], "id_xref": ["UMLS"], **settings}


HP = ontology("hp")


def record(names=(), sources=("a",), curated=(), types=("T047",), parents=(), **labels):
    """An id that sources call something: a="fever"."""
    made = MergeRecord(labels=labels or {"a": names[0]}, curated=set(curated), types=dict.fromkeys(types))
    made.sources, made.parents = {*sources, *labels}, dict.fromkeys(parents)
    for name in (*labels.values(), *names):
        made.add_name(name)
    return made


def test_terms_meet_at_their_ids():
    merge, entities = run()
    # the mapping table stands above the older cross reference of the same term, and names terms
    # that the ontology's file lacks; broader matches do not count, and each term has one id
    assert set(entities) == {"C0149932", "C0033893", "C0018681", "C0030193"}
    assert merge.redirects == {"C9999999": "C0018681"}
    migraine = entities["C0149932"]
    assert migraine.canonical_name == "migraine"
    assert migraine.aliases == (
        "migraine disorder",
        "migraine, any",
        "Migraine Disorders",  # MeSH, through MONDO
        "Sick Headache",
        "Migraine & Co & Sons",
        "Knee Pain",
    )
    assert migraine.types == ("disease",)  # the weak type only where there is no other
    assert entities["C0033893"].canonical_name == "tension headache"
    assert entities["C0018681"].types == ("phenotype",)
    assert [source["ids"] for source in merge.source["sources"][:3]] == [2, 2, 1]
    assert merge.source["sources"][0]["licence"] == "CC BY 4.0"


def test_a_term_is_the_id_that_other_sources_call_so():
    witnesses = Witnesses()
    witnesses.add("C1", ["curling ulcer", "ulcer"], "mesh")
    witnesses.add("C2", ["duodenal ulcer"], "mesh")
    witnesses.add("C2", ["duodenal ulcer", "ulcer"], "hpo")
    assert witnesses.best(["C1", "C2"], ["duodenal ulcer", "ulcer"], "doid") == "C2"
    assert witnesses.best(["C1", "C2"], ["ulcer"], "hpo") == "C1", "a source is no witness of its own"
    assert witnesses.best(["C8", "C9"], ["fever"], "hpo") == "C8", "the first"
    witnesses.annotated.add("C9")
    assert witnesses.best(["C8", "C9"], ["fever"], "hpo") == "C9"


def test_preferred_names_by_vote():
    records = {
        "C1": record(doid="duodenal ulcer", mesh="Curling Ulcer", names=["DU"]),
        "C2": record(mondo="duodenal ulcer", curated=["mondo"]),
        "C3": record(hpo="Loss of hearing", mesh="Deafness", efo="deafness"),
        "C4": record(doid="duodenal ulcer"),
        "C5": record(doid="duodenal ulcer", names=["DU", "ulcer of the duodenum"]),
    }
    rules = Rules()
    assert choose_preferred_names(records, (), rules) == {"C4": "C2"}, "it has no name but that of C2"
    names = [records[key].canonical_name for key in ("C1", "C2", "C3", "C5")]
    assert names == ["Curling Ulcer", "duodenal ulcer", "Deafness", "ulcer of the duodenum"]
    assert records["C1"].entity("C1").aliases == ("duodenal ulcer", "DU")
    assert rules["preferred name changed"].count == 3
    base = {"C1": record(a="fever", b="Pyrexia", c="pyrexia")}
    choose_preferred_names(base, {"C1"}, rules)
    assert base["C1"].canonical_name == "fever", "the base names its entities"


@pytest.mark.parametrize("forms, name", [(("fever", "fevers", "hot"), "fevers"), (("fever",), "fever [Finding]")])
def test_entities_of_annotated_text_are_called_as_no_other_is(forms, name):
    """Or else told apart by their type."""
    records = {"C9": MergeRecord({"fever": "fever"}, forms=forms, types={"T033": None}), "C1": record(a="Fever")}
    choose_preferred_names(records, (), Rules())
    assert [records[key].canonical_name for key in ("C9", "C1")] == [name, "Fever"]
    assert records["C9"].entity("C9").aliases == ("fever",)


def test_inverted_names_go_where_the_spoken_one_is_there():
    names = ("Syndrome, Down", "Down Syndrome", "cough, dry", "Replacement, Knee, Total", "Total Knee Replacement")
    down = MergeRecord({name.casefold(): name for name in names}, {"a": "Syndrome, Down", "b": "cough, dry"})
    assert down.drop_inverted() == ["Syndrome, Down", "Replacement, Knee, Total"]
    assert list(down.named.values()) == ["Down Syndrome", "cough, dry", "Total Knee Replacement"]
    assert down.labels == {"a": "Down Syndrome", "b": "cough, dry"}


@pytest.mark.parametrize(
    "other, found",
    [
        ({}, {"C2": "C1"}),
        ({"sources": ["a", "b"]}, {"C1": "C2"}),
        ({"curated": ["a"]}, {"C1": "C2"}),
        ({"types": []}, {"C2": "C1"}),
        ({"types": ["T184"]}, {"C2": "C1"}),  # a disorder, too
        ({"types": ["T121"]}, {}),
        ({"parents": ["C3"]}, {}),
        ({"b": "rashes"}, {}),
    ],
)
def test_twins(other, found):
    other = {"sources": (), "b": "Rash", **other}
    records = {"C1": record(a="rash"), "C2": record(**other), "C3": record(a="skin", parents=["C1"])}
    assert find_twins(records, (), ()) == found
    assert find_twins(records, {"C2"}, ()) == dict.fromkeys(["C1"] * bool(found), "C2"), "an id of the base stays"
    assert find_twins(records, (), {"C2"}) == dict.fromkeys(["C1"] * bool(found), "C2"), "an annotated one stays"


@pytest.mark.parametrize(
    "change, found",
    [
        ({}, {"C2": "C1"}),
        ({"forms": ("quinsy", "Tonsillitis")}, {}),  # mostly called otherwise
        ({"types": ["T121"]}, {}),
        ({"parents": ["C2"]}, {}),
        ({"named": "sore throat"}, {}),  # only annotators call it so
    ],
)
def test_an_entity_that_annotators_never_chose_is_what_they_chose(change, found):
    change = {"named": "tonsillitis", "forms": ("Tonsillitis", "quinsy"), **change}
    name, forms = change.pop("named"), change.pop("forms")
    chosen = replace(record(a="recurrent tonsillitis", b=name, **change), forms=forms)
    records = {"C1": chosen, "C2": record(c="tonsillitis")}
    assert find_annotated_twins(records, ()) == found
    assert find_annotated_twins(records, {"C2"}) == {}, "an id of the base stays"
    records["C2"].forms = ("tonsillitis",)
    assert find_annotated_twins(records, ()) == {}, "annotators tell the two apart"


@pytest.mark.parametrize(
    "forms, called", [(("rash", "exanthem"), "Rash"), (("exanthem", "rash"), "exanthem"), ((), "exanthem")]
)
def test_an_entity_is_called_as_annotated_text_calls_it_more_often(forms, called):
    kept = replace(record(a="exanthem"), forms=forms)
    kept.take_over(record(b="Rash"))
    assert kept.canonical_name == called


def test_twins_among_those_that_differ_from_the_best():
    kinds = {"C1": ("a", "T121"), "C2": ("b", "T047"), "C3": ("c", "T047"), "C4": ("d", "Gene"), "C5": ("e", "Disease")}
    records = {key: record(types=[kind], **{source: "cold"}) for key, (source, kind) in kinds.items()}
    assert find_twins(records, (), ()) == {"C3": "C2"}, "of types that are not the UMLS's only the same"


def test_an_entity_without_a_name_of_its_own_stays_if_it_is_of_another_kind():
    records = {"C1": record(mondo="cancer", curated=["mondo"]), "C2": record(ncbi="Cancer", types=["T204"])}
    records["C3"] = MergeRecord({"cancer": "cancer"})  # nor has it a label
    assert choose_preferred_names(records, (), Rules()) == {}


@pytest.mark.parametrize(
    "form, is_alike",
    [
        ("tumours", True),
        ("tumors of lung", False),
        ("hypertension", False),
        ("hepatitis b", False),
        ("hepatitis c", True),
    ],
)
def test_forms_that_resemble_a_name(form, is_alike):
    assert any(_resembles(form, name) for name in ("tumor", "hypotension", "hepatitis c")) == is_alike


def test_no_entity_is_above_itself():
    records = {"C1": record(a="x", parents=["C1", "C2"]), "C2": record(a="y", parents=["C3"])}
    records["C3"] = record(a="z", parents=["C1", "C4"])
    records["C4"] = record(a="w")
    without_circles(records, rules := Rules())
    assert [list(one.parents) for one in records.values()] == [["C2"], ["C3"], ["C4"], []]
    assert rules["circle of parents"].count == 2


@pytest.mark.parametrize(
    "given, plain",
    [
        ("gout (disorder)", "gout"),
        ("gout;", "gout"),
        ("M\u00c3\u00a9ni\u00c3\u00a8re", "M\u00e9ni\u00e8re"),
        ("12", ""),
        ("OBSOLETE: gout", ""),
        ("Ch\ufffddiak", ""),
        ("p53", "p53"),
    ],
)
def test_names_are_plain(given, plain):
    assert plain_name(given) == plain


def test_a_twin_keeps_what_the_other_knew():
    kept, other = record(a="rash"), record(b="eruption")
    other.add_definition("Red skin.")
    other.add_xrefs(["HP:7"], own=True)
    kept.take_over(other)
    entity = kept.entity("C1")
    assert (entity.definition, entity.aliases, entity.xrefs) == ("Red skin.", ("eruption",), ("HP:7",))


def test_other_ids_of_a_term_lead_to_it_or_keep_their_own_names(tmp_path):
    mention = {"start": 0, "end": 6, "label": "", "ids": ["C0000002"]}
    obo = "[Term]\nid: T:1\nname: cough\n" + "".join(f"xref: UMLS:C000000{n}\n" for n in (1, 2, 3))
    files = {"t.obo": obo, "c.jsonl": json.dumps({"id": "1", "text": "tussis", "mentions": [mention]})}
    merge, found = facts_of(tmp_path, files, {"t": ontology("t"), "names": NAMES}, id_pattern="C[0-9]{7}")
    # annotated text names the second, so it is the term's; "tussis" is unlike its name
    assert merge.redirects == {"C0000001": "C0000002", "C0000003": "C0000002"}
    assert [(one.concept_id, one.canonical_name, one.aliases) for one in found.values()] == [("C0000002", "cough", ())]
    assert merge.rules["one term, one id"].examples == ["T:1: C0000002, not C0000001", "T:1: C0000002, not C0000003"]
    assert merge.source["rules"] == {"one term, one id": 2}


def test_forms_that_look_like_a_name_are_names(tmp_path):
    text = "coughs coughing hacking cough 2 fever fevers"
    words = [(0, 6, 1), (7, 15, 1), (16, 23, 1), (24, 31, 1), (32, 37, 9), (38, 44, 9)]
    mentions = [{"start": a, "end": b, "label": "", "ids": [f"C000000{n}"]} for a, b, n in words]
    files = {
        "t.obo": "[Term]\nid: T:1\nname: cough\nxref: UMLS:C0000001\n",
        "c.jsonl": "\n".join(json.dumps({"id": str(n), "text": text, "mentions": mentions}) for n in (1, 2)),
    }
    merge, found = facts_of(tmp_path, files, {"t": ontology("t"), "names": NAMES})
    assert found["C0000001"].aliases == ("coughs",)
    assert (found["C0000009"].canonical_name, found["C0000009"].aliases) == ("fever", ()), "the commonest"
    assert merge.report["names"]["forms_left_out"] == 4
    # a source that was linked to annotated text must not tell of text that is held out
    files["more.jsonl"] = "\n".join(json.dumps(row(f"C000000{n}", f"name {n}")) for n in (1, 8, 9))
    more = {"files": ["more.jsonl"], "reader": "jsonl", "only_known": True}
    _, found = facts_of(tmp_path, files, {"t": ontology("t"), "more": more, "names": NAMES})
    assert sorted(found) == ["C0000001", "C0000009"] and found["C0000009"].canonical_name == "name 9"


def test_a_mapping_needs_a_shared_name(tmp_path):
    files = {
        "a.obo": "[Term]\nid: A:1\nname: cough\nxref: UMLS:C1\n",
        "b.obo": "[Term]\nid: B:1\nname: apraxia\nxref: UMLS:C1\n[Term]\nid: B:2\nname: fever\nxref: UMLS:C2\n"
        "[Term]\nid: B:3\nname: gout\nxref: UMLS:C1\nxref: UMLS:C3\n",
    }
    merge, found = facts_of(tmp_path, files, {"a": ontology("a"), "b": ontology("b", shared_name=True)})
    assert found["C1"].aliases == () and found["C2"].canonical_name == "fever", "nobody else names C2"
    assert found["C3"].canonical_name == "gout", "the id that it may be"
    assert merge.rules["mapping without a shared name"].examples == ["B:1 (apraxia): C1"]
    with pytest.raises(PelError, match="only_new and forms"):
        facts_of(tmp_path, files, {"a": ontology("a", only_new=True)})
    with pytest.raises(PelError, match="join and join_names need"):
        facts_of(tmp_path, files, {"a": ontology("a", join=["UNII"])})


def test_drugs_meet_by_code_by_another_code_or_by_name(tmp_path):
    base = [
        {**row("C1", "aspirin"), "xrefs": ["RXNORM:1"], "types": ["T121"]},
        {**row("C2", "mesna"), "xrefs": ["UNII:Z"], "types": ["T121"]},
        {**row("C3", "heparin"), "types": ["T121"]},
        {**row("C4", "cold"), "types": ["T047"]},
        {**row("C5", "ibuprofen"), "xrefs": ["RXNORM:9"]},
        {**row("C6", "Thinex"), "xrefs": ["RXNORM:11"], "parents": ["C1"]},
    ]
    table = (
        "rxcui,name,in,unii\n1,ASA,,X\n2,Mesnex,,Z\n3,Heparin,,\n4,cold,,Q\n5,Coldex,4,\n6,mesna,,W\n"
        "7,Advil,9,\n8,Heparin / mesna,,\n10,Clotex,3|8,\n11,Thinex,3,\n"
    )
    files = {"base.jsonl": "\n".join(map(json.dumps, base)), "rx.csv": table}
    columns = {"concept_id": "rxcui", "canonical_name": "name", "parents": "in", "xrefs": "unii"}
    drugs = {"files": ["rx.csv"], "reader": "csv", "settings": {"columns": columns}, "vocabulary": "RXNORM"}
    drugs |= {"join": ["UNII"], "join_names": True, "xref_prefix": "UNII:", "type": "T121", "weak_type": True}
    sources = {"base": {"files": ["base.jsonl"], "reader": "jsonl"}, "drugs": drugs}
    _, found = facts_of(tmp_path, files, sources, xrefs=["RXNORM", "UNII"])
    assert [found[key].aliases for key in ("C1", "C2", "C3")] == [("ASA",), ("Mesnex",), ()]
    assert found["C1"].xrefs == ("RXNORM:1", "UNII:X") and found["C3"].xrefs == ("RXNORM:3",)
    assert found["RXNORM:5"].parents == ("RXNORM:4",) and found["RXNORM:4"].canonical_name == "cold"
    assert "RXNORM:6" in found["C2"].xrefs, "by its name"
    assert found["RXNORM:7"].parents == ("C5",), "the code of an entity that the file lacks"
    assert found["RXNORM:10"].parents == ("C3",), "no combination with another ingredient"
    assert found["C6"].parents == ("C1",), "as the first source says"
    sources["drugs"] |= {"homonyms": False}
    _, found = facts_of(tmp_path, files, sources, xrefs=["RXNORM", "UNII"])
    assert "RXNORM:4" not in found, "a drug called as a disease is"
    files["more.csv"] = "rxcui,name,syn\n12,mucolytics,ASA|expectorants\n13,pressors,vasopressors"
    columns = {"concept_id": "rxcui", "canonical_name": "name", "aliases": "syn"}
    more_drugs = {"files": ["more.csv"], "settings": {"columns": columns}, "join_names": True, "only_new": True}
    sources["more"] = sources["drugs"] | more_drugs
    _, found = facts_of(tmp_path, files, sources, xrefs=["RXNORM", "UNII"])
    assert not {"RXNORM:12", "RXNORM:14"} & set(found), "one of its names is taken: it could be what is called so"
    assert found["RXNORM:13"].aliases == ("vasopressors",)
    sources["drugs"] |= {"type": ""}
    with pytest.raises(PelError, match="join_names needs the type"):
        facts_of(tmp_path, files, sources, xrefs=["RXNORM", "UNII"])


def test_corpus_names():
    entities = {entity.concept_id: entity for entity in CorpusNamesKB()([ONTO / "corpus.jsonl"])}
    assert set(entities) == {"C0149931", "C0004057"}  # neither NIL nor parts of composite mentions
    assert entities["C0149931"].canonical_name == "migraines"
    assert entities["C0149931"].aliases == ("sick headaches",)
    assert entities["C0004057"].canonical_name == "aspirin"
    assert entities["C0004057"].aliases == ("ASA", "ASS")
    (migraine,) = CorpusNamesKB(id_prefix="C0149")([ONTO / "corpus.jsonl"])
    assert migraine.concept_id == "C0149931"


@pytest.mark.parametrize(
    "overrides, expected",
    [
        ({"merge.sources.pain.id_xref": []}, "sources.pain"),
        ({"merge.sources.pain.files": "pain.obo"}, "sources.pain.files"),
        ({"merge.sources.pain.colour": "red"}, "sources.pain: unknown key colour"),
        ({"merge.sources.mesh.via": "pain2"}, "'pain2' is not an ontology before"),
        ({"merge.sources.pain.files": ["nowhere.obo"]}, "nowhere.obo"),
        ({"merge.id_pattern": "C["}, "id_pattern"),
        ({"merge.id_pattern": "C{99999999999999999999}"}, "the repetition number is too large"),
        ({"merge.sources.pain.reader": "nope"}, "No part named 'nope'"),
        ({"merge.sources.mesh.columns": {"mesh.tsv": ["id", "nom"]}}, "mesh.tsv"),
    ],
)
def test_bad_configs_say_what_is_wrong(overrides, expected, tmp_path):
    with pytest.raises(PelError) as caught:
        run(**overrides)
    assert expected in str(caught.value) and ": :" not in str(caught.value) and ".." not in str(caught.value)
    config = Config().from_disk(FIXTURES / "onto_merge.cfg", overrides=overrides)
    config.to_disk(tmp_path / "mine.cfg")
    arguments = ["kb", "merge", str(tmp_path / "kb"), str(tmp_path / "mine.cfg"), "--data", str(ONTO)]
    result = CliRunner().invoke(pel_cli, arguments)
    assert result.exit_code == 2 and expected.split(".")[-1].strip("'") in result.stderr
    assert any(f"/{name}" in result.stderr for name in ("mine.cfg", "nowhere.obo", "mesh.tsv"))


def test_command_writes_a_knowledge_base(tmp_path):
    out = tmp_path / "kb"
    arguments = ["kb", "merge", str(out), str(FIXTURES / "onto_merge.cfg"), "--data", str(ONTO), "--json"]
    arguments += ["--corpus", str(ONTO / "corpus.jsonl"), "--merge.name", "my KB"]
    result = CliRunner().invoke(pel_cli, arguments)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    kb = KnowledgeBase.from_disk(out)
    assert told["entities"] == len(kb) == 6
    assert told["fingerprint"] == kb.fingerprint
    assert kb.source["name"] == "my KB"
    assert kb.ids("sick headache") == ["C0149932"]
    licences = {source["name"]: source["licence"] for source in kb.source["sources"]}
    assert licences["mondo"] == "CC BY 4.0"
    assert kb.source["sources"][-1]["files"] == ["corpus.jsonl"], "no folder of this machine"


def test_an_ontology_names_the_entities_of_a_base():
    merge, entities = run(BASE)
    assert set(entities) == {"D017092", "OMIM:607907", "C538288"}
    assert entities["D017092"].canonical_name == "Porphyria, Erythropoietic", "the base names its entities"
    # a retired id leads to its successor, in cross references and in text
    assert entities["D017092"].aliases == (
        "CEP",
        "Gunther's Disease",
        "congenital erythropoietic porphyria",
        "Gunther disease",
        "Porphyria",
    )
    assert entities["OMIM:607907"].aliases == ("Marinesco-Sjogren-like syndrome",), "an id with its prefix"
    assert merge.redirects == {"OMIM:263700": "D017092"} and "twins" not in merge.rules


def test_names_of_other_entities_can_be_left_out():
    name = "10p deletion syndrome"  # of another entity of the base
    assert run(BASE)[0].report["onto"]["homonyms"] == 1
    assert name in run(BASE, **{"merge.sources.onto.homonyms": True})[1]["D017092"].aliases
    # a new id needs a name, whoever else has it
    assert run(BASE, **{"merge.sources.onto.only_known": False})[1]["D003371"].canonical_name == "cough"


@pytest.mark.parametrize("name", ["licensed.cfg", "medic.cfg", "open_cui.cfg", "tiny_kb.cfg"])
def test_shipped_configs_are_valid_and_tell_forms_of_text_from_names(name):
    config = Config().from_disk(Path(__file__).parents[2] / "configs" / name)
    sources = parse_merge_config(config["merge"]).sources
    assert sources and all(source.forms == (source.reader == "corpusnames") for source in sources.values())


def row(entity_id, name):
    return {"concept_id": entity_id, "canonical_name": name}


def test_codes_meet_the_entity_of_a_saved_kb_that_alone_has_them(tmp_path):
    xrefs = {"C1": ["NCIT:C5", "RXNORM:1"], "C2": ["NCIT:C6"], "C3": ["NCIT:C6"]}
    base = [Entity(key, f"name of {key}", xrefs=tuple(codes)) for key, codes in xrefs.items()]
    KnowledgeBase.build(base, tmp_path / "base", redirects={"C0": "C1"}, source={"licence": "CC0"})
    codes = [{**row("C5", "five"), "parents": ["C7"]}, row("NCIT:C6", "six"), row("C7", "seven"), row("C1", "one")]
    sources = {
        "base": {"files": ["base"], "reader": "saved"},
        "codes": {"files": ["codes.jsonl"], "reader": "jsonl", "vocabulary": "NCIT"},
    }
    files = {"codes.jsonl": "\n".join(map(json.dumps, codes))}
    merge, found = facts_of(tmp_path, files, sources, xrefs=["NCIT"])
    assert found.keys() == {"C1", "C2", "C3", "NCIT:C1", "NCIT:C6", "NCIT:C7"} and merge.redirects == {"C0": "C1"}
    assert found["C1"].aliases == ("five",) and found["C1"].parents == ("NCIT:C7",)
    assert found["NCIT:C6"].xrefs == ("NCIT:C6",) and found["C2"].aliases == ()
    sources["codes"]["vocabulary"] = "RXNORM"
    with pytest.raises(PelError, match="sources.codes.vocabulary"):
        facts_of(tmp_path, {}, sources, xrefs=["NCIT"])


def test_redirects_to_what_is_left_out_are_left_out(tmp_path, monkeypatch):
    from spacy_pel.kb.readers.jsonl_kb import JsonlKB

    rows = [row("MESH:D1", "fever"), row("MESH:X2", "cough")]
    retired = {"MESH:D3": "MESH:X2", "MESH:D4": "MESH:D5", "MESH:D5": "MESH:D1", "MESH:D6": "MESH:D6"}
    monkeypatch.setattr(JsonlKB, "_settle_redirects", lambda self, live: self.redirects.update(retired))
    files = {
        "base.jsonl": "\n".join(map(json.dumps, rows)),
        "onto.obo": "[Term]\nid: X:1\nname: hoarseness\nxref: MESH:D3\n",
    }
    sources = {
        "base": {"files": ["base.jsonl"], "reader": "jsonl"},
        "onto": {"files": ["onto.obo"], "id_xref": ["MESH"]},
    }
    merge, found = facts_of(tmp_path, files, sources, id_pattern="MESH:D.*")
    assert [(key, entity.canonical_name) for key, entity in found.items()] == [("MESH:D1", "fever")]
    assert merge.redirects == {"MESH:D4": "MESH:D1", "MESH:D5": "MESH:D1"}


def test_the_code_that_most_terms_give_comes_first(tmp_path):
    term = "[Term]\nid: {id}\nname: {name}\nxref: UMLS:C0000001\n{codes}\n"

    def written(prefix, name, *codes):
        return term.format(id=f"{prefix}:1", name=name, codes="\n".join(f"xref: {code}" for code in codes))

    files = {
        "a.obo": written("A", "high blood pressure", "ICD10CM:I10-I16", "ICD10CM:I15", "ICD10CM:I11"),
        "b.obo": written("B", "hypertension", "ICD10CM:I10"),
        "c.obo": written("C", "hypertension", "ICD10CM:I11", "ICD10CM:I12", "ICD10CM:I13"),
    }
    sources = {name: ontology(name) for name in "abc"}
    _, found = facts_of(tmp_path, files, sources, xrefs=["ICD10CM"])
    codes = [xref.partition(":")[2] for xref in found["C0000001"].xrefs]
    assert codes == ["I10", "I11", "I12", "I13", "I15", "I10-I16"], "a range is never the first"


def test_terms_give_cross_references_and_parents(tmp_path):
    _, found = facts_of(tmp_path, {"hp.obo": TERMS}, {"hp": HP}, xrefs=["HP", "MESH", "SNOMEDCT"])
    # its twin C0000033 has the same names and term; sure codes come first
    assert found["C0000003"].xrefs == ("HP:3", "HP:5", "MESH:D001249", "SNOMEDCT:195967001")
    assert found["C0000003"].parents == ("C0000001",), "over a term without an id; not itself"
    assert found["C0000004"].parents == ("C0000003",), "not the id of a twin that is retired"
    _, found = facts_of(tmp_path, {}, {"hp": {**HP, "xrefs": False}}, xrefs=["HP"])
    assert found["C0000004"].xrefs == ()
    _, found = facts_of(tmp_path, {}, {"hp": HP})
    assert found["C0000003"].xrefs == (), "no vocabulary is named"


@pytest.mark.parametrize(
    "types_below, expected",
    [
        ({"T033": ["HP:1"]}, ["T033", "T033", "T033"]),
        ({"T033": ["HP:1"], "T047": ["HP:2"]}, ["T033", "T047", "T047"]),
        ({"T047": ["HP:2"], "T046": ["HP:4"]}, ["T999", "T047", "T046"]),
        ({"T047": ["HP:9"], "T033": ["HP:1"]}, ["T033", "T047", "T047"]),
    ],
)
def test_the_nearest_branch_gives_the_type(tmp_path, types_below, expected):
    source = {**HP, "type": "T999", "types_below": types_below}
    _, found = facts_of(tmp_path, {"hp.obo": TERMS}, {"hp": source})
    assert [found[f"C000000{n}"].types[0] for n in (1, 3, 4)] == expected


def test_tables_of_facts_come_last_and_name_nothing(tmp_path):
    files = {
        "hp.obo": TERMS,
        "types.tsv": "C0000001\tT184,T033\nC0000099\tT047\nC0000077\tT047\n",
        "links.tsv": "cui\trecord\tlevel\nC0000001\tD1\tpreferred\nC0000001\tD2\tnarrower\nC0000003\tC3\textra\n",
        "isa.tsv": "cui\tparent_cui\nC0000001\tC0000033\nC0000001\tC0000099\nC0000033\tC0000099\nC0000001\tC0000077\n",
        "c.jsonl": json.dumps(
            {"id": "1", "text": "wheeze", "mentions": [{"start": 0, "end": 6, "label": "", "ids": ["C0000099"]}]}
        ),
    }
    sources = {
        "types": {"files": ["types.tsv"], "own_ids": True, "header": False, "separator": ","},
        "links": {"files": ["links.tsv"], "own_ids": True, "xref_prefix": "MESH:"},
        "isa": {"files": ["isa.tsv"], "own_ids": True},
        "hp": {**HP, "type": "phenotype", "weak_type": True},
        "corpus": {"files": ["c.jsonl"], "reader": "corpusnames"},
    }
    sources["types"]["columns"] = {"types.tsv": ["id", "types"]}
    sources["links"] |= {"columns": {"links.tsv": ["id", "xrefs", None]}, "where": {"level": ["preferred", "extra"]}}
    sources["isa"]["columns"] = {"isa.tsv": ["id", "parents"]}
    merge, found = facts_of(tmp_path, files, sources, xrefs=["MESH"])
    assert set(found) == {"C0000001", "C0000003", "C0000004", "C0000099"}
    assert found["C0000001"].types == ("T184", "T033") and found["C0000099"].types == ("T047",)
    assert found["C0000001"].xrefs == ("MESH:D1",)
    assert found["C0000003"].xrefs == ("MESH:C3",), "a source of MeSH is there, and its links count"
    # the successor of a retired id, in both columns; no id that the knowledge base lacks
    assert found["C0000001"].parents == ("C0000003", "C0000099")
    assert "C0000099" in found["C0000003"].parents
    assert merge.report["types"]["ids"] == 2
    sources["links"]["where"] = {"levels": ["preferred"]}
    with pytest.raises(PelError, match=r"links\.tsv, line 1.*levels|levels.*links\.tsv, line 1"):
        facts_of(tmp_path, {}, sources)


def test_a_reader_can_give_facts_without_names(tmp_path):
    given = {"cui": "C0000003", "name": "Airway asthma, NOS", "definition": "Narrow airways.", "types": ["T047"]}
    lines = [given | {"source_ids": ["MESH:D1"], "parents": ["C0000001"]}, {"cui": "C0000099", "name": "wheeze"}]
    files = {"hp.obo": TERMS, "k.jsonl": "\n".join(map(json.dumps, lines))}
    more = {"files": ["k.jsonl"], "reader": "jsonl"}
    _, found = facts_of(tmp_path, files, {"hp": HP, "more": {**more, "names": False}}, xrefs=["MESH"])
    asthma = found["C0000003"]
    assert (asthma.definition, asthma.types) == ("Narrow airways.", ("T047",))
    assert "Airway asthma" not in asthma.aliases and "C0000099" not in found
    assert asthma.xrefs == ("MESH:D1",)  # those of readers count, not those of ontologies
    _, found = facts_of(tmp_path, {}, {"hp": HP, "more": {**more, "xrefs": False}}, xrefs=["MESH"])
    assert "Airway asthma" in found["C0000003"].aliases
    assert found["C0000003"].xrefs == ("MESH:D001249",) and "C0000099" in found


def test_a_new_id_whose_names_are_taken_can_be_left_out(tmp_path):
    lines = [
        {"cui": "C0000050", "name": "Growth"},  # a brand
        {"cui": "C0000051", "name": "Asthma", "synonyms": ["Asthma Relief"]},
        {"cui": "C0000003", "name": "growth", "synonyms": ["bronchial asthma"]},
    ]
    files = {"hp.obo": TERMS, "k.jsonl": "\n".join(map(json.dumps, lines))}
    source = {"files": ["k.jsonl"], "reader": "jsonl", "homonyms": False}
    merge, found = facts_of(tmp_path, files, {"hp": HP, "brands": source})
    assert "C0000050" not in found
    assert (found["C0000051"].canonical_name, found["C0000051"].aliases) == ("Asthma Relief", ())
    assert "bronchial asthma" in found["C0000003"].aliases and "growth" not in found["C0000003"].aliases
    assert merge.report["brands"]["homonyms"] == 3
