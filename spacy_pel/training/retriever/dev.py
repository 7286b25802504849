"""Evaluation of the encoder during training: recall@k of dev mentions."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...index import EntityIndex
from ...index.faiss_ivf import FaissIVF
from ...kb import KnowledgeBase
from ...registry import registry
from ...types import Document, Encoder, Flags, MentionInText, RankedRows, RankingTask, Rows
from ...util.arrays import best_first, first_places
from .examples import linked_mentions
from .settings import DevSettings


class DevRetrieval:
    """Measures retrieval by the towers alone (no exact matches, no priors) on a fixed draw of
    dev mentions against a fixed part of the knowledge base: the gold entities and others drawn
    at random. Metrics on a part of the KB are higher than on the whole KB; use them to compare steps of
    one training.

    Args:
        kb: the whole knowledge base.
        documents: the dev corpus.
        settings: sizes and the k of recall@k.
        seed: random seed of both draws.

    Raises:
        PelError: if no dev mention can be used.
    """

    def __init__(self, kb: KnowledgeBase, documents: Iterable[Document], settings: DevSettings, seed: int):
        rng = np.random.default_rng([seed, 3])
        linked = linked_mentions(kb, documents, part="dev")
        n = min(settings.n_mentions or len(linked), len(linked))
        chosen = [linked[i] for i in sorted(rng.choice(len(linked), n, replace=False))]
        gold = [kb.ids_at(kb.live_rows[mention.entities]) for mention in chosen]
        self.mentions, self.gold, self.settings = [mention.mention for mention in chosen], gold, settings
        others = kb.live_rows
        if settings.n_entities and settings.n_entities < len(others):
            others = rng.choice(others, settings.n_entities, replace=False)
        gold_rows = kb.rows([id_ for ids in gold for id_ in ids])
        rows = np.unique(np.concatenate([gold_rows, others]).astype(np.int64))
        self.kb = KnowledgeBase(kb.entity_at(int(row)) for row in rows)

    def __call__(self, encoder: BiEncoder) -> dict[str, float]:
        """ "recall@k" for each k, and "mrr"; shares."""
        deepest = max(self.settings.recall_at)
        index = EntityIndex.build(self.kb, encoder, index=FaissIVF(flat_below=None), kinds=self.settings.kinds)
        retrieved = nearest_entities(self.kb, index, encoder, self.mentions, top_k=deepest, first_stage=2 * deepest)
        ranks = np.array([self._rank(rows, ids) for (rows, _), ids in zip(retrieved.lists, self.gold, strict=True)])
        scores = {f"recall@{k}": float((ranks <= k).mean()) for k in self.settings.recall_at}
        return {**scores, "mrr": float((1.0 / ranks).mean())}

    def _rank(self, rows: Rows, ids: list[str]) -> float:
        """Rank of the first right entity; infinite if there is none."""
        hits = np.flatnonzero(np.isin(rows, self.kb.rows(ids)))
        return float(hits[0] + 1) if len(hits) else np.inf


FIRST_STAGE = 128
_ROWS_PER_ENTITY = 8  # rows fetched for a candidate: several rows may lead to one entity
_ENTITIES = 50_000  # rescored at a time: 1.8 GB of token vectors at 24 tokens and width 384


def nearest_entities(
    kb: KnowledgeBase,
    index: EntityIndex,
    encoder: Encoder,
    mentions: Sequence[MentionInText],
    *,
    top_k: int,
    first_stage: int = FIRST_STAGE,
    allowed: Flags | None = None,
) -> RankedRows:
    """Find distinct entities by the vectors of the index, without names and priors. Where the encoder's
    similarity compares tokens, more entities are found by pooled vectors and reranked by their tokens.

    Args:
        kb: the entities.
        index: made with the encoder.
        encoder: reads the mentions.
        mentions: (n,).
        top_k: maximum number of entities per mention.
        first_stage: rows found in the first stage where the similarity compares tokens; at least top_k.
            It caps recall: an entity that the pooled vectors do not find among these is never rescored.
        allowed: mask over the rows of the KB; None = all.

    Returns:
        Best first.
    """
    in_two = isinstance(encoder, BiEncoder) and encoder.similarity.token_level
    n_ranked = max(top_k, first_stage) if in_two else top_k
    several = _ROWS_PER_ENTITY if len(index) > len(kb) else 1
    scores, rows = index.search_entities(encoder.encode_mentions(mentions), several * n_ranked, allowed)
    firsts = [first_places(of_mention[of_mention >= 0], n_ranked) for of_mention in rows]
    ranked = RankedRows.of([(rows[i, first], scores[i, first]) for i, first in enumerate(firsts)])
    if not in_two:
        return ranked
    ranker = registry.pel_rankers.get("spacy-pel.DualEncoder.v1")(encoder=encoder)
    table, distinct = np.full(ranked.kb_rows.shape, -np.inf, np.float32), np.unique(ranked.kb_rows)
    for start in range(0, len(distinct), _ENTITIES):
        is_scored = np.isin(ranked.kb_rows, distinct[start : start + _ENTITIES])
        task = RankingTask.of(mentions, np.where(is_scored, ranked.kb_rows, -1), kb.entity_at)
        table = np.fmax(table, ranker.score(task))  # NaN: of other entities
    order = best_first(table)[:, :top_k]
    return RankedRows(np.take_along_axis(ranked.kb_rows, order, 1), np.take_along_axis(table, order, 1))
