"""The recipe of cross-encoders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...kb import KnowledgeBase
from ...registry import registry
from ..rankers.cross_encoder import CrossEncoder
from ..regularizers import Regularizer
from .candidates import Candidates, RankMentions
from .pair_batches import PairPlanner, PairStore, PairTable, with_gold
from .recipe import OwnRates, refuse
from .settings import RankerSettings


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
        """The mean loss, and metrics for the log: "accuracy" among the candidates,
        and "loss_adversarial" with a regularizer.
        """
        device = next(self.parameters()).device
        ids, mask, places, present, right = (
            torch.from_numpy(array).to(device)
            for array in (batch.ids, batch.mask, batch.places, batch.present, batch.right)
        )

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
            metrics = {"accuracy": float(right.gather(1, best).float().mean())}
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

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int) -> PairPlanner:
        kb_rows = with_gold(candidates, mentions.gold)
        template, tokenizer = self.ranker.template, self.ranker.tokenizer
        draw = np.random.default_rng([seed, 23]).random(len(mentions))
        hidden = draw < self.settings.candidates.hide_names
        store = PairStore(kb, mentions, kb_rows, template=template, tokenizer=tokenizer, hidden=hidden)
        size, pad_id = self.settings.training.batch_size, tokenizer.pad_token_id
        return PairPlanner(store, batch_size=size, pad_id=pad_id, seed=seed)
