"""Merging ontologies by cross reference; twins; names from annotated text."""

import json
from pathlib import Path

import pytest
from confection import Config
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.corpora.corpus_names_kb import CorpusNamesKB
from spacy_pel.training.merge import Merge, MergeRecord, find_twins, merge_twins
from spacy_pel.training.merge_config import parse_merge_config
from spacy_pel.types import Entity

FIXTURES = Path(__file__).parents[1] / "fixtures" / "kb"
ONTO, BASE = FIXTURES / "onto", FIXTURES / "base"


def run(folder=ONTO, **overrides):
    config = Config().from_disk(FIXTURES / f"{folder.name}_merge.cfg", overrides=overrides)
    merge = Merge(parse_merge_config(config["merge"]), folder)
    return merge, {entity.concept_id: entity for entity in merge()}


def record(names, terms, sources=("a",), curated=()):
    made = MergeRecord(sources=set(sources), curated=set(curated), term_ids=dict.fromkeys(terms))
    for name in names:
        made.add_name(name)
    return made


def test_terms_meet_at_their_ids():
    merge, entities = run()
    # the mapping table stands above the older cross reference of the same term, and names terms
    # that the ontology's file lacks; broader matches do not count
    assert set(entities) == {"C0149932", "C0033893", "C0018681", "C9999999", "C0030193"}
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
    assert [source["ids"] for source in merge.source["sources"][:3]] == [2, 3, 1]
    assert merge.source["sources"][0]["licence"] == "CC BY 4.0"


@pytest.mark.parametrize(
    "traits, kept", [({}, ["C1"]), ({"sources": ["a", "b"]}, ["C2"]), ({"curated": ["a"]}, ["C2"])]
)
def test_which_twin_stays(traits, kept):
    records = {"C1": record(["rash"], ["HP:1"]), "C2": record(["rash"], ["HP:1"], **traits)}
    merge_twins(records)
    assert list(records) == kept


def test_merged_twin_keeps_what_the_other_knew():
    records = {"C1": record(["rash"], ["HP:1"]), "C2": record(["rash"], ["HP:1", "HP:7"])}
    records["C2"].add_definition("Red skin.")
    records["C2"].add_types(["phenotype"], weak=False)
    merge_twins(records)
    entity = records["C1"].entity("C1")
    assert (entity.definition, entity.types) == ("Red skin.", ("phenotype",))
    assert "HP:7" in records["C1"].term_ids


def test_merge_retires_twins_and_keeps_them_resolvable(tmp_path):
    mention = {"start": 0, "end": 6, "label": "", "ids": ["C0000002"]}
    files = {
        "t.obo": "[Term]\nid: T:1\nname: cough\nxref: UMLS:C0000002\nxref: UMLS:C0000001\n",
        "c.jsonl": json.dumps({"id": "1", "text": "tussis", "mentions": [mention]}),
    }
    sources = {"t": {"files": ["t.obo"], "id_xref": ["UMLS"]}, "names": {"files": ["c.jsonl"], "reader": "corpusnames"}}
    merge, found = facts_of(tmp_path, files, sources, id_pattern="C[0-9]{7}")
    (cough,) = found.values()
    assert merge.redirects == {"C0000002": "C0000001"}
    # names for the retired id go to its successor
    assert (cough.concept_id, cough.canonical_name, cough.aliases) == ("C0000001", "cough", ("tussis",))
    assert merge.source["twins_merged"] == 1


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
    assert told["entities"] == len(kb) == 7
    assert told["fingerprint"] == kb.fingerprint
    assert kb.source["name"] == "my KB"
    assert kb.ids("sick headache") == ["C0149932"]
    licences = {source["name"]: source["licence"] for source in kb.source["sources"]}
    assert licences["mondo"] == "CC BY 4.0"
    assert kb.source["sources"][-1]["files"] == ["corpus.jsonl"], "no folder of this machine"


