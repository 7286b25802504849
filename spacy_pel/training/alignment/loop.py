"""Aligning a bi-encoder on names: SapBERT's self-alignment (Liu et al. 2021) on open knowledge bases."""

from pathlib import Path
from typing import Any

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...util import fingerprint, logger
from ..base_trainer import BaseTrainer
from ..checkpoint import read_progress
from ..describe import describe
from ..retriever.batches import PairBatch
from ..settings import NOT_FINGERPRINTED
from .batches import SynonymPlanner
from .dev import HeldOutNames
from .objective import BothWays
from .settings import AlignRunSettings
from .synonyms import Synonyms


class AlignTrainer(BaseTrainer):
    """Trains a bi-encoder on pairs of names of one entity; see ``BaseTrainer`` on reproducibility.

    The other names in a batch are the negatives, unless they may name the same thing (``Synonyms.related``).

    Args:
        settings: from ``read_align_settings``.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl and checkpoint.
        gpu_id: -1 = CPU.
    """

    stream = 31

    def __init__(self, settings: AlignRunSettings, output: Path, *, gpu_id: int = -1, show_progress: bool = True):
        dev = settings.pel.training.dev
        known = [f"recall@{k}" for k in dev.recall_at]
        if dev.metric not in known:
            raise PelError(Errors.E315.format(known=known, value=dev.metric))
        super().__init__(settings.pel.training, output, seed=settings.seed, gpu_id=gpu_id, show_progress=show_progress)
        self.settings = settings

    def run(self, *, resume: bool = False) -> dict[str, Any]:
        """Train to the end.

        Args:
            resume: resume from the checkpoint in the output folder, if there is one.

        Returns:
            The best evaluation: its step and metrics.

        Raises:
            PelError: if inputs are missing, no entity has two names, or the output holds another
                training.
        """
        self.check_output(resume=resume)
        pel, paths = self.settings.pel, self.settings.paths
        kbs = {name: KnowledgeBase.from_disk(path) for name, path in paths.kbs.items()}
        self.initialize(pel.encoder)
        run = self._fingerprint(kbs)
        if resume and self.checkpoint.exists():
            read_progress(self.checkpoint, run)  # refuse a checkpoint of another run before any work
        synonyms = Synonyms.of(kbs)
        dev = HeldOutNames(synonyms, list(kbs), pel.training.dev, self.seed)
        planner = SynonymPlanner(
            synonyms,
            pel.encoder,
            held_out=dev.entities,
            marked=pel.marked,
            noise=pel.noise,
            batch_size=self.training.batch_size,
            seed=self.seed,
        )
        if not len(planner.entities):
            raise PelError(Errors.E319.format(paths=", ".join(map(str, paths.kbs.values()))))
        logger.info(
            "%d names of %d entities, %d of them to train on; shares: %s",
            *(len(synonyms.texts), synonyms.n_entities, len(planner.entities)),
            ", ".join(f"{name} {share:.3f}" for name, share in zip(kbs, planner.shares, strict=True)),
        )
        objective = BothWays(pel.encoder.towers, pel.loss, similarity=pel.encoder.similarity)
        return self.learn(pel.encoder, objective, planner, dev, fingerprint=run, resume=resume)

    def build(self, planner: SynonymPlanner, plan: Any, number: int) -> PairBatch:
        return planner.build(plan, number)

    def _fingerprint(self, kbs: dict[str, KnowledgeBase]) -> str:
        """Of settings, initial weights and data."""
        pel = self.settings.pel
        return fingerprint(
            self.seed,
            pel.training.model_dump(exclude=NOT_FINGERPRINTED),
            pel.noise.model_dump(),
            pel.marked,
            describe(pel.loss),
            pel.encoder.fingerprint,
            *(kb.fingerprint for kb in kbs.values()),
        )
