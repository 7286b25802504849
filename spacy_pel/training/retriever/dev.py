"""Evaluation of the encoder during training: recall@k of dev mentions."""

from collections.abc import Iterable

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...evaluation.nearest import nearest_entities
from ...index import EntityIndex
from ...index.faiss_flat import FaissFlat
from ...kb import KnowledgeBase
from ...kb.id_coverage import prefix_hint
from ...types import Document, MentionInText
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
        mentions: list[MentionInText] = []
        gold: list[list[str]] = []
        example = ""
        for document in documents:
            for mention in document.mentions:
                ids = [found for id_ in mention.ids if (found := kb.resolve(id_)) is not None]
                if ids and not mention.composite:
                    mentions.append(MentionInText(document.text, mention.start, mention.end))
                    gold.append(ids)
                elif mention.ids and not ids:
                    example = example or mention.ids[0]
        if not mentions:
            raise PelError(Errors.E317.format(hint=prefix_hint(kb, example)))
        wanted = min(settings.n_mentions or len(mentions), len(mentions))
        chosen = sorted(rng.choice(len(mentions), wanted, replace=False))
        self.settings = settings
        self.mentions = [mentions[i] for i in chosen]
        self.gold = [gold[i] for i in chosen]
        self.kb = self._part(kb, settings.n_entities, rng)

    def _part(self, kb: KnowledgeBase, n_entities: int, rng: np.random.Generator) -> KnowledgeBase:
        gold_rows = kb.rows([id_ for ids in self.gold for id_ in ids])
        others = kb.live_rows
        if n_entities and n_entities < len(others):
            others = rng.choice(others, n_entities, replace=False)
        rows = np.unique(np.concatenate([gold_rows, others]).astype(np.int64))
        return KnowledgeBase(kb.entity_at(int(row)) for row in rows)

    def __call__(self, encoder: BiEncoder) -> dict[str, float]:
        """ "recall@k" in percent for each k, and "mrr"."""
        deepest = max(self.settings.recall_at)
        ranks = np.array(
            [self._rank(entities, ids) for entities, ids in zip(self._found(encoder, deepest), self.gold, strict=True)]
        )
        scores = {f"recall@{k}": 100.0 * float((ranks <= k).mean()) for k in self.settings.recall_at}
        return {**scores, "mrr": float((1.0 / ranks).mean())}

    def _found(self, encoder: BiEncoder, deepest: int) -> list[list[int]]:
        """For each mention KB rows of distinct entities, best first."""
        index = EntityIndex.build(self.kb, encoder, index=FaissFlat(), kinds=self.settings.kinds)
        found = nearest_entities(self.kb, index, encoder, self.mentions, top_k=deepest, first_stage=2 * deepest)
        return [part.tolist() for part in np.split(found.kb_rows, found.offsets[1:-1])]

    def _rank(self, entities: list[int], ids: list[str]) -> float:
        """Rank of the first right entity; infinite if there is none."""
        right = set(self.kb.rows(ids).tolist())
        hits = (rank for rank, row in enumerate(entities, start=1) if row in right)
        return float(next(hits, np.inf))
