"""Batches of pairs of mention and candidate, and the plan of an epoch."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...encoders.templates import EntityTemplate, MentionEntityPair, RaggedTokens
from ...kb import KnowledgeBase
from ...linking.combiners.linear import is_gold
from ...types import Entity
from ...util import normalize_alias
from ..entity_texts import EntityTexts
from ..length_batches import length_batches
from .candidates import Candidates, RankMentions

_ENTITIES = 20_000  # tokenised at a time: bounds the memory of Python lists


def with_gold(candidates: Candidates, gold: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add the first gold entity where none is among the candidates; if they are as many as there may be, in the place
    of the last one. In training only: a choice, since the loss (Wiatrak et al. 2022, Eq. 1) needs a positive, and
    Appendix B does not say what happens to a mention whose entity was not retrieved.

    Args:
        gold: KB rows for each mention, at least one.

    Returns:
        (n, k), KB rows of the candidates.
    """
    kb_rows = candidates.kb_rows.copy()
    missed = ~is_gold(kb_rows, gold).any(axis=1)
    counts = (kb_rows >= 0).sum(axis=1)
    kb_rows[missed, np.minimum(counts, kb_rows.shape[1] - 1)[missed]] = [
        rows[0] for rows, is_missed in zip(gold, missed, strict=True) if is_missed
    ]
    return kb_rows


def tokenize_entities(template: EntityTemplate, tokenizer: Any, entities: list[Entity]) -> RaggedTokens:
    """One sequence per entity; tokenised in chunks to bound memory."""
    starts = range(0, max(1, len(entities)), _ENTITIES)
    parts = [template.tokenize(tokenizer, entities[start : start + _ENTITIES]) for start in starts]
    return RaggedTokens.concatenate(parts)


class PairStore:
    """Mentions and their candidates, each text tokenised once.

    Args:
        kb: holds the entities.
        mentions: (n,).
        kb_rows: (n, k), their candidates, -1 = none.
        template: joins them.
        tokenizer: the ranker's.
        hidden: (n,), mentions whose surface form is left out of the candidates' names.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        mentions: RankMentions,
        kb_rows: NDArray[np.int64],
        *,
        template: MentionEntityPair,
        tokenizer: Any,
        hidden: Sequence[bool] | NDArray[np.bool_],
    ):
        self.template = template
        self.present = kb_rows >= 0
        self.right = is_gold(kb_rows, mentions.gold)
        texts = EntityTexts(kb)
        surfaces = [normalize_alias(query.surface) for query in mentions.queries]
        hidden_of_each = [(surface,) if hide else () for surface, hide in zip(surfaces, hidden, strict=True)]
        self.entity_rows = np.full(kb_rows.shape, -1, dtype=np.int64)
        for mention, place in np.argwhere(self.present).tolist():
            row = int(kb_rows[mention, place])
            self.entity_rows[mention, place] = texts.position(row, hidden_of_each[mention])
        in_text = [query.in_text for query in mentions.queries]
        self.mentions: RaggedTokens = template.mention_template.tokenize(tokenizer, in_text)
        self.entities = tokenize_entities(template.entity_template, tokenizer, texts.entities)

    def __len__(self) -> int:
        return len(self.mentions)

    def pairs(self, mention_rows: NDArray[np.int64]) -> RaggedTokens:
        """The pairs of some mentions, one mention after the other."""
        owner, place = np.nonzero(self.present[mention_rows])
        mentions = mention_rows[owner]
        return self.template.join(self.mentions, self.entities, mentions, self.entity_rows[mentions, place])


@dataclass
class PairTable:
    """The pairs of n mentions with at most k candidates each.

    ids, mask: (pairs, length) int64.
    places: (pairs,) int64, position of each pair in the flattened (n, k) table.
    present: (n, k) bool, whether there is a candidate.
    right: (n, k) bool, whether it is a gold one.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    places: NDArray[np.int64]
    present: NDArray[np.bool_]
    right: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.present)


@dataclass
class PairPlanner:
    """Plans epochs and builds batches; everything follows from (seed, epoch).

    Args:
        store: mentions and candidates.
        batch_size: mentions in a batch.
        pad_id: the tokenizer's padding id.
    """

    store: PairStore
    _: KW_ONLY
    batch_size: int
    pad_id: int
    seed: int

    @property
    def batches_per_epoch(self) -> int:
        return -(-len(self.store) // self.batch_size)

    def plan(self, epoch: int) -> list[NDArray[np.int64]]:
        """Mentions of each batch: each once, similar lengths together."""
        rng = np.random.default_rng([self.seed, 21, epoch])
        order = rng.permutation(len(self.store))
        lengths = self.store.mentions.lengths
        batches = length_batches(order, lengths, self.batch_size)
        return [batches[i] for i in rng.permutation(len(batches))]

    def build(self, mention_rows: NDArray[np.int64], number: int = 0) -> PairTable:
        """Of the given mentions."""
        tokens = self.store.pairs(mention_rows)
        present, right = self.store.present[mention_rows], self.store.right[mention_rows]
        width = max(1, int(present.sum(axis=1).max(initial=1)))
        present, right = present[:, :width], right[:, :width]
        ids, mask = tokens.padded(np.arange(len(tokens)), self.pad_id)
        return PairTable(ids, mask, np.flatnonzero(present), present, right)
