"""OWL ontologies in the syntaxes that they are published in, and the NCI Thesaurus."""
# ruff: noqa: E501

import gzip

import pytest

from spacy_pel.cli._kb import reader_of
from spacy_pel.errors import PelError
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.ontologies import read_terms

RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY obo "http://purl.obolibrary.org/obo/" > ]>
<rdf:RDF xmlns="http://purl.obolibrary.org/obo/tst.owl#"
     xml:base="http://purl.obolibrary.org/obo/tst.owl"
     xmlns:obo="http://purl.obolibrary.org/obo/"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
     xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
    <owl:Ontology rdf:about="http://purl.obolibrary.org/obo/tst.owl">
        <owl:versionIRI rdf:resource="http://purl.obolibrary.org/obo/tst/2026-02-16/tst.owl"/>
        <owl:versionInfo rdf:datatype="http://www.w3.org/2001/XMLSchema#string">2026-02-16</owl:versionInfo>
    </owl:Ontology>
    <owl:AnnotationProperty rdf:about="http://purl.obolibrary.org/obo/IAO_0000115">
        <rdfs:label>definition</rdfs:label>
    </owl:AnnotationProperty>
    <owl:ObjectProperty rdf:about="&obo;BFO_0000050"><rdfs:label>part of</rdfs:label></owl:ObjectProperty>

    <!-- http://purl.obolibrary.org/obo/TST_0000001 -->

    <owl:Class rdf:about="&obo;TST_0000001">
        <rdfs:subClassOf>
            <owl:Restriction>
                <owl:onProperty rdf:resource="http://purl.obolibrary.org/obo/BFO_0000050"/>
                <owl:someValuesFrom rdf:resource="http://purl.obolibrary.org/obo/TST_0000009"/>
            </owl:Restriction>
        </rdfs:subClassOf>
        <obo:IAO_0000115 xml:lang="en">Pain in the "head" &amp; neck,
of any kind.</obo:IAO_0000115>
        <oboInOwl:hasAlternativeId>TST:0000008</oboInOwl:hasAlternativeId>
        <oboInOwl:hasDbXref rdf:datatype="http://www.w3.org/2001/XMLSchema#string">UMLS:C0018681</oboInOwl:hasDbXref>
        <oboInOwl:hasExactSynonym xml:lang="en-US">head ache</oboInOwl:hasExactSynonym>
        <oboInOwl:hasExactSynonym xml:lang="de">Kopfweh</oboInOwl:hasExactSynonym>
        <oboInOwl:hasExactSynonym></oboInOwl:hasExactSynonym>
        <oboInOwl:hasRelatedSynonym>HA</oboInOwl:hasRelatedSynonym>
        <rdfs:label xml:lang="de">Kopfschmerz</rdfs:label>
        <rdfs:label xml:lang="en">headache</rdfs:label>
    </owl:Class>
    <owl:Axiom>
        <owl:annotatedSource rdf:resource="http://purl.obolibrary.org/obo/TST_0000001"/>
        <owl:annotatedProperty rdf:resource="http://www.geneontology.org/formats/oboInOwl#hasRelatedSynonym"/>
        <owl:annotatedTarget>HA</owl:annotatedTarget>
        <oboInOwl:hasDbXref>UMLS:C9999999</oboInOwl:hasDbXref>
    </owl:Axiom>
    <rdf:Description rdf:about="http://purl.obolibrary.org/obo/TST_0000002">
        <rdf:type rdf:resource="http://www.w3.org/2002/07/owl#Class"/>
        <rdfs:label>obsolete brain ache</rdfs:label>
        <owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated>
        <obo:IAO_0100001 rdf:resource="http://purl.obolibrary.org/obo/TST_0000001"/>
    </rdf:Description>
    <owl:Class rdf:about="http://www.ebi.ac.uk/efo/EFO_0000003">
        <rdfs:label xml:lang="fr">douleur</rdfs:label>
    </owl:Class>
    <owl:NamedIndividual rdf:about="&obo;TST_0000007"><rdfs:label>somebody</rdfs:label></owl:NamedIndividual>
    <rdf:Description rdf:about="&obo;TST_0000001">
        <oboInOwl:hasExactSynonym>cephalalgia</oboInOwl:hasExactSynonym>
    </rdf:Description>
