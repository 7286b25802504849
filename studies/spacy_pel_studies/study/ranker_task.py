"""Studies of rankers: the candidates are found once, and each ranker orders them."""

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from thinc.api import Config

from spacy_pel.corpora import read_corpus
from spacy_pel.evaluation.outcomes import Prediction
from spacy_pel.evaluation.predict import gold_prediction, seen_in_corpus
from spacy_pel.linking import Linker
from spacy_pel.training.ranker.candidates import MakeQueries, RankMentions, cached_candidates
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.settings import RankRunSettings, resolve_rank_settings
from spacy_pel.types import NIL, Document, RankingTask, Scores
from spacy_pel.util import fingerprint, read_jsonl
from spacy_pel.util.arrays import best_first
from spacy_pel.util.files import open_text

from ..retrieval import evaluate_retrieval
from .plan import StudyRun, StudySettings
from .run import EVALUATION, Facts, finished

RETRIEVER = "candidates"  # label and folder of the candidates before any ranker


class RankerTask:
    """Trains rankers on the candidates of one pipeline.

    Args:
        study: what is measured.
        config: named in errors.
        linker: finds the candidates.
        queries: makes queries of a document's mentions, as at inference.
        gpu_id: -1 = CPU.
    """

    def __init__(self, study: StudySettings, config: Path, *, linker: Linker, queries: MakeQueries, gpu_id: int = -1):
        self.study, self.config, self.gpu_id = study, config, gpu_id
        self.linker, self.queries = linker, queries
        self._tests: dict[int, RankingTest] = {}  # by number of candidates

    def measured(self, run: StudyRun, output: Path) -> str:
        """Fingerprint of all that determines the metrics of a trained ranker."""
        settings, linker = self._settings(run, output), self.linker
        corpora = settings.paths.required("train"), self.study.corpus  # train: what was seen
        for path in corpora:
            open_text(path).close()  # a missing file raises our error
        combiner = [type(linker.decider.combiner).__name__, linker.decider.combiner.state()]
        sizes = [self.study.n_test, settings.ranker.candidates.n]
        return fingerprint(*corpora, linker.fingerprints, combiner, sizes)

    def trainer(self, run: StudyRun, output: Path) -> RankTrainer:
        """Of the run's ranker."""
        return RankTrainer(
            self._settings(run, output), output / run.name, linker=self.linker, queries=self.queries, gpu_id=self.gpu_id
        )

    def evaluate(self, run: StudyRun, output: Path, trainer: RankTrainer, facts: Facts) -> Facts:
        """Metrics of the reranked candidates of the test corpus. Nothing is called NIL: a
        ranker only orders candidates."""
        test = self._test(run, output)
        ranker = trainer.ranker.from_disk(output / run.name / "model-best")
        if self.gpu_id >= 0:
            trainer.recipe.objective().towers.to(f"cuda:{self.gpu_id}")
        started = time.perf_counter()
        predictions = test.predictions(ranker.score(test.task, show_progress=True))
        took = time.perf_counter() - started
        records = list(read_jsonl(output / run.name / "metrics.jsonl"))
        metric = trainer.training.dev.metric
        facts = {
            **facts,
            "dev_accuracy": max(record[metric] for record in records if record["step"]),
            "seconds": took,
            "mentions_per_second": len(predictions) / max(took, 1e-9),
            "ranker_fingerprint": ranker.fingerprint,
            **{key: records[-1][key] for key in ("radius", "cluster_size") if key in records[-1]},
            **test.facts(),
        }
        folder = output / run.name / EVALUATION
        return evaluate_retrieval(predictions, threshold=None, output=folder, facts=facts)

    def untrained(self, runs: Sequence[StudyRun], output: Path, measured: Mapping[str, str]) -> list[Facts]:
        """Metrics of the candidates in the order in which they were found."""
        folder, key = output / RETRIEVER, measured[runs[0].name]
        if done := finished(folder, None, key):
            return [done]
        test = self._test(runs[0], output)
        facts: Facts = {"label": RETRIEVER, "levels": {}, "seed": 0, "measured_fingerprint": key}
        predictions = test.predictions(test.candidates.scores)
        facts.update(test.facts())
        return [evaluate_retrieval(predictions, threshold=None, output=folder / EVALUATION, facts=facts)]

    def _settings(self, run: StudyRun, output: Path) -> RankRunSettings:
        # all runs order the same candidates
        paths = {**run.config.get("paths", {}), "cache": str(output / "cache")}
        return resolve_rank_settings(Config({**run.config, "paths": paths}), self.config)

    def _test(self, run: StudyRun, output: Path) -> "RankingTest":
        settings = self._settings(run, output)
        n = settings.ranker.candidates.n
        if n not in self._tests:
            documents = list(islice(read_corpus(self.study.corpus), self.study.n_test or None))
            train = settings.paths.required("train")
            cache = settings.paths.required("cache") / "test.npz"
            self._tests[n] = RankingTest(self.linker, self.queries, documents, train=train, n=n, cache=cache)
        return self._tests[n]


class RankingTest:
    """All gold mentions of a test corpus, NIL ones too, and their candidates.

    Args:
        linker: finds the candidates.
        queries: makes queries of a document's mentions, as at inference.
        documents: the test corpus.
        train: the training corpus, which defines the seen entities.
        n: candidates per mention.
        cache: file of candidates that were found before.
    """

    def __init__(
        self, linker: Linker, queries: MakeQueries, documents: list[Document], *, train: Path, n: int, cache: Path
    ):
        self.linker, self.documents = linker, documents
        self.is_seen = seen_in_corpus(linker.kb, read_corpus(train))
        numbered = [(number, mention) for number, d in enumerate(documents) for mention in d.mentions]
        mentions = RankMentions(
            [query for document in documents for query in queries(document)],
            [linker.gold_rows(mention.ids) for _, mention in numbered],
            np.array([number for number, _ in numbered], dtype=np.int64),
        )
        self.candidates = cached_candidates(cache, linker, mentions, n=n)
        in_text = [query.in_text for query in mentions.queries]
        self.task = RankingTask.of(in_text, self.candidates.kb_rows, linker.kb.entity_at)

    def predictions(self, scores: Scores) -> list[Prediction]:
        """Args:
            scores: (n, k), of the candidates.

        Returns:
            Candidates by descending score; the best one is linked, and nil_score is
            minus its score.
        """
        kb, kb_rows = self.linker.kb, self.candidates.kb_rows
        ordered = best_first(np.where(kb_rows >= 0, scores, -np.inf))
        counts = (kb_rows >= 0).sum(axis=1).tolist()
        predictions: list[Prediction] = []
        for document in self.documents:
            for mention in document.mentions:
                prediction = gold_prediction(kb, document, mention, self.is_seen)
                number = len(predictions)
                order = ordered[number, : counts[number]]
                ids, values = kb.ids_at(kb_rows[number, order]), scores[number, order].tolist()
                prediction.candidates = list(zip(ids, values, strict=True))
                prediction.kb_id = ids[0] if ids else NIL
                prediction.nil_score = -values[0] if ids else float("inf")
                predictions.append(prediction)
        return predictions

    def facts(self) -> Facts:
        """What metrics.json says of the candidates."""
        return {"kb_fingerprint": self.linker.kb.fingerprint, "n_candidates": int((self.candidates.kb_rows >= 0).sum())}
