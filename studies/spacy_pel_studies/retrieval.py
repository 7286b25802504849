"""Retrieval by an encoder alone: the nearest entities of a knowledge base, and NIL by their score.

No exact matches, priors, spelling or calibration are used: this is how the papers evaluate a
bi-encoder, and it gives a fair comparison of two trainings.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from spacy_pel.errors import Errors, PelError
from spacy_pel.evaluation.metrics.all_metrics import RECALL_AT, compute_metrics
from spacy_pel.evaluation.outcomes import Outcomes, Prediction, recorded
from spacy_pel.evaluation.predict import IsSeen, gold_prediction
from spacy_pel.index import EntityIndex
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.calibration import best_f1_threshold
from spacy_pel.training.retriever.dev import FIRST_STAGE, nearest_entities
from spacy_pel.types import NIL, Document, Encoder, MentionInText, Scores
from spacy_pel.util import write_json


class Retrieval:
    """Retrieval by the towers alone.

    Args:
        kb: the entities.
        index: their vectors, with the encoder's fingerprint.
        encoder: reads the mentions.
        top_k: candidates of a mention.
        first_stage: entities fetched first where the encoder compares tokens, which then order them.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        index: EntityIndex,
        encoder: Encoder,
        *,
        top_k: int = 64,
        first_stage: int = FIRST_STAGE,
    ):
        self.kb, self.index, self.encoder = kb, index, encoder
        self.top_k, self.first_stage = top_k, first_stage

    def predict(self, documents: Iterable[Document], *, is_seen: IsSeen = lambda ids: False) -> list[Prediction]:
        """Of all gold mentions; the nearest entity is linked, and
        nil_score is minus its similarity."""
        predictions, mentions = [], []
        for document in documents:
            for mention in document.mentions:
                predictions.append(gold_prediction(self.kb, document, mention, is_seen))
                mentions.append(MentionInText(document.text, mention.start, mention.end))
        ranked = nearest_entities(
            self.kb, self.index, self.encoder, mentions, top_k=self.top_k, first_stage=self.first_stage
        )
        for prediction, (rows, found) in zip(predictions, ranked.lists, strict=True):
            ids, scores = self.kb.ids_at(rows), found.tolist()
            prediction.candidates = list(zip(ids, scores, strict=True))
            prediction.nil_score = -scores[0] if scores else float("inf")
            prediction.kb_id = ids[0] if ids else NIL
        return predictions


def nil_threshold_of(predictions: Iterable[Prediction]) -> float | None:
    """The threshold of the best NIL F1 on these (development) predictions;
    None where none of them is NIL."""
    pairs = [(prediction.nil_score, not prediction.gold) for prediction in predictions]
    scores: Scores = np.array([score for score, _ in pairs], dtype=np.float32)
    is_nil = np.array([nil for _, nil in pairs], dtype=np.bool_)
    return best_f1_threshold(scores, is_nil) if is_nil.any() else None


def evaluate_retrieval(
    predictions: list[Prediction],
    *,
    threshold: float | None,
    top_k: int | None = None,
    output: str | Path | None = None,
    facts: dict[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Metrics of retrieval, in the format of ``evaluate``.

    Args:
        predictions: from ``Retrieval.predict``; a mention whose nil_score exceeds
            the threshold is called NIL.
        threshold: from ``nil_threshold_of`` on a development corpus; None = never NIL.
        top_k: candidates asked for; a small KB has fewer. None = as many as were found.
        output: folder for metrics.json and predictions.jsonl, which ``compare``, ``margins`` and
            ``report`` read.
        facts: goes into metrics.json.
        seed: random seed of the bootstrap.

    Returns:
        The metrics.

    Raises:
        PelError: if there is no mention.
    """
    if not predictions:
        raise PelError(Errors.E620)
    for prediction in predictions:
        if threshold is not None and prediction.nil_score > threshold:
            prediction.kb_id = NIL
    top_k = top_k or max(len(prediction.candidates) for prediction in predictions)
    metrics = compute_metrics(
        Outcomes.of(recorded(predictions, output)), ks=[k for k in RECALL_AT if k <= top_k], seed=seed
    )
    metrics.update({"end_to_end": False, "top_k": top_k, "threshold": threshold, **(facts or {})})
    if output is not None:
        write_json(Path(output) / "metrics.json", metrics)
    return metrics
