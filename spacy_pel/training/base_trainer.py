"""The training loop: updates of the weights, evaluations, checkpoints, resuming."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import nn

from ..errors import Errors, PelError
from ..util import logger
from .checkpoint import Progress, load_checkpoint, save_checkpoint
from .device import make_accelerator
from .losses.balanced_loss import BalancedLoss
from .metrics_log import MetricsLog
from .optimizer import make_optimizer, set_learn_rate
from .settings import BaseTrainingSettings
from .step_log import StepLog

Metrics = dict[str, float]


class Trained(Protocol):
    """The model that is trained: an encoder or a ranker."""

    def initialize(self) -> None: ...  # load the initial weights

    def changed(self) -> None: ...  # the weights have changed

    def to_disk(self, path: Path) -> None: ...


class Planner(Protocol):
    """Plans epochs; the same seed and epoch give the same plan."""

    @property
    def batches_per_epoch(self) -> int: ...

    def plan(self, epoch: int) -> Sequence[Any]: ...


class BaseTrainer:
    """Trains a model. A subclass provides the data, the objective and the evaluation on dev.

    All randomness follows from the seed and the step: the same seed gives the same model, whether or not
    the run was interrupted (on the same machine, with the same number of threads).

    Args:
        training: length, learning rates, evaluation.
        output: receives model-best, model-last, metrics.jsonl, steps.jsonl and checkpoint.
        seed: random seed.
        gpu_id: -1 = CPU.
    """

    stream: ClassVar[int]  # number of the random stream; differs between trainings

    def __init__(
        self, training: BaseTrainingSettings, output: Path, *, seed: int, gpu_id: int = -1, show_progress: bool = True
    ):
        self.training = training
        self.output = Path(output)
        self.seed = seed
        self.show_progress = show_progress
        self.accelerator = make_accelerator(
            gpu_id, mixed_precision=training.mixed_precision, accumulate_gradient=training.accumulate_gradient
        )
        self._read = 0  # examples since this process started
        self._clipped: list[nn.Parameter] = []

    @property
    def checkpoint(self) -> Path:
        """Folder of the latest checkpoint."""
        return self.output / "checkpoint"

    def check_output(self, *, resume: bool) -> None:
        """Say so where there is nothing to resume.

        Raises:
            PelError: if the output folder holds a training that ``resume`` does not continue.
        """
        if self.checkpoint.exists():
            if not resume:
                raise PelError(Errors.E314.format(path=self.output))
        elif (self.output / "model-last").exists():
            raise PelError(Errors.E338.format(path=self.output))
        elif resume and self.accelerator.is_main_process:
            logger.info("There is no checkpoint yet in %s: starting at the beginning", self.output)

    def initialize(self, model: Trained) -> None:
        """Load the initial weights; vectors of added tokens are drawn with the seed."""
        torch.manual_seed(self.seed)
        model.initialize()

    def learn(
        self,
        model: Trained,
        objective: Any,
        planner: Planner,
        dev: Callable[[Any], Metrics],
        *,
        fingerprint: str,
        resume: bool,
        own_rates: Sequence[tuple[nn.Module, float]] = (),
    ) -> dict[str, Any]:
        """Train to the end.

        Args:
            model: whose weights are the objective's towers.
            objective: a batch -> the loss and metrics for the log; has ``towers`` and ``loss``.
            planner: of the batches.
            dev: model -> metrics, among them ``training.dev.metric``.
            fingerprint: identifies config and data; a checkpoint of another run is refused.
            resume: resume from the checkpoint in the output folder, if there is one.
                own_rates: modules in the objective that have their own learning rate, and its peak.

        Returns:
            The best evaluation: its step and metrics.

        Raises:
            PelError: if there are fewer batches than processes, or the checkpoint is another run's.
        """
        if planner.batches_per_epoch < self.accelerator.num_processes:
            raise PelError(Errors.E318.format(world=self.accelerator.num_processes, got=planner.batches_per_epoch))
        optimizer: Any = make_optimizer(objective, self.training.optimizer, own_rates)
        # gradients of modules with their own learning rate, and of a learned offset, whose similarities have
        # another scale than the weights, do not count in the others' norm
        own = [module for module, _ in own_rates]
        if isinstance(objective.loss, BalancedLoss):
            own.append(objective.loss)
        separate = {id(one) for module in own for one in module.parameters()}
        self._clipped = [one for one in objective.parameters() if id(one) not in separate]
        objective, optimizer = self.accelerator.prepare(objective, optimizer)
        state = Progress(fingerprint=fingerprint)
        if resume and self.checkpoint.exists():
            unwrapped = self.accelerator.unwrap_model(objective)
            state = load_checkpoint(self.checkpoint, unwrapped, optimizer, fingerprint)
            model.changed()
            if state.scaler and self.accelerator.scaler is not None:
                self.accelerator.scaler.load_state_dict(state.scaler)
            logger.info("Resuming at step %d, epoch %d", state.step, state.epoch)
        best = self._train(model, planner, dev, objective, optimizer, state)
        if self.accelerator.is_main_process:
            model.to_disk(self.output / "model-last")
        return best

    # -- what a subclass may override -----------------------------------------------------------

    def build(self, planner: Any, plan: Any, number: int) -> Any:
        """Make a batch.

        Args:
            plan: one of ``planner.plan(epoch)``.
            number: counts the batches of the whole training.

        Returns:
            Input of the objective; its length is the number of examples.
        """
        return planner.build(plan)

    def before_update(self, state: Progress, total: int) -> None:
        """Called before each of ``total`` updates."""

    def after_checkpoint(self, state: Progress) -> None:
        """Called after a checkpoint is written, in the main process."""

    # -- steps -----------------------------------------------------------------------------

    def _total_steps(self, planner: Planner) -> int:
        """Total number of updates, where the schedule ends."""
        per_update = self.training.accumulate_gradient * self.accelerator.num_processes
        updates = self.training.max_epochs * (planner.batches_per_epoch // per_update or 1)
        return min(updates, self.training.max_steps) if self.training.max_steps else updates

    def _updates(self, planner: Planner, state: Progress) -> Iterator[Any]:
        """This process's batches from the current position on, without end."""
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        while True:
            plan = planner.plan(state.epoch)
            while state.batch + world <= len(plan):
                number = state.epoch * len(plan) + state.batch + rank
                batch = self.build(planner, plan[state.batch + rank], number)
                state.batch += world
                yield batch
            state.epoch, state.batch = state.epoch + 1, 0

    def _train(
        self,
        model: Trained,
        planner: Planner,
        dev: Callable[[Any], Metrics],
        objective: Any,
        optimizer: Any,
        state: Progress,
    ) -> dict[str, Any]:
        total, world = self._total_steps(planner), self.accelerator.num_processes
        batches = self._updates(planner, state)
        log = MetricsLog(self.output / "metrics.jsonl", resume_at=state.step)
        steps: StepLog | None = None
        if self.accelerator.is_main_process:
            steps = StepLog(self.output / "steps.jsonl", resume_at=state.step)
        best: dict[str, Any] = log.best(self.training.dev.metric)
        started, window, self._read = time.perf_counter(), log.window(total, show=self.show_progress), 0
        while state.step < total and not 0 < self.training.patience <= state.stale:
            self.before_update(state, total)
            metrics = self._update(objective, optimizer, batches, state.step, total)
            state.step += 1
            rate = self._read * world / (time.perf_counter() - started)
            window.add(state.step, metrics, rate)
            if steps is not None:
                steps.add(state.step, metrics)
            if state.step % self.training.eval_frequency == 0 or state.step == total:
                model.changed()
                scores = dev(model)
                record = log.write(state.step, state.epoch, window.mean(), scores, rate)
                best = record if self._keep_best(model, scores, state) else best
                if steps is not None:
                    steps.flush()
                self._save(objective, optimizer, state)
        window.close()
        return best

    def _update(self, objective: Any, optimizer: Any, batches: Iterator[Any], step: int, total: int) -> Metrics:
        """One update of the weights from ``accumulate_gradient`` batches."""
        settings = self.training.optimizer
        objective.train()
        torch.manual_seed(int(np.random.default_rng([self.seed, self.stream, step]).integers(2**62)))
        rate = settings.learn_rate * set_learn_rate(optimizer, step, total, settings.warmup)
        parts: list[Metrics] = []
        norm = 0.0
        for _ in range(self.training.accumulate_gradient):
            with self.accelerator.accumulate(objective):
                batch = next(batches)
                self._read += len(batch)
                loss, metrics = objective(batch)
                parts.append({"loss": float(loss.detach()), **metrics})
                self.accelerator.backward(loss)
                if self.accelerator.sync_gradients:
                    norm = float(self.accelerator.clip_grad_norm_(self._clipped, settings.clip))
                optimizer.step()
                optimizer.zero_grad()
        means = {key: float(np.mean([part[key] for part in parts])) for key in parts[0]}
        return {**means, "grad_norm": norm, "learn_rate": rate}

    def _keep_best(self, model: Trained, scores: Metrics, state: Progress) -> bool:
        score = scores[self.training.dev.metric]
        better = state.best is None or score > state.best
        state.stale = 0 if better else state.stale + 1
        if better:
            state.best = score
            if self.accelerator.is_main_process:
                model.to_disk(self.output / "model-best")
        return better

    def _save(self, objective: Any, optimizer: Any, state: Progress) -> None:
        if not self.accelerator.is_main_process:
            return
        if self.accelerator.scaler is not None:
            state.scaler = self.accelerator.scaler.state_dict()
        save_checkpoint(self.checkpoint, self.accelerator.unwrap_model(objective), optimizer, state)
        self.after_checkpoint(state)
