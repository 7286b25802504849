"""Training of cross-encoders: batches of pairs of mention and candidate, the loss over the candidates of a mention,
and the recipe."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...encoders.templates import EntityTemplate
from ...encoders.token_arrays import RaggedTokens
from ...kb import KnowledgeBase
from ...linking.combiner import is_gold
from ...registry import registry
from ...types import Entity, Flags, Numbers, RankedRows, Rows
from ...util import normalize_alias
from ..batching import EntityTexts, length_batches
from ..regularizers import Regularizer
from .candidates import RankMentions
from .cross_encoder import CrossEncoder
from .settings import OwnRates, RankerSettings, refuse

_ENTITIES = 20_000  # tokenised at a time: bounds the memory of Python lists


def with_gold(candidates: RankedRows, gold: Sequence[Rows]) -> Rows:
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
    places = np.minimum(counts, kb_rows.shape[1] - 1)[missed]
    kb_rows[missed, places] = [gold[number][0] for number in np.flatnonzero(missed)]
    return kb_rows


def tokenize_entities(template: EntityTemplate, tokenizer: Any, entities: list[Entity]) -> RaggedTokens:
    """One sequence per entity; tokenised in chunks to bound memory."""
    starts = range(0, max(1, len(entities)), _ENTITIES)
    parts = [template.tokenize(tokenizer, entities[start : start + _ENTITIES]) for start in starts]
    return RaggedTokens.concatenate(parts)


class PairStore:
    """Mentions and their candidates, each text tokenised once.

    Args:
        ranker: its template joins them.
        kb: holds the entities.
        mentions: (n,).
        kb_rows: (n, k), their candidates, -1 = none.
        hidden: (n,) bool, mentions whose surface form is left out of the candidates' names.
    """

    def __init__(self, ranker: CrossEncoder, kb: KnowledgeBase, mentions: RankMentions, kb_rows: Rows, hidden: Flags):
        self.template, tokenizer = ranker.template, ranker.tokenizer
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
        self.mentions: RaggedTokens = self.template.mention_template.tokenize(tokenizer, in_text)
        self.entities = tokenize_entities(self.template.entity_template, tokenizer, texts.entities)

    def __len__(self) -> int:
        return len(self.mentions)

    def pairs(self, mention_rows: Rows) -> RaggedTokens:
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

    ids: Numbers
    mask: Numbers
    places: Numbers
    present: Flags
    right: Flags

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

    def plan(self, epoch: int) -> list[Numbers]:
        """Mentions of each batch: each once, similar lengths together."""
        rng = np.random.default_rng([self.seed, 21, epoch])
        order = rng.permutation(len(self.store))
        batches = length_batches(order, self.store.mentions.lengths, self.batch_size)
        return [batches[i] for i in rng.permutation(len(batches))]

    def build(self, mention_rows: Rows, number: int = 0) -> PairTable:
        """Of the given mentions."""
        tokens = self.store.pairs(mention_rows)
        present, right = self.store.present[mention_rows], self.store.right[mention_rows]
        width = max(1, int(present.sum(axis=1).max(initial=1)))
        present, right = present[:, :width], right[:, :width]
        ids, mask = tokens.padded(np.arange(len(tokens)), self.pad_id)
        return PairTable(ids, mask, np.flatnonzero(present), present, right)


class CandidateCrossEntropy(nn.Module):
    """-log softmax over a mention's candidates at the gold one (Wiatrak et al. 2022, Eq. 1 and
    Appendix B). Where several candidates are right, their probabilities are summed."""

    def forward(self, scores: Tensor, right: Tensor, present: Tensor) -> Tensor:
        """Args:
            scores: (n, k). right, present (Tensor): (n, k) bool; each row has a right one.

        Returns:
            (n,).
        """
        among_all = scores.masked_fill(~present, -torch.inf).logsumexp(dim=1)
        return among_all - scores.masked_fill(~right, -torch.inf).logsumexp(dim=1)


class PairObjective(nn.Module):
    """A cross-encoder's tower and its loss in one module.

    Args:
        tower: ids, mask -> scores of pairs.
        regularizer: adds the loss of perturbed pairs, in training mode only. It
            perturbs the entity's tokens; the mention is shared by all candidates.
    """

    def __init__(self, tower: Any, *, regularizer: Regularizer | None = None):
        super().__init__()
        self.towers = tower
        self.loss = CandidateCrossEntropy()
        self.regularizer = regularizer

    def forward(self, batch: PairTable) -> tuple[Tensor, dict[str, float]]:
        """The mean loss, and metrics for the log: "train_accuracy" among the candidates,
        and "loss_adversarial" with a regularizer.
        """
        device = next(self.parameters()).device
        arrays: Any = (batch.ids, batch.mask, batch.places, batch.present, batch.right)
        ids, mask, places, present, right = (torch.from_numpy(array).to(device) for array in arrays)

        def table(pairs: Tensor) -> Tensor:  # (pairs, 1) -> (n, k)
            flat = torch.zeros(present.numel(), dtype=pairs.dtype, device=device)
            return flat.index_put((places,), pairs[:, 0]).view_as(present)

        regularizer = self.regularizer if self.training else None
        embeddings = None if regularizer is None else self.towers.embed(ids)
        pairs = self.towers(ids, mask, embeddings)
        scores = table(pairs)
        loss = self.loss(scores, right, present).mean()
        with torch.no_grad():
            best = scores.masked_fill(~present, -torch.inf).argmax(dim=1, keepdim=True)
            metrics = {"train_accuracy": float(right.gather(1, best).float().mean())}
        if regularizer is not None and embeddings is not None:
            signs = torch.where(right.flatten()[places], -1.0, 1.0).unsqueeze(1)
            (delta,) = regularizer.deltas([embeddings], [self.towers.entity_part(ids, mask)], pairs, signs)
            perturbed = table(self.towers(ids, mask, embeddings + delta))
            adversarial = self.loss(perturbed, right, present).mean()
            metrics["loss_adversarial"] = float(adversarial.detach())
            loss = loss + regularizer.weight * adversarial
        return loss, metrics


@registry.pel_rank_recipes("spacy-pel.CrossEncoder.v1")
class PairRecipe:
    """Trains a cross-encoder on pairs, by cross-entropy over the candidates of a mention.

    Args:
        ranker: to be trained.
        settings: without loss and anchors.

    Raises:
        PelError: if there is a loss or an anchor part.
    """

    whole_documents = False

    def __init__(self, ranker: CrossEncoder, settings: RankerSettings):
        why = "a cross-encoder has no mention vectors and is trained by cross-entropy over the candidates"
        refuse("CrossEncoder", "loss", settings.loss, why)
        refuse("CrossEncoder", "anchors", settings.anchors, why)
        self.ranker, self.settings = ranker, settings
        self.parts = [settings.regularizer] if settings.regularizer else []

    def objective(self) -> PairObjective:
        return PairObjective(self.ranker.tower, regularizer=self.settings.regularizer)

    def own_rates(self) -> OwnRates:
        return []

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: RankedRows, seed: int) -> PairPlanner:
        kb_rows = with_gold(candidates, mentions.gold)
        draw = np.random.default_rng([seed, 23]).random(len(mentions))
        hidden = draw < self.settings.candidates.hide_names
        store = PairStore(self.ranker, kb, mentions, kb_rows, hidden)
        size, pad_id = self.settings.training.batch_size, self.ranker.tokenizer.pad_token_id
        return PairPlanner(store, batch_size=size, pad_id=pad_id, seed=seed)
