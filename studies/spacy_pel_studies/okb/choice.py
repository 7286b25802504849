"""Choosing the entities to remove from a knowledge base: by types, by groups of ids, or a random share."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types.semantic_types import semantic_types, type_name
from spacy_pel.util import normalize_alias

from ..errors import StudyErrors

Mask = NDArray[np.bool_]

# Wiatrak et al. 2022, Appendix D: 11 types; the list there has twelve names, Mental Process twice
PAPER_TYPES = (
    "Mental Process",
    "Health Care Related Organization",
    "Element, Ion, or Isotope",
    "Medical Device",
    "Health Care Activity",
    "Diagnostic Procedure",
    "Professional or Occupational Group",
    "Laboratory Procedure",
    "Regulation or Law",
    "Organization",
    "Professional Society",
)


class Choice(NamedTuple):
    """Entities to remove.

    Attributes:
        by: "types", "groups" or "share".
        settings: how they were chosen, as JSON data.
        removed: by KB row.
        parts: the same, for each type or group; an entity may belong to several.
    """

    by: str
    settings: dict[str, Any]
    removed: Mask
    parts: dict[str, Mask]


def by_types(kb: KnowledgeBase, names: Sequence[str] = PAPER_TYPES) -> Choice:
    """Choose the entities that have any of some types. Their descendants in the semantic network are
    not included: the paper lists them separately.

    Args:
        kb: with types.
        names: types as the KB writes them, ids or names of UMLS semantic types; one
            string may hold several, with commas.

    Returns:
        With one part for each type.

    Raises:
        PelError: if a name is not a type, or no entity has any of the types.
    """
    known = kb.types()
    found: dict[str, str] = {}
    for name in names:
        whole = _find_type(name, known)
        for each in [name] if whole else [part.strip() for part in name.split(",") if part.strip()]:
            kind = whole or _find_type(each, known)
            if kind is None:
                raise PelError(StudyErrors.E230.format(got=each, known=_some(known)))
            found[kind] = type_name(kind)
    if not set(found) & set(known):
        raise PelError(StudyErrors.E231.format(got=", ".join(found.values()), known=_some(known)))
    return Choice(
        "types", {"types": found}, kb.rows_with_types(found), {kind: kb.rows_with_types([kind]) for kind in found}
    )


def _find_type(name: str, known: Collection[str]) -> str | None:
    if name in known or name in semantic_types():
        return name
    form = normalize_alias(name)  # "Element Ion or Isotope" and "Element, Ion, or Isotope" are one
    own = {normalize_alias(kind): kind for kind in known}
    umls = {normalize_alias(row.name): tui for tui, row in semantic_types().items()}
    return own.get(form) or umls.get(form)


def by_groups(kb: KnowledgeBase, prefixes: Sequence[str]) -> Choice:
    """Choose the entities whose ids start with given prefixes: one source of a merged KB, such as
    "MONDO", or a branch.

    Args:
        kb: with ids that start with their group.
        prefixes: how ids start; one string may hold several, with commas.

    Returns:
        With one part for each prefix.

    Raises:
        PelError: if no id starts with a prefix.
    """
    wanted = [each.strip() for prefix in prefixes for each in prefix.split(",") if each.strip()]
    rows = kb.live_rows
    ids = kb.ids_at(rows)
    parts: dict[str, Mask] = {}
    for prefix in wanted:
        parts[prefix] = np.zeros(kb.n_rows, dtype=bool)
        parts[prefix][rows] = [entity_id.startswith(prefix) for entity_id in ids]
        if not parts[prefix].any():
            raise PelError(StudyErrors.E232.format(got=prefix, known=_some(_id_groups(ids))))
    removed = np.zeros(kb.n_rows, dtype=bool)
    for mask in parts.values():
        removed |= mask
    return Choice("groups", {"groups": wanted}, removed, parts)


def by_share(kb: KnowledgeBase, rows: Iterable[int], share: float, *, seed: int = 0) -> Choice:
    """Choose a share of the entities that a corpus names, at random. With the same seed, a larger
    share includes a smaller one.

    Args:
        kb: with the entities.
        rows: rows of the entities that occur.
        share: between 0 and 1.
        seed: random seed.

    Returns:
        Without parts.

    Raises:
        PelError: if the share is no entity, or all of them.
    """
    occurring = sorted(set(rows), key=kb.id_at)  # by id: the order of the KB's rows does not matter
    n = round(share * len(occurring))
    if not 0 < n < len(occurring):
        raise PelError(StudyErrors.E233.format(share=share, n=n, total=len(occurring)))
    drawn = np.random.default_rng(seed).permutation(len(occurring))[:n]
    removed = np.zeros(kb.n_rows, dtype=bool)
    removed[np.asarray(occurring, dtype=np.int64)[drawn]] = True
    return Choice("share", {"share": share, "seed": seed, "of": len(occurring)}, removed, {})


def _id_groups(ids: Sequence[str]) -> list[str]:
    starts = Counter(re.split(r"[:\d]", entity_id, maxsplit=1)[0] for entity_id in ids)
    return [start for start, _ in starts.most_common() if start]


def _some(names: Iterable[str]) -> str:
    names = list(names)
    return (", ".join(names[:12]) + (", ..." if len(names) > 12 else "")) or "none"
