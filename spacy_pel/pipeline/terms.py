"""Lists of terms and codes: what a term means without a text around it, and whether a given id is what it means."""

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..candidates.form_reader import FormReader
from ..candidates.name_evidence import NAMED
from ..errors import Errors
from ..kb import KnowledgeBase
from ..linking import Link, Linker, MentionQuery
from ..linking.confidence import DEPTH
from ..linking.corrections.matching import LISTED
from ..linking.decider import Ranked
from ..linking.finder import check_entity_types
from ..types import NIL
from ..util import normalize_alias
from ..util.arrays import numbered, softmax
from ..util.xrefs import split_id

AGREES, BROADER, NARROWER, OTHER, UNCLEAR = "agrees", "broader", "narrower", "other", "unclear"
UNKNOWN, RETIRED, LABEL = "unknown", "retired", "label"
SEVERAL = "|"  # between ids or types in a cell
NO_PREFIX = "ID"  # of an id that tells no vocabulary, where it needs a prefix
_NAMES = frozenset(NAMED) - {"derivation"}
_SPELLED_ALIKE = 0.8
_LIKELY = 0.5  # P(right) of what a given id is compared with


@dataclass(frozen=True)
class Alternative:
    """Another entity that a term may mean, with P(right)."""

    id: str
    name: str
    probability: float


@dataclass(frozen=True)
class TermMatch:
    """What a term means.

    Attributes:
        term: as given.
        id: of an entity, or "NIL".
        name: its preferred name; None for NIL.
        probability: P(right) of the answer.
        relation: "exact", "close" if only the vector is alike, or "broader" if the entity is that; None for NIL.
        rests_on: "preferred name", "synonym", "annotated text", "spelling", "vector", "correction" or "list" (of short
            forms); None for NIL.
        alternatives: other entities, the likeliest first.
    """

    term: str
    id: str
    name: str | None
    probability: float
    relation: str | None
    rests_on: str | None
    alternatives: list[Alternative]


@dataclass(frozen=True)
class PairCheck:
    """Whether an id is what a text means.

    Attributes:
        text, id: as given.
        probability: P(right) of the id, or of its successor.
        verdict: "agrees"; "broader" or "narrower", if the entity of the id is that; "other", if the text likely means
            something else; "unclear"; "unknown" or "retired" of an id; "label", if this is no name of the id.
        better: the id that the text likely means, or the successor; None = there is none.
        better_name: its preferred name.
        better_probability: P(right) of it.
    """

    text: str
    id: str
    probability: float
    verdict: str
    better: str | None = None
    better_name: str | None = None
    better_probability: float | None = None

    @property
    def disagrees(self) -> bool:
        """Whether the id should be looked at."""
        return self.verdict not in (AGREES, UNCLEAR)


class _Answer(NamedTuple):
    link: Link
    probabilities: dict[str, float]  # P(right) of each candidate, best first
    rests_on: str | None


def match_terms(
    linker: Linker, queries: Sequence[MentionQuery], types: Sequence[str], *, top_k: int = 5, always: bool = False
) -> list[TermMatch]:
    """What terms mean; one that comes again is linked once.

    Args:
        linker: any.
        queries: the terms.
        types: of each the types of the KB, or ids with all below them, that its entity may have, with "|" between
            several; "" = any. They replace the label. Empty = none has any.
        top_k: alternatives of each.
        always: never answer NIL, but for want of candidates, or because a correction or a list says so.

    Raises:
        PelError: if the KB lacks a type.
    """
    if types:
        queries = [replace(query, label=label) for query, label in zip(queries, types, strict=True)]
    several = {label: list(filter(None, map(str.strip, label.split(SEVERAL)))) for label in sorted({*types})}
    if by_label := {label: names for label, names in several.items() if names and label not in linker.entity_types}:
        linker = copy.copy(linker)
        checked = check_entity_types(linker.kb, by_label, error=Errors.E537)
        linker.finder = replace(linker.finder, entity_types=linker.entity_types | checked)
    distinct, which = numbered(queries)
    answers = _answers(linker, distinct, always)
    shown = [list(dict.fromkeys([one.link.kb_id, *one.probabilities]))[: top_k + 1] for one in answers]
    keys = list({key for ids in shown for key in ids} - {NIL})
    (names,) = linker.kb.cells_at(linker.kb.rows(keys), "canonical_name")
    name_of = dict(zip(keys, names, strict=True))
    matches = []
    for query, (link, probabilities, rests_on), (_, *others) in zip(distinct, answers, shown, strict=True):
        alternatives = [Alternative(key, name_of[key], _digits(probabilities[key])) for key in others]
        relation = "close" if (link.relation, rests_on) == ("exact", "vector") else link.relation
        found = link.kb_id, name_of.get(link.kb_id), _digits(link.probability), relation, rests_on
        matches.append(TermMatch(query.surface, *found, alternatives))
    return [matches[number] for number in which.tolist()]


