"""Studies of bi-encoders over worlds: trained on some ontologies or wikis, measured on others."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.evaluation.metrics.all_metrics import RECALL_AT
from spacy_pel.evaluation.outcomes import Prediction
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import RunSettings
from spacy_pel.util import fingerprint

from ..retrieval import evaluate_retrieval
from ..worlds.group_recall import GroupOutcomes, GroupTable, recall_by_group
from ..worlds.ranking import by_encoder
from ..worlds.unseen_world import UnseenWorld
from ..worlds.worlds import WorldTrainer, join_worlds
from .encoder_task import EncoderTask
from .plan import StudyRun, StudySettings, StudyWorlds
from .run import EVALUATION, Facts

JOINED, WORLDS = "joined", "worlds"  # folders: of the study, and of a run


class WorldsTask(EncoderTask):
    """Trains bi-encoders on joined worlds, each batch of one world, and links the mentions of unseen
    worlds, each in its own knowledge base. The worlds are joined once for all runs.

    Args:
        study: what is measured; there is no NIL, since gold entities of an unseen world are
            in its knowledge base.
        worlds: of the study.
        config: named in errors.
        gpu_id: -1 = CPU.
    """

    def __init__(self, study: StudySettings, worlds: StudyWorlds, config: Path, *, gpu_id: int = -1):
        super().__init__(study, config, gpu_id=gpu_id)
        self.worlds = worlds
        self._joined: dict[str, str] = {}
        self._unseen: dict[str, UnseenWorld] = {}

    def measured(self, run: StudyRun, output: Path) -> str:
        """Fingerprint of all that determines the metrics of a trained encoder."""
        study, joined = self.study, self._settings(run, output).paths
        files = [joined.required("train"), joined.required("dev")]
        files += [world.path for world in self.unseen.values()]
        bases = [KnowledgeBase.from_disk(joined.required("kb")).fingerprint]
        bases += [world.kb.fingerprint for world in self.unseen.values()]
        sizes = [study.top_k, study.first_stage, study.n_test]
        return fingerprint(*files, bases, self.worlds.val, self.worlds.test, study.kinds, sizes)

    def trainer(self, run: StudyRun, output: Path) -> Trainer:
        """Of the run's encoder, whose batches are of one world each."""
        return WorldTrainer(self._settings(run, output), output / run.name, gpu_id=self.gpu_id)

    def measure(self, encoder: BiEncoder, settings: RunSettings, folder: Path, facts: Facts) -> Facts:
        """Link the mentions of every unseen world, and write evaluations under the folder: of each world in
        worlds/NAME, and of all mentions of the test worlds in "evaluation".

        Returns:
            Facts; metrics of all mentions of the test worlds; and "worlds": "test" and "val",
            from ``recall_by_group``.
        """
        study = self.study
        predictions: dict[str, list[Prediction]] = {}
        started = time.perf_counter()
        for name, world in self.unseen.items():
            found = by_encoder(
                world.kb,
                encoder,
                world.mentions,
                kinds=study.kinds,
                top_k=study.top_k,
                first_stage=study.first_stage,
                show_progress=True,
            )
            predictions[name] = world.predictions(found)
            self._evaluate(predictions[name], folder / WORLDS / name, {"world": name})
        took = time.perf_counter() - started
        ks = [k for k in RECALL_AT if k <= study.top_k]
        outcomes = {name: GroupOutcomes.of(found) for name, found in predictions.items()}
        by_world = {
            kind: recall_by_group(GroupTable({name: outcomes[name] for name in names}, ks=ks))
            for kind, names in (("test", self.worlds.test), ("val", self.worlds.val))
            if names
        }
        tested = [prediction for name in self.worlds.test for prediction in predictions[name]]
        facts = {
            **facts,
            "seconds": took,  # with the vectors of the knowledge bases
            "model_fingerprint": encoder.fingerprint,
            "worlds": by_world,
            "coverage": {name: world.coverage() for name, world in self.unseen.items()},
        }
        return self._evaluate(tested, folder / EVALUATION, facts)

    def paths(self, run: StudyRun, output: Path) -> dict[str, str]:
        """``[paths]`` of a run: the joined worlds."""
        if not self._joined:
            worlds = self.worlds
            joined = join_worlds(worlds.folder, worlds.train, output / JOINED, splits=("train", "dev"))
            self._joined = {name: str(path) for name, path in joined.items()}
        return {**super().paths(run, output), **self._joined}

    @property
    def unseen(self) -> dict[str, UnseenWorld]:
        """Of validation and test, by name.

        Raises:
            PelError: if a file of one is missing or damaged.
        """
        if not self._unseen:
            worlds = self.worlds
            self._unseen = {
                name: UnseenWorld(name, worlds.folder, worlds.split, n=self.study.n_test)
                for name in (*worlds.val, *worlds.test)
            }
        return self._unseen

    def _evaluate(self, predictions: Sequence[Prediction], folder: Path, facts: dict[str, Any]) -> Facts:
        return evaluate_retrieval(list(predictions), threshold=None, top_k=self.study.top_k, output=folder, facts=facts)
