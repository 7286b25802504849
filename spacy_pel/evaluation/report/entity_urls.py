"""Web pages of entities."""

import re
from collections.abc import Sequence
from urllib.parse import quote

# pattern of the whole id, address; the first match counts, {id} is its first group
ENTITY_URLS: Sequence[tuple[str, str]] = (
    (r"(?:UMLS:)?(C[0-9]{7})", "https://uts.nlm.nih.gov/uts/umls/concept/{id}"),
    (r"(?:MESH:)?([CD](?:[0-9]{6}|[0-9]{9}))", "https://meshb.nlm.nih.gov/record/ui?ui={id}"),
    (r"(?:OMIM|MIM):([0-9]{6})", "https://omim.org/entry/{id}"),
    (r"([A-Za-z][A-Za-z0-9.]*:[A-Za-z0-9_.-]+)", "https://bioregistry.io/{id}"),
)


def entity_url(entity_id: str, patterns: Sequence[tuple[str, str]] = ENTITY_URLS) -> str | None:
    """The page of an entity.

    Args:
        entity_id: an id of a knowledge base.
        patterns: regular expression for the whole id with one group, and
            the address, where ``{id}`` stands for the group.

    Returns:
        The address; None if no pattern matches.
    """
    for pattern, url in patterns:
        found = re.fullmatch(pattern, entity_id)
        if found:
            return url.replace("{id}", quote(found.group(1), safe=":"))
    return None
