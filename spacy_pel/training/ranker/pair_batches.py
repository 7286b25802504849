"""Batches of pairs of mention and candidate, and the plan of an epoch."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...encoders.templates import EntityTemplate, MentionEntityPair, RaggedTokens
from ...kb import KnowledgeBase
from ...types import Entity
from ...util import normalize_alias
from ...util.ragged import offsets_of, owners
from ..entity_texts import EntityTexts
from ..length_batches import length_batches
from .candidates import Candidates, RankMentions

_ENTITIES = 20_000  # tokenised at a time: bounds the memory of Python lists


def with_gold(
    candidates: Candidates, gold: Sequence[NDArray[np.int64]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Add the first gold entity where none is among the candidates, in the place of the last one.
    In training only: a choice, since the loss (Wiatrak et al. 2022, Eq. 1) needs a positive, and Appendix B
    does not say what happens to a mention whose entity was not retrieved.

    Args:
        gold: KB rows for each mention, at least one.
        n: maximum number of candidates.

    Returns:
        KB rows of the candidates, ragged, and their offsets.
    """
    pieces = []
    for i, rows in enumerate(gold):
        piece = candidates.kb_rows[candidates.offsets[i] : candidates.offsets[i + 1]]
        if not np.isin(piece, rows).any():
            piece = np.append(piece[: n - 1], rows[0])
        pieces.append(piece)
    offsets = offsets_of(np.array([len(piece) for piece in pieces], dtype=np.int64))
    return np.concatenate([np.empty(0, np.int64), *pieces]), offsets


def are_gold(
    kb_rows: NDArray[np.int64], offsets: NDArray[np.int64], gold: Sequence[NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """(m,) whether the candidate is a gold entity of its mention."""
    spans = zip(offsets[:-1], offsets[1:], gold, strict=True)
    pieces = [np.isin(kb_rows[start:end], rows) for start, end, rows in spans]
    return np.concatenate([np.empty(0, np.bool_), *pieces])


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
        kb_rows, offsets: their candidates, ragged.
        template: joins them.
        tokenizer: the ranker's.
        hidden: (n,), mentions whose surface form is left out of the candidates' names.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        mentions: RankMentions,
        kb_rows: NDArray[np.int64],
        offsets: NDArray[np.int64],
        *,
        template: MentionEntityPair,
        tokenizer: Any,
        hidden: Sequence[bool] | NDArray[np.bool_],
    ):
        self.template = template
        self.offsets = offsets
        self.right = are_gold(kb_rows, offsets, mentions.gold)
        texts = EntityTexts(kb)
        surfaces = [normalize_alias(query.surface) for query in mentions.queries]
        hidden_of_each = [(surface,) if hide else () for surface, hide in zip(surfaces, hidden, strict=True)]
        self.entity_rows = np.array(
            [
                texts.position(int(row), hidden_of_each[mention])
                for row, mention in zip(kb_rows, owners(offsets), strict=True)
            ],
            dtype=np.int64,
        )
        in_text = [query.in_text for query in mentions.queries]
        self.mentions: RaggedTokens = template.mention_template.tokenize(tokenizer, in_text)
        self.entities = tokenize_entities(template.entity_template, tokenizer, texts.entities)

    def __len__(self) -> int:
        return len(self.mentions)

    def pairs(self, mention_rows: NDArray[np.int64]) -> tuple[RaggedTokens, NDArray[np.int64]]:
        """The pairs of some mentions, one mention after the other, and their positions
        among all m candidates."""
        starts, lengths = self.offsets[mention_rows], np.diff(self.offsets)[mention_rows]
        chosen: Any = np.repeat(starts - offsets_of(lengths)[:-1], lengths) + np.arange(lengths.sum())
        joined = self.template.join(
            self.mentions, self.entities, np.repeat(mention_rows, lengths), self.entity_rows[chosen]
        )
        return joined, chosen


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
        tokens, chosen = self.store.pairs(mention_rows)
        lengths = np.diff(self.store.offsets)[mention_rows]
        offsets, width = offsets_of(lengths), int(lengths.max(initial=1))
        owner = owners(offsets)
        places = owner * width + np.arange(len(owner)) - offsets[owner]
        present = np.zeros(len(mention_rows) * width, dtype=np.bool_)
        right = present.copy()
        present[places], right[places] = True, self.store.right[chosen]
        ids, mask = tokens.padded(np.arange(len(tokens)), self.pad_id)
        return PairTable(ids, mask, places, present.reshape(-1, width), right.reshape(-1, width))
