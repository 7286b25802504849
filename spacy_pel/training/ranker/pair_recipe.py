"""The recipe of cross-encoders."""

import numpy as np

from ...kb import KnowledgeBase
from ...linking.rankers.cross_encoder import CrossEncoder
from ...registry import registry
from .candidates import Candidates, RankMentions
from .pair_batches import PairPlanner, PairStore, with_gold
from .pair_objective import PairObjective
from .recipe import OwnRates, refuse
from .settings import RankerSettings


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

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int) -> PairPlanner:
        kb_rows, offsets = with_gold(candidates, mentions.gold, self.settings.candidates.n)
        template, tokenizer = self.ranker.template, self.ranker.tokenizer
        draw = np.random.default_rng([seed, 23]).random(len(mentions))
        hidden = draw < self.settings.candidates.hide_names
        store = PairStore(kb, mentions, kb_rows, offsets, template=template, tokenizer=tokenizer, hidden=hidden)
        size, pad_id = self.settings.training.batch_size, tokenizer.pad_token_id
        return PairPlanner(store, batch_size=size, pad_id=pad_id, seed=seed)
