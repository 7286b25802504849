"""The trainer of rankers: candidates, steps, evaluations, checkpoints."""

import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
import torch

from ..data import read_corpus
from ..errors import Errors, PelError
from ..linking import Linker
from ..types import Document
from ..util import fingerprint, logger
from ..util.ragged import segment_sum
from .checkpoint import Progress, load_checkpoint, save_checkpoint
from .device import make_accelerator
from .leave_out import LeaveOut
from .metrics_log import MetricsLog
from .optimizer import make_optimizer, set_learn_rate
from .rank_batches import are_gold
from .rank_candidates import Candidates, MakeQueries, RankMentions, cached_candidates
from .rank_dev import DevRanking
from .rank_recipe import Planner, recipe_of
from .rank_settings import RankRunSettings
from .run_fingerprint import describe
from .step_log import StepLog

# These end a training or look at it, and may change when it goes on.
_NO_MATTER = {"eval_frequency", "patience", "max_epochs", "max_steps", "dev"}


class RankTrainer:
    """Trains a ranker on the candidates of a linker. The same seed gives the same model, killed and
    resumed or not (on the same machine and threads).

    settings (RankRunSettings): from ``read_rank_settings``.
    output (Path): gets model-best, model-last, metrics.jsonl, steps.jsonl, checkpoint, candidates.
    linker (Linker): finds the candidates.
    queries (MakeQueries): asks about a document's mentions as in use.
    gpu_id (int): -1 = CPU.
    """

    def __init__(
        self,
        settings: RankRunSettings,
        output: Path,
        *,
        linker: Linker,
        queries: MakeQueries,
        gpu_id: int = -1,
        show_progress: bool = True,
    ):
        self.settings = settings
        self.ranker = settings.ranker.model
        self.training = settings.ranker.training
        self.output = Path(output)
        self.linker = linker
        self.queries = queries
        self.show_progress = show_progress
        self._read = 0  # mentions since this process began
        self.recipe = recipe_of(self.ranker, settings.ranker)
        if self.ranker.top_k < settings.ranker.candidates.n:
            raise PelError(Errors.E393.format(n=settings.ranker.candidates.n, top_k=self.ranker.top_k))
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
        torch.manual_seed(self.settings.seed)  # added word vectors are drawn when the weights are loaded
        self.ranker.initialize()
        (mentions, candidates), dev = self.prepare()
        state = Progress(fingerprint=self._fingerprint(mentions, candidates))
        planner = self._planner(mentions, candidates)
        objective, own = self.recipe.objective(), self.recipe.own_rates()
        optimizer: Any = make_optimizer(objective, self.training.optimizer, own)
        prepared, optimizer = self.accelerator.prepare(objective, optimizer)
        if resume and checkpoint.exists():
            state = load_checkpoint(checkpoint, objective, optimizer, state.fingerprint)
            self.ranker.changed()
            if state.scaler and self.accelerator.scaler is not None:
                self.accelerator.scaler.load_state_dict(state.scaler)
            logger.info("Going on at step %d, epoch %d", state.step, state.epoch)
        log = MetricsLog(self.output / "metrics.jsonl", resume_at=state.step)
        steps = StepLog(self.output / "steps.jsonl", resume_at=state.step)
        best = self._train(planner, dev, prepared, optimizer, state, log, steps)
        self.ranker.to_disk(self.output / "model-last")
        return best

    # -- data ------------------------------------------------------------------------------

    def prepare(self) -> Tuple[Tuple[RankMentions, Candidates], DevRanking]:
        """Find the candidates, or read those that an earlier run has found.

        RETURNS (tuple): the training mentions and their candidates, and what measures on dev.
        RAISES (PelError): if inputs are missing, or no mention's entity is in the KB.
        """
        paths, wanted = self.settings.paths, self.settings.ranker.candidates
        train, dev = (list(read_corpus(paths.required(name))) for name in ("train", "dev"))
        leave_out = self._leave_out(train) if wanted.folds else None
        found = self._candidates("train", train, self.training.limit, wanted.folds, leave_out)
        # dev documents, all at once: an index that holds none of them stays as it is
        tested = self._candidates("dev", dev, self.training.dev.n_mentions, 1, leave_out)
        ranking = DevRanking(self.linker.kb, *tested)
        figures = ranking.retriever().items()
        logger.info("dev: %s", ", ".join(f"{name} {value:.4f}" for name, value in figures))
        return found, ranking

    def _leave_out(self, train: List[Document]) -> Optional[LeaveOut]:
        index = self.linker.index
        if index is None or (not index.rows.count("mention") and not len(index.priors)):
            return None  # names alone are known
        paths = self.settings.paths.mentions
        documents = [document for path in paths for document in read_corpus(path)] if paths else train
        return LeaveOut(self.linker.kb, index, documents)

    def _candidates(
        self, name: str, documents: List[Document], limit: int, folds: int, leave_out: Optional[LeaveOut]
    ) -> Tuple[RankMentions, Candidates]:
        mentions = RankMentions.read(
            self.linker,
            documents,
            self.queries,
            limit=limit,
            seed=self.settings.seed,
            whole_documents=self.recipe.whole_documents,
        )
        if not len(mentions):
            raise PelError(Errors.E392.format(what=self.settings.paths.required(name)))
        candidates = cached_candidates(
            (self.settings.paths.cache or self.output / "candidates") / f"{name}.npz",
            self.linker,
            mentions,
            n=self.settings.ranker.candidates.n,
            folds=folds,
            leave_out=leave_out,
            show_progress=self.show_progress,
        )
        return mentions, candidates

    def _planner(self, mentions: RankMentions, candidates: Candidates) -> Planner:
        kb, seed = self.linker.kb, self.settings.seed
        planner = self.recipe.planner(kb, mentions, candidates, seed)
        right = are_gold(candidates.kb_rows, candidates.offsets, mentions.gold)
        n_missed = int((segment_sum(right, candidates.offsets) == 0).sum())
        logger.info(
            "%d mentions with %d candidates (gold added to %d); %d batches an epoch",
            *(len(mentions), len(candidates.kb_rows), n_missed, planner.batches_per_epoch),
        )
        return planner

    def _fingerprint(self, mentions: RankMentions, candidates: Candidates) -> str:
        """Of everything that decides the training."""
        parts = "".join(describe(part) for part in self.recipe.parts)
        texts = [f"{query.start}:{query.end}:{query.text}" for query in mentions.queries]
        arrays = [
            mentions.document.tobytes(),
            candidates.kb_rows.tobytes(),
            candidates.offsets.tobytes(),
            *(g.tobytes() for g in mentions.gold),
        ]
        training = self.training.model_dump(exclude=_NO_MATTER)
        hide = self.settings.ranker.candidates.hide_names
        origin = (self.linker.kb.fingerprint, self.ranker.fingerprint, *texts)
        return fingerprint(self.settings.seed, training, parts, hide, *origin, *arrays)

    # -- steps -----------------------------------------------------------------------------

    def _updates(self, planner: Planner, state: Progress) -> Iterator[Any]:
        """Batches from where the training stands, without end."""
        while True:
            plan = planner.plan(state.epoch)
            while state.batch < len(plan):
                batch = planner.build(plan[state.batch])
                state.batch += 1
                yield batch
            state.epoch, state.batch = state.epoch + 1, 0

    def _train(
        self,
        planner: Planner,
        dev: DevRanking,
        objective: Any,
        optimizer: Any,
        state: Progress,
        log: MetricsLog,
        steps: StepLog,
    ) -> Dict[str, Any]:
        settings = self.training
        total = settings.max_epochs * max(1, planner.batches_per_epoch // settings.accumulate_gradient)
        total = min(total, settings.max_steps) if settings.max_steps else total
        batches = self._updates(planner, state)
        best: Dict[str, Any] = log.best(settings.dev.metric)
        started, window, self._read = time.perf_counter(), log.window(total, show=self.show_progress), 0
        while state.step < total and not 0 < settings.patience <= state.stale:
            figures = self._update(objective, optimizer, batches, state.step, total)
            state.step += 1
            steps.add(state.step, figures)
            rate = self._read / (time.perf_counter() - started)
            window.add(state.step, figures, rate)
            if state.step % settings.eval_frequency == 0 or state.step == total:
                self.ranker.changed()
                scores = dev(self.ranker)
                record = log.write(state.step, state.epoch, window.mean(), scores, rate)
                better = state.best is None or scores[settings.dev.metric] > state.best
                state.stale = 0 if better else state.stale + 1
                if better:
                    best, state.best = record, scores[settings.dev.metric]
                    self.ranker.to_disk(self.output / "model-best")
                if self.accelerator.scaler is not None:
                    state.scaler = self.accelerator.scaler.state_dict()
                steps.flush()
                save_checkpoint(
                    self.output / "checkpoint", self.accelerator.unwrap_model(objective), optimizer, state
                )
        window.close()
        return best

    def _update(
        self, objective: Any, optimizer: Any, batches: Iterator[Any], step: int, total: int
    ) -> Dict[str, float]:
        """One update of the weights from ``accumulate_gradient`` batches."""
        settings = self.training.optimizer
        objective.train()
        torch.manual_seed(int(np.random.default_rng([self.settings.seed, 22, step]).integers(2**62)))
        rate = settings.learn_rate * set_learn_rate(optimizer, step, total, settings.warmup)
        parts: List[Dict[str, float]] = []
        norm = 0.0
        for _ in range(self.training.accumulate_gradient):
            with self.accelerator.accumulate(objective):
                batch = next(batches)
                self._read += len(batch)
                loss, figures = objective(batch)
                parts.append({"loss": float(loss.detach()), **figures})
                self.accelerator.backward(loss)
                if self.accelerator.sync_gradients:
                    # what has a learning rate of its own does not shorten the towers' steps
                    towers = self.accelerator.unwrap_model(objective).towers
                    norm = float(self.accelerator.clip_grad_norm_(towers.parameters(), settings.clip))
                optimizer.step()
                optimizer.zero_grad()
        means = {key: float(np.mean([part[key] for part in parts])) for key in parts[0]}
        shown = {f"train_{name}" if name == "accuracy" else name: value for name, value in means.items()}
        return {**shown, "grad_norm": norm, "learn_rate": rate}
