"""Candidates of mentions, and evidence for a candidate: near rows, names, and counts from annotated text.

Each source finds pairs of a mention and an entity with a value, as flat arrays; ``Pairs`` lays them side by side.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from ..abbreviations.definitions import normal_form
from ..index.annotated_text import AliasPriors
from ..index.row_table import NAME_KINDS
from ..kb import KnowledgeBase
from ..types import UNRELATED, CandidateTable, Floats, Mask, Masks, MentionInText, RankedRows, Rows, Scores, Vectors
from ..types.data import best_cosines
from ..util import counted_form, normalize_alias
from ..util.arrays import best_first, numbered, offsets_of, places_of, segment_sum, softmax, take_pieces
from .formulas import formula_names
from .name_evidence import NAMED, Form, NamePairs, rows_by_name

if TYPE_CHECKING:  # imports faiss
    from ..index import EntityIndex

FEATURES = (
    "name",  # best cosine over rows of cards, names and forms; the lowest one found for the mention if it has none
    "mention",  # the same over the rows of annotated mentions; 0 if none was found for the mention
    "vote",  # its share of the mention rows found, weighted by a softmax of their cosines
    "prior",  # P(entity | surface form) in annotated text, also outside of its mentions; 0 if never seen
    "seen",  # n / (n + 2) for a form seen n times: what its counts weigh beside that an entity is called so; 0 = never
    "popularity",  # log(1 + how often annotated text named the entity)
    "abbreviation",  # P(entity | short form) in texts that define it, where the document does not; 0 if unknown
    *NAMED,  # 1 if the form is a name of the entity, or stands for one in this way, and in no earlier way for any
    "preferred",  # 1 if the form, or a variant, is the entity's preferred name
    "edit",  # spelling: Indel similarity of the surface form to the entity's nearest name, 0..1
    "partial",  # the same for the best stretch of the longer of the two strings
    "extension",  # 1 if one of its names says a little more; of forms that name nothing and were never annotated
)
OF_NAMES = (*NAMED, "preferred", "edit", "partial", "extension")  # FEATURES that only names are needed for
VOTE_TEMPERATURE = 0.05
# Of more entities than are wanted those with the highest sum stay: on held-out MedMentions, 96.1% of the gold entities
# are among 64 chosen so from 512 rows, 94.6% among the 64 with the best cosine.
_EDIT_WEIGHT, _POPULARITY_WEIGHT = 0.2, 0.02
_NAMED_FIRST = float(1 << 20)  # more than scores differ by; in float64 it keeps their order
_UNRELATED_RANK, _MIN_UNRELATED_RANK = 64, 8  # from 0
_COUNT_OF_NAME = 2.0  # annotated mentions that weigh as much as that an entity is called so
_MOST_EXTENSIONS = 3  # candidates; a word that more of them share tells nothing


class Matches(NamedTuple):
    """Pairs of mention and entity with what a source says about them, by ascending mention."""

    mentions: Rows
    kb_rows: Rows
    values: Floats


class Pairs:
    """Each pair of a mention and an entity that a source has, once, by mention and then by row.

    Args:
        sources: by name. A source may have a pair several times.
        n_rows: of the knowledge base.

    Attributes:
        mentions: (p,), ascending.
        kb_rows: (p,), of the entities.
    """

    def __init__(self, sources: Mapping[str, Matches], n_rows: int):
        self._sources = sources
        keys = [matches.mentions * n_rows + matches.kb_rows for matches in sources.values()]
        pairs, pair_of = np.unique(np.concatenate(keys), return_inverse=True)
        self.mentions, self.kb_rows = np.divmod(pairs, max(n_rows, 1))
        self._pairs = dict(zip(sources, np.split(pair_of, np.cumsum(list(map(len, keys)))[:-1]), strict=True))

    def column(self, source: str, values: Floats | None = None) -> Floats:
        """(p,), the sum of a source's values of each pair, or of others in their place; 0 for a pair that it lacks."""
        weights = self._sources[source].values if values is None else values
        return np.bincount(self._pairs[source], weights=weights, minlength=len(self.kb_rows)).astype(np.float64)

    def best(self, source: str) -> Floats:
        """(p,), the best of a source's values of each pair. A pair that the source lacks has the lowest that it has for
        the mention, as it cannot be better than that; 0 if it has none. Values may be negative."""
        mentions, _, values = self._sources[source]
        best = np.full(len(self.mentions), -np.inf)
        np.maximum.at(best, self._pairs[source], values)
        lowest = np.full(int(self.mentions.max(initial=-1)) + 1, np.inf)
        np.minimum.at(lowest, mentions, values)
        lowest[np.isinf(lowest)] = 0.0
        return np.where(np.isinf(best), lowest[self.mentions], best)


