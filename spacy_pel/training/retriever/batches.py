"""From examples to batches: an epoch's plan, and the token arrays of one batch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...encoders.templates import MentionTokens, MentionWindows, window_numbers
from ..length_batches import length_batches
from ..members import MembersByLabel
from ..negatives import DrawRequest, MinedNegatives, NegativeSampler
from ..negatives.mining.streaming_top_k import Parts
from .example_store import ExampleStore
from .settings import ViewSettings


@dataclass
class Side:
    """Sequences for one tower and their positions among the batch's vectors.

    tower: "mention" or "entity".
    ids, mask: (n, length) int64.
    places: (n,) positions in the batch's list of vectors.
    spans: None = a vector for each sequence; else (m, 3) int64, as in ``MentionWindows``, with m places: a
        vector for each mention of n windows.
    """

    tower: str
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    places: NDArray[np.int64]
    spans: NDArray[np.int64] | None = None


@dataclass
class PairBatch:
    """n anchors, their n positives and m further negatives.

    anchors: the mentions (or bare names).
    entities: cards, names or mentions that represent entities: n positives, then m negatives.
    negative_mask: (n, n + m) bool, True = entity j is a negative of anchor i.
    targets: (n, n + m) a teacher's similarities, or None.
    """

    anchors: list[Side]
    entities: list[Side]
    negative_mask: NDArray[np.bool_]
    targets: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.negative_mask)


class BatchPlanner:
    """Plans epochs and builds batches; everything follows from (seed, epoch, step).

    store (ExampleStore): the examples.
    views (ViewSettings): shares of positive texts and of alias examples.
    negatives (NegativeSampler): draws other entities.
    pad_id (int): the tokenizer's padding id.

    ``mined`` is the table of hard negatives given to the sampler; the miner sets it.
    ``parts`` are those of all examples and entities; None = mine the whole knowledge base.
    """

    parts: Parts | None = None

    def __init__(
        self,
        store: ExampleStore,
        *,
        views: ViewSettings,
        negatives: NegativeSampler,
        batch_size: int,
        pad_id: int,
        seed: int,
    ):
        self.store = store
        self.views = views
        self.negatives = negatives
        self.batch_size = batch_size
        self.pad_id = pad_id
        self.seed = seed
        self.mined = MinedNegatives.empty()

    @property
    def batches_per_epoch(self) -> int:
        return -(-(len(self.store.mentions) + self._n_bare) // self.batch_size)

    @property
    def _n_bare(self) -> int:
        share = self.views.alias_share
        return min(round(len(self.store.mentions) * share / (1 - share)), len(self.store.bare_names))

    def plan(self, epoch: int) -> list[NDArray[np.int64]]:
        """Batches of one epoch: each mention once and a draw of bare names, similar lengths together, and
        mentions that share a window.

        Returns:
            Example numbers of each batch; numbers from len(mentions) on
            are bare names.
        """
        rng = np.random.default_rng([self.seed, 1, epoch])
        n_mentions = len(self.store.mentions)
        bare = n_mentions + rng.choice(len(self.store.bare_names), self._n_bare, replace=False)
        order = self.shuffled(np.arange(n_mentions), bare, rng)
        lengths = np.concatenate([self.store.mentions.lengths, self.store.bare_names.lengths])
        batches = length_batches(order, lengths, self.batch_size)
        return [batches[i] for i in rng.permutation(len(batches))]

    def shuffled(
        self, mentions: NDArray[np.int64], names: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Shuffle windows and names: the mentions of a window stay together, so that batches of whole windows
        of many documents are cut from the order; a window between two batches is read in both.

        Args:
            mentions, names: example numbers, ascending mentions.

        Returns:
            All of them, in a random order.
        """
        _, window = np.unique(window_numbers(self.store.mentions)[mentions], return_inverse=True)
        n_windows = int(window.max(initial=-1)) + 1
        labels = np.concatenate([window, n_windows + np.arange(len(names))])
        groups = MembersByLabel.from_labels(labels, n_windows + len(names))
        examples = np.concatenate([mentions, names]).astype(np.int64)
        return examples[groups.take(rng.permutation(len(groups))).values]

    def build(self, examples: NDArray[np.int64], step: int) -> PairBatch:
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
        return PairBatch(
            anchors=self.anchors(examples),
            entities=[side for side in entities if len(side.places)],
            negative_mask=np.concatenate([in_batch, draw.mask], axis=1),
        )

    def anchors(self, examples: NDArray[np.int64]) -> list[Side]:
        """What the mention tower reads of each example."""
        store, places, n_mentions = self.store, np.arange(len(examples)), len(self.store.mentions)
        is_mention = examples < n_mentions
        sides = [
            self._side("mention", store.mentions, examples, places, is_mention),
            self._side("mention", store.bare_names, examples - n_mentions, places, ~is_mention),
        ]
        return [side for side in sides if len(side.places)]

    def _positives(
        self, examples: NDArray[np.int64], entity: NDArray[np.int64], rng: np.random.Generator
    ) -> list[Side]:
        """Choose the text that represents each example's entity: another mention, a name, or the card.

        Without another mention, it is a name if names have a share, else the card.
        """
        store, views = self.store, self.views
        total = views.card + views.name + views.mention
        draw = rng.random(len(examples)) * total
        mention = store.mentions_of.draw(entity, rng)
        name = store.names_of.draw(entity, rng)
        # neither a mention nor a bare name may be its own positive
        use_mention = (draw < views.mention) & (mention >= 0) & (mention != examples)
        itself = name == examples - len(store.mentions)
        may_name = (views.name > 0) & (draw < views.mention + views.name)
        use_name = ~use_mention & may_name & (name >= 0) & ~itself
        places = np.arange(len(examples))
        return [
            self._side("mention", store.mentions, mention, places, use_mention),
            self._side("entity", store.names, name, places, use_name),
            self._side("entity", store.cards, entity, places, ~use_mention & ~use_name),
        ]

    def _side(
        self,
        tower: str,
        tokens: MentionTokens,
        rows: NDArray[np.int64],
        places: NDArray[np.int64],
        chosen: NDArray[np.bool_],
    ) -> Side:
        return side_of(tower, tokens.take(rows[chosen]), places[chosen], self.pad_id)


def side_of(tower: str, tokens: MentionTokens, places: NDArray[np.int64], pad_id: int) -> Side:
    """Of these tokens; a mention's are its window."""
    if isinstance(tokens, MentionWindows):
        ids, mask = tokens.windows.padded(np.arange(len(tokens.windows)), pad_id)
        return Side(tower, ids, mask, places, tokens.spans)
    ids, mask = tokens.padded(np.arange(len(tokens)), pad_id)
    return Side(tower, ids, mask, places)
