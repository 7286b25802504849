"""OWL ontologies in the syntaxes that they are published in, and the NCI Thesaurus."""

import gzip
from pathlib import Path

import pytest

from spacy_pel.cli._kb import reader_of
from spacy_pel.errors import PelError
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.ontologies import read_terms

OWL = Path(__file__).parents[2] / "fixtures" / "kb" / "ontologies"
RDF_XML, TURTLE = ((OWL / f"tst.{name}").read_text("utf8") for name in ("owl", "ttl"))
FLAT = (OWL / "Thesaurus.txt").read_text("utf8")


@pytest.mark.parametrize("name, text", [("tst.owl", RDF_XML), ("tst.owl", TURTLE), ("TST.TTL", TURTLE)])
@pytest.mark.parametrize("packed", [False, True])
def test_every_syntax_gives_the_same_terms(tmp_path, name, text, packed):
    path = tmp_path / (name + ".gz" * packed)
    data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() if packed else text.encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert reader_of(path) == "obo"
    reader = OboKB()
    headache, pain = reader([path])
    assert (headache.concept_id, headache.canonical_name) == ("TST:0000001", "headache")
    assert headache.aliases == ("head ache", "cephalalgia")
    assert headache.definition == 'Pain in the "head" & neck, of any kind.'
    assert headache.types == ("tst",)
    # named classes: neither expressions nor owl:Thing
    assert (headache.parents, pain.parents) == (("EFO:0000003",), ("TST:0000009",))
    assert headache.xrefs == ("UMLS:C0018681",)
    # nothing but a French label
    assert (pain.concept_id, pain.canonical_name) == ("EFO:0000003", "douleur")
    assert reader.redirects == {"TST:0000002": "TST:0000001", "TST:0000008": "TST:0000001"}
    assert reader.source["version"] == "2026-02-16"
    assert next(OboKB(scopes=["related"])([path])).aliases == ("HA",)


@pytest.mark.parametrize(
    "iri, notes, entity_id",
    [
        ("http://www.orpha.net/ORDO/Orphanet_558", "", "Orphanet:558"),
        ("http://purl.obolibrary.org/obo/NCBITaxon_Union_0000030", "", "NCBITaxon_Union:0000030"),
        ("http://purl.bioontology.org/ontology/ICD10CM/E11.9", "<skos:notation>E11.9</skos:notation>", "E11.9"),
        ("http://x.org/a#heart_attack", "", "http://x.org/a#heart_attack"),
        ("http://x.org/a#b", "<oboInOwl:id>X:1</oboInOwl:id>", "X:1"),
        ("http://purl.obolibrary.org/obo/HP_0000001", "<oboInOwl:id>other:1</oboInOwl:id>", "HP:0000001"),
    ],
)
def test_ids(tmp_path, iri, notes, entity_id):
    head = RDF_XML[: RDF_XML.index("<owl:Ontology")].replace(
        "<rdf:RDF", '<rdf:RDF xmlns:skos="http://www.w3.org/2004/02/skos/core#"'
    )
    (tmp_path / "x.owl").write_text(
        f'{head}<owl:Class rdf:about="{iri}"><skos:prefLabel>name</skos:prefLabel>{notes}</owl:Class></rdf:RDF>'
    )
    assert [entity.concept_id for entity in OboKB()([tmp_path / "x.owl"])] == [entity_id]


def test_nci_thesaurus_in_owl():
    (entity,) = OboKB()([OWL / "Thesaurus.owl"])
    assert (entity.concept_id, entity.canonical_name) == ("C3224", "Melanoma")
    assert entity.aliases == ("Malignant Melanoma", "MM")
    assert entity.definition == "A malignant tumor of melanocytes."
    assert (entity.types, entity.parents) == (("Neoplastic Process",), ("C7058",))
    assert entity.xrefs == ("UMLS:C0025202",)


def test_nci_thesaurus_as_a_flat_file(tmp_path):
    path = tmp_path / "Thesaurus.txt"
    path.write_text(FLAT)
    assert reader_of(path) == "obo"
    melanoma, protein = OboKB()([path])
    assert (melanoma.concept_id, melanoma.canonical_name) == ("C3224", "Melanoma")
    assert melanoma.aliases == ("Malignant Melanoma", "MM")
    assert melanoma.definition == 'A malignant tumor of "melanocytes".'
    assert (melanoma.parents, protein.parents) == (("C7058",), ("C1", "C2"))
    assert (protein.canonical_name, protein.aliases) == ("Human IL-2", ("IL-2",))
    assert protein.types == ("Amino Acid, Peptide, or Protein", "Immunologic Factor")
    path.write_text(FLAT + "a line of another file\n")
    with pytest.raises(PelError, match=r"E002.*flat file at .*Thesaurus\.txt, line 4"):
        list(read_terms(path))


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("cut.owl", RDF_XML[:900], "malformed XML"),
        ("axioms.owl", '<?xml version="1.0"?>\n<Ontology><A/></Ontology>', "robot"),
        ("manchester.owl", "Prefix: obo: <http://x/>\nOntology: <http://x>\n", "robot convert"),
    ],
)
def test_damaged_and_other_files(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(PelError) as caught:
        list(read_terms(tmp_path / name))
    assert said in str(caught.value) and name in str(caught.value)