class SurfaceForms(NamedTuple):
    """Read once for a batch: the alias map, the counts and spelling all ask for them.

    Attributes:
        distinct: each form once, but once for each formula or abbreviation where capitals make another one of it:
            "CO" and "Co", "CsA" and "CSA".
        which: (n,), the form of each mention.
    """

    distinct: list[Form]
    which: Rows

    @classmethod
    def of(cls, surfaces: Sequence[str]) -> "SurfaceForms":
        """Of mentions with these texts."""
        forms = {
            surface: Form(normalize_alias(surface), formula_names(surface), normal_form(surface), counted_form(surface))
            for surface in dict.fromkeys(surfaces)
        }
        return cls(*numbered(forms[surface] for surface in surfaces))

    @property
    def normal(self) -> list[str]:
        """The distinct forms in normal form."""
        return [form.normal for form in self.distinct]

    def matches(self, rows: Sequence[Rows]) -> Matches:
        """The pairs of mentions with the rows of their forms, with the value 1."""
        rows_of_mentions = [rows[form] for form in self.which.tolist()]
        mentions = np.repeat(np.arange(len(self.which)), np.array(list(map(len, rows_of_mentions)), dtype=np.int64))
        kb_rows = np.concatenate([np.empty(0, np.int64), *rows_of_mentions])
        return Matches(mentions, kb_rows, np.ones(len(kb_rows)))


def find_candidates(
    kb: KnowledgeBase,
    source: "EntityIndex",
    vectors: Vectors,
    surfaces: Sequence[str],
    *,
    allowed: Masks = None,
    row_k: int = 256,
    top_k: int = 64,
) -> CandidateTable:
    """Find candidates of mentions and compute their FEATURES.

    Candidates come from three sources: the nearest rows of the index (names and mentions
    are searched apart, so that the mentions of one frequent entity cannot crowd out the
    names), the KB's alias map, where regular variants of a name lead to each other, formulas of chemicals to
    their names, and adjectives and verbs to nouns, and the entities that the surface form refers to in annotated
    text, or that it abbreviates elsewhere.

    Args:
        kb: the knowledge base of the index.
        source: the index, or one with learned mentions.
        vectors: (n, width), the mentions.
        surfaces: their surface forms; each distinct one is read once.
        allowed: for each mention a mask over the KB's rows, or None. What
            it excludes is no candidate, whatever the source. Mentions that share a mask object
            are searched together.
        row_k: rows to find per mention, among names and among mentions each.
        top_k: candidates to keep per mention: those that the surface form names first (exact
            match, prior, abbreviation, formula, variant or derivation), then by cosine, spelling and popularity.

    Returns:
        Distinct entities per mention, in that order.
    """
    masks = [None] * len(surfaces) if allowed is None else list(allowed)
    forms = SurfaceForms.of(surfaces)
    name_rows, mention_rows = nearest_rows(source, vectors, masks, row_k, ((*NAME_KINDS, "form"), ("mention",)))
    prior, seen = named_before(source.priors, [form.counted for form in forms.distinct], forms.which)
    abbreviation, _ = named_before(source.abbreviations, [form.short for form in forms.distinct], forms.which)
    by_form = {"prior": prior, "abbreviation": abbreviation}
    by_form |= {name: forms.matches(rows) for name, rows in rows_by_name(kb, forms.distinct).items()}
    by_form = {name: _usable(kb, matches, masks) for name, matches in by_form.items()}
    pairs = Pairs({"name": name_rows, "mention": mention_rows, **by_form}, kb.n_rows)
    columns: dict[str, NDArray[Any]] = {
        "name": pairs.best("name"),
        "mention": pairs.best("mention"),
        "vote": pairs.column("mention", votes(mention_rows, len(masks))),
        "seen": seen[pairs.mentions],
        "popularity": np.log1p(source.priors.total(pairs.kb_rows)),
        **{name: pairs.column(name) for name in by_form},
    }
    compared = NamePairs.read(kb, forms.normal, forms.which[pairs.mentions], pairs.kb_rows)
    columns["edit"] = compared.similarity(Indel.normalized_similarity)
    columns = {name: values.astype(np.float32) for name, values in columns.items()}
    # those that the form names first, then by cosine, spelling and how often annotated text names them
    is_named = np.any([columns[name] > 0 for name in by_form], axis=0)
    best = best_cosines(columns)
    key = best + _EDIT_WEIGHT * columns["edit"] + _POPULARITY_WEIGHT * columns["popularity"]
    rank = by_mention(pairs.mentions, key.astype(np.float64) + _NAMED_FIRST * is_named, len(masks))
    counts = np.bincount(pairs.mentions, minlength=len(masks))
    chosen = offsets_of(counts)[:-1, None] + best_first(rank)[:, :top_k]
    kept = chosen[np.arange(chosen.shape[1]) < counts[:, None]]
    columns = {name: values[kept] for name, values in columns.items()}
    mentions = pairs.mentions[kept]
    columns |= _of_kept(kb, compared.take(kept), mentions, columns)
    table = laid_out(len(masks), mentions, pairs.kb_rows[kept], {name: columns[name] for name in FEATURES})
    unrelated = unrelated_cosines(pairs.mentions, best, len(masks))
    return replace(table, vectors=vectors, of_mentions={UNRELATED: unrelated})


