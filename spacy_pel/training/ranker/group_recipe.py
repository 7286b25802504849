"""The recipe of dual encoders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ...encoders.similarities import Similarity
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...registry import registry
from ..anchors import AllMentions, AnchorPart
from ..losses.triplet import Triplet
from ..rankers.dual_encoder import DualEncoder
from ..score_metrics import score_metrics
from .candidates import Candidates, RankMentions
from .group_batches import GroupBatch, GroupPlanner, GroupStore
from .recipe import OwnRates, refuse
from .settings import RankerSettings

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
        log: "similarity+", "similarity-" (of the hardest negative), "accuracy" among the candidates,
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
        PelError: if there is a regularizer, or the encoder compares tokens or reads mentions
            without markers.
    """

    whole_documents = True

    def __init__(self, ranker: DualEncoder, settings: RankerSettings):
        why = "perturbed entities may no longer be the hardest ones of the current model"
        refuse("DualEncoder", "regularizer", settings.regularizer, why)
        similarity = ranker.encoder.similarity
        if similarity.token_level:
            raise PelError(Errors.E331.format(got=similarity.registered_name))
        template = ranker.encoder.mention_template
        if not template.has_markers:
            what = "the training of a dual encoder"
            raise PelError(Errors.E337.format(what=what, template=template.registered_name))
        self.ranker, self.settings = ranker, settings
        self.loss: nn.Module = settings.loss or Triplet()
        self.anchors: AnchorPart = settings.anchors or AllMentions()
        self.parts: list[Any] = [self.loss, self.anchors]

    def objective(self) -> GroupObjective:
        towers, similarity = self.ranker.encoder.towers, self.ranker.encoder.similarity
        at_once = _ROOM * self.settings.training.batch_size
        return GroupObjective(towers, self.loss, similarity=similarity, anchors=self.anchors, at_once=at_once)

    def own_rates(self) -> OwnRates:
        return [(self.anchors, self.anchors.learn_rate)]

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int) -> GroupPlanner:
        encoder = self.ranker.encoder
        rng, hidden_share = np.random.default_rng([seed, 23]), self.settings.candidates.hide_names
        store = GroupStore(kb, mentions, candidates, encoder=encoder, hidden_share=hidden_share, rng=rng)
        size, pad_id = self.settings.training.batch_size, encoder.tokenizer.pad_token_id
        by_group = self.anchors.one_per_group
        return GroupPlanner(store, batch_size=size, count_groups=by_group, pad_id=pad_id, seed=seed)
