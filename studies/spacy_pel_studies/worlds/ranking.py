"""Candidates without annotated text: by names, by an encoder's neighbours, or by both."""

from collections.abc import Sequence

from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.dev import FIRST_STAGE, nearest_entities
from spacy_pel.types import Encoder, MentionInText
from spacy_pel.util import normalize_alias

Ranking = dict[int, float]  # KB row -> score, best first
DEPTH = 64


def by_name(kb: KnowledgeBase, surfaces: Sequence[str]) -> list[Ranking]:
    """Entities that have the surface form as a name: first by canonical name, then by alias, in KB order.

    Returns:
        One per surface form; the score is 1.0, or 0.5 for an alias.
    """
    rankings = []
    for surface, rows in zip(surfaces, kb.rows_of_aliases(surfaces), strict=True):
        wanted = normalize_alias(surface)
        scores = {row: 1.0 if normalize_alias(kb.name_at(row)) == wanted else 0.5 for row in rows.tolist()}
        rankings.append(dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:DEPTH]))
    return rankings


def by_encoder(
    kb: KnowledgeBase,
    encoder: Encoder,
    mentions: Sequence[MentionInText],
    *,
    kinds: Sequence[str] = ("card", "alias"),
    top_k: int = DEPTH,
    first_stage: int = FIRST_STAGE,
    show_progress: bool = False,
) -> list[Ranking]:
    """Nearest entities by their best row; without annotated text.

    Args:
        kinds: rows of an entity: its card, its names.
        top_k: entities of a mention.
        first_stage: entities fetched first where the encoder compares tokens, which then order them.

    Returns:
        One per mention.
    """
    index = EntityIndex.build(kb, encoder, index=FaissIVF(flat_below=None), kinds=kinds, show_progress=show_progress)
    found = nearest_entities(kb, index, encoder, mentions, top_k=top_k, first_stage=first_stage)
    return [dict(zip(rows.tolist(), scores.tolist(), strict=True)) for rows, scores in found.lists]


def names_first(names: Sequence[Ranking], nearest: Sequence[Ranking]) -> list[Ranking]:
    """Rank entities that have the mention as a name first, nearest first; then the other nearest entities.

    Args:
        names: from ``by_name``.
        nearest: from ``by_encoder``.

    Returns:
        One per mention.
    """
    joined = []
    for named, near in zip(names, nearest, strict=True):
        floor = min(near.values(), default=0.0) - 1.0
        scores = {row: 2.0 + near.get(row, floor) for row in named}
        scores.update({row: score for row, score in near.items() if row not in named})
        order = sorted(scores, key=lambda row: -scores[row])[:DEPTH]  # stable: ties keep their order
        joined.append({row: scores[row] for row in order})
    return joined