def candidate_table(kb: KnowledgeBase, ranked: RankedRows, mentions: Sequence[MentionInText]) -> CandidateTable:
    """Compute the FEATURES that need only names.

    Args:
        kb: the entities.
        ranked: found for the mentions.
        mentions: (n,).

    Returns:
        The same candidates in the same order. "name" is the generator's score, OF_NAMES come from the KB's names; the
        features of annotated text and vectors are 0.
    """
    forms = SurfaceForms.of([mention.surface for mention in mentions])
    owners, places = np.nonzero(ranked.kb_rows >= 0)
    kb_rows = ranked.kb_rows[owners, places]
    columns: dict[str, NDArray[Any]] = dict.fromkeys(FEATURES, np.zeros(len(owners)))
    columns["name"] = ranked.scores[owners, places]
    for name, rows in rows_by_name(kb, forms.distinct).items():
        matches = forms.matches(rows)
        columns[name] = np.isin(owners * kb.n_rows + kb_rows, matches.mentions * kb.n_rows + matches.kb_rows)
    compared = NamePairs.read(kb, forms.normal, forms.which[owners], kb_rows)
    columns["edit"] = compared.similarity(Indel.normalized_similarity)
    columns |= _of_kept(kb, compared, owners, columns)
    return laid_out(len(mentions), owners, kb_rows, columns)


