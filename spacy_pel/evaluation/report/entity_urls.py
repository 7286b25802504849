"""Web pages of entities and of their codes in other vocabularies."""

import re
from collections.abc import Sequence
from urllib.parse import quote

# pattern of the whole id, address; the first match counts, {id} is its first group
ENTITY_URLS: Sequence[tuple[str, str]] = (
    (r"(?:UMLS:)?(C[0-9]{7})", "https://uts.nlm.nih.gov/uts/umls/concept/{id}"),
    (r"(?:MESH:)?([CD](?:[0-9]{6}|[0-9]{9}))", "https://meshb.nlm.nih.gov/record/ui?ui={id}"),
    (r"(?:OMIM|MIM):([0-9]{6})", "https://omim.org/entry/{id}"),
    (r"(?:ORPHA|Orphanet):([0-9]+)", "https://www.orpha.net/en/disease/detail/{id}"),
    (r"(HP:[0-9]{7})", "https://hpo.jax.org/browse/term/{id}"),
    (r"(MONDO:[0-9]{7})", "https://monarchinitiative.org/{id}"),
    (r"(DOID:[0-9]+)", "https://disease-ontology.org/term/{id}"),
    (r"RXNORM:([0-9]+)", "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm={id}"),
    (r"NCIT:(C[0-9]+)", "https://evsexplore.semantics.cancer.gov/evsexplore/concept/ncit/{id}"),
    (r"SNOMEDCT:([0-9]+)", "https://browser.ihtsdotools.org/?perspective=full&conceptId1={id}"),
    (r"ICD10:([A-Z][0-9]{2}(?:\.[0-9]+)?)", "https://icd.who.int/browse10/2019/en#/{id}"),
    (r"([A-Za-z][A-Za-z0-9.]*:[A-Za-z0-9_.-]+)", "https://bioregistry.io/{id}"),  # knows most vocabularies
)


def entity_url(entity_id: str) -> str | None:
    """The page of an entity.

    Args:
        entity_id: an id of a knowledge base, or a cross reference.

    Returns:
        The address; None if no pattern matches.
    """
    for pattern, url in ENTITY_URLS:
        found = re.fullmatch(pattern, entity_id)
        if found:
            return url.replace("{id}", quote(found.group(1), safe=":"))
    return None
