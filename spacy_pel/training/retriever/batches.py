"""From examples to batches: an epoch's plan, and the token arrays of one batch."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from ...encoders.token_arrays import RaggedTokens
from ...types import Flags, Numbers, Rows, Vectors
from ..batching import length_batches
from ..mining import TopK
from ..negatives import DrawRequest, MinedNegatives, NegativeSampler
from .example_store import ExampleStore
from .settings import ViewSettings


@dataclass
class Side:
    """Sequences for one tower and their positions among the batch's vectors.

    tower: "mention" or "entity".
    ids, mask: (n, length) int64.
    places: (n,) positions in the batch's list of vectors.
    """

    tower: str
    ids: Numbers
    mask: Numbers
    places: Numbers


@dataclass
class PairBatch:
    """n anchors, their n positives and m further negatives.

    anchors: the mentions (or bare names).
    entities: cards, names or mentions that represent entities: n positives, then m negatives.
    negative_mask: (n, n + m) bool, True = entity j is a negative of anchor i.
    """

    anchors: list[Side]
    entities: list[Side]
    negative_mask: Flags

    def __len__(self) -> int:
        return len(self.negative_mask)


@dataclass(eq=False)
class BatchPlanner:
    """Plans epochs and builds batches; everything follows from (seed, epoch, step).

    store: the examples.
    views: shares of positive texts and of alias examples.
    negatives: draws other entities.
    pad_id: the tokenizer's padding id.

    ``mined`` is the table of hard negatives given to the sampler; the miner sets it.
    """

    store: ExampleStore
    _: KW_ONLY
    views: ViewSettings
    negatives: NegativeSampler
    batch_size: int
    pad_id: int
    seed: int
    mined: MinedNegatives = field(default_factory=MinedNegatives.empty, init=False)

    @property
    def batches_per_epoch(self) -> int:
        return -(-(len(self.store.mentions) + self._n_bare) // self.batch_size)

    @property
    def _n_bare(self) -> int:
        return bare_names_for(len(self.store.mentions), self.views.alias_share, len(self.store.bare_names))

    def search(self, queries: Vectors, k: int, examples: Numbers, device: Any) -> Any:
        """The search for the nearest entities of some examples; a subclass may restrict it."""
        return TopK(queries, k, device)

    def plan(self, epoch: int) -> list[Numbers]:
        """Batches of one epoch: each mention once and a draw of bare names, similar lengths together.

        Returns:
            Example numbers of each batch; numbers from len(mentions) on
            are bare names.
        """
        rng = np.random.default_rng([self.seed, 1, epoch])
        n_mentions = len(self.store.mentions)
        bare = n_mentions + rng.choice(len(self.store.bare_names), self._n_bare, replace=False)
        order = rng.permutation(np.concatenate([np.arange(n_mentions), bare]))
        lengths = np.concatenate([self.store.mentions.lengths, self.store.bare_names.lengths])
        batches = length_batches(order, lengths, self.batch_size)
        return [batches[i] for i in rng.permutation(len(batches))]

    def build(self, examples: Numbers, step: int) -> PairBatch:
        """Make the arrays of one batch.

        Args:
            examples: example numbers from ``plan``.
            step: counts over the whole training; seeds the draws.

        Returns:
            The batch.
        """
        store, rng = self.store, np.random.default_rng([self.seed, 2, step])
        entity = store.entity_of(examples)
        gold = store.gold(examples)
        draw = self.negatives.sample(DrawRequest(examples, gold, store.n_entities, rng, self.mined))
        in_batch = np.stack([~np.isin(entity, ids) for ids in gold]) & draw.in_batch
        entities = self._positives(examples, entity, rng)
        extra = len(examples) + np.arange(len(draw.rows))
        entities.append(self._side("entity", store.cards, draw.rows, extra, np.ones(len(draw.rows), bool)))
        mask = np.concatenate([in_batch, draw.mask], axis=1)
        return PairBatch(self.anchors(examples), [side for side in entities if len(side.places)], mask)

    def anchors(self, examples: Numbers) -> list[Side]:
        """What the mention tower reads of each example."""
        store, places, n_mentions = self.store, np.arange(len(examples)), len(self.store.mentions)
        is_mention = examples < n_mentions
        sides = [
            self._side("mention", store.mentions, examples, places, is_mention),
            self._side("mention", store.bare_names, examples - n_mentions, places, ~is_mention),
        ]
        return [side for side in sides if len(side.places)]

    def _positives(self, examples: Numbers, entity: Numbers, rng: np.random.Generator) -> list[Side]:
        """Choose the text that represents each example's entity: another mention, a name, or the card.

        Without another mention, it is a name if names have a share, else the card.
        """
        store, views = self.store, self.views
        total = views.card + views.name + views.mention
        draw = rng.random(len(examples)) * total
        mention = store.mentions_of.draw(entity, rng)
        own_name = examples - len(store.mentions)
        name = store.names_of.draw(entity, rng)
        # neither a mention nor a bare name may be its own positive
        use_mention = (draw < views.mention) & (mention >= 0) & (mention != examples)
        may_name = (views.name > 0) & (draw < views.mention + views.name)
        use_name = ~use_mention & may_name & (name >= 0) & (name != own_name)
        places = np.arange(len(examples))
        return [
            self._side("mention", store.mentions, mention, places, use_mention),
            self._side("entity", store.names, name, places, use_name),
            self._side("entity", store.cards, entity, places, ~use_mention & ~use_name),
        ]

    def _side(self, tower: str, tokens: RaggedTokens, rows: Rows, places: Numbers, chosen: Flags) -> Side:
        return Side(tower, *tokens.padded(rows[chosen], self.pad_id), places[chosen])


def bare_names_for(n_mentions: int, share: float, n_names: int) -> int:
    """Number of names without context among the examples of an epoch."""
    return min(round(n_mentions * share / (1 - share)), n_names)
