"""What an encoder finds by itself: the nearest entities of a knowledge base, and NIL by their score.

No exact matches, priors, spelling or calibration join in: this is how the papers measure a
bi-encoder, and what compares two trainings fairly.
"""

from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Union

import numpy as np

from ..errors import Errors, PelError
from ..indexes import EntityIndex
from ..kb import KnowledgeBase
from ..nil import best_f1_threshold
from ..types import NIL, Document, Encoder, MentionInText, Scores
from ..util import write_json
from .metrics import RECALL_AT, compute_metrics
from .outcomes import Outcomes
from .predict import IsSeen, gold_prediction
from .prediction import Prediction
from .run_folder import recorded

_ROWS_PER_ENTITY = 8  # rows fetched for a candidate: several rows may lead to one entity


class Retrieval:
    """Retrieval by the towers alone.

    kb (KnowledgeBase): the entities.
    index (EntityIndex): their vectors, with the encoder's fingerprint.
    encoder (Encoder): reads the mentions.
    top_k (int): candidates of a mention.
    """

    def __init__(self, kb: KnowledgeBase, index: EntityIndex, encoder: Encoder, *, top_k: int = 64):
        self.kb, self.index, self.encoder, self.top_k = kb, index, encoder, top_k

    def predict(
        self, documents: Iterable[Document], *, is_seen: IsSeen = lambda ids: False
    ) -> List[Prediction]:
        """RETURNS (List[Prediction]): of all gold mentions; the nearest entity is linked, and
        nil_score is minus its similarity."""
        predictions, mentions = [], []
        for document in documents:
            for mention in document.mentions:
                predictions.append(gold_prediction(self.kb, document, mention, is_seen))
                mentions.append(MentionInText(document.text, mention.start, mention.end))
        vectors = self.encoder.encode_mentions(mentions)
        several = _ROWS_PER_ENTITY if len(self.index) > len(self.kb) else 1
        scores, rows = self.index.search_rows(vectors, several * self.top_k)
        for prediction, own, found in zip(predictions, scores, rows, strict=True):
            best: Dict[int, float] = {}
            for score, row in zip(own.tolist(), found.tolist(), strict=True):
                if row >= 0:
                    best.setdefault(int(self.index.kb_rows[row]), score)
            kept = list(best.items())[: self.top_k]
            ids = self.kb.ids_at([row for row, _ in kept])
            prediction.candidates = [(id_, score) for id_, (_, score) in zip(ids, kept, strict=True)]
            prediction.nil_score = -kept[0][1] if kept else float("inf")
            prediction.kb_id = ids[0] if ids else NIL
        return predictions


def nil_threshold_of(predictions: Iterable[Prediction]) -> Optional[float]:
    """RETURNS (Optional[float]): the threshold of the best NIL F1 on these (development) predictions;
    None where none of them is NIL."""
    pairs = [(prediction.nil_score, not prediction.gold) for prediction in predictions]
    scores: Scores = np.array([score for score, _ in pairs], dtype=np.float32)
    is_nil = np.array([nil for _, nil in pairs], dtype=np.bool_)
    return best_f1_threshold(scores, is_nil) if is_nil.any() else None


def evaluate_retrieval(
    predictions: List[Prediction],
    *,
    threshold: Optional[float],
    output: Optional[Union[str, Path]] = None,
    facts: Optional[Dict[str, Any]] = None,
    seed: int = 0,
) -> Dict[str, Any]:
    """Figures of retrieval, in the form of ``evaluate``.

    predictions (List[Prediction]): from ``Retrieval.predict``; a mention whose nil_score exceeds
        the threshold is called NIL.
    threshold (Optional[float]): from ``nil_threshold_of`` on a development corpus; None = never NIL.
    output (Optional): folder for metrics.json and predictions.jsonl, which ``compare``, ``margins`` and
        ``report`` read.
    facts (Optional[dict]): goes into metrics.json.
    seed (int): of the bootstrap.
    RETURNS (dict): the metrics.
    RAISES (PelError): if there is no mention.
    """
    if not predictions:
        raise PelError(Errors.E620)
    for prediction in predictions:
        if threshold is not None and prediction.nil_score > threshold:
            prediction.kb_id = NIL
    top_k = max(len(prediction.candidates) for prediction in predictions)
    metrics = compute_metrics(
        Outcomes.of(recorded(predictions, output)), ks=[k for k in RECALL_AT if k <= top_k], seed=seed
    )
    metrics.update({"end_to_end": False, "top_k": top_k, "threshold": threshold, **(facts or {})})
    if output is not None:
        write_json(Path(output) / "metrics.json", metrics)
    return metrics
