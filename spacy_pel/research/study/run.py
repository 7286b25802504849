"""Trains and evaluates what a plan lists; what is done already is not done again."""

import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

from thinc.api import Config

from ...corpora import read_corpus
from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...evaluation.metrics.seen import seen_in_corpus
from ...index import EntityIndex
from ...index.faiss_flat import FaissFlat
from ...kb import KnowledgeBase
from ...training.retriever.loop import Trainer
from ...training.retriever.settings import PathSettings, resolve_settings
from ...types import Document
from ...util import fingerprint, logger, machine_note, open_text, read_json, read_jsonl
from ..retrieval import Retrieval, evaluate_retrieval, nil_threshold_of
from .plan import StudyRun, StudySettings

EVALUATION = "evaluation"  # folder of a run, in the form of ``evaluate``


def run_study(
    study: StudySettings, runs: Sequence[StudyRun], output: Path, *, config: Path, gpu_id: int = -1
) -> List[Dict[str, Any]]:
    """Train and evaluate all runs of a study; a killed study goes on where it was. Where other
    mentions or another knowledge base are to be measured now, what is trained is only measured again.

    study (StudySettings): what is measured.
    runs (Sequence[StudyRun]): from ``plan_study``.
    output (Path): gets a folder for each run: the training's files, and "evaluation" with
        metrics.json and predictions.jsonl of retrieval by the towers alone on the test corpus.
    config (Path): named in errors.
    gpu_id (int): -1 = CPU.
    RETURNS (List[dict]): metrics.json of each run, with "label", "levels", "seed", "train_seconds" (of the
        updates and their evaluations).
    RAISES (PelError): before any training, if a run cannot be made with its settings, or the output holds one
        with others.
    """
    measured = {run.name: _measured(study, run) for run in runs}
    results = {run.name: done_before(output / run.name, run, measured[run.name]) for run in runs}
    for run in runs:  # a setting that the last run cannot have is found before the first
        if not results[run.name]:
            with named(run):
                Trainer(resolve_settings(Config(run.config), config), output / run.name, gpu_id=gpu_id)
    for number, run in enumerate(runs, start=1):
        if not results[run.name]:
            logger.info("Run %d of %d: %s, seed %d", number, len(runs), run.label, run.seed)
            results[run.name] = _one(
                study, run, measured[run.name], output / run.name, output / "cache", config, gpu_id
            )
    return list(results.values())


def read_metrics(folder: Path) -> Dict[str, Any]:
    """RETURNS (dict): metrics.json of a run's folder; empty = it was not measured yet."""
    path = folder / EVALUATION / "metrics.json"
    return dict(read_json(path)) if path.is_file() else {}


@contextmanager
def named(run: StudyRun) -> Iterator[None]:
    """RAISES (PelError): the same, with the run that cannot be made."""
    try:
        yield
    except PelError as err:
        raise PelError(Errors.E696.format(run=run.label, got=err)) from err


def done_before(folder: Path, run: Optional[StudyRun], measured: str) -> Dict[str, Any]:
    """What was measured when the study ran before.

    folder (Path): of the run.
    run (Optional[StudyRun]): what it would be now; None = nothing is trained there.
    measured (str): fingerprint of what is measured now.
    RETURNS (dict): its metrics.json; empty = there is none, or of other mentions.
    RAISES (PelError): if the folder holds a run with other settings.
    """
    metrics = read_metrics(folder)
    if metrics and run is not None and metrics.get("study_fingerprint") != run.fingerprint:
        raise PelError(Errors.E691.format(path=folder))
    return metrics if metrics.get("measured_fingerprint") == measured else {}


def _measured(study: StudySettings, run: StudyRun) -> str:
    """RETURNS (str): of all that decides the figures of a trained model."""
    paths = PathSettings(**run.config.get("paths", {}))
    corpora = paths.required("train"), paths.required("dev"), study.test  # train: what was seen
    for path in corpora:
        open_text(path).close()  # a missing file is named in our words
    kb = KnowledgeBase.from_disk(study.kb or paths.required("kb"))
    sizes = [study.top_k, study.first_stage, study.n_dev, study.n_test]
    return fingerprint(*corpora, kb.fingerprint, study.kinds, sizes)


def _one(
    study: StudySettings,
    run: StudyRun,
    measured: str,
    folder: Path,
    cache: Path,
    config: Path,
    gpu_id: int,
) -> Dict[str, Any]:
    paths = {**run.config.get("paths", {}), "cache": str(cache)}  # all runs read the same texts
    settings = resolve_settings(Config({**run.config, "paths": paths}), config)
    Trainer(settings, folder, gpu_id=gpu_id).run(resume=True)
    seconds = list(read_jsonl(folder / "metrics.jsonl"))[-1].get("seconds", 0.0)  # of a killed training, too
    encoder = BiEncoder(backend=settings.pel.encoder.backend).from_disk(folder / "model-best")
    if gpu_id >= 0:
        encoder.towers.to(f"cuda:{gpu_id}")
    kb = KnowledgeBase.from_disk(study.kb or settings.paths.required("kb"))
    index = EntityIndex.build(kb, encoder, index=FaissFlat(), kinds=study.kinds, show_progress=True)
    retrieval = Retrieval(kb, index, encoder, top_k=study.top_k, first_stage=study.first_stage)
    dev = retrieval.predict(_documents(settings.paths.required("dev"), study.n_dev))
    train = read_corpus(settings.paths.required("train"))
    is_seen = seen_in_corpus(kb, train)
    documents = _documents(study.test, study.n_test)
    started = time.perf_counter()
    test = retrieval.predict(documents, is_seen=is_seen)
    took = time.perf_counter() - started
    facts = {
        "label": run.label,
        "levels": run.levels,
        "seed": run.seed,
        "train_seconds": seconds,
        "seconds": took,
        "mentions_per_second": len(test) / max(took, 1e-9),
        "machine": machine_note(f"cuda:{gpu_id}" if gpu_id >= 0 else None),
        "study_fingerprint": run.fingerprint,
        "config": run.config,
        "measured_fingerprint": measured,
        "kb_fingerprint": kb.fingerprint,
        "model_fingerprint": encoder.fingerprint,
    }
    threshold = nil_threshold_of(dev)
    return evaluate_retrieval(
        test, threshold=threshold, top_k=study.top_k, output=folder / EVALUATION, facts=facts
    )


def _documents(path: Path, n: int) -> List[Document]:
    return list(islice(read_corpus(path), n or None))
