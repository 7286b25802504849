"""Trains and evaluates the rankers of a study; what is done already is not done again."""

from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from thinc.api import Config

from ...linking import Linker
from ...training.ranker.candidates import MakeQueries
from ...training.ranker.loop import RankTrainer
from ...training.ranker.settings import RankRunSettings, resolve_rank_settings
from ...util import fingerprint, logger, machine_note, open_text, read_jsonl
from ..retrieval import evaluate_retrieval
from .plan import StudyRun, StudySettings
from .rank_evaluation import Ranked, RankEvaluation
from .run import EVALUATION, done_before, named

Facts = Dict[str, Any]
RETRIEVER = "candidates"  # label and folder of what is there before any ranker


def run_rank_study(
    study: StudySettings,
    runs: Sequence[StudyRun],
    output: Path,
    *,
    config: Path,
    linker: Linker,
    queries: MakeQueries,
    gpu_id: int = -1,
) -> List[Facts]:
    """Train and evaluate all rankers of a study; a killed study goes on where it was. Candidates are
    found once for all runs. Where other mentions are to be measured now, what is trained is only
    measured again.

    study (StudySettings): what is measured.
    runs (Sequence[StudyRun]): from ``plan_study``, of a config with a [ranker] section.
    output (Path): gets a folder for each run: the training's files, and "evaluation" with metrics.json and
        predictions.jsonl of the reranked candidates of the test corpus; and "candidates/evaluation" with the
        same before any ranker.
    config (Path): named in errors.
    linker, queries: of the pipeline that finds the candidates.
    gpu_id (int): -1 = CPU.
    RETURNS (List[dict]): metrics.json of the candidates alone and of each run, with "label", "levels",
        "seed", "train_seconds", "dev_accuracy", "mentions_per_second".
    RAISES (PelError): before any training, if a run cannot be made with its settings, or the output holds one
        with others.
    """
    plans: List[Tuple[StudyRun, str, Facts]] = []
    for run in runs:  # a setting that the last run cannot have is found before the first
        with named(run):
            settings = _settings(run, output, config)
        measured = _measured(study, settings, linker)
        metrics = done_before(output / run.name, run, measured)
        if not metrics:
            with named(run):
                RankTrainer(settings, output / run.name, linker=linker, queries=queries, gpu_id=gpu_id)
        plans.append((run, measured, metrics))
    evaluations: Dict[int, RankEvaluation] = {}  # by number of candidates
    results: List[Facts] = []
    for number, (run, measured, metrics) in enumerate(plans, start=1):
        settings = _settings(run, output, config)  # anew: its ranker will hold weights
        n = settings.ranker.candidates.n

        def evaluation(n: int = n, settings: RankRunSettings = settings) -> RankEvaluation:
            if n not in evaluations:
                evaluations[n] = _evaluation(study, settings, linker, queries)
            return evaluations[n]

        if number == 1:
            alone = done_before(output / RETRIEVER, None, measured)
            results.append(alone or _candidates_alone(evaluation(), output / RETRIEVER, measured))
        if not metrics:
            logger.info("Run %d of %d: %s, seed %d", number, len(runs), run.label, run.seed)
            trainer = RankTrainer(settings, output / run.name, linker=linker, queries=queries, gpu_id=gpu_id)
            metrics = _one(run, trainer, evaluation(), measured, gpu_id)
        results.append(metrics)
    return results


def _settings(run: StudyRun, output: Path, config: Path) -> RankRunSettings:
    paths = {
        **run.config.get("paths", {}),
        "cache": str(output / "cache"),
    }  # the same candidates
    return resolve_rank_settings(Config({**run.config, "paths": paths}), config)


def _candidates_alone(evaluation: RankEvaluation, folder: Path, measured: str) -> Facts:
    facts: Facts = {"label": RETRIEVER, "levels": {}, "seed": 0, "measured_fingerprint": measured}
    return _evaluate(evaluation.retriever(), folder, {**facts, **evaluation.facts()})


def _one(
    run: StudyRun, trainer: RankTrainer, evaluation: RankEvaluation, measured: str, gpu_id: int
) -> Facts:
    trainer.run(resume=True)
    ranker = trainer.ranker.from_disk(trainer.output / "model-best")
    if gpu_id >= 0:
        trainer.recipe.objective().towers.to(f"cuda:{gpu_id}")
    ranked = evaluation.rank(ranker)
    records = list(read_jsonl(trainer.output / "metrics.jsonl"))
    metric = trainer.training.dev.metric
    facts: Facts = {
        "label": run.label,
        "levels": run.levels,
        "seed": run.seed,
        "train_seconds": records[-1]["seconds"],
        "dev_accuracy": max(record[metric] for record in records),
        "seconds": ranked.seconds,
        "mentions_per_second": len(ranked.predictions) / max(ranked.seconds, 1e-9),
        "machine": machine_note(f"cuda:{gpu_id}" if gpu_id >= 0 else None),
        "study_fingerprint": run.fingerprint,
        "config": run.config,
        "measured_fingerprint": measured,
        "ranker_fingerprint": ranker.fingerprint,
    }
    facts.update({key: records[-1][key] for key in ("radius", "cluster_size") if key in records[-1]})
    return _evaluate(ranked, trainer.output, {**facts, **evaluation.facts()})


def _evaluate(ranked: Ranked, folder: Path, facts: Facts) -> Facts:
    # without a threshold nothing is called NIL: a ranker orders candidates
    return evaluate_retrieval(ranked.predictions, threshold=None, output=folder / EVALUATION, facts=facts)


def _measured(study: StudySettings, settings: RankRunSettings, linker: Linker) -> str:
    """RETURNS (str): of all that decides the figures of a trained ranker."""
    corpora = settings.paths.required("train"), study.test  # train: what was seen
    for path in corpora:
        open_text(path).close()  # a missing file is named in our words
    combiner = [type(linker.combiner).__name__, linker.combiner.state()]
    n = [study.n_test, settings.ranker.candidates.n]
    return fingerprint(*corpora, linker.fingerprints, combiner, n)


def _evaluation(
    study: StudySettings, settings: RankRunSettings, linker: Linker, queries: MakeQueries
) -> RankEvaluation:
    paths = settings.paths
    return RankEvaluation(
        linker,
        queries,
        test=study.test,
        train=paths.required("train"),
        n_documents=study.n_test,
        n_candidates=settings.ranker.candidates.n,
        cache=paths.required("cache"),
    )
