"""The test mentions of a study of rankers: their candidates are found once, and each ranker orders these."""

import time
from itertools import islice
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

import numpy as np

from ...corpora import read_corpus
from ...evaluation.metrics.seen import seen_in_corpus
from ...evaluation.predict import gold_prediction
from ...evaluation.prediction import Prediction
from ...linking import Linker
from ...training.ranker.candidates import Candidates, MakeQueries, RankMentions, cached_candidates
from ...training.ranker.dev import ranking_task
from ...types import NIL, Document, Ranker, Scores


class Ranked(NamedTuple):
    """What a ranker made of the test mentions, and how long it took."""

    predictions: List[Prediction]
    seconds: float


class RankEvaluation:
    """All gold mentions of a test corpus, NIL ones too.

    linker (Linker): finds the candidates.
    queries (MakeQueries): asks about a document's mentions as in use.
    test, train (Path): corpora; the latter says which entities were seen.
    n_documents (int): of the test corpus; 0 = all.
    n_candidates (int): of each mention.
    cache (Path): folder of candidates that were found before.
    """

    def __init__(
        self,
        linker: Linker,
        queries: MakeQueries,
        *,
        test: Path,
        train: Path,
        n_documents: int,
        n_candidates: int,
        cache: Path,
    ):
        self.linker = linker
        self.documents: List[Document] = list(islice(read_corpus(test), n_documents or None))
        self.is_seen = seen_in_corpus(linker.kb, read_corpus(train))
        places = [(number, mention) for number, d in enumerate(self.documents) for mention in d.mentions]
        mentions = RankMentions(
            [query for document in self.documents for query in queries(document)],
            [linker.gold_rows(mention.ids) for _, mention in places],
            np.array([number for number, _ in places], dtype=np.int64),
            [document.id for document in self.documents],
        )
        self.candidates: Candidates = cached_candidates(
            cache / "test.npz", linker, mentions, n=n_candidates, show_progress=True
        )
        self.task = ranking_task(linker.kb, mentions, self.candidates)

    def retriever(self) -> Ranked:
        """RETURNS (Ranked): the candidates in the order in which they were found."""
        return Ranked(self._predictions(self.candidates.scores), 0.0)

    def rank(self, ranker: Ranker) -> Ranked:
        """RETURNS (Ranked): the candidates in the ranker's order; the best one is linked, and nil_score is
        minus its score."""
        started = time.perf_counter()
        scores = ranker.score(self.task, show_progress=True)
        return Ranked(self._predictions(scores), time.perf_counter() - started)

    def _predictions(self, scores: Scores) -> List[Prediction]:
        kb, offsets = self.linker.kb, self.candidates.offsets
        ids = kb.ids_at(self.candidates.kb_rows)
        predictions: List[Prediction] = []
        for document in self.documents:
            for mention in document.mentions:
                prediction = gold_prediction(kb, document, mention, self.is_seen)
                start, stop = offsets[len(predictions)], offsets[len(predictions) + 1]
                order = start + np.argsort(-scores[start:stop], kind="stable")
                prediction.candidates = [(ids[row], float(scores[row])) for row in order]
                prediction.kb_id = prediction.candidates[0][0] if len(order) else NIL
                prediction.nil_score = -prediction.candidates[0][1] if len(order) else float("inf")
                predictions.append(prediction)
        return predictions

    def facts(self) -> Dict[str, Any]:
        """RETURNS (dict): what metrics.json says of the candidates."""
        return {"kb_fingerprint": self.linker.kb.fingerprint, "n_candidates": len(self.candidates.kb_rows)}