</rdf:RDF>
"""
FUNCTIONAL = r"""Prefix(:=<http://purl.obolibrary.org/obo/tst.owl#>)
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix( oio: = <http://www.geneontology.org/formats/oboInOwl#> )
Ontology(<http://purl.obolibrary.org/obo/tst.owl> <http://purl.obolibrary.org/obo/tst/2026-02-16/tst.owl>
Annotation(owl:versionInfo "2026-02-16")
Declaration(Class(obo:TST_0000001))
Declaration(Class(<http://purl.obolibrary.org/obo/TST_0000002>))
Declaration(Class(<http://www.ebi.ac.uk/efo/EFO_0000003>))
Declaration(ObjectProperty(obo:BFO_0000050))
Declaration(NamedIndividual(obo:TST_0000007))

# Class: obo:TST_0000001 (headache)

AnnotationAssertion(Annotation(oio:hasDbXref "UMLS:C9999999") obo:IAO_0000115 obo:TST_0000001 "Pain in the \"head\" & neck,
of any kind."@en)
AnnotationAssertion(oio:hasAlternativeId obo:TST_0000001 "TST:0000008"^^xsd:string)
AnnotationAssertion(oio:hasDbXref obo:TST_0000001 "UMLS:C0018681")
AnnotationAssertion(Annotation(oio:hasSynonymType <http://x/y>) Annotation(rdfs:comment "(") oio:hasExactSynonym obo:TST_0000001 "head ache"@en-US)
AnnotationAssertion(oio:hasExactSynonym obo:TST_0000001 "Kopfweh"@de)
AnnotationAssertion(oio:hasExactSynonym obo:TST_0000001 "cephalalgia")
AnnotationAssertion(oio:hasRelatedSynonym obo:TST_0000001 "HA")
AnnotationAssertion(rdfs:label obo:TST_0000001 "Kopfschmerz"@de)
AnnotationAssertion(rdfs:label obo:TST_0000001 "headache"@en)
SubClassOf(obo:TST_0000001 ObjectSomeValuesFrom(obo:BFO_0000050 obo:TST_0000009))
AnnotationAssertion(rdfs:label obo:TST_0000002 "obsolete brain ache")
AnnotationAssertion(owl:deprecated obo:TST_0000002 "true"^^xsd:boolean)
AnnotationAssertion(obo:IAO_0100001 obo:TST_0000002 obo:TST_0000001)
AnnotationAssertion(rdfs:label <http://www.ebi.ac.uk/efo/EFO_0000003> "douleur"@fr)
AnnotationAssertion(rdfs:label obo:TST_0000007 "somebody")
)
"""
TURTLE = r"""@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
<http://purl.obolibrary.org/obo/tst.owl> rdf:type owl:Ontology ; owl:versionInfo "2026-02-16" .

obo:TST_0000001 rdf:type owl:Class ;
    obo:IAO_0000115 \"\"\"Pain in the "head" \u0026 neck,
of any kind.\"\"\"@en ;
    oio:hasAlternativeId "TST:0000008" ;
    oio:hasDbXref "UMLS:C0018681"^^xsd:string ;
    oio:hasExactSynonym "head ache"@en-US, "Kopfweh"@de, "cephalalgia" ;
    oio:hasRelatedSynonym "HA" ;
    rdfs:label "Kopfschmerz"@de, "headache"@en .
[ rdf:type owl:Axiom ; owl:annotatedSource obo:TST_0000001 ; oio:hasDbXref "UMLS:C9999999" ] .
<http://purl.obolibrary.org/obo/TST_0000002> a owl:Class ; owl:deprecated "true"^^xsd:boolean ;
    rdfs:label "obsolete brain ache" ; obo:IAO_0100001 obo:TST_0000001 .
<http://www.ebi.ac.uk/efo/EFO_0000003> a owl:Class ; rdfs:label "douleur"@fr .
""".replace('\\"', '"')
OWL_XML = """<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://purl.obolibrary.org/obo/tst.owl"
     ontologyIRI="http://purl.obolibrary.org/obo/tst.owl" versionIRI="http://purl.obolibrary.org/obo/tst/2026-02-16/tst.owl">
    <Prefix name="oio" IRI="http://www.geneontology.org/formats/oboInOwl#"/>
    <Annotation><AnnotationProperty abbreviatedIRI="owl:versionInfo"/><Literal>2026-02-16</Literal></Annotation>
    <Declaration><Class IRI="TST_0000001"/></Declaration>
    <Declaration><Class abbreviatedIRI="obo:TST_0000002"/></Declaration>
    <Declaration><Class IRI="http://www.ebi.ac.uk/efo/EFO_0000003"/></Declaration>
    <SubClassOf><Class IRI="TST_0000001"/><Class IRI="TST_0000009"/></SubClassOf>
"""
for prop, subject, value in (
    ("obo:IAO_0000115", "TST_0000001", '<Literal xml:lang="en">Pain in the "head" &amp; neck,\nof any kind.</Literal>'),
    ("oio:hasAlternativeId", "TST_0000001", "<Literal>TST:0000008</Literal>"),
    ("oio:hasDbXref", "TST_0000001", "<Literal>UMLS:C0018681</Literal>"),
    ("oio:hasExactSynonym", "TST_0000001", '<Literal xml:lang="en-US">head ache</Literal>'),
    ("oio:hasExactSynonym", "TST_0000001", '<Literal xml:lang="de">Kopfweh</Literal>'),
    ("oio:hasExactSynonym", "TST_0000001", "<Literal>cephalalgia</Literal>"),
    ("oio:hasRelatedSynonym", "TST_0000001", "<Literal>HA</Literal>"),
    ("rdfs:label", "TST_0000001", '<Literal xml:lang="de">Kopfschmerz</Literal>'),
    ("rdfs:label", "TST_0000001", '<Literal xml:lang="en">headache</Literal>'),
    ("rdfs:label", "TST_0000002", "<Literal>obsolete brain ache</Literal>"),
    ("owl:deprecated", "TST_0000002", "<Literal>true</Literal>"),
    ("obo:IAO_0100001", "TST_0000002", "<AbbreviatedIRI>obo:TST_0000001</AbbreviatedIRI>"),
    ("rdfs:label", "http://www.ebi.ac.uk/efo/EFO_0000003", '<Literal xml:lang="fr">douleur</Literal>'),
):
    note = (
        '<Annotation><AnnotationProperty abbreviatedIRI="oio:hasDbXref"/><Literal>UMLS:C9999999</Literal></Annotation>'
    )
    OWL_XML += f"""<AnnotationAssertion>{note}<AnnotationProperty abbreviatedIRI="{prop}"/>
        <IRI>{subject}</IRI>{value}</AnnotationAssertion>\n"""
OWL_XML += "</Ontology>\n"


@pytest.mark.parametrize(
    "name, text",
    [
        ("tst.owl", RDF_XML),
        ("tst.rdf", RDF_XML),
        ("tst.owl", FUNCTIONAL),
        ("tst.ofn", FUNCTIONAL),
        ("tst.owl", OWL_XML),
        ("tst.owx", OWL_XML),
        ("tst.owl", TURTLE),
        ("TST.TTL", TURTLE),
    ],
)
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
    # nothing but a French label
    assert (pain.concept_id, pain.canonical_name) == ("EFO:0000003", "douleur")
    assert reader.redirects == {"TST:0000002": "TST:0000001", "TST:0000008": "TST:0000001"}
    assert reader.source["version"] == "2026-02-16"
    (entity,) = OboKB(id_xref="UMLS", scopes=["related"])([path])
    assert (entity.concept_id, entity.aliases) == ("C0018681", ("HA",))


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


NCIT = """<?xml version="1.0"?>
<rdf:RDF xmlns="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#"
     xml:base="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
    <owl:Ontology rdf:about="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl">
        <owl:versionInfo>26.01e</owl:versionInfo>
    </owl:Ontology>
    <owl:AnnotationProperty rdf:about="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#P90">
        <NHC0>P90</NHC0><P106>Conceptual Entity</P106><rdfs:label>FULL_SYN</rdfs:label>
    </owl:AnnotationProperty>
    <owl:Class rdf:about="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3224">
        <rdfs:subClassOf rdf:resource="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C7058"/>
        <NHC0>C3224</NHC0>
        <P106>Neoplastic Process</P106>
        <P108>Melanoma</P108>
        <P207>C0025202</P207>
        <P90>Malignant Melanoma</P90>
        <P90>Melanoma</P90>
        <P90 rdf:parseType="Literal"><ncicp:ComplexTerm xmlns:ncicp="http://ncicb.nci.nih.gov/xml/owl/EVS/ComplexProperties.xsd#"><ncicp:term-name>MM</ncicp:term-name><ncicp:term-group>AB</ncicp:term-group></ncicp:ComplexTerm></P90>
        <P97>A malignant tumor of melanocytes.</P97>
        <rdfs:label>Melanoma</rdfs:label>
    </owl:Class>
    <owl:Axiom>
        <owl:annotatedSource rdf:resource="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3224"/>
        <owl:annotatedProperty rdf:resource="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#P90"/>
        <owl:annotatedTarget>Malignant Melanoma</owl:annotatedTarget>
        <P383>SY</P383>
        <P384>NCI</P384>
    </owl:Axiom>
    <owl:Class rdf:about="http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C99">
        <P108>Old Tumor</P108><P310>Retired_Concept</P310><rdfs:label>Old Tumor</rdfs:label>
    </owl:Class>
</rdf:RDF>
"""
FLAT = (
    "C3224\t<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3224>\tC7058\tMelanoma|Malignant Melanoma|MM\t"
    'A malignant tumor of "melanocytes".\t\t\tNeoplastic Process\tCTRP Disease Terminology\n'
    "C99\t<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C99>\tC1\tOld Tumor\t\t\tRetired_Concept\t"
    "Neoplastic Process\t\n"
    "C5\t<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C5>\tC1|C2\tHuman IL-2\t\tIL-2\t\t"
    "Amino Acid, Peptide, or Protein|Immunologic Factor\n"
)


def test_nci_thesaurus_in_owl(tmp_path):
    (tmp_path / "Thesaurus.owl").write_text(NCIT)
    (entity,) = OboKB()([tmp_path / "Thesaurus.owl"])
    assert (entity.concept_id, entity.canonical_name) == ("C3224", "Melanoma")
    assert entity.aliases == ("Malignant Melanoma", "MM")
    assert entity.definition == "A malignant tumor of melanocytes."
    assert entity.types == ("Neoplastic Process",)
    assert [entity.concept_id for entity in OboKB(id_xref="UMLS")([tmp_path / "Thesaurus.owl"])] == ["C0025202"]


def test_nci_thesaurus_as_a_flat_file(tmp_path):
    path = tmp_path / "Thesaurus.txt"
    path.write_text(FLAT)
    assert reader_of(path) == "obo"
    melanoma, protein = OboKB()([path])
    assert (melanoma.concept_id, melanoma.canonical_name) == ("C3224", "Melanoma")
    assert melanoma.aliases == ("Malignant Melanoma", "MM")
    assert melanoma.definition == 'A malignant tumor of "melanocytes".'
    assert (protein.canonical_name, protein.aliases) == ("Human IL-2", ("IL-2",))
    assert protein.types == ("Amino Acid, Peptide, or Protein", "Immunologic Factor")
    path.write_text(FLAT + "a line of another file\n")
    with pytest.raises(PelError, match=r"E002.*flat file at .*Thesaurus\.txt, line 4"):
        list(read_terms(path))


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("cut.owl", RDF_XML[:900], "malformed XML"),
        ("cut.ofn", FUNCTIONAL[: FUNCTIONAL.index(' "headache"@en')], "open bracket at the end"),
        ("more.ofn", FUNCTIONAL + ")", "a bracket too many"),
        ("open.ofn", FUNCTIONAL + 'AnnotationAssertion("', f"line {FUNCTIONAL.count(chr(10)) + 1}, got"),
        ("text.owl", "An ontology of pain.", "RDF/XML, OWL/XML, functional syntax or Turtle"),
        ("manchester.owl", "Prefix: obo: <http://x/>\nOntology: <http://x>\n", "robot convert"),
    ],
)
def test_damaged_and_other_files(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(PelError) as caught:
        list(read_terms(tmp_path / name))
    assert said in str(caught.value) and name in str(caught.value)
