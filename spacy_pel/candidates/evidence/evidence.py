"""Candidates of mentions, and evidence for a candidate: near rows, names, and counts from annotated text.

Each source yields pairs of a mention and an entity with a value, as flat arrays.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...abbreviations.definitions import normal_form
from ...index.annotated_text import AliasPriors
from ...index.row_table import NAME_KINDS
from ...kb import KnowledgeBase
from ...types import UNRELATED, CandidateTable, Mask, MentionInText, RankedRows, Rows, Scores, Vectors, best_cosines
from ...util import normalize_alias
from ...util.arrays import distinct, numbered, places_of, segment_sum, softmax, take_pieces
from .derivations import derivations
from .extensions import extensions
from .formulas import formula_names
from .name_counts import name_counts
from .opposites import opposites
from .preferred import preferred_names
from .quantities import quantity_names
from .spelling import edit_similarity, spelling
from .variants import variants

FEATURES = (
    "name",  # best cosine over card and alias rows; the lowest one found for the mention if it has none
    "mention",  # the same over the rows of annotated mentions; 0 if none was found for the mention
    "vote",  # its share of the mention rows found, weighted by a softmax of their cosines
    "exact",  # 1 if the normalised surface form is a name of the entity in the KB
    "prior",  # P(entity | surface form) in annotated text; 0 if never seen
    "seen",  # 1 if the surface form was seen in annotated text at all
    "popularity",  # log(1 + how often annotated text named the entity)
    "abbreviation",  # P(entity | short form) in texts that define it, where the document does not; 0 if unknown
    "edit",  # spelling: Indel similarity of the surface form to the entity's nearest name, 0..1
    "partial",  # the same for the best stretch of the longer of the two strings
    "formula",  # 1 if no name is the surface form, but one of the entity's spells it out: see formulas.py
    "variant",  # 1 if neither holds, but one of the entity's names is a variant of the form: variants.py
    "derivation",  # 1 if none of these holds, but one of the entity's names is derived: derivations.py
    "opposite",  # 1 if the entity's names contradict the surface form: see opposites.py
    "preferred",  # 1 if the form, or a variant, is the entity's preferred name: preferred.py
    "n_names",  # log(1 + names) of a new entity, less its mean over those with the form as a name: name_counts.py
    "extension",  # 1 if no name is the form in any of these ways, but one says a little more: extensions.py
)
NAMED = ("exact", "formula", "variant", "derivation")  # FEATURES that come from the KB's alias map
# FEATURES that only names are needed for
OF_NAMES = (*NAMED, "opposite", "preferred", "n_names", "extension", "edit", "partial")
VOTE_TEMPERATURE = 0.05
# Of more entities than are wanted those with the highest sum stay: on held-out MedMentions, 96.1% of the gold entities
# are among 64 chosen so from 512 rows, 94.6% among the 64 with the best cosine.
_EDIT_WEIGHT, _POPULARITY_WEIGHT = 0.2, 0.02
_UNRELATED_RANK, _MIN_UNRELATED_RANK = 64, 8  # from 0


class Matches(NamedTuple):
    """Pairs of mention and entity with what a source says about them, by ascending mention."""

    mentions: Rows
    kb_rows: Rows
    values: NDArray[np.float64]


class SurfaceForms(NamedTuple):
    """Normalised once for a batch: the alias map, the priors and spelling all read them.

    Attributes:
        distinct: normalised surface forms, each once, but once for each formula where capitals
            make another one of it: "CO", "Co".
        formulas: for each of them the names that it has as a formula, see formulas.py.
        short_forms: for each of them its normal form as an abbreviation, see abbreviations/forms.py;
            "" = it is none. Capitals make another one of it, too: "CsA", "CSA".
        which: (n,), the surface form of each mention.
    """

    distinct: list[str]
    formulas: list[tuple[str, ...]]
    short_forms: list[str]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, surfaces: Sequence[str]) -> "SurfaceForms":
        """Of mentions with these texts."""
        read = {
            surface: (normalize_alias(surface), formula_names(surface), normal_form(surface))
            for surface in dict.fromkeys(surfaces)
        }
        found, which = numbered(read[surface] for surface in surfaces)
        forms, formulas, short_forms = map(list, zip(*found, strict=True)) if found else ([], [], [])
        return cls(forms, formulas, short_forms, which)


class RowSource(Protocol):
    """What is needed of an EntityIndex."""

    @property
    def priors(self) -> AliasPriors: ...

    @property
    def abbreviations(self) -> AliasPriors: ...

    def search_groups(
        self, vectors: Vectors, k: int, allowed: Mask, groups: Sequence[Collection[str]]
    ) -> list[tuple[Scores, Rows]]: ...  # for each group of kinds (n, k) scores and KB rows, -1 = none


def find_candidates(
    kb: KnowledgeBase,
    source: RowSource,
    vectors: Vectors,
    surfaces: Sequence[str],
    *,
    allowed: Sequence[Mask] | None = None,
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
        source: the index.
        vectors: (n, width), the mentions.
        surfaces: their surface forms; each distinct one is normalised once.
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
    table = _gathered(kb, source, vectors, forms, masks, row_k, top_k)
    table.features.update(_compared(kb, forms, table.kb_rows, table.features))
    return replace(table, features={name: table.features[name] for name in FEATURES}, vectors=vectors)


def candidate_table(kb: KnowledgeBase, ranked: RankedRows, mentions: Sequence[MentionInText]) -> CandidateTable:
    """Compute the FEATURES that need only names.

    Args:
        kb: the entities.
        ranked: found for the mentions.
        mentions: (n,).

    Returns:
        The same candidates in the same order. "name" is the generator's score,
        NAMED come from the KB's alias map, the others of OF_NAMES from comparing names; the features of
        annotated text and vectors are 0.
    """
    forms = SurfaceForms.of([mention.surface for mention in mentions])
    filled = ranked.kb_rows >= 0
    features = dict.fromkeys(FEATURES, np.zeros(filled.shape, dtype=np.float32))
    features["name"] = np.where(filled, ranked.scores, np.float32(0))
    pairs = np.arange(len(mentions))[:, None] * kb.n_rows + ranked.kb_rows
    for name, matches in zip(NAMED, name_matches(kb, forms), strict=True):
        is_match = filled & np.isin(pairs, matches.mentions * kb.n_rows + matches.kb_rows)
        features[name] = is_match.astype(np.float32)
    features.update(_compared(kb, forms, ranked.kb_rows, features))
    return CandidateTable(ranked.kb_rows, features)


def _compared(
    kb: KnowledgeBase, forms: SurfaceForms, kb_rows: Rows, features: Mapping[str, Scores]
) -> dict[str, Scores]:
    """The features that compare surface forms with the names of their candidates."""
    of_mentions = [forms.distinct[form] for form in forms.which]
    named = np.any([features[name] > 0 for name in NAMED], axis=0)
    return {
        **spelling(kb, of_mentions, kb_rows),
        "opposite": opposites(kb, of_mentions, kb_rows),
        "preferred": preferred_names(kb, of_mentions, kb_rows, (features["exact"] + features["variant"]) > 0),
        "n_names": name_counts(kb, kb_rows, (features["exact"] > 0) & (features["popularity"] <= 0)),
        # annotated text says more of the forms that it has
        "extension": extensions(kb, of_mentions, kb_rows, ~(named | (features["seen"] > 0)).any(axis=1)),
    }


def laid_out(n: int, width: int, owner: Rows, kb_rows: Rows, columns: Mapping[str, NDArray[Any]]) -> CandidateTable:
    """Lay out pairs of mention and candidate as a table.

    Args:
        n: mentions.
        width: candidates to keep of each.
        owner: (m,) ascending, the mention of each pair; those of a mention are in order.
        kb_rows: (m,), its candidate.
        columns: (m,) each, the features.
    """
    place = places_of(owner)
    kept = place < width
    owner, place = owner[kept], place[kept]
    table = CandidateTable(np.full((n, width), -1, dtype=np.int64), {})
    table.kb_rows[owner, place] = kb_rows[kept]
    for name, values in columns.items():
        table.features[name] = np.zeros((n, width), dtype=np.float32)
        table.features[name][owner, place] = values[kept]
    return table


def _gathered(
    kb: KnowledgeBase,
    source: RowSource,
    vectors: Vectors,
    forms: SurfaceForms,
    masks: Sequence[Mask],
    row_k: int,
    top_k: int,
) -> CandidateTable:
    n_rows = kb.n_rows
    name_rows, mention_rows = nearest_rows(source, vectors, masks, row_k, (NAME_KINDS, ("mention",)))
    prior, seen = named_before(source.priors, forms.distinct, forms.which)
    abbreviation, _ = named_before(source.abbreviations, forms.short_forms, forms.which)
    live_rows = kb.live_rows if len(kb) < n_rows else None
    matches = [_usable(of_kind, live_rows, masks) for of_kind in name_matches(kb, forms)]
    prior, abbreviation = (_usable(counted, live_rows, masks) for counted in (prior, abbreviation))

    # each pair of mention and entity once; the inverse says which pair each match belongs to
    sources = (name_rows, mention_rows, prior, abbreviation, *matches)
    keys = np.concatenate([of_source.mentions * n_rows + of_source.kb_rows for of_source in sources])
    pairs, inverse = distinct(keys)
    mentions, kb_rows = np.divmod(pairs, max(n_rows, 1))
    of_names, of_mentions, of_prior, of_abbreviation, *of_matches = np.split(
        inverse, np.cumsum([len(of_source.mentions) for of_source in sources])[:-1]
    )

    def filled(pair: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        column = np.zeros(len(pairs))
        column[pair] = values
        return column

    features: dict[str, NDArray[Any]] = {
        "name": best_row(name_rows, of_names, mentions),
        "mention": best_row(mention_rows, of_mentions, mentions),
        "vote": np.bincount(of_mentions, weights=votes(mention_rows, len(masks)), minlength=len(pairs)),
        "prior": filled(of_prior, prior.values),
        "seen": seen[mentions],
        "popularity": np.log1p(source.priors.total(kb_rows)),
        "abbreviation": filled(of_abbreviation, abbreviation.values),
    }
    for name, of_match, of_kind in zip(NAMED, of_matches, matches, strict=True):
        features[name] = filled(of_match, of_kind.values)
    features = {name: values.astype(np.float32) for name, values in features.items()}
    edit = edit_similarity(kb, forms.distinct, forms.which[mentions], kb_rows)
    # those that the form names first, then by cosine, spelling and how often annotated text names them
    named = np.any([features[name] > 0 for name in (*NAMED, "prior", "abbreviation")], axis=0)
    best = best_cosines(features)
    key = best + _EDIT_WEIGHT * edit + _POPULARITY_WEIGHT * features["popularity"]
    order = np.lexsort((-key, ~named, mentions))
    width = min(top_k, max(1, int(np.bincount(mentions).max(initial=1))))
    ordered = {name: values[order] for name, values in features.items()}
    table = laid_out(len(masks), width, mentions[order], kb_rows[order], ordered)
    return replace(table, of_mentions={UNRELATED: unrelated_cosines(mentions, best, len(masks))})


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
    order = np.lexsort((-cosines, mentions))
    counts = np.bincount(mentions, minlength=n)
    rank = np.clip(counts // 2, _MIN_UNRELATED_RANK, _UNRELATED_RANK)
    starts = np.cumsum(counts) - counts
    has_one = rank < counts
    unrelated = np.zeros(n, dtype=np.float32)
    unrelated[has_one] = np.clip(cosines[order[(starts + rank)[has_one]]], -1.0, 1.0)
    return unrelated


def nearest_rows(
    source: RowSource, vectors: Vectors, masks: Sequence[Mask], k: int, groups: Sequence[Collection[str]]
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
    # two batches give one mention cosines that differ in the seventh digit: equal ones must not change places
    cosines: Any = scores[kb_rows >= 0].astype(np.float64)
    return Matches(mentions, kb_rows[kb_rows >= 0], np.round(cosines, 5))


def votes(mention_rows: Matches, n: int) -> NDArray[np.float64]:
    """Each row's share of its mention's softmax over cosines; n mentions."""
    places = places_of(mention_rows.mentions)
    cosines = np.full((n, int(places.max(initial=0)) + 1), -np.inf)
    cosines[mention_rows.mentions, places] = mention_rows.values
    return softmax(cosines / VOTE_TEMPERATURE)[mention_rows.mentions, places]


def name_matches(kb: KnowledgeBase, forms: SurfaceForms) -> list[Matches]:
    """For each of NAMED the entities, with value 1: those that have the normalised
    surface form among their names; where there are none, those that have the name of the chemical that it
    writes in symbols; where there are none, those that have a variant of it; and where there are none of
    these either, those that have a derivation of it, or else the term for a quantity. No type filter has a say
    in that."""
    by_name = [kb.rows_of_aliases(forms.distinct, normalized=True)]
    by_name.append(_rows_of_formulas(kb, forms, by_name[0]))
    for others in (variants, derivations):
        by_name.append(_rows_of_others(kb, forms.distinct, by_name, others))
    quantities = _rows_of_quantities(kb, forms.distinct, by_name)
    by_name[-1] = [np.concatenate(rows) for rows in zip(by_name[-1], quantities, strict=True)]
    return [_of_forms(rows, forms) for rows in by_name]


def _rows_of_quantities(kb: KnowledgeBase, forms: Sequence[str], before: Sequence[Sequence[Rows]]) -> list[Rows]:
    """For each form the rows of entities that bear the first of its names as a quantity that any
    entity bears; none where something was found before."""
    wanted = [() if any(map(len, rows)) else quantity_names(form) for form, *rows in zip(forms, *before, strict=True)]
    rows_of_names = iter(kb.rows_of_aliases([name for names in wanted for name in names], normalized=True))
    found = [[next(rows_of_names) for _ in names] for names in wanted]
    return [next((rows for rows in of_form if len(rows)), np.empty(0, np.int64)) for of_form in found]


def _rows_of_formulas(kb: KnowledgeBase, forms: SurfaceForms, exact: Sequence[Rows]) -> list[Rows]:
    """For each form the distinct rows of entities that bear the first of its
    names as a formula that any entity bears, as it is or as a variant; none where the form is a name."""
    of_forms = [np.empty(0, np.int64) for _ in exact]
    for form, names in enumerate(forms.formulas):
        for name in names if not len(exact[form]) else ():
            rows = kb.rows_of_aliases([name, *variants(name)], normalized=True)
            if any(map(len, rows)):
                of_forms[form] = np.unique(np.concatenate(rows))
                break
    return of_forms


def _rows_of_others(
    kb: KnowledgeBase, forms: Sequence[str], before: Sequence[Sequence[Rows]], others: Callable[[str], Sequence[str]]
) -> list[Rows]:
    """For each form the distinct rows of entities that have one of its other
    forms as a name; none where something was found before."""
    wanted = [() if any(map(len, rows)) else others(form) for form, *rows in zip(forms, *before, strict=True)]
    rows_of_names = iter(kb.rows_of_aliases([other for names in wanted for other in names], normalized=True))
    return [
        np.unique(np.concatenate([np.empty(0, np.int64), *(next(rows_of_names) for _ in names)])) for names in wanted
    ]


def _of_forms(rows: Sequence[Rows], forms: SurfaceForms) -> Matches:
    pieces = [rows[form] for form in forms.which.tolist()]
    mentions = np.repeat(np.arange(len(pieces)), np.array([len(piece) for piece in pieces], dtype=np.int64))
    kb_rows = np.concatenate([np.empty(0, np.int64), *pieces])
    return Matches(mentions, kb_rows, np.ones(len(kb_rows)))


def named_before(
    priors: AliasPriors, forms: Sequence[str], which: NDArray[np.int64]
) -> tuple[Matches, NDArray[np.float64]]:
    """P(entity | form) of the entities that a form is counted with, and for each mention 1 if its form was counted
    at all, else 0. Row -1 is no entity.

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
    return named, (totals > 0).astype(np.float64)[which]


