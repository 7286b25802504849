"""Training rankers on the candidates of a linker, with accuracy on dev."""

from pathlib import Path
from typing import Any

import numpy as np

from ...corpora import read_corpus, read_gold
from ...errors import Errors, PelError, Warnings
from ...kb import KnowledgeBase
from ...linking import Linker
from ...linking.combiner import is_gold
from ...types import Document, RankedRows, Ranker, RankingTask
from ...util import fingerprint, logger
from ..base_trainer import BaseTrainer, Task
from ..checkpoint import describe
from ..settings import NOT_FINGERPRINTED
from .candidates import MakeQueries, RankMentions, cached_candidates
from .settings import RankRunSettings, recipe_of


class RankTrainer(BaseTrainer):
    """Trains a ranker on the candidates of a linker; see ``BaseTrainer`` on reproducibility.

    Args:
        settings: from ``read_rank_settings``.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl, learning_curve.png, checkpoint, candidates.
        linker: finds the candidates.
        queries: makes the linker's queries from a document, as at inference.
        gpu_id: -1 = CPU.
    """

    stream = 22

    def __init__(
        self, settings: RankRunSettings, output: Path, *, linker: Linker, queries: MakeQueries, gpu_id: int = -1
    ):
        self.settings = settings
        self.ranker = settings.ranker.model
        self.linker = linker
        self.queries = queries
        self.recipe = recipe_of(self.ranker, settings.ranker)
        training = settings.ranker.training
        super().__init__(self.ranker, training, output, seed=settings.seed, gpu_id=gpu_id)

    def load_data(self) -> None:
        """Find the candidates, or read those of an earlier run; set up the evaluation on dev."""
        paths = self.settings.paths
        train, dev = list(read_corpus(paths.required("train"))), list(read_gold(paths.required("dev")))
        index = self.linker.index
        if index is not None and len(index.priors):
            logger.warning(Warnings.W303.format(n=f"{len(index.priors):,}"))
        self.mentions, self.candidates = self._candidates("train", train, self.training.limit)
        self.dev = DevRanking(self.linker.kb, *self._candidates("dev", dev, self.training.dev.n_mentions))
        metrics = self.dev.retriever().items()
        logger.info("dev: %s", ", ".join(f"{name} {value:.4f}" for name, value in metrics))

    def fingerprint(self) -> str:
        """A hash of all that determines the training."""
        mentions, candidates = self.mentions, self.candidates
        parts = "".join(describe(part) for part in self.recipe.parts)
        texts = [f"{query.start}:{query.end}:{query.text}" for query in mentions.queries]
        arrays = [mentions.document, candidates.kb_rows, *mentions.gold]
        training = self.training.model_dump(exclude={*NOT_FINGERPRINTED, "dev"})
        hide = self.settings.ranker.candidates.hide_names
        origin = (self.linker.kb.fingerprint, self.ranker.fingerprint, *texts)
        return fingerprint(self.seed, training, parts, hide, *origin, *(array.tobytes() for array in arrays))

    def make_task(self) -> Task:
        candidates = self.candidates
        objective = self.recipe.objective()
        planner = self.recipe.planner(self.linker.kb, self.mentions, candidates, self.seed)
        right = is_gold(candidates.kb_rows, self.mentions.gold)
        logger.info(
            "%d mentions with %d candidates (gold added to %d); %d batches per epoch",
            *(len(self.mentions), int((candidates.kb_rows >= 0).sum())),
            *(int((~right.any(axis=1)).sum()), planner.batches_per_epoch),
        )
        return Task(objective, planner, self.dev, self.recipe.own_rates())

    def _candidates(self, name: str, documents: list[Document], limit: int) -> tuple[RankMentions, RankedRows]:
        how: Any = {"limit": limit, "seed": self.seed, "whole_documents": self.recipe.whole_documents}
        mentions = RankMentions.read(self.linker, documents, self.queries, **how)
        if not len(mentions):
            raise PelError(Errors.E392.format(what=self.settings.paths.required(name)))
        folder, n = self.settings.paths.cache or self.output / "candidates", self.settings.ranker.candidates.n
        return mentions, cached_candidates(folder / f"{name}.npz", self.linker, mentions, n=n)


class DevRanking:
    """Ranks the retriever's candidates of dev mentions; the gold entity is not added. All mentions
    whose entity is in the KB count (unnormalised): those whose entity the retriever missed are errors.

    Args:
        kb: holds the entities.
        mentions: of the dev corpus.
        candidates: of the retriever.
    """

    def __init__(self, kb: KnowledgeBase, mentions: RankMentions, candidates: RankedRows):
        self.task = RankingTask.of([query.in_text for query in mentions.queries], candidates.kb_rows, kb.entity_at)
        self.right = is_gold(candidates.kb_rows, mentions.gold)
        self.scores = candidates.scores

    def retriever(self) -> dict[str, float]:
        """ "retriever_accuracy", and "retriever_recall", the upper bound of every ranker."""
        has_right = self.right.any(axis=1)
        return {"retriever_accuracy": self._accuracy(self.scores), "retriever_recall": float(has_right.mean())}

    def __call__(self, ranker: Ranker) -> dict[str, float]:
        """ "accuracy" of the ranker's order."""
        return {"accuracy": self._accuracy(ranker.score(self.task)), **self.retriever()}

    def _accuracy(self, scores: np.ndarray) -> float:
        first = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)[:, None]
        return float(np.take_along_axis(self.right, first, axis=1).mean())
