"""From names to batches: an epoch's plan, and the token arrays of one batch."""

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...encoders.templates import MentionTokens
from ...types import MentionInText
from ..length_batches import length_batches
from ..members import MembersByLabel
from ..retriever.batches import PairBatch, Side, side_of
from .noise import noisy
from .settings import NoiseSettings
from .synonyms import Numbers, Synonyms


class SynonymPlanner:
    """Plans epochs and builds batches of pairs of names; all follows from (seed, epoch, step).

    A knowledge base is drawn in proportion to the square root of its number of entities with synonyms, so
    that large ones do not drown small ones. An epoch has as many pairs as there are such entities.

    Args:
        synonyms: the names.
        encoder: its templates and tokenizer.
        held_out: entities that no pair may be of.
        marked: share of the first names of pairs that the mention tower reads, as mentions without
            context; the entity tower reads the others.
        noise: how the first name of a pair is varied.
    """

    def __init__(
        self,
        synonyms: Synonyms,
        encoder: BiEncoder,
        *,
        held_out: Numbers,
        marked: float,
        noise: NoiseSettings,
        batch_size: int,
        seed: int,
    ):
        self.synonyms = synonyms
        self.encoder = encoder
        self.marked = marked
        self.noise = noise
        self.batch_size = batch_size
        self.seed = seed
        may_train = synonyms.names_of.lengths > 1
        may_train[held_out] = False
        self.entities: Numbers = np.flatnonzero(may_train)
        kb = synonyms.kb[self.entities]
        self._of_kb = MembersByLabel.from_labels(kb, synonyms.n_kbs)
        weights = np.sqrt(self._of_kb.lengths)
        self.shares: NDArray[np.float64] = weights / max(1.0, weights.sum())
        self._lengths = np.array([len(text) for text in synonyms.texts], dtype=np.int64)

    @property
    def batches_per_epoch(self) -> int:
        return -(-len(self.entities) // self.batch_size)

    def plan(self, epoch: int) -> list[Numbers]:
        """Draw the pairs of one epoch; those of similar length are in a batch.

        Returns:
            (n, 2) numbers of names for each batch.
        """
        rng = np.random.default_rng([self.seed, 1, epoch])
        kb = rng.choice(len(self.shares), len(self.entities), p=self.shares)
        entities = self.entities[self._of_kb.draw(kb, rng)]
        pairs = self.synonyms.draw_pairs(entities, rng)
        batches = length_batches(np.arange(len(pairs)), self._lengths[pairs].max(axis=1), self.batch_size)
        return [pairs[batches[i]] for i in rng.permutation(len(batches))]

    def build(self, pairs: Numbers, step: int) -> PairBatch:
        """Make the arrays of one batch.

        Args:
            pairs: (n, 2), from ``plan``.
            step: counts over the whole training; seeds the noise.

        Returns:
            The second names are the positives, and negatives of unrelated first names.
        """
        rng = np.random.default_rng([self.seed, 2, step])
        texts = self.synonyms.texts
        first = [noisy(texts[name], self.noise, rng) for name in pairs[:, 0]]
        second = [texts[name] for name in pairs[:, 1]]
        marked = rng.random(len(pairs)) < self.marked
        sides = (
            self._side("mention", first, np.flatnonzero(marked)),
            self._side("entity", first, np.flatnonzero(~marked)),
        )
        entities = self.synonyms.owner[pairs[:, 0]]
        return PairBatch(
            anchors=[side for side in sides if len(side.places)],
            entities=[self._side("entity", second, np.arange(len(pairs)))],
            negative_mask=~self.synonyms.related(entities),
        )

    def _side(self, tower: str, names: list[str], places: Numbers) -> Side:
        encoder, chosen = self.encoder, [names[place] for place in places]
        tokens: MentionTokens
        if tower == "mention":
            bare = [MentionInText(name, 0, len(name)) for name in chosen]
            tokens = encoder.mention_template.tokenize(encoder.tokenizer, bare)
        else:
            tokens = encoder.entity_template.tokenize_names(encoder.tokenizer, chosen)
        return side_of(tower, tokens, places, encoder.tokenizer.pad_token_id)