def check_pairs(
    linker: Linker, texts: Sequence[object], queries: Sequence[MentionQuery], ids: Sequence[str], labels: Sequence[str]
) -> list[PairCheck]:
    """Whether ids are what texts mean.

    Args:
        linker: any.
        texts: as given.
        queries: what is read of them.
        ids: of each an id, also with the prefix that SSSOM asks for, or codes in another vocabulary; any of several
            with "|" between them.
        labels: a name that the id should have; "" = none was given.

    Returns:
        One for each, in order.
    """
    distinct, which = numbered(queries)
    answers = _answers(linker, distinct, always=False)
    pairs = zip(texts, queries, ids, labels, which.tolist(), strict=True)
    return [_check(linker.kb, str(text), query, given, label, answers[n]) for text, query, given, label, n in pairs]


def _check(kb: KnowledgeBase, text: str, query: MentionQuery, given: str, label: str, answer: _Answer) -> PairCheck:
    link, written = answer.link, [_as_in(kb, part.strip()) for part in given.split(SEVERAL)]
    known = {now: one for one in written if (now := kb.resolve(one))}
    is_live = any(now in written for now in known)
    is_retired = not is_live and (bool(known) or any(map(kb.is_retired, written)))
    known = known or {now: now for one in written for now in kb.ids_of_xref(one)}
    probability = _digits(sum(p for key, p in answer.probabilities.items() if key in known))
    likely = next(iter(answer.probabilities), None)
    names = {normalize_alias(name) for one in known for name in (kb[one].canonical_name, *kb[one].aliases)}
    if is_retired:
        verdict, likely = RETIRED, next(iter(known), likely)
    elif not known:
        verdict = UNKNOWN
    elif label and normalize_alias(label) not in names:
        verdict = LABEL
    elif link.kb_id in known:
        verdict = BROADER if link.relation == BROADER else AGREES
    elif normalize_alias(query.surface) in names:  # one of several meanings
        verdict = AGREES
    elif link.kb_id == NIL or link.probability < _LIKELY:
        verdict = UNCLEAR
    else:
        above, below = (set(related) for related in (kb.ancestors(link.kb_id), kb.descendants(link.kb_id)))
        verdict = BROADER if above & known.keys() else NARROWER if below & known.keys() else OTHER
    if likely is None or (likely in known and verdict != RETIRED):
        return PairCheck(text, given, probability, verdict)
    better = likely, kb[likely].canonical_name, _digits(answer.probabilities.get(likely, 0.0))
    return PairCheck(text, given, probability, verdict, *better)


def _as_in(kb: KnowledgeBase, key: str) -> str:
    """An id as the knowledge base has it: "C0004096" for "UMLS:C0004096", which SSSOM wants."""
    prefix, _, code = key.partition(":")
    is_own = prefix == NO_PREFIX or split_id(key)[0] == split_id(code)[0]
    known, known_code = (bool(kb.resolve(one)) or kb.is_retired(one) for one in (key, code))
    return code if is_own and known_code and not known else key


def _answers(linker: Linker, queries: Sequence[MentionQuery], always: bool) -> list[_Answer]:
    linker = copy.copy(linker)
    reader = FormReader(linker.kb, linker.finder.reader.priors, own_words=True)
    linker.finder = replace(linker.finder, reader=reader)
    if always:
        linker.threshold = np.inf  # 1 - a cosine may be above 1
    answers: list[_Answer] = []
    for start in range(0, len(queries), linker.batch_size):
        batch = queries[start : start + linker.batch_size]
        ranked = linker.rank(batch, DEPTH)
        for number, link in enumerate(linker.decide(ranked, DEPTH)):
            scores = np.array(link.scores, dtype=np.float64)
            shares = scores if linker.decider.gives_shares else softmax(scores[None])[0]
            rests_on = None if link.kb_id == NIL else _rests_on(linker.kb, ranked, number, batch[number], link)
            answers.append(_Answer(link, _probabilities(link, shares), rests_on))
    return answers


def _probabilities(link: Link, shares: np.ndarray) -> dict[str, float]:
    """P(right) of each candidate: what the answer leaves goes to the others and to NIL by their scores."""
    left = 1.0 - link.probability
    if link.kb_id == NIL:
        return dict(zip(link.ids, (left * shares).tolist(), strict=True))
    nil = min(max(link.nil_score, 0.0), 1.0)
    weights = shares[1:] * (1.0 - nil)
    others = left * weights / max(weights.sum() + nil, 1e-12)
    return dict(zip(link.ids, [link.probability, *others.tolist()], strict=True))


def _rests_on(kb: KnowledgeBase, ranked: Ranked, number: int, query: MentionQuery, link: Link) -> str:
    """What the answer rests on, see ``TermMatch``."""
    if link.learned is not None:
        return "correction"
    if ranked.matches is not None and ranked.matches.entries[number] == LISTED:
        return "list"
    table, read = ranked.table, ranked.queries[number].surface
    column = int((table.kb_rows[number] == kb.row(link.kb_id)).argmax())
    told = {name for name, values in table.features.items() if values[number, column] > 0}
    if told & _NAMES and read in query.surface:
        return "preferred name" if "preferred" in told else "synonym"
    if "prior" in told:
        return "annotated text"
    alike = "edit" in told and table.features["edit"][number, column] >= _SPELLED_ALIKE
    return "spelling" if alike or told & {*NAMED} else "vector"


def _digits(probability: float) -> float:
    """Six digits, so that the smallest are still in order."""
    return float(f"{probability:.6g}")


def find_term(term: str, text: str) -> list[int]:
    """Where a text has a term as whole words."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(term)}(?!\w)", text)]
