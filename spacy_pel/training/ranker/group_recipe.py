"""The recipe of dual encoders."""

from typing import Any

import numpy as np
from torch import nn

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...linking.rankers.dual_encoder import DualEncoder
from ...registry import registry
from ..anchors import AllMentions, AnchorPart
from ..losses.triplet import Triplet
from .candidates import Candidates, RankMentions
from .group_batches import GroupPlanner, GroupStore
from .group_objective import GroupObjective
from .recipe import OwnRates, refuse
from .settings import RankerSettings

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
        encoder = self.ranker.encoder
        return GroupObjective(
            encoder.towers,
            self.loss,
            similarity=encoder.similarity,
            anchors=self.anchors,
            at_once=_ROOM * self.settings.training.batch_size,
        )

    def own_rates(self) -> OwnRates:
        return [(self.anchors, self.anchors.learn_rate)]

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int) -> GroupPlanner:
        encoder = self.ranker.encoder
        store = GroupStore(
            kb,
            mentions,
            candidates,
            encoder=encoder,
            hidden_share=self.settings.candidates.hide_names,
            rng=np.random.default_rng([seed, 23]),
        )
        size, pad_id = self.settings.training.batch_size, encoder.tokenizer.pad_token_id
        by_group = self.anchors.one_per_group
        return GroupPlanner(store, batch_size=size, count_groups=by_group, pad_id=pad_id, seed=seed)
