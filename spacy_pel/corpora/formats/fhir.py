"""FHIR R4: a resource Parameters per document, as NDJSON. See https://hl7.org/fhir/R4/parameters.html"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...types import NIL
from ...util.writing import write_text
from ...util.xrefs import INGREDIENT, RXNORM, dotted, join_xref, split_id

# The code systems of FHIR R4 (https://hl7.org/fhir/R4/terminologies-systems.html) and of HL7's terminology
# (https://terminology.hl7.org/external_code_systems.html). Those that HL7 does not list have their own IRI.
SYSTEMS = {
    "UMLS": "http://terminology.hl7.org/CodeSystem/umls",
    "SNOMEDCT": "http://snomed.info/sct",
    "RXNORM": "http://www.nlm.nih.gov/research/umls/rxnorm",
    "LOINC": "http://loinc.org",
    "ICD10CM": "http://hl7.org/fhir/sid/icd-10-cm",
    "ICD10": "http://hl7.org/fhir/sid/icd-10",
    "ICD9CM": "http://hl7.org/fhir/sid/icd-9-cm",
    "ICD11": "http://id.who.int/icd/release/11/mms",
    "ICDO": "http://terminology.hl7.org/CodeSystem/icd-o-3",
    "MESH": "http://terminology.hl7.org/CodeSystem/MSH",
    "NCIT": "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl",
    "OMIM": "http://www.omim.org",
    "ORPHA": "https://www.orpha.net",
    "ATC": "http://www.whocc.no/atc",
    "UNII": "http://fdasis.nlm.nih.gov",
    "HP": "http://human-phenotype-ontology.org",
    "MONDO": "http://purl.obolibrary.org/obo/mondo.owl",
    # not HL7's
    "DOID": "http://purl.obolibrary.org/obo/doid.owl",
    "GO": "http://purl.obolibrary.org/obo/go.owl",
    "CHEBI": "http://purl.obolibrary.org/obo/chebi.owl",
    "CL": "http://purl.obolibrary.org/obo/cl.owl",
    "UBERON": "http://purl.obolibrary.org/obo/uberon.owl",
    "EFO": "http://www.ebi.ac.uk/efo/efo.owl",
}
P_RIGHT, P_NIL = "urn:spacy-pel:p-right", "urn:spacy-pel:p-nil"  # URLs of the extensions
_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")  # of a resource
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # in a string


def write_fhir(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as NDJSON of FHIR resources, atomically; gzipped if the name ends in .gz.

    A document is a ``Parameters`` resource, which makes no clinical claim, with its id as the parameter "document" and
    a parameter "mention" for each mention. The parts of a mention are "start", "end" and "label"; "concept", a
    CodeableConcept with the codes and the text of the mention (of NIL, only the text), and P(right) and P(NIL) as
    extensions; and an "ingredient" for each code of "RXNORM_INGREDIENT".

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        for record in records:
            file.write(json.dumps(_resource(record), ensure_ascii=False) + "\n")


def _resource(record: dict[str, Any]) -> dict[str, Any]:
    key = {"id": record["id"]} if _ID.fullmatch(record["id"]) else {}
    mentions = [{"name": "mention", "part": list(_parts(mention))} for mention in record["mentions"]]
    parameters = [*_string("document", record["id"]), *mentions]
    # FHIR has no empty lists
    return {"resourceType": "Parameters", **key, **({"parameter": parameters} if parameters else {})}


def _parts(mention: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"name": "start", "valueInteger": mention["start"]}
    yield {"name": "end", "valueInteger": mention["end"]}
    yield from _string("label", mention["label"])
    if concept := _concept(mention):
        yield {"name": "concept", "valueCodeableConcept": concept}
    for code in mention.get("codes", {}).get(INGREDIENT, ()):
        yield {"name": "ingredient", "valueCoding": _coding(RXNORM, code)}


def _concept(mention: dict[str, Any]) -> dict[str, Any]:
    concept: dict[str, Any] = {}
    if mention["kb_id"] and mention.get("probability") is not None:  # without calibration, nil_score is none either
        values = {P_RIGHT: mention["probability"], P_NIL: mention.get("nil_score")}
        concept["extension"] = [{"url": url, "valueDecimal": one} for url, one in values.items() if one is not None]
    if codings := _codings(mention):
        concept["coding"] = codings
    if text := _clean(mention["text"]):
        concept["text"] = text
    return concept


def _codings(mention: dict[str, Any]) -> list[dict[str, str]]:
    """First the id, which alone has a name, that of the knowledge base."""
    if mention["kb_id"] in ("", NIL):
        return []
    pairs = [(name, code) for name, codes in mention.get("codes", {}).items() for code in codes if name != INGREDIENT]
    own = split_id(mention["kb_id"])
    if not own[0]:  # an id is a code of its vocabulary
        own = next((pair for pair in pairs if pair[1] == own[1]), own)
    display = {"display": name} if (name := _clean(mention.get("name") or "")) else {}
    return [_coding(*own) | display, *(_coding(*pair) for pair in pairs if pair != own)]


def _coding(vocabulary: str, code: str) -> dict[str, str]:
    """Of a vocabulary without a known system, the code has the vocabulary as a prefix."""
    if vocabulary not in SYSTEMS:
        return {"code": " ".join((join_xref(vocabulary, code) if vocabulary else code).split())}
    return {"system": SYSTEMS[vocabulary], "code": " ".join(dotted(vocabulary, code).split())}


def _string(name: str, value: str) -> list[dict[str, str]]:
    """A parameter; none without a text, which FHIR does not allow to be empty."""
    return [{"name": name, "valueString": text}] if (text := _clean(value)) else []


def _clean(text: str) -> str:
    return _FORBIDDEN.sub(" ", text).strip()
