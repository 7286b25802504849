"""Studies of bi-encoders, measured by retrieval with their vectors alone."""

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import torch
from thinc.api import Config

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.evaluation.predict import seen_in_corpus
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import RunSettings, resolve_settings
from spacy_pel.types import Document
from spacy_pel.util import fingerprint
from spacy_pel.util.files import open_text

from ..retrieval import Retrieval, evaluate_retrieval, nil_threshold_of
from .plan import StudyRun, StudySettings
from .run import EVALUATION, Facts, finished

UNTRAINED = "untrained"  # label and folder


class EncoderTask:
    """Trains bi-encoders.

    Args:
        study: what is measured.
        config: named in errors.
        gpu_id: -1 = CPU.
    """

    def __init__(self, study: StudySettings, config: Path, *, gpu_id: int = -1):
        self.study, self.config, self.gpu_id = study, config, gpu_id

    def measured(self, run: StudyRun, output: Path) -> str:
        """Fingerprint of all that determines the metrics of a trained encoder."""
        study, paths = self.study, self._settings(run, output).paths
        corpora = paths.required("train"), paths.required("dev"), study.corpus  # train: what was seen
        for path in corpora:
            open_text(path).close()  # a missing file raises our error
        kb = KnowledgeBase.from_disk(study.kb or paths.required("kb"))
        sizes = [study.top_k, study.first_stage, study.n_dev, study.n_test]
        return fingerprint(*corpora, kb.fingerprint, study.kinds, sizes)

    def trainer(self, run: StudyRun, output: Path) -> Trainer:
        """Of the run's encoder."""
        return Trainer(self._settings(run, output), output / run.name, gpu_id=self.gpu_id)

    def evaluate(self, run: StudyRun, output: Path, trainer: Trainer, facts: Facts) -> Facts:
        """Metrics of retrieval on the test corpus, NIL by the best threshold on dev."""
        settings, folder = self._settings(run, output), output / run.name
        encoder = BiEncoder(backend=settings.pel.encoder.backend).from_disk(folder / "model-best")
        return self.measure(self._on_device(encoder), settings, folder, facts)

    def untrained(self, runs: Sequence[StudyRun], output: Path, measured: Mapping[str, str]) -> list[Facts]:
        """Metrics of each encoder as the trainings find it, before any update."""
        like: dict[str, StudyRun] = {}
        for run in runs:
            like.setdefault(repr(run.config["pel"]["encoder"]), run)
        found = []
        for run in like.values():
            label = UNTRAINED if len(like) == 1 else f"{UNTRAINED}, as {run.label}"
            key = fingerprint(measured[run.name], run.config["pel"]["encoder"])
            if not (done := finished(output / label, None, key)):
                settings = self._settings(run, output)
                torch.manual_seed(settings.seed)
                settings.pel.encoder.initialize()
                encoder = self._on_device(settings.pel.encoder)
                facts = {"label": label, "levels": {}, "seed": run.seed, "measured_fingerprint": key}
                done = self.measure(encoder, settings, output / label, facts)
            found.append(done)
        return found

    def measure(self, encoder: BiEncoder, settings: RunSettings, folder: Path, facts: Facts) -> Facts:
        """Facts, and the metrics of an encoder; writes both under the folder."""
        study = self.study
        kb = KnowledgeBase.from_disk(study.kb or settings.paths.required("kb"))
        index = EntityIndex.build(kb, encoder, index=FaissIVF(flat_below=None), kinds=study.kinds, show_progress=True)
        retrieval = Retrieval(kb, index, encoder, top_k=study.top_k, first_stage=study.first_stage)
        dev = retrieval.predict(_documents(settings.paths.required("dev"), study.n_dev))
        is_seen = seen_in_corpus(kb, read_corpus(settings.paths.required("train")))
        documents = _documents(study.corpus, study.n_test)
        started = time.perf_counter()
        test = retrieval.predict(documents, is_seen=is_seen)
        took = time.perf_counter() - started
        facts = {
            **facts,
            "seconds": took,
            "mentions_per_second": len(test) / max(took, 1e-9),
            "kb_fingerprint": kb.fingerprint,
            "kb_entities": len(kb),
            "model_fingerprint": encoder.fingerprint,
        }
        return evaluate_retrieval(
            test, threshold=nil_threshold_of(dev), top_k=study.top_k, output=folder / EVALUATION, facts=facts
        )

    def paths(self, run: StudyRun, output: Path) -> dict[str, str]:
        """``[paths]`` of a run; all runs read the same texts."""
        return {**run.config.get("paths", {}), "cache": str(output / "cache")}

    def _settings(self, run: StudyRun, output: Path) -> RunSettings:
        return resolve_settings(Config({**run.config, "paths": self.paths(run, output)}), self.config)

    def _on_device(self, encoder: BiEncoder) -> BiEncoder:
        if self.gpu_id >= 0:
            encoder.towers.to(f"cuda:{self.gpu_id}")
        return encoder


def _documents(path: Path, n: int) -> list[Document]:
    return list(islice(read_corpus(path), n or None))
