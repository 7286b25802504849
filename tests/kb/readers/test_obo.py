"""The ontology reader and the formats below it."""

import gzip
import json
from pathlib import Path

import pytest

from spacy_pel import registry
from spacy_pel.cli._kb import reader_of
from spacy_pel.errors import PelError
from spacy_pel.kb.from_files import build_kb, read_changes
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.ontologies import clean_text, read_terms
from spacy_pel.ontologies.owl import NAMESPACES
from spacy_pel.training.merge_config import MergeSource
from spacy_pel.training.merge_terms import read_sssom, read_table
from spacy_pel.types import Entity

ONTO = Path(__file__).parents[2] / "fixtures" / "kb" / "onto"


def by_id(reader, *names):
    return {entity.concept_id: entity for entity in reader([ONTO / name for name in names])}


def test_obo_with_native_ids():
    reader = registry.resolve_short("pel_kb_readers", "obo")()
    entities = by_id(reader, "pain.obo")
    assert list(entities) == ["PAIN:0000001", "PAIN:0000003", "PAIN:0000005"]
    headache = entities["PAIN:0000001"]
    assert headache.canonical_name == "headache"
    assert headache.aliases == ("cephalalgia", "Head pain")
    assert headache.definition == 'Pain in the "head", of any kind.'
    assert headache.types == ("pain_ontology",)
    assert headache.parents == ("PAIN:0000003",)
    assert headache.xrefs == ("UMLS:C0018681", "UMLS:C9999999", "MESH:D006261")
    assert entities["PAIN:0000003"].types == ("pain_root",)
    assert entities["PAIN:0000003"].aliases == ()  # no scope given means related
    assert reader.redirects == {"PAIN:0000002": "PAIN:0000001", "PAIN:0000009": "PAIN:0000001"}


def test_scopes_are_a_setting():
    aliases = by_id(OboKB(scopes=["exact", "narrow", "related"]), "pain.obo")["PAIN:0000001"].aliases
    assert aliases == ("cephalalgia", "Head pain", "migraine", "HA")
    with pytest.raises(PelError, match="PEL-E016.*exakt"):
        OboKB(scopes=["exakt"])


def test_obo_graph():
    reader = OboKB()
    entities = by_id(reader, "graph.json")
    assert set(entities) == {"TINY:1"}
    kidney = entities["TINY:1"]
    assert (kidney.canonical_name, kidney.aliases, kidney.definition) == ("kidney", ("ren",), "An organ.")
    assert (kidney.types, kidney.parents) == (("tiny",), ("TINY:7",))
    assert reader.redirects == {"TINY:2": "TINY:1"}


def test_term_list_and_oncotree():
    reader = OboKB()
    entities = by_id(reader, "terms.json", "oncotree.json")
    assert set(entities) == {"MONDO:0000001", "DOID:7", "ONCOTREE:TISSUE", "ONCOTREE:OVARY"}
    assert entities["MONDO:0000001"].parents == ("MONDO:0000003",)
    assert entities["ONCOTREE:OVARY"].parents == ("ONCOTREE:TISSUE",)
    assert reader.redirects == {"MONDO:0000008": "MONDO:0000001", "ONCOTREE:OVA": "ONCOTREE:OVARY"}
    assert {xref for one in entities.values() for xref in one.xrefs} >= {"UMLS:C0149931", "UMLS:C0040300"}


QUALIFIERS = (ONTO.parent / "ontologies" / "qualifiers.obo").read_text("utf8")


@pytest.mark.parametrize("change", [str.encode, lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()])
def test_qualifiers_stay_out_of_values(tmp_path, change):
    (tmp_path / "x.obo").write_bytes(change(QUALIFIERS))
    reader = OboKB()
    (entity,) = reader([tmp_path / "x.obo"])
    assert (entity.concept_id, entity.canonical_name) == ("TST:1", "Boat-shaped ilium")
    assert (entity.aliases, entity.definition) == (("Keel-like ilium",), "Keel-like {of a ship}.")
    assert reader.redirects == {"TST:9": "TST:1", "TST:2": "TST:1"}
    assert entity.xrefs == ("UMLS:C0000001", "UMLS:C0000002", "UMLS:C0000003")


