"""Statistics of a corpus: mentions, entities, ambiguity, types, and the distribution of mentions over
entities (Le & Nguyen 2023, Fig. 3); and the abbreviations that texts and knowledge bases define."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import spacy

from ...abbreviations.definitions import find_abbreviations, normal_form
from ...abbreviations.inventory import Abbreviation
from ...corpora.document_stream import text_pieces
from ...evaluation.metrics.groups import NO_NAME
from ...types import Document, Entity
from ...util import normalize_alias

if TYPE_CHECKING:
    from ...kb import KnowledgeBase

_PIECE = 1_000_000  # characters that are read at once


def corpus_facts(documents: Iterable[Document], kb: "KnowledgeBase | None" = None) -> dict[str, Any]:
    """Count the mentions, entities and types of a corpus.

    Args:
        documents: with gold mentions.
        kb: resolves retired ids and gives types.

    Returns:
        As JSON data. "surfaces" are normalised surface forms; one is ambiguous if it
        has several entities (sets of ids) in the corpus, NIL aside. "mentions_per_entity" and
        "mentions_per_entity_and_document" count those with 1, 2, ... mentions. With a KB: "in_kb" (mentions
        with an id of the KB), "outside_kb" (mentions whose ids all are missing from it) and "types" of the
        entities.
    """
    counts = Counter(documents=0, mentions=0, nil=0, composite=0, several_ids=0)
    labels: Counter[str] = Counter()
    types: Counter[str] = Counter()
    meanings: dict[str, Counter[tuple[str, ...]]] = {}
    of_entity: Counter[str] = Counter()
    of_pair: Counter[tuple[str, int]] = Counter()
    for number, document in enumerate(documents):
        counts["documents"] += 1
        for mention in document.mentions:
            counts["mentions"] += 1
            labels[mention.label or NO_NAME] += 1
            if not mention.ids:
                counts["nil"] += 1
                continue
            counts["composite"] += mention.composite
            counts["several_ids"] += len(mention.ids) > 1
            ids = set(mention.ids) if kb is None else {kb.resolve(given) or given for given in mention.ids}
            known = [entity_id for entity_id in ids if kb is not None and entity_id in kb]
            counts["in_kb"] += bool(known)
            surface = normalize_alias(document.text[mention.start : mention.end])
            meanings.setdefault(surface, Counter())[tuple(sorted(ids))] += 1
            if kb is not None:
                types.update({name for entity_id in known for name in kb[entity_id].types} or {NO_NAME})
            for entity_id in ids:
                of_entity[entity_id] += 1
                of_pair[entity_id, number] += 1
    ambiguous = [ids for ids in meanings.values() if len(ids) > 1]
    linked = counts["mentions"] - counts["nil"]
    facts: dict[str, Any] = {
        **{key: counts[key] for key in ("documents", "mentions", "nil", "composite", "several_ids")},
        "entities": len(of_entity),
        "surfaces": len(meanings),
        "ambiguous_surfaces": len(ambiguous),
        "mentions_of_ambiguous_surfaces": sum(ids.total() for ids in ambiguous),
    }
    if kb is not None:
        facts["in_kb"] = counts["in_kb"]
        facts["outside_kb"] = linked - counts["in_kb"]
        facts["share_in_kb"] = counts["in_kb"] / linked if linked else None
        facts["entities_in_kb"] = sum(kb.resolve(entity_id) is not None for entity_id in of_entity)
        facts["types"] = dict(types.most_common())
    facts["labels"] = dict(labels.most_common())
    facts["mentions_per_entity"] = _histogram(of_entity.values())
    facts["mentions_per_entity_and_document"] = _histogram(of_pair.values())
    return facts


def _histogram(values: Iterable[int]) -> dict[str, int]:
    return {str(size): count for size, count in sorted(Counter(values).items())}


class AbbreviationCounts:
    """Collects definitions; the tokenizer of English cuts the texts."""

    def __init__(self) -> None:
        self._nlp = spacy.blank("en")
        self._nlp.max_length = _PIECE
        self._spellings: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._documents: Counter[tuple[str, str]] = Counter()

    def add_texts(self, documents: Iterable[Document]) -> None:
        """Count the definitions of texts and the uses of their short forms."""
        for document in documents:
            pieces = text_pieces(document.text, _PIECE)
            self._add(Counter(chain.from_iterable(self._definitions(text) for _, text in pieces)))

    def add_entities(self, entities: Iterable[Entity]) -> None:
        """Count the names of entities that spell each other out, such as "ATP" and "adenosine triphosphate", and what
        their definitions define. Of several long forms of a short form, an entity counts its first."""
        for entity in entities:
            names = (entity.canonical_name, *entity.aliases)
            spelled = ((short, self._long_form(short, names)) for short in filter(normal_form, names))
            self._add(Counter((short, long_form) for short, long_form in spelled if long_form))
            if "(" in (entity.definition or ""):
                self._add(Counter(self._definitions(entity.definition or "")))

    def abbreviations(self) -> list[Abbreviation]:
        """By short form, the most frequent long form first."""
        made = [
            Abbreviation(key[0], spellings.most_common(1)[0][0], spellings.total(), self._documents[key])
            for key, spellings in self._spellings.items()
        ]
        return sorted(made, key=lambda entry: (entry.short_form, -entry.uses, entry.long_form))

    def _add(self, definitions: Counter[tuple[str, str]]) -> None:
        """Count the pairs of one document."""
        of_document = set()
        for (short, long_form), uses in definitions.items():
            key = (short, normalize_alias(long_form))
            self._spellings[key][long_form] += uses
            of_document.add(key)
        self._documents.update(of_document)

    def _definitions(self, text: str) -> Iterator[tuple[str, str]]:
        """The long form of each short form in a text, once for each use."""
        for record in find_abbreviations(self._nlp.make_doc(text)):
            yield _one_line(record["short_text"]), _one_line(record["long_text"])

    def _long_form(self, short: str, names: Iterable[str]) -> str | None:
        """The first name that a text could define a short form by."""
        for name in names:
            if len(name) > len(short) + 1 and name[0].lower() == short[0].lower() and _has_letters(short, name):
                if (short, name) in self._definitions(f"{name} ({short})"):
                    return name
        return None


def _has_letters(short: str, name: str) -> bool:
    """Whether a name has the letters and digits of a short form in this order."""
    characters = iter(name.lower())
    return all(character in characters for character in short.lower() if character.isalnum())


def _one_line(text: str) -> str:
    return " ".join(text.split())