def best_row(matches: Matches, pairs: NDArray[np.int64], mentions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The best value of each pair; where a pair has none, the lowest found for its mention: it cannot be
    better than that. Values may be negative.

    Args:
        matches: pairs of mention and entity with their values; a pair may appear several times.
        pairs: which of the p pairs each of them is.
        mentions: (p,), ascending.

    Returns:
        (p,); 0 for the pairs of a mention for which nothing was found.
    """
    best = np.full(len(mentions), -np.inf)
    np.maximum.at(best, pairs, matches.values)
    lowest = np.full(int(mentions[-1]) + 1 if len(mentions) else 0, np.inf)
    np.minimum.at(lowest, matches.mentions, matches.values)
    lowest[np.isinf(lowest)] = 0.0
    return np.where(np.isinf(best), lowest[mentions], best)


def _usable(matches: Matches, live_rows: Rows | None, masks: Sequence[Mask]) -> Matches:
    """Drop entities that are retired (``live_rows``: None = none is) or not allowed for their mention."""
    keep = np.ones(len(matches.mentions), dtype=np.bool_)
    if live_rows is not None:
        keep = np.isin(matches.kb_rows, live_rows)
    if any(mask is not None for mask in masks):
        group_of = np.empty(len(masks), dtype=np.int64)
        groups = _groups(masks)
        for number, (_, group) in enumerate(groups):
            group_of[group] = number
        for number, (mask, _) in enumerate(groups):
            if mask is not None:
                mine = group_of[matches.mentions] == number
                keep[mine] &= mask[matches.kb_rows[mine]]
    return Matches(matches.mentions[keep], matches.kb_rows[keep], matches.values[keep])


def _groups(masks: Sequence[Mask]) -> list[tuple[Mask, Rows]]:
    """Each distinct mask object and the mentions that have it."""
    members: dict[int, list[int]] = {}
    for mention, mask in enumerate(masks):
        members.setdefault(id(mask), []).append(mention)
    return [(masks[group[0]], np.array(group)) for group in members.values()]