@pytest.mark.parametrize(
    "written, name",
    [
        ("N(4)-{alpha-D-Xyl-(1->2)}-Asn residue", "N(4)-{alpha-D-Xyl-(1->2)}-Asn residue"),
        ('1-{2-[4-(4-chlorophenyl)]} {xref="CHEBI:1"}', "1-{2-[4-(4-chlorophenyl)]}"),
        (r'a \{x="y"\}', 'a {x="y"}'),
        ("Yellow! disease", "Yellow! disease"),
        ("a long name that goes \\\non in the next line", "a long name that goes on in the next line"),
        (r"colon\: comma\, blank\Wblank\nline \"quoted\"", 'colon: comma, blank blank line "quoted"'),
    ],
)
def test_names_in_obo_as_written(tmp_path, written, name):
    (tmp_path / "x.obo").write_text(f"[Term]\nid: A:1\nname: {written}\n\n[Term]\nid: A:2\nname: two\n")
    assert [entity.canonical_name for entity in OboKB()([tmp_path / "x.obo"])] == [name, "two"]


def test_turtle():
    glia, old = read_terms(ONTO / "cells.ttl")
    assert (glia.id, glia.name, glia.xrefs) == ("SAO:1", "Glial Cell", ["UMLS:C0027836"])
    assert glia.parents == ["SAO:3"]
    assert glia.synonyms == [("glia", "exact"), ('neuroglial "cell"', "exact")]
    assert glia.definition == "Not a neuron (e.g. an astrocyte)."
    assert old.obsolete and old.replaced_by == ["SAO:1"]


def test_sssom_and_table():
    pairs = [pair[:2] for pair in read_sssom(ONTO / "mapping.sssom.tsv")]
    assert pairs == [("MONDO:0000001", "UMLS:C0149932"), ("MONDO:0000002", "UMLS:C0033893")]
    columns = ["id", "name", "synonyms", None]
    migraine, drug = read_table(ONTO / "mesh.tsv", columns, MergeSource(header=False, id_prefix="MESH:"))
    assert migraine.id == "MESH:D008881" and migraine.synonyms[1] == ("Sick Headache", "exact")
    assert drug.name == '"Calcimycin"' and drug.synonyms == []


@pytest.mark.parametrize(
    "broken, repaired",
    [("Hip Osteoarthritis\\n", "Hip Osteoarthritis"), ('Morphea \\"en coup de sabre\\"', 'Morphea "en coup de sabre"')],
)
def test_broken_strings_are_repaired(broken, repaired):
    assert clean_text(broken) == repaired


def read(path, content):
    path.write_text(content, encoding="utf8")
    reader = OboKB()
    return list(reader([path])), reader


def test_quotation_marks_that_are_not_escaped(tmp_path):
    synonyms = [
        '"3,3\',3"-acid" EXACT IUPAC_NAME [I:]',
        '"5" tablet" EXACT []',
        r'"a \"b\"" EXACT []',
        "plexate EXACT []",
        '"plexane EXACT []',
        'plexene" EXACT []',
        'pin 5" EXACT []',
    ]
    synonyms += ['"plexin" []', '"own" EXACT [PMID:1 "x" EXACT]', "plexol"]
    text = '[Term]\nid: A:1\nname: acid\ndef: "An acid, called "plex" [y] by some." [PMID:1 "a title"]\n'
    (acid,), reader = read(tmp_path / "x.obo", text + "\n".join(f"synonym: {one}" for one in synonyms))
    unquoted = ("plexate", "plexane", "plexene", 'pin 5"')
    assert acid.aliases == ("3,3',3\"-acid", '5" tablet', 'a "b"', *unquoted, "own")
    assert reader.report == {"stray_quote": 2}
    assert acid.definition == 'An acid, called "plex" [y] by some.'


OBSOLETE = """
[Term]\nid: A:1\nname: OBSOLETE: x\ncomment: Use A_4 instead.\n
[Term]\nid: A:2\nname: Obsolete. y\ncomment: Consider using A:4.\n
[Term]\nid: A:3\nname: obsolete_z\ncomment: Merged into A:4 or A:5, see B:7.\n
[Term]\nid: A:4\nname: obsolescence\n
[Term]\nid: A:5\nname: v (obsolete)\n"""
LABELS = "u, obsolete|u - OBSOLETE|u OBSOLETE|Obsoleted u|INACTIVE u|Withdrawn: u|[Retired] u|MOVED TO 900011: u".split(
    "|"
)
OBSOLETE += "".join(f"[Term]\nid: B:{at}\nname: {name}\n" for at, name in enumerate(LABELS))
OBSOLETE += "[Term]\nid: A:6\nname: w\nis_obsolete: 1\n"


