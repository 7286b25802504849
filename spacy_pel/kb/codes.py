"""The codes of entities in other vocabularies, as people report them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..errors import Errors, PelError, did_you_mean
from ..types.semantic_types import listed_values
from ..util.xrefs import INGREDIENT, RXNORM, is_code, split_id, split_xref, vocabulary_key, vocabulary_name
from .changed_store import most_frequent_first

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

_ALL = "all"
_BATCH = 10_000
_BY_READER = {"rxnorm": RXNORM, "rf2": "SNOMEDCT", "loinc": "LOINC", "mesh": "MESH", "umls": "UMLS"}
_COMBINATION = " / "  # in RxNorm's names


class Codes:
    """Gives the codes of entities in some vocabularies.

    Args:
        kb: with the entities.
        names: vocabularies, in any usual spelling; "all" = every one of the knowledge base.

    Attributes:
        names: in their usual spelling.

    Raises:
        PelError: if the knowledge base has no codes of one, or none at all for "all".
    """

    def __init__(self, kb: "KnowledgeBase", names: Sequence[str]) -> None:
        self.kb = kb
        are_all = [name.strip().casefold() for name in names] == [_ALL]
        self.names = tuple((are_all and vocabularies(kb)) or dict.fromkeys(_checked(kb, names)))

    def __call__(self, entity_id: str) -> dict[str, list[str]]:
        """The codes by vocabulary; none for NIL and unknown ids."""
        row = int(self.kb.rows([entity_id])[0])
        return {name: codes_at(self.kb, row, name) if row >= 0 else [] for name in self.names}


def codes_at(kb: "KnowledgeBase", row: int, vocabulary: str) -> list[str]:
    """The codes of the entity in a row, see ``KnowledgeBase.codes``."""
    rows = [row]
    if vocabulary == INGREDIENT:
        vocabulary = RXNORM
        if not _codes(kb, row, vocabulary):
            return []
        rows = _ingredients(kb, row)
    return list(dict.fromkeys(code for drug in rows for code in _codes(kb, drug, vocabulary)))


def _codes(kb: "KnowledgeBase", row: int, vocabulary: str) -> list[str]:
    (entity_id,), (xrefs,) = kb.cells_at([row], "concept_id", "xrefs")
    own, code = _split_id(kb, entity_id)
    pairs = [(own, code)] if own == vocabulary else map(split_xref, xrefs)
    return [code for name, code in pairs if name == vocabulary and is_code(name, code)]


def vocabularies(kb: "KnowledgeBase") -> dict[str, int]:
    """See ``KnowledgeBase.vocabularies``."""
    counts = sum(_counts(kb), Counter[str]())
    if counts[RXNORM] and kb.hierarchy:
        counts[INGREDIENT] = counts[RXNORM]
    return most_frequent_first(counts)


def _counts(kb: "KnowledgeBase") -> Iterator[Counter[str]]:
    """Live entities by vocabulary, thousands at a time."""
    rows = kb.live_rows
    for start in range(0, len(rows), _BATCH):
        some = rows[start : start + _BATCH]
        cells = zip(*kb.cells_at(some, "concept_id", "xrefs"), strict=True)
        yield Counter(name for entity_id, xrefs in cells for name in _names(kb, entity_id, xrefs))


def _names(kb: "KnowledgeBase", entity_id: str, xrefs: Sequence[str]) -> set[str]:
    pairs = (_split_id(kb, entity_id), *(xref.split(":", 1) for xref in xrefs if ":" in xref))
    return {name for name, code in pairs if name and is_code(name, code)}


def _split_id(kb: "KnowledgeBase", entity_id: str) -> tuple[str, str]:
    """The vocabulary of an id, "" = unknown, and its code."""
    vocabulary, code = split_id(entity_id)
    return ("" if ":" in entity_id else _own_vocabulary(kb)) or vocabulary, code


def _own_vocabulary(kb: "KnowledgeBase") -> str:
    """The vocabulary whose codes are the ids, by the reader; "" = unknown."""
    return _BY_READER.get(str(kb.source.get("reader", "")), "")


def _checked(kb: "KnowledgeBase", names: Sequence[str]) -> list[str]:
    """Vocabularies in the spelling of the knowledge base."""
    spelled = list(map(vocabulary_name, names))
    missing = {RXNORM if name == INGREDIENT and kb.hierarchy else name for name in spelled}
    some = _counts(kb)
    while missing and (counts := next(some, None)) is not None:  # most are among the first entities
        missing -= counts.keys()
    if not missing:
        return spelled
    known = vocabularies(kb)
    by_form = {vocabulary_key(name): name for name in known}
    for name in spelled:
        if vocabulary_key(name) not in by_form:
            hint, listed = _hint(name, known), listed_values(known) or "none"
            raise PelError(Errors.E128.format(got=f"'{name}'", hint=hint, known=listed))
    return [by_form[vocabulary_key(name)] for name in spelled]


def _hint(name: str, known: dict[str, int]) -> str:
    if name == INGREDIENT and RXNORM in known:
        return ", which needs is-a relations (read RxNorm with relations = true)"
    return did_you_mean(name, known)


def _ingredients(kb: "KnowledgeBase", row: int) -> list[int]:
    """The ingredients of a drug of RxNorm by is-a, or the drug itself if there is nothing in RxNorm above it."""
    ingredients, seen, drugs = [], {row}, [row]
    for drug in drugs:  # which grows
        (entity_id,) = kb.cells_at([drug], "concept_id")[0]
        above = [part for part in kb.rows(kb.parents(entity_id)).tolist() if _is_made_of(kb, drug, part)]
        if not above:
            ingredients.append(drug)
        drugs += [part for part in above if part not in seen]
        seen.update(above)
    return ingredients


def _is_made_of(kb: "KnowledgeBase", drug: int, other: int) -> bool:
    """Whether is-a says what a drug is made of, rather than to which class of chemicals it belongs, as MeSH does for
    amoxicillin and ampicillin: then both have records of MeSH."""
    if not _codes(kb, other, RXNORM):
        return False
    if _own_vocabulary(kb) == RXNORM or _COMBINATION in kb.cells_at([drug], "canonical_name")[0][0]:
        return True
    records, others = (set(_codes(kb, row, "MESH")) for row in (drug, other))
    return not records or not others or not records.isdisjoint(others)
