"""Training of dual encoders: batches of groups, each with the mentions of one entity in one document, the objective,
and the recipe."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import Similarity
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.batching import EntityTexts, LabelIndex
from spacy_pel.training.ranker.candidates import RankMentions
from spacy_pel.training.ranker.pair_training import tokenize_entities
from spacy_pel.training.ranker.settings import OwnRates, RankerSettings, refuse
from spacy_pel.training.training_log import score_metrics
from spacy_pel.types import RankedRows
from spacy_pel.util import normalize_alias

from ..errors import StudyErrors
from .anchors import AllMentions, AnchorPart
from .dual_encoder import DualEncoder
from .loss import Triplet


class GroupStore:
    """Mentions in groups, and the entities of each group; each text is tokenised once. The negatives of a
    group are the candidates of all of its mentions, without their gold entities. The gold entity is the
    positive even where it is not among the candidates: a choice, the paper does not say.

    Args:
        kb: holds the entities.
        mentions: (n,); one with several gold entities belongs to the first.
        candidates: theirs.
        encoder: its templates and tokenizer.
        hidden_share: share of the groups whose surface forms are left out of their entities' names.
        rng: draws the hidden groups.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        mentions: RankMentions,
        candidates: RankedRows,
        *,
        encoder: BiEncoder,
        hidden_share: float = 0.0,
        rng: np.random.Generator | None = None,
    ):
        keys = np.stack([mentions.document, [gold[0] for gold in mentions.gold]], axis=1)
        _, labels = np.unique(keys, axis=0, return_inverse=True)
        labels = labels.reshape(-1).astype(np.int64)
        self.groups = LabelIndex.from_labels(labels, int(labels.max()) + 1)
        hidden = (rng or np.random.default_rng(0)).random(len(self.groups)) < hidden_share
        self.positives = np.empty(len(self.groups), dtype=np.int64)
        self.negatives: list[NDArray[np.int64]] = []
        texts = EntityTexts(kb)
        for number in range(len(self.groups)):
            members = self.groups[number]
            surfaces = {normalize_alias(mentions.queries[i].surface) for i in members if hidden[number]}
            left_out = tuple(sorted(surfaces))
            gold = np.concatenate([mentions.gold[i] for i in members])
            wrong = np.setdiff1d(candidates.kb_rows[members], [*gold, -1])
            self.positives[number] = texts.position(int(mentions.gold[members[0]][0]), left_out)
            positions = [texts.position(int(row), left_out) for row in wrong]
            self.negatives.append(np.array(positions, dtype=np.int64))
        in_text = [query.in_text for query in mentions.queries]
        self.mentions = encoder.mention_template.tokenize(encoder.tokenizer, in_text)
        self.entities = tokenize_entities(encoder.entity_template, encoder.tokenizer, texts.entities)

    def __len__(self) -> int:
        return len(self.mentions)


class GroupPlan(NamedTuple):
    """One batch: its groups, and the seed for drawing among their mentions."""

    groups: NDArray[np.int64]
    seed: int


@dataclass
class GroupBatch:
    """n mentions in g groups, and the e entities of these groups.

    mention_ids, mention_mask: (n, length) int64.
    groups: (n,) int64, of each mention, from 0 on.
    entity_ids, entity_mask: (e, length) int64.
    positives: (g,) int64, the right entity of each group.
    negatives: (g, e) bool, the wrong ones.
    seed: for drawing among the mentions.
    """

    mention_ids: NDArray[np.int64]
    mention_mask: NDArray[np.int64]
    groups: NDArray[np.int64]
    entity_ids: NDArray[np.int64]
    entity_mask: NDArray[np.int64]
    positives: NDArray[np.int64]
    negatives: NDArray[np.bool_]
    seed: int

    def __len__(self) -> int:
        return len(self.groups)