def test_twins_are_joined_by_chains_of_terms():
    terms = {"C1": "A", "C2": "B", "C3": "X", "C4": "BA", "C6": "Y", "C7": "Y"}
    records = {entity_id: record(["one"], term_ids) for entity_id, term_ids in terms.items()}
    records["C2"] = record(["-ONE-"], "B")  # the same after folding
    records["C5"] = record(["one", "two"], "A")
    assert find_twins(records) == [["C1", "C2", "C4"], ["C6", "C7"]]
    assert merge_twins(records) == {"C2": "C1", "C4": "C1", "C7": "C6"}
    assert set(records["C1"].term_ids) == {"A", "B"}
    assert find_twins({f"C{at}": record(["one"], [f"T{at}", f"T{at + 1}"]) for at in range(5000)}) == [
        [f"C{at}" for at in range(5000)]
    ]


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
    assert merge.redirects == {"OMIM:263700": "D017092"} and merge.source["twins_merged"] == 0


def test_names_of_other_entities_can_be_left_out():
    name = "10p deletion syndrome"  # of another entity of the base
    assert run(BASE)[0].report["onto"]["homonyms"] == 1
    assert name in run(BASE, **{"merge.sources.onto.homonyms": True})[1]["D017092"].aliases
    # a new id needs a name, whoever else has it
    assert run(BASE, **{"merge.sources.onto.only_known": False})[1]["D003371"].canonical_name == "cough"


def test_ids_of_a_base_are_no_twins():
    records = {
        "C2": record(["rash"], ["HP:1"]),
        "C1": record(["rash"], ["HP:1"], curated=["a"]),
        "C3": record(["rash"], ["HP:1"]),
    }
    assert merge_twins(records, base={"C2", "C3"}) == {"C1": "C2"}
    assert set(records) == {"C2", "C3"}


@pytest.mark.parametrize("name", ["licensed.cfg", "medic.cfg", "open_cui.cfg"])
def test_shipped_configs_are_valid(name):
    config = Config().from_disk(Path(__file__).parents[2] / "configs" / name)
    assert parse_merge_config(config["merge"]).sources


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


TERMS = """
[Term]
id: HP:1
name: growth
xref: UMLS:C0000001

[Term]
id: HP:2
name: disease of the lung
is_a: HP:1 ! growth

[Term]
id: HP:3
name: asthma
xref: UMLS:C0000003
xref: UMLS:C0000033
xref: MSH:D001249
xref: SNOMEDCT_US_2016_03_01:195967001
xref: Wikipedia:Asthma
is_a: HP:2
is_a: HP:9 ! of another ontology

[Term]
id: HP:4
name: brittle asthma
xref: UMLS:C0000004
is_a: HP:3

[Term]
id: HP:5
name: Asthma
xref: UMLS:C0000003
is_a: HP:3
"""


def facts_of(tmp_path, files, sources, **merge_settings):
    """The merge of files that are given as text."""
    for name, text in files.items():
        (tmp_path / name).write_text(text.lstrip("\n"))
    merge = Merge(parse_merge_config({"sources": sources, **merge_settings}), tmp_path)
    return merge, {entity.concept_id: entity for entity in merge()}


HP = {"files": ["hp.obo"], "id_xref": ["UMLS"]}


def test_terms_give_cross_references_and_parents(tmp_path):
    _, found = facts_of(tmp_path, {"hp.obo": TERMS}, {"hp": HP}, xrefs=["HP", "MESH", "SNOMEDCT"])
    # its twin C0000033 has the same names and term
    assert found["C0000003"].xrefs == ("HP:3", "MESH:D001249", "SNOMEDCT:195967001", "HP:5")
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
    given = {"cui": "C0000003", "name": "Asthma, NOS", "definition": "Narrow airways.", "types": ["T047"]}
    lines = [given | {"source_ids": ["MESH:D1"], "parents": ["C0000001"]}, {"cui": "C0000099", "name": "wheeze"}]
    files = {"hp.obo": TERMS, "k.jsonl": "\n".join(map(json.dumps, lines))}
    more = {"files": ["k.jsonl"], "reader": "jsonl"}
    _, found = facts_of(tmp_path, files, {"hp": HP, "more": {**more, "names": False}}, xrefs=["MESH"])
    asthma = found["C0000003"]
    assert (asthma.definition, asthma.types) == ("Narrow airways.", ("T047",))
    assert "Asthma, NOS" not in asthma.aliases and "C0000099" not in found
    assert asthma.xrefs == ("MESH:D1",)  # those of readers count, not those of ontologies
    _, found = facts_of(tmp_path, {}, {"hp": HP, "more": {**more, "xrefs": False}}, xrefs=["MESH"])
    assert "Asthma, NOS" in found["C0000003"].aliases
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