def _of_kept(
    kb: KnowledgeBase, compared: NamePairs, mentions: Rows, columns: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """The features for which the forms of mentions are compared with the names of their candidates alone.

    Args:
        compared: the form and the candidate of each of p pairs.
        mentions: (p,), its mention.
        columns: (p,) each, the other features.
    """
    preferred, extension = np.zeros((2, len(mentions)), dtype=np.bool_)
    named = (columns["exact"] > 0) | (columns["variant"] > 0)
    preferred[named] = compared.take(named).are_preferred(kb)
    # annotated text says more of the forms that it has
    told = np.any([columns[name] > 0 for name in (*NAMED, "seen")], axis=0)
    asked = ~np.isin(mentions, mentions[told])
    extension[asked] = compared.take(asked).say_more()
    extension &= np.bincount(mentions, weights=extension)[mentions] <= _MOST_EXTENSIONS
    return {"preferred": preferred, "partial": compared.similarity(fuzz.partial_ratio) / 100, "extension": extension}


def laid_out(n: int, owner: Rows, kb_rows: Rows, columns: Mapping[str, NDArray[Any]]) -> CandidateTable:
    """Lay out pairs of mention and candidate as a table.

    Args:
        n: mentions.
        owner: (m,) ascending, the mention of each pair; those of a mention are in order.
        kb_rows: (m,), its candidate.
        columns: (m,) each, the features.
    """
    place = places_of(owner)
    table = CandidateTable(np.full((n, int(place.max(initial=0)) + 1), -1, dtype=np.int64), {})
    table.kb_rows[owner, place] = kb_rows
    for name, values in columns.items():
        table.features[name] = np.zeros(table.kb_rows.shape, dtype=np.float32)
        table.features[name][owner, place] = values
    return table


def unrelated_cosines(mentions: Rows, cosines: Scores, n: int) -> Scores:
    """How near an entity is that has nothing to do with a mention: the 65th nearest one, and where there are fewer
    than 128, the one in the middle.

    Args:
        mentions: (m,) ascending, the mention of each entity.
        cosines: (m,), of the entities.
        n: mentions.

    Returns:
        (n,), 0 where there are fewer than 9.
    """
    counts = np.bincount(mentions, minlength=n)
    rank = np.clip(counts // 2, _MIN_UNRELATED_RANK, _UNRELATED_RANK)
    has_one = rank < counts
    unrelated = np.zeros(n, dtype=np.float32)
    unrelated[has_one] = np.clip(-np.sort(-by_mention(mentions, cosines, n))[has_one, rank[has_one]], -1.0, 1.0)
    return unrelated


def by_mention(mentions: Rows, values: Scores | Floats, n: int) -> Floats:
    """(n, most of a mention), the values of each mention in their order; -inf behind them.

    Args:
        mentions: (m,) ascending, the mention of each value.
        values: (m,).
        n: mentions.
    """
    places = places_of(mentions)
    laid = np.full((n, int(places.max(initial=0)) + 1), -np.inf)
    laid[mentions, places] = values
    return laid


def nearest_rows(
    source: "EntityIndex", vectors: Vectors, masks: Sequence[Mask], k: int, groups: Sequence[Collection[str]]
) -> list[Matches]:
    """Of each group of kinds the k nearest rows with their cosines; an entity may
    appear several times."""
    shape = (len(groups), len(vectors), k)
    scores, kb_rows = np.full(shape, -np.inf, dtype=np.float32), np.full(shape, -1, dtype=np.int64)
    for mask, members in _groups(masks):
        for number, found in enumerate(source.search_groups(vectors[members], k, mask, groups)):
            scores[number, members], kb_rows[number, members] = found
    return [_matches(*of_group) for of_group in zip(scores, kb_rows, strict=True)]


def _matches(scores: Scores, kb_rows: Rows) -> Matches:
    mentions, _ = np.nonzero(kb_rows >= 0)
    # two processors give one mention cosines that differ in the seventh digit: equal ones must not change places
    cosines: Any = scores[kb_rows >= 0].astype(np.float64)
    return Matches(mentions, kb_rows[kb_rows >= 0], np.round(cosines, 5))


def votes(mention_rows: Matches, n: int) -> NDArray[np.float64]:
    """Each row's share of its mention's softmax over cosines; n mentions."""
    cosines = by_mention(mention_rows.mentions, mention_rows.values, n)
    return softmax(cosines / VOTE_TEMPERATURE)[np.isfinite(cosines)]


def named_before(priors: AliasPriors, forms: Sequence[str], which: Rows) -> tuple[Matches, Floats]:
    """P(entity | form) of the entities that a form is counted with, and for each mention how much the counts of its
    form weigh beside its names, from 0 = never counted to 1. Row -1 is no entity.

    Args:
        priors: the counts.
        forms: in the normal form of the counts.
        which: (n,), the form of each mention.
    """
    kb_rows, counts, offsets = priors.counts(forms, normalized=True)
    totals = segment_sum(counts, offsets)
    pairs = take_pieces(np.arange(len(kb_rows)), offsets, which)
    mentions = np.repeat(np.arange(len(which)), np.diff(offsets)[which])
    shares = counts[pairs] / totals[which[mentions]]
    is_entity = kb_rows[pairs] >= 0
    named = Matches(mentions[is_entity], kb_rows[pairs][is_entity], shares[is_entity])
    return named, (totals / (totals + _COUNT_OF_NAME))[which]


def _usable(kb: KnowledgeBase, matches: Matches, masks: Sequence[Mask]) -> Matches:
    """Drop entities that are retired or not allowed for their mention."""
    keep = kb.live[matches.kb_rows]
    for mask, members in _groups(masks):
        if mask is not None:
            own = np.isin(matches.mentions, members)
            keep[own] &= mask[matches.kb_rows[own]]
    return Matches(matches.mentions[keep], matches.kb_rows[keep], matches.values[keep])


def _groups(masks: Sequence[Mask]) -> list[tuple[Mask, Rows]]:
    """Each distinct mask object and the mentions that have it."""
    members: dict[int, list[int]] = {}
    for mention, mask in enumerate(masks):
        members.setdefault(id(mask), []).append(mention)
    return [(masks[group[0]], np.array(group)) for group in members.values()]