@dataclass
class GroupPlanner:
    """Plans epochs and builds batches; everything follows from (seed, epoch). A group is never split.

    We read the batch size of Le & Nguyen (2023, section 4.4) as a number of anchors: "all mentions within a
    cluster are fed to the model concurrently", and the time goes down with "the lower number of training
    batches" (section 4.5.2). Where a group has one anchor, a batch of 32 is 32 groups with all of their
    mentions, about 64 on MedMentions; where every mention is an anchor, it is 32 mentions.

    Args:
        store: mentions and entities.
        batch_size: maximum number of groups, or of mentions, in a batch.
        count_groups: True = ``batch_size`` counts groups, so that all batches but the last have this
            many; False = it counts mentions, and a group that is larger than a batch gets its own batch.
        pad_id: the tokenizer's padding id.
    """

    store: GroupStore
    _: KW_ONLY
    batch_size: int
    count_groups: bool = False
    pad_id: int
    seed: int

    @property
    def batches_per_epoch(self) -> int:
        """Of the first epoch; others may have one more or less where mentions are counted."""
        return len(self.plan(0))

    def plan(self, epoch: int) -> list[GroupPlan]:
        """All groups, each once, in a random order."""
        rng = np.random.default_rng([self.seed, 24, epoch])
        sizes = np.diff(self.store.groups.offsets)
        if self.count_groups:
            sizes = np.ones_like(sizes)
        batches: list[list[int]] = []
        room = 0
        for group in rng.permutation(len(sizes)).tolist():
            if sizes[group] > room or not batches:
                batches.append([])
                room = self.batch_size
            batches[-1].append(group)
            room -= int(sizes[group])
        return [GroupPlan(np.array(batch), int(rng.integers(2**62))) for batch in batches]

    def build(self, plan: GroupPlan, number: int = 0) -> GroupBatch:
        """Of a plan's groups."""
        store = self.store
        members = [store.groups[group] for group in plan.groups]
        wrong = [store.negatives[group] for group in plan.groups]
        used: Any = np.unique(np.concatenate([store.positives[plan.groups], *wrong]))
        negatives = np.zeros((len(plan.groups), len(used)), dtype=np.bool_)
        for group, positions in enumerate(wrong):
            negatives[group, np.searchsorted(used, positions)] = True
        return GroupBatch(
            *store.mentions.padded(np.concatenate(members), self.pad_id),
            np.repeat(np.arange(len(members)), [len(numbers) for numbers in members]),
            *store.entities.padded(used, self.pad_id),
            np.searchsorted(used, store.positives[plan.groups]),
            negatives,
            plan.seed,
        )


_CHUNK = 64  # sequences encoded together when looking for the hardest negative


class GroupObjective(nn.Module):
    """Towers, loss and anchors in one module, so that the optimiser sees the parameters of all.

    If the loss needs only the hardest negative, it is found under the current model without dropout and
    gradients; then only it and the positive are encoded with gradients.

    Args:
        towers: "mention" and, unless tied, "entity".
        loss: positives (n,), negatives (n, m), mask (n, m) -> (n,).
        similarity: of anchors and entities.
        anchors: makes anchors of the mentions of each group.
        at_once: texts of one side whose activations are kept for the backward pass. More are
            encoded in pieces of this size and each is encoded again in the backward pass: the same gradients, in
            memory that does not grow with the groups. None = no limit.
    """

    def __init__(
        self, towers: Any, loss: nn.Module, *, similarity: Similarity, anchors: AnchorPart, at_once: int | None = None
    ):
        super().__init__()
        self.towers = towers
        self.loss = loss
        self.similarity = similarity
        self.anchors = anchors
        self.at_once = at_once

    def forward(self, batch: GroupBatch) -> tuple[Tensor, dict[str, float]]:
        """The mean loss of the anchors plus the anchor part's own loss, and metrics for the
        log: "similarity+", "similarity-" (of the hardest negative), "train_accuracy" among the candidates,
        "active" (share of the anchors with a loss), those of the anchor part, and the loss's, if it has any.
        """
        device = next(self.towers.parameters()).device
        generator = torch.Generator().manual_seed(batch.seed)
        groups = torch.from_numpy(batch.groups)
        chosen = self.anchors.select(groups, generator)
        mentions = self._encode(
            "mention",
            torch.from_numpy(batch.mention_ids)[chosen].to(device),
            torch.from_numpy(batch.mention_mask)[chosen].to(device),
        )
        anchors = self.anchors(mentions, groups[chosen].to(device), generator)
        ids, mask, right, wrong = (
            torch.from_numpy(array).to(device)
            for array in (batch.entity_ids, batch.entity_mask, batch.positives, batch.negatives)
        )
        right, wrong = right[anchors.groups], wrong[anchors.groups]
        if getattr(self.loss, "hardest_only", False):
            wrong = self._hardest(anchors.vectors.detach(), ids, mask, wrong)
        used = wrong.any(dim=0)
        used[right] = True
        position = used.cumsum(0) - 1
        entities = self._encode("entity", ids[used], mask[used])
        with torch.autocast(device.type, enabled=False):
            scores = self.similarity(anchors.vectors, entities)
            positives = scores.gather(1, position[right].unsqueeze(1)).squeeze(1)
            losses = self.loss(positives, scores, wrong[:, used])
        metrics = score_metrics(positives.detach(), scores.detach(), wrong[:, used])
        metrics["train_accuracy"] = metrics.pop("accuracy")  # in the log, "accuracy" is that on dev
        metrics["active"] = float((losses.detach() > 0).float().mean())
        metrics.update(anchors.metrics)
        metrics.update(getattr(self.loss, "metrics", {}))
        return losses.mean() + anchors.loss, metrics

    def _encode(self, side: str, ids: Tensor, mask: Tensor) -> Tensor:
        tower = self._tower(side)
        if self.at_once is None or len(ids) <= self.at_once:
            return tower(ids, mask)  # type: ignore[no-any-return]
        pieces = zip(ids.split(self.at_once), mask.split(self.at_once), strict=True)
        return torch.cat([checkpoint(tower, *piece, use_reentrant=False) for piece in pieces])

    def _tower(self, side: str) -> Any:
        return self.towers[side if side in self.towers else "mention"]

    def _hardest(self, anchors: Tensor, ids: Tensor, mask: Tensor, wrong: Tensor) -> Tensor:
        """(a, e) bool, the nearest wrong entity of each anchor."""
        tower = self._tower("entity")
        was_training = tower.training
        tower.eval()
        with torch.no_grad():
            order = mask.sum(dim=1).argsort(descending=True, stable=True)
            vectors = torch.cat([_encoded(tower, ids, mask, rows) for rows in order.split(_CHUNK)])
            entities = torch.empty_like(vectors)
            entities[order] = vectors
            with torch.autocast(anchors.device.type, enabled=False):
                scores = self.similarity(anchors, entities).masked_fill(~wrong, -torch.inf)
        tower.train(was_training)
        # weights cast by autocast here would cut the gradient of the second encoding
        torch.clear_autocast_cache()
        hardest = torch.zeros_like(wrong).scatter(1, scores.argmax(dim=1, keepdim=True), True)
        return hardest & wrong


