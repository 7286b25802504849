"""The training loop: updates of the weights, evaluations, checkpoints, resuming."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from ..errors import Errors, PelError, Warnings
from ..util import logger
from .checkpoint import Progress, load_checkpoint, read_progress, save_checkpoint
from .optimizer import find_device, make_optimizer, set_learn_rate, uses_bfloat16
from .settings import BaseTrainingSettings
from .training_log import Metrics, TrainingLog, shown


@dataclass
class Task:
    """What is trained, and how it is measured.

    objective: a batch -> the loss and metrics for the log; has ``towers``, the model's weights, and ``loss``.
    planner: plans epochs; the same seed and epoch give the same plan. ``batches_per_epoch`` is their number,
        ``plan(epoch)`` the sequence of their plans, and ``build(plan, number)`` the input of the objective, whose
        length is the number of examples; the number counts the batches of a training.
    dev: the model -> metrics, among them ``training.dev.metric``.
    own_rates: modules in the objective that have their own learning rate, and its peak.
    """

    objective: Any
    planner: Any
    dev: Callable[[Any], Metrics]
    own_rates: Sequence[tuple[nn.Module, float]] = ()


class BaseTrainer:
    """Trains a model, an encoder or a ranker, with ``initialize()``, ``changed()`` and ``to_disk(path)``. A
    subclass provides the data, the objective and the evaluation on dev.

    All randomness follows from the seed and the step: the same seed gives the same model, whether or not
    the run was interrupted (on the same machine, with the same number of threads).

    Args:
        model: to be trained; its initial weights are loaded by ``run``.
        training: length, learning rates, evaluation.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl, learning_curve.png and checkpoint.
        seed: random seed.
        gpu_id: -1 = CPU.
    """

    stream: ClassVar[int]  # number of the random stream; differs between trainings

    def __init__(self, model: Any, training: BaseTrainingSettings, output: Path, *, seed: int, gpu_id: int = -1):
        self.model = model
        self.training = training
        self.output = Path(output)
        self.checkpoint = self.output / "checkpoint"  # folder of the latest one
        self.seed = seed
        self.device = find_device(gpu_id)
        self.bfloat16 = uses_bfloat16(training.mixed_precision, self.device)
        self._n_read = 0  # examples since this process started
        self._clipped: list[nn.Parameter] = []

    def run(self, *, resume: bool = False) -> dict[str, Any]:
        """Train to the end.

        Args:
            resume: resume from the checkpoint in the output folder, if there is one.

        Returns:
            The best evaluation: its step and metrics.

        Raises:
            PelError: if inputs are missing, or the output holds another training.
        """
        self._check_output(resume=resume)
        self.load_data()
        torch.manual_seed(self.seed)  # vectors of added tokens are drawn
        self.model.initialize()
        fingerprint = self.fingerprint()
        resume = resume and self.checkpoint.exists()
        if resume:
            read_progress(self.checkpoint, fingerprint)  # refuse a checkpoint of another run before any work
        return self._train(self.make_task(), Progress(fingerprint=fingerprint), resume=resume)

    # -- what a subclass provides, or may override ----------------------------------------------

    def load_data(self) -> None:
        """Read what the fingerprint depends on, before the model is initialised."""

    def fingerprint(self) -> str:
        """Identifies config and data; a checkpoint of another run is refused."""
        raise NotImplementedError

    def make_task(self) -> Task:
        """Called once the model has its initial weights."""
        raise NotImplementedError

    def before_update(self, state: Progress, total: int) -> None:
        """Called before each of ``total`` updates."""

    def after_checkpoint(self, state: Progress) -> None:
        """Called after a checkpoint is written."""

    # -- steps -----------------------------------------------------------------------------

    def _check_output(self, *, resume: bool) -> None:
        if self.checkpoint.exists():
            if not resume:
                raise PelError(Errors.E314.format(path=self.output))
        elif (self.output / "model-last").exists():
            raise PelError(Errors.E338.format(path=self.output))
        elif resume:
            logger.info("There is no checkpoint yet in %s: starting at the beginning", self.output)

    def _batches(self, planner: Any, state: Progress) -> Iterator[Any]:
        """The batches from the current position on, without end."""
        while True:
            plan = planner.plan(state.epoch)
            while state.batch < len(plan):
                batch = planner.build(plan[state.batch], state.epoch * len(plan) + state.batch)
                state.batch += 1
                yield batch
            state.epoch, state.batch = state.epoch + 1, 0

    def _train(self, task: Task, state: Progress, *, resume: bool) -> dict[str, Any]:
        objective = task.objective.float().to(self.device)  # saved word embeddings may be in half precision
        optimizer = make_optimizer(objective, self.training.optimizer, task.own_rates)
        # gradients of modules with their own learning rate do not count in the others' norm
        excluded = {id(parameter) for module, _ in task.own_rates for parameter in module.parameters()}
        self._clipped = [parameter for parameter in objective.parameters() if id(parameter) not in excluded]
        if resume:
            state = load_checkpoint(self.checkpoint, objective, optimizer, state.fingerprint)
            self.model.changed()
            logger.info("Resuming at step %d, epoch %d", state.step, state.epoch)
        total, batches = self.training.n_updates(task.planner.batches_per_epoch), self._batches(task.planner, state)
        metric = self.training.dev.metric
        log = TrainingLog(self.output, resume_at=state.step, total=total, metric=metric)
        if state.step == 0:
            self.model.changed()
            log.add_evaluation(0, 0, task.dev(self.model))
        best, every = log.best(), self.training.evaluate_every(total)
        started, self._n_read = time.perf_counter(), 0
        while state.step < total and not 0 < self.training.patience <= state.stale:
            self.before_update(state, total)
            metrics = self._update(objective, optimizer, batches, state.step, total)
            state.step += 1
            rate = self._n_read / (time.perf_counter() - started)
            log.add_step(state.step, metrics, rate)
            if state.step % every == 0 or state.step == total:
                self.model.changed()
                scores = task.dev(self.model)
                record = log.add_evaluation(state.step, state.epoch, scores, rate)
                best = record if self._keep_best(scores, state) else best
                save_checkpoint(self.checkpoint, objective, optimizer, state)
                self.after_checkpoint(state)
        self.model.to_disk(self.output / "model-last")
        log.close()
        if best and best[metric] <= log.records[0][metric]:
            before, after = (shown(metric, record[metric]) for record in (log.records[0], best))
            logger.warning(Warnings.W301.format(metric=metric, before=before, best=after))
        return best

    def _update(self, objective: Any, optimizer: Any, batches: Iterator[Any], step: int, total: int) -> Metrics:
        """One update of the weights from ``accumulate_gradient`` batches."""
        settings, n_batches = self.training.optimizer, self.training.accumulate_gradient
        objective.train()
        torch.manual_seed(int(np.random.default_rng([self.seed, self.stream, step]).integers(2**62)))
        rate = settings.learn_rate * set_learn_rate(optimizer, step, total, settings.warmup)
        parts: list[Metrics] = []
        for _ in range(n_batches):
            batch = next(batches)
            self._n_read += len(batch)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16):
                loss, metrics = objective(batch)
            (loss / n_batches).backward()
            parts.append({"loss": float(loss.detach()), **metrics})
        norm = float(nn.utils.clip_grad_norm_(self._clipped, settings.clip))
        optimizer.step()
        optimizer.zero_grad()
        means = {key: float(np.mean([part[key] for part in parts])) for key in parts[0]}
        return {**means, "grad_norm": norm, "learn_rate": rate}

    def _keep_best(self, scores: Metrics, state: Progress) -> bool:
        score = scores[self.training.dev.metric]
        better = state.best is None or score > state.best
        state.stale = 0 if better else state.stale + 1
        if better:
            state.best = score
            self.model.to_disk(self.output / "model-best")
        return better