def test_what_only_labels_call_obsolete(tmp_path):
    entities, reader = read(tmp_path / "x.obo", OBSOLETE)
    assert [entity.concept_id for entity in entities] == ["A:4"]
    assert reader.redirects == {"A:1": "A:4"} and reader.report == {"obsolete_label": 4 + len(LABELS)}
    changes = read_changes(OboKB(), [tmp_path / "x.obo"])
    others = dict.fromkeys(("A:2", "A:5", "A:6", *(f"B:{at}" for at in range(len(LABELS)))), ())
    assert changes.obsolete == {"A:3": ("A:4", "A:5"), **others}
    reason = '<e:reason_for_obsolescence xmlns:e="http://www.ebi.ac.uk/efo/">use O_2</e:reason_for_obsolescence>'
    labels = [f"OBSOLETE: a</rdfs:label>{reason}<rdfs:label>b", "b &amp;amp; &lt;i&gt;c&lt;/i&gt;"]
    texts = (f'O_{at}"><rdfs:label>{label}</rdfs:label>' for at, label in enumerate(labels, 1))
    terms = "".join(f'<owl:Class rdf:about="http://x/{text}</owl:Class>' for text in texts)
    spaces = "".join(f' xmlns:{name}="{NAMESPACES[name]}"' for name in ("rdf", "rdfs", "owl"))
    entities, reader = read(tmp_path / "x.owl", f"<rdf:RDF{spaces}>{terms}</rdf:RDF>")
    assert [(one.concept_id, one.canonical_name) for one in entities] == [("O:2", "b & c")]
    assert reader.redirects == {"O:1": "O:2"}


def test_fhir(tmp_path):
    inner = {"code": "B", "display": "b", "designation": [{"value": "bb"}, {"value": "x", "language": "fr"}]}
    retired = {"code": "C", "display": "c", "property": [{"code": "status", "valueCode": "retired"}]}
    concept = {"code": "A", "display": "a", "concept": [inner, retired]}
    system = {"resourceType": "CodeSystem", "name": "S", "concept": [concept]}
    listed = {"resourceType": "ValueSet", "compose": {"include": [{"concept": [{"code": "D", "display": "d"}]}]}}
    contains = [{"code": "E", "display": "e", "inactive": True}, inner]
    expanded = {"resourceType": "ValueSet", "expansion": {"contains": contains}}
    bundle = {"resourceType": "Bundle", "entry": [{"resource": system}, {"resource": listed}, {"resource": expanded}]}
    entities, _ = read(tmp_path / "x.json", json.dumps(bundle))
    b = Entity("B", "b", ("bb",), ("S",), parents=("A",))
    assert entities[:3] == [Entity("A", "a", (), ("S",)), b, Entity("D", "d")]
    assert [entity.concept_id for entity in entities[3:]] == ["B"]