def _encoded(tower: Any, ids: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
    length = int(mask[rows].sum(dim=1).max())
    return tower(ids[rows, :length], mask[rows, :length])  # type: ignore[no-any-return]


# texts whose activations are kept, per anchor of a full batch: a group of MedMentions has two mentions
_ROOM = 4


@registry.pel_rank_recipes("spacy-pel.DualEncoder.v1")
class GroupRecipe:
    """Trains a dual encoder on groups: the mentions of one entity in one document. ``batch_size`` counts
    anchors, as in the paper: groups where each has one anchor, mentions where every mention is one.

    Args:
        ranker: to be trained.
        settings: by default the loss is a Triplet and every mention is an anchor.

    Raises:
        PelError: if there is a regularizer, the encoder compares tokens, or the anchors are another part.
    """

    whole_documents = True

    def __init__(self, ranker: DualEncoder, settings: RankerSettings):
        why = "perturbed entities may no longer be the hardest ones of the current model"
        refuse("DualEncoder", "regularizer", settings.regularizer, why)
        similarity = ranker.encoder.similarity
        if similarity.token_level:
            raise PelError(StudyErrors.E331.format(got=similarity.registered_name))
        self.ranker, self.settings = ranker, settings
        self.loss: nn.Module = settings.loss or Triplet()
        anchors = settings.anchors or AllMentions()
        if not isinstance(anchors, AnchorPart):
            raise PelError(StudyErrors.E332.format(got=type(anchors).__name__))
        self.anchors: AnchorPart = anchors
        self.parts: list[Any] = [self.loss, self.anchors]

    def objective(self) -> GroupObjective:
        towers, similarity = self.ranker.encoder.towers, self.ranker.encoder.similarity
        at_once = _ROOM * self.settings.training.batch_size
        return GroupObjective(towers, self.loss, similarity=similarity, anchors=self.anchors, at_once=at_once)

    def own_rates(self) -> OwnRates:
        return [(self.anchors, self.anchors.learn_rate)]

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: RankedRows, seed: int) -> GroupPlanner:
        encoder = self.ranker.encoder
        rng, hidden_share = np.random.default_rng([seed, 23]), self.settings.candidates.hide_names
        store = GroupStore(kb, mentions, candidates, encoder=encoder, hidden_share=hidden_share, rng=rng)
        size, pad_id = self.settings.training.batch_size, encoder.tokenizer.pad_token_id
        by_group = self.anchors.one_per_group
        return GroupPlanner(store, batch_size=size, count_groups=by_group, pad_id=pad_id, seed=seed)
