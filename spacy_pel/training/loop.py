"""The trainer: steps, evaluations, checkpoints."""

import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import numpy as np
import torch

from ..data import read_corpus
from ..encoders.bi_encoder import BiEncoder
from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..util import logger
from .batches import BatchPlanner, PairBatch
from .checkpoint import Progress, load_checkpoint, read_progress, save_checkpoint
from .dev import DevRetrieval
from .device import make_accelerator
from .example_cache import cached_examples
from .metrics_log import MetricsLog
from .mined_file import read_mined
from .mining import Mining
from .objective import Objective, check_mixing
from .optimizer import make_optimizer, set_learn_rate
from .run_fingerprint import run_fingerprint
from .schedule import Schedule
from .settings import RunSettings
from .step_log import StepLog


class Trainer:
    """Trains a bi-encoder. All randomness follows from the seed and the step, so that the same
    seed gives the same model, killed and resumed or not (on the same machine and threads).

    settings (RunSettings): from ``read_settings``.
    output (Path): gets model-best, model-last, metrics.jsonl, steps.jsonl, checkpoint, cache and mining.
    gpu_id (int): -1 = CPU.
    """

    def __init__(self, settings: RunSettings, output: Path, *, gpu_id: int = -1, show_progress: bool = True):
        for name in ("kb", "train", "dev"):
            settings.paths.required(name)
        known = [f"recall@{k}" for k in settings.pel.training.dev.recall_at] + ["mrr"]
        if settings.pel.training.dev.metric not in known:
            raise PelError(Errors.E315.format(known=known, value=settings.pel.training.dev.metric))
        check_mixing(settings.pel.mixing, settings.pel.regularizer)
        self.settings = settings
        self.training = settings.pel.training
        self.output = Path(output)
        self.show_progress = show_progress
        self.accelerator = make_accelerator(
            gpu_id,
            mixed_precision=self.training.mixed_precision,
            accumulate_gradient=self.training.accumulate_gradient,
        )

    def run(self, *, resume: bool = False) -> Dict[str, Any]:
        """Train to the end.

        resume (bool): go on from the checkpoint in the output folder, if there is one.
        RETURNS (dict): the best evaluation: its step and figures.
        RAISES (PelError): if inputs are missing, or the output holds another training.
        """
        checkpoint = self.output / "checkpoint"
        if not resume and (checkpoint.exists() or (self.output / "model-last").exists()):
            raise PelError(Errors.E314.format(path=self.output))
        kb = KnowledgeBase.from_disk(self.settings.paths.required("kb"))
        dev_corpus = read_corpus(self.settings.paths.required("dev"))
        dev = DevRetrieval(kb, dev_corpus, self.training.dev, self.settings.seed)
        encoder = self._encoder()
        state = Progress(fingerprint=run_fingerprint(self.settings, kb))
        if resume and checkpoint.exists():
            read_progress(checkpoint, state.fingerprint)  # another run's is refused before any work
        planner = self._planner(kb, encoder)
        mining = self._mining(kb, planner)
        pel = self.settings.pel
        objective = Objective(
            encoder.towers,
            pel.loss,
            similarity=encoder.similarity,
            regularizer=pel.regularizer,
            mixing=pel.mixing,
        )
        optimizer: Any = make_optimizer(objective, self.training.optimizer)
        objective, optimizer = self.accelerator.prepare(objective, optimizer)
        if resume and checkpoint.exists():
            unwrapped = self.accelerator.unwrap_model(objective)
            state = load_checkpoint(checkpoint, unwrapped, optimizer, state.fingerprint)
            encoder.changed()
            if state.scaler and self.accelerator.scaler is not None:
                self.accelerator.scaler.load_state_dict(state.scaler)
            logger.info("Going on at step %d, epoch %d", state.step, state.epoch)
        log = MetricsLog(self.output / "metrics.jsonl", resume_at=state.step)
        steps = None
        if self.accelerator.is_main_process:
            steps = StepLog(self.output / "steps.jsonl", resume_at=state.step)
        best = self._train(encoder, planner, dev, mining, objective, optimizer, state, log, steps)
        if self.accelerator.is_main_process:
            encoder.to_disk(self.output / "model-last")
        return best

    def _encoder(self) -> BiEncoder:
        encoder = self.settings.pel.encoder
        # added word vectors are drawn when the weights are loaded
        torch.manual_seed(self.settings.seed)
        encoder.initialize()
        return encoder

    def _planner(self, kb: KnowledgeBase, encoder: BiEncoder) -> BatchPlanner:
        paths, pel = self.settings.paths, self.settings.pel
        cache = paths.cache or self.output / "cache"
        with self.accelerator.main_process_first():  # the others find its files
            store = cached_examples(self.settings, kb, encoder, cache, show_progress=self.show_progress)
        planner = BatchPlanner(
            store,
            views=pel.positives,
            negatives=pel.negatives,
            batch_size=self.training.batch_size,
            pad_id=encoder.tokenizer.pad_token_id,
            seed=self.settings.seed,
        )
        logger.info(
            "%d mentions, %d names, %d entities; %d batches an epoch",
            len(store.mentions),
            len(store.names),
            store.n_entities,
            planner.batches_per_epoch,
        )
        world = self.accelerator.num_processes
        if planner.batches_per_epoch < world:
            raise PelError(Errors.E318.format(world=world, came=planner.batches_per_epoch))
        return planner

    def _mining(self, kb: KnowledgeBase, planner: BatchPlanner) -> Mining:
        path, table = self.settings.paths.negatives, None
        if path is not None and planner.negatives.mined_depth:
            table = read_mined(path, kb, planner.store)
        accumulate, world = self.training.accumulate_gradient, self.accelerator.num_processes
        return Mining(
            Schedule(planner, self.training.mining, accumulate, world),
            self.output / "mining",
            table=table,
            is_main=self.accelerator.is_main_process,
            wait=self.accelerator.wait_for_everyone,
            show_progress=self.show_progress,
        )

    def _total_steps(self, planner: BatchPlanner) -> int:
        """Updates in all; the schedule ends there."""
        per_update = self.training.accumulate_gradient * self.accelerator.num_processes
        updates = self.training.max_epochs * (planner.batches_per_epoch // per_update or 1)
        return min(updates, self.training.max_steps) if self.training.max_steps else updates

    def _updates(self, planner: BatchPlanner, state: Progress) -> Iterator[PairBatch]:
        """This process's batches from where the training stands, without end."""
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        while True:
            plan = planner.plan(state.epoch)
            while state.batch + world <= len(plan):
                number = state.epoch * len(plan) + state.batch + rank
                batch = planner.build(plan[state.batch + rank], number)
                state.batch += world
                yield batch
            state.epoch, state.batch = state.epoch + 1, 0

    def _train(
        self,
        encoder: BiEncoder,
        planner: BatchPlanner,
        dev: DevRetrieval,
        mining: Mining,
        objective: Any,
        optimizer: Any,
        state: Progress,
        log: MetricsLog,
        steps: Optional[StepLog],
    ) -> Dict[str, Any]:
        total = self._total_steps(planner)
        batches = self._updates(planner, state)
        best: Dict[str, Any] = log.best(self.training.dev.metric)
        started, first, window = time.perf_counter(), state.step, log.window(total, show=self.show_progress)
        while state.step < total and not self._out_of_patience(state):
            mining.before_update(encoder, state, total)
            figures = self._update(objective, optimizer, batches, state.step, total)
            state.step += 1
            rate = (state.step - first) * planner.batch_size / (time.perf_counter() - started)
            window.add(state.step, figures, rate)
            if steps is not None:
                steps.add(state.step, figures)
            if state.step % self.training.eval_frequency == 0 or state.step == total:
                encoder.changed()
                scores = dev(encoder)
                record = log.write(state.step, state.epoch, window.mean(), scores, rate)
                better = self._keep_best(encoder, scores, state)
                best = record if better else best
                if steps is not None:
                    steps.flush()
                if self.accelerator.is_main_process:
                    if self.accelerator.scaler is not None:
                        state.scaler = self.accelerator.scaler.state_dict()
                    unwrapped = self.accelerator.unwrap_model(objective)
                    save_checkpoint(self.output / "checkpoint", unwrapped, optimizer, state)
                    mining.after_checkpoint(state)
        window.close()
        return best

    def _update(
        self, objective: Any, optimizer: Any, batches: Iterator[PairBatch], step: int, total: int
    ) -> Dict[str, float]:
        """One update of the weights from ``accumulate_gradient`` batches."""
        objective.train()
        torch.manual_seed(int(np.random.default_rng([self.settings.seed, 4, step]).integers(2**62)))
        factor = set_learn_rate(optimizer, step, total, self.training.optimizer.warmup)
        parts: List[Dict[str, float]] = []
        for _ in range(self.training.accumulate_gradient):
            with self.accelerator.accumulate(objective):
                loss, figures = objective(next(batches))
                parts.append({"loss": float(loss.detach()), **figures})
                self.accelerator.backward(loss)
                norm: Optional[Any] = None
                if self.accelerator.sync_gradients:
                    norm = self.accelerator.clip_grad_norm_(
                        objective.parameters(), self.training.optimizer.clip
                    )
                optimizer.step()
                optimizer.zero_grad()
        rate = factor * self.training.optimizer.learn_rate
        return {
            **{key: float(np.mean([part[key] for part in parts])) for key in parts[0]},
            "grad_norm": 0.0 if norm is None else float(norm),
            "learn_rate": rate,
        }

    def _keep_best(self, encoder: BiEncoder, scores: Dict[str, float], state: Progress) -> bool:
        score = scores[self.training.dev.metric]
        better = state.best is None or score > state.best
        state.stale = 0 if better else state.stale + 1
        if better:
            state.best = score
            if self.accelerator.is_main_process:
                encoder.to_disk(self.output / "model-best")
        return better

    def _out_of_patience(self, state: Progress) -> bool:
        return 0 < self.training.patience <= state.stale


def train(settings: RunSettings, output: Path, *, gpu_id: int = -1, resume: bool = False) -> Dict[str, Any]:
    """Train a bi-encoder; see ``Trainer``.

    RETURNS (dict): the best evaluation.
    """
    return Trainer(settings, output, gpu_id=gpu_id).run(resume=resume)
