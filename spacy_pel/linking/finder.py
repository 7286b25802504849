"""Finds the candidates of mentions, and the evidence for each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..candidates.form_cache import FormCache
from ..candidates.form_reader import FormReader
from ..errors import Errors, PelError
from ..index.topics import Topics
from ..kb import KnowledgeBase
from ..kb.compare import did_you_mean_id
from ..types import MENTION_TYPE, TOPIC, CandidateGenerator, CandidateTable, Flags, Mask, MentionInText, Scores
from ..types.semantic_types import did_you_mean_value, listed_values
from ..util import PLAIN_WORDS, normalize_alias
from .confidence import DEPTH
from .mention_types import type_shares
from .query import MentionQuery, Queries, replace_mention

EntityTypes = dict[str, frozenset[str]]
# next to plain words: "i am sad", "sat on"; not "has cad"
_BEFORE_WORDS = frozenset(
    "a am an are feel feels felt he her his i is it my our she so the their they too very was we were you your".split()
)
_AFTER_WORDS = frozenset("at on the to up".split())
_SHORTHAND = re.compile(r"[/:;]|\b[bcdfghj-np-tvwxz]{2,5}\b")
_NEAR = 32  # characters beside a mention, more than such a word has; a text may be a book
_SENTENCE = 3  # blanks: "HIV/AIDS" is no text in capitals


def check_entity_types(
    kb: KnowledgeBase, entity_types: Mapping[str, Sequence[str]], *, error: str = Errors.E500
) -> EntityTypes:
    """The setting ``entity_types`` of a linker, as sets.

    Args:
        kb: has the types.
        entity_types: label -> types or ids.
        error: text of the error.

    Raises:
        PelError: if it names what is neither a type nor an id of the KB.
    """
    by_label = {label: frozenset(names) for label, names in entity_types.items()}
    for label, names in by_label.items():
        types = kb.types()
        if unknown := sorted(name for name in names.difference(types) if name not in kb):
            hints = (did_you_mean_value(name, types) or did_you_mean_id(kb, name) for name in unknown)
            listed = ", ".join(map(str.__add__, unknown, hints))
            raise PelError(error.format(label=label, types=listed, known=listed_values(types) or "none"))
    return by_label


@dataclass
class CandidateFinder:
    """Asks a generator for the candidates of mentions: of each surface form once, or of each mention in its context.

    Args:
        kb: the entities.
        generator: bound to an index.
        topics: of annotated text; None = the texts that mentions are in are not read.
        entity_types: label -> types, or ids with all that is below them, that its mentions may have.
        forms: what was found for surface forms.
        reader: reads surface forms.
    """

    kb: KnowledgeBase
    generator: CandidateGenerator
    topics: Topics | None
    entity_types: EntityTypes
    forms: FormCache
    reader: FormReader

    def __call__(self, queries: Queries, top_k: int, *, in_context: bool) -> CandidateTable:
        """The candidates of one batch, at least ``top_k`` of each mention if there are so many; none of a mention
        that is white space."""
        depth = max(top_k, DEPTH)
        words, find = plain_words(queries), self.generator.find_candidates
        if in_context or not queries:
            table = find(self.kb, [query.in_text for query in queries], allowed=self.masks(queries), top_k=depth)
        else:
            forms = [word or query.form for query, word in zip(queries, words, strict=True)]
            table = self._find_forms(queries, forms, depth)
        if not table.kb_rows.shape[1]:
            table = table.widened(1)
        is_blank = np.array([not query.form for query in queries], dtype=np.bool_)
        left_out = is_blank[:, None] | self._acronyms(words, table)
        if left_out.any():
            order = np.argsort(left_out, axis=1, kind="stable")  # behind the others
            kb_rows = np.take_along_axis(np.where(left_out, -1, table.kb_rows), order, axis=1)
            features = {name: np.take_along_axis(values, order, axis=1) for name, values in table.features.items()}
            table = replace(table, kb_rows=kb_rows, features=features)
        return table.plus(self._document_features(queries, table))

    def read(self, queries: Queries) -> tuple[list[MentionQuery], Flags]:
        """Mentions as their forms are read, and whether words around a name were left out of each."""
        read, is_broader = list(queries), np.zeros(len(queries), dtype=np.bool_)
        readings = self.reader.readings
        if any(query.surface not in readings for query in queries):
            readings = self.reader.read([query.surface for query in queries])
        for number, query in enumerate(queries):
            if (reading := readings[query.surface]) is not None:
                is_broader[number] = reading.end - reading.start < len(query.surface)
                query = replace(query, start=query.start + reading.start, end=query.start + reading.end)
                read[number] = replace_mention(query, reading.word) if reading.word else query
        return read, is_broader

    def _acronyms(self, words: Sequence[str], table: CandidateTable) -> Flags:
        """(n, k), the candidates that a plain word names only as an acronym of theirs: where someone feels sad,
        seasonal affective disorder is not meant, unless annotated text says so of "sad"."""
        nothing = np.zeros(table.kb_rows.shape)
        exact, prior = (table.features.get(name, nothing) for name in ("exact", "prior"))
        is_word = np.array(list(map(bool, words)), dtype=np.bool_)
        acronyms = (table.kb_rows >= 0) & (exact > 0) & (prior == 0) & is_word[:, None]
        rows = table.kb_rows[acronyms]
        named = zip(np.nonzero(acronyms)[0].tolist(), self.kb.names_at(rows) if len(rows) else [], strict=True)
        acronyms[acronyms] = [_is_acronym(words[number], names) for number, names in named]
        return acronyms

    def _find_forms(self, queries: Queries, forms: Sequence[str], depth: int) -> CandidateTable:
        def find(numbers: list[int]) -> CandidateTable:
            mentions = [MentionInText(forms[i], 0, len(forms[i])) for i in numbers]
            masks = self.masks([queries[i] for i in numbers])
            return self.generator.find_candidates(self.kb, mentions, allowed=masks, top_k=depth)

        labels = [self.entity_types.get(query.label) for query in queries]
        return self.forms([(depth, *one) for one in zip(labels, forms, strict=True)], find)

    def _document_features(self, queries: Queries, table: CandidateTable) -> dict[str, Scores]:
        """Evidence that the form alone does not give: the topic of the text, and what the detector read."""
        features = {}
        if self.topics is not None:
            features[TOPIC] = self.topics.shares([query.context for query in queries], table.kb_rows)
        if (shares := type_shares(self.kb, queries, table)) is not None:
            features[MENTION_TYPE] = shares
        return features

    def masks(self, queries: Queries) -> list[Mask] | None:
        """For each mention a mask over the rows of the KB, or None where its label is not filtered. Mentions of one
        label share a mask. None = nothing is filtered."""
        if not self.entity_types:
            return None
        memo: dict[frozenset[str], Any] = self.kb.memo.setdefault("entity_types", {})
        masks: dict[str, Mask] = {}
        for label, names in self.entity_types.items():
            if names not in memo:
                memo[names] = self.kb.rows_with_types(names) | self.kb.rows_below(names)
            masks[label] = memo[names]
        return [masks.get(query.label) for query in queries]


def plain_words(queries: Queries) -> list[str]:
    """Of each mention that is a plain word the word in lower case; "" of others. It is none in capitals, "SAD", unless
    all of its text is. In a text without capitals it is one where prose surrounds it, "we ate", unless that has
    shorthand, too, "his cad, htn"; other acronyms may be written so everywhere: "copd"."""
    words = [query.form.lower() for query in queries]
    texts = {query.context for query, word in zip(queries, words, strict=True) if word in PLAIN_WORDS}
    has_capitals = {text: bool(text) and not text.islower() for text in texts}
    has_shorthand = {text: not text or _SHORTHAND.search(text) is not None for text in texts}
    is_in_capitals = {text: text.isupper() and text.count(" ") >= _SENTENCE for text in texts}

    def is_plain(query: MentionQuery) -> bool:
        text = query.context
        if query.form.isupper():
            return is_in_capitals[text]
        return has_capitals[text] or (not has_shorthand[text] and _is_in_prose(query))

    return [word if word in PLAIN_WORDS and is_plain(query) else "" for query, word in zip(queries, words, strict=True)]


def _is_in_prose(query: MentionQuery) -> bool:
    """Whether words stand next to a mention that hardly stand next to an acronym."""
    text, start, end = query.text, query.start, query.end
    before, after = text[max(0, start - _NEAR) : start].split()[-1:], text[end : end + _NEAR].split()[:1]
    return not _BEFORE_WORDS.isdisjoint(before) or not _AFTER_WORDS.isdisjoint(after)


def _is_acronym(form: str, names: Sequence[str]) -> bool:
    """Whether a form is a name of an entity with capitals inside only: "SAD", "ChAT"."""
    return all(not name.islower() and not name[1:].islower() for name in names if normalize_alias(name) == form)
