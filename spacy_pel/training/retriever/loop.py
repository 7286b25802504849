"""Training bi-encoders: examples, hard negatives, and retrieval on dev."""

from pathlib import Path
from typing import Any

from ...corpora import read_gold
from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...util import logger
from ..base_trainer import BaseTrainer
from ..checkpoint import Progress, read_progress
from .batches import BatchPlanner, PairBatch
from .dev import DevRetrieval
from .distillation import Distillation
from .example_cache import cached_examples
from .example_store import ExampleStore
from .fingerprint import run_fingerprint
from .mine_corpus import read_mined_negatives
from .miner import Miner
from .objective import Objective, check_mixing
from .rows.batches import RowPlanner
from .rows.checks import check_rows
from .rows.dev import RowRetrieval
from .rows.memory import RowMemory
from .rows.objective import RowObjective
from .settings import RunSettings
from .teacher import Teacher, check_teacher, load_teacher


class Trainer(BaseTrainer):
    """Trains a bi-encoder; see ``BaseTrainer`` on reproducibility.

    Args:
        settings: from ``read_settings``.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl, checkpoint, cache and mining.
        gpu_id: -1 = CPU.
    """

    stream = 4
    teacher: Teacher | None = None

    def __init__(self, settings: RunSettings, output: Path, *, gpu_id: int = -1, show_progress: bool = True):
        for name in ("kb", "train", "dev"):
            settings.paths.required(name)
        dev = settings.pel.training.dev
        known = [f"recall@{k}" for k in dev.recall_at] + ["mrr"]
        if dev.metric not in known:
            raise PelError(Errors.E315.format(known=known, value=dev.metric))
        check_mixing(settings.pel.mixing, settings.pel.regularizer)
        check_teacher(settings.pel)
        super().__init__(settings.pel.training, output, seed=settings.seed, gpu_id=gpu_id, show_progress=show_progress)
        self.settings = settings
        if settings.pel.rows is not None:
            check_rows(settings.pel, processes=self.accelerator.num_processes)

    def run(self, *, resume: bool = False) -> dict[str, Any]:
        """Train to the end.

        Args:
            resume: resume from the checkpoint in the output folder, if there is one.

        Returns:
            The best evaluation: its step and metrics.

        Raises:
            PelError: if inputs are missing, or the output holds another training.
        """
        self.check_output(resume=resume)
        pel, paths = self.settings.pel, self.settings.paths
        kb = KnowledgeBase.from_disk(paths.required("kb"))
        retrieval = DevRetrieval if pel.rows is None else RowRetrieval
        self.dev = retrieval(kb, read_gold(paths.required("dev")), pel.training.dev, self.seed)
        teacher = load_teacher(pel)
        self.encoder = pel.encoder
        self.initialize(self.encoder)
        fingerprint = run_fingerprint(self.settings, kb)
        if resume and self.checkpoint.exists():
            read_progress(self.checkpoint, fingerprint)  # refuse a checkpoint of another run before any work
        planner = self._planner(kb, self.encoder)
        self.teacher = None if teacher is None else self._teacher(kb, teacher)
        self.miner = self._miner(kb, planner)
        resumes = resume and self.checkpoint.exists()
        objective = self._objective(planner, resumes=resumes)
        return self.learn(self.encoder, objective, planner, self.dev, fingerprint=fingerprint, resume=resume)

    def build(self, planner: BatchPlanner, plan: Any, number: int) -> PairBatch:
        batch = planner.build(plan, number)
        if self.teacher is not None:
            batch.targets = self.teacher.targets(planner, plan, number)
        return batch

    def before_update(self, state: Progress, total: int) -> None:
        self.miner.before_update(self.encoder, state, total)

    def after_checkpoint(self, state: Progress) -> None:
        self.miner.after_checkpoint(state)

    def make_planner(self, kb: KnowledgeBase, store: ExampleStore, *, pad_id: int) -> BatchPlanner:
        """Plans epochs over the examples; a subclass may return another kind."""
        pel = self.settings.pel
        settings: dict[str, Any] = {
            "views": pel.positives,
            "negatives": pel.negatives,
            "batch_size": self.training.batch_size,
            "pad_id": pad_id,
            "seed": self.seed,
        }
        if pel.rows is not None:
            return RowPlanner(store, rows=pel.rows, **settings)
        return BatchPlanner(store, **settings)

    def _objective(self, planner: BatchPlanner, *, resumes: bool) -> Objective:
        """Args:
        resumes: the vectors of rows will be read from the checkpoint.
        """
        pel, encoder = self.settings.pel, self.encoder
        if pel.rows is None:
            distillation = None
            if pel.teacher is not None:
                distillation = Distillation(weight=pel.teacher.weight, scale=pel.teacher.scale)
            return Objective(
                encoder.towers,
                pel.loss,
                similarity=encoder.similarity,
                regularizer=pel.regularizer,
                mixing=pel.mixing,
                distillation=distillation,
            )
        if not isinstance(planner, RowPlanner) or not isinstance(self.dev, RowRetrieval):
            raise PelError(Errors.E355.format(why="this kind of training draws its batches in its own way"))
        memory = RowMemory(len(planner.rows), encoder.width)
        if not resumes:
            encoder.towers.to(self.accelerator.device)
            encoder.changed()
            memory.fill(encoder, planner.store, show_progress=self.show_progress)
        self.dev.search_in(planner.rows, memory)
        return RowObjective(
            encoder.towers, pel.loss, similarity=encoder.similarity, memory=memory, rows=planner.rows, settings=pel.rows
        )

    def _planner(self, kb: KnowledgeBase, encoder: BiEncoder) -> BatchPlanner:
        store = self._examples(kb, encoder)
        planner = self.make_planner(kb, store, pad_id=encoder.tokenizer.pad_token_id)
        logger.info(
            "%d mentions, %d names, %d entities; %d batches per epoch",
            len(store.mentions),
            len(store.names),
            store.n_entities,
            planner.batches_per_epoch,
        )
        return planner

    def _teacher(self, kb: KnowledgeBase, encoder: BiEncoder) -> Teacher:
        """With the same examples as the planner of the training, tokenised for it."""
        store = self._examples(kb, encoder)
        planner = self.make_planner(kb, store, pad_id=encoder.tokenizer.pad_token_id)
        return Teacher(encoder, planner, self.accelerator)

    def _examples(self, kb: KnowledgeBase, encoder: BiEncoder) -> ExampleStore:
        cache = self.settings.paths.cache or self.output / "cache"
        with self.accelerator.main_process_first():  # the other processes read its files
            return cached_examples(self.settings, kb, encoder, cache, show_progress=self.show_progress)

    def _miner(self, kb: KnowledgeBase, planner: BatchPlanner) -> Miner:
        path, table = self.settings.paths.negatives, None
        if path is not None and planner.negatives.mined_depth:
            table = read_mined_negatives(path, kb, planner.store)
        return Miner(
            planner,
            self.settings.pel.training.mining,
            self.output / "mining",
            accumulate=self.training.accumulate_gradient,
            world=self.accelerator.num_processes,
            table=table,
            is_main=self.accelerator.is_main_process,
            wait=self.accelerator.wait_for_everyone,
            show_progress=self.show_progress,
        )


def train(settings: RunSettings, output: Path, *, gpu_id: int = -1, resume: bool = False) -> dict[str, Any]:
    """Train a bi-encoder; see ``Trainer``.

    Returns:
        The best evaluation.
    """
    return Trainer(settings, output, gpu_id=gpu_id).run(resume=resume)