@pytest.mark.parametrize(
    "name, content, expected",
    [
        ("dict.json", b'{"Z1": "zorbitis"}', "got {'Z1': 'zorbitis'}. Fix"),
        ("texts.json", b'[{"id": 1, "text": "x"}]', "1 as id"),
        ("empty.obo", b"", "without stanzas"),
        ("list.json", b'[{"name": "x"}]', "OBO graph"),
        ("broken.ttl", b'SAO:1 a owl:Class ;\n  rdfs:label "open .\n', "line 2"),
        ("latin.obo", "[Term]\nid: A:1\nname: Ménière".encode("latin-1"), "UTF-8"),
        ("cut.obo.gz", gzip.compress(b"[Term]\nid: A:1\n" * 99, mtime=0)[:-12], "UTF-8 text"),
        ("terms.xyz", b"x", "ends in '.xyz'"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PelError) as caught:
        list(OboKB()([tmp_path / name]))
    assert expected in str(caught.value) and name in str(caught.value)


def test_the_release_reaches_the_knowledge_base(tmp_path):
    obo = "format-version: 1.2\ndata-version: hp/releases/2024-04-26\n\n[Term]\nid: X:1\nname: fever\n"
    (tmp_path / "one.obo").write_text(obo)
    (tmp_path / "two.obo").write_text(obo.replace("X:1", "X:2").replace("hp/releases/2024-04-26", "v2"))
    term = {"id": "http://purl.obolibrary.org/obo/Y_1", "lbl": "cough"}
    info = {"pred": "http://www.w3.org/2002/07/owl#versionInfo", "val": "2025-01-01"}
    for name, meta, version in [
        ("info.json", {"version": "http://x/y.json", "basicPropertyValues": [info]}, "2025-01-01"),
        ("iri.json", {"version": "http://x/y.json"}, "http://x/y.json"),
        ("none.json", {}, ""),
    ]:
        graph = {"id": "http://purl.obolibrary.org/obo/y.json", "meta": meta, "nodes": [term]}
        (tmp_path / name).write_text(json.dumps({"graphs": [graph]}))
        reader = OboKB()
        assert len(list(reader([tmp_path / name]))) == 1
        assert reader.source["version"] == version
    for reader in (OboKB(), OboKB(id_prefix="X:1")):
        kb = build_kb(reader, [tmp_path / "one.obo", tmp_path / "two.obo"], tmp_path / "kb", about={})
        assert kb.source["version"] == "hp/releases/2024-04-26, v2"


@pytest.mark.parametrize("name, reader", [("x.ndjson", "obo"), ("x.jsonl", "obo"), ("x.csv", "obo")])
def test_fhir_under_other_names(tmp_path, name, reader):
    system = {"resourceType": "CodeSystem", "concept": [{"code": "A", "display": "fever"}]}
    (tmp_path / name).write_text(json.dumps(system) + "\n")
    assert reader_of(tmp_path / name) == reader
    assert [term.name for term in read_terms(tmp_path / name)] == ["fever"]


def test_fhir_without_codes_is_named(tmp_path):
    (tmp_path / "x.json").write_text('{"resourceType": "ConceptMap", "group": []}')
    with pytest.raises(PelError, match="Expected FHIR with codes.*got a ConceptMap without codes"):
        list(read_terms(tmp_path / "x.json"))


OBO = "format-version: 1.2\n\n[ Term ]\nid: A:1\nname: \"a\"\nsynonym: “b” EXACT []\n\n[term]\nid: A:2\nname: 'c'\n"
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
RDF += ' xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Class rdf:about="http://x/A_1"><rdfs:label>a</rdfs:label></owl:Class>'


@pytest.mark.parametrize(
    "name, content, names",
    [
        ("x.owl", OBO, [["a", "b"], ["c"]]),
        ("x.xml", OBO, [["a", "b"], ["c"]]),
        ("x.xml", f'<?xml version="1.0"?>\n{RDF}</rdf:RDF>', [["a"]]),
        ("x.obo", f"{RDF}</rdf:RDF>", [["a"]]),
    ],
)
def test_what_a_file_is_says_its_beginning(tmp_path, name, content, names):
    (tmp_path / name).write_text(content)
    assert reader_of(tmp_path / name) == "obo"
    entities = list(OboKB()([tmp_path / name]))
    assert [[one.canonical_name, *one.aliases] for one in entities] == names


@pytest.mark.parametrize(
    "content, ids",
    [
        ('[{"code": "A", "name": "a", "synonyms": ["b"]}]', ["A"]),
        ('[\n{"id": 1, "name": "a"},\n{"id": 2, "name": "b"}\n]', ["1", "2"]),
        ('{"id": "A", "name": "a"}\n{"id": "B", "name": "b", "obsolete": true}\n', ["A"]),
    ],
)
def test_json_of_entities(tmp_path, content, ids):
    (tmp_path / "x.json").write_text(content)
    assert reader_of(tmp_path / "x.json") == "jsonl"
    reader = JsonlKB()
    assert [one.concept_id for one in reader([tmp_path / "x.json"])] == ids
    assert reader.report == ({"invalid": 1} if "obsolete" in content else {})
