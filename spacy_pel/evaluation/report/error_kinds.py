"""What kind of error is it, and why did it happen?"""

from typing import Mapping, Optional

from ...types import NIL
from ..prediction import Prediction

# kind -> what a reader is told, in the order of the report
KINDS: Mapping[str, str] = {
    "wrong_first": "wrong entity first, the right one further down",
    "not_retrieved": "right entity not among the candidates",
    "nil_wrongly": "called NIL, but the entity is in the KB",
    "linked_though_nil": "linked, but the corpus gives no entity",
    "not_in_kb": "linked, but the KB lacks the gold entity",
    "composite": "means several entities, so no single one is right",
    "not_found": "mention not found by the pipeline",
}


def error_kind(prediction: Prediction) -> Optional[str]:
    """RETURNS (Optional[str]): a key of ``KINDS``; None if the prediction is right."""
    if prediction.correct:
        return None
    if prediction.kb_id == "":
        return "not_found"
    if not prediction.gold:
        return "not_in_kb" if prediction.outside else "linked_though_nil"
    if prediction.kb_id == NIL:
        return "nil_wrongly"
    if prediction.composite and len(set(prediction.gold)) > 1:
        return "composite"
    return "wrong_first" if prediction.rank else "not_retrieved"


def why(kind: str, prediction: Prediction, threshold: Optional[float]) -> str:
    """A sentence for people.

    kind (str): of the prediction's error.
    prediction (Prediction): with all of its candidates.
    threshold (Optional[float]): of NIL; None if there was none or it is not known.
    RETURNS (str): names ranks and scores.
    """
    n, rank = len(prediction.candidates), prediction.rank
    place = f"at rank {rank} of {n}" if rank else f"not among the {n} candidates"
    limit = "" if threshold is None else f"; NIL is said above {threshold:.3f}"
    score = f"NIL score {prediction.nil_score:.3f}{limit}"
    if kind == "not_found":
        return "The pipeline found no mention with exactly these offsets."
    if kind == "not_in_kb":
        return f"The KB lacks {', '.join(prediction.outside)}, so NIL would be right. {score}."
    if kind == "linked_though_nil":
        return f"NIL would be right. {score}."
    if kind == "nil_wrongly":
        return f"{score}. The gold entity is {place}."
    if kind == "composite":
        found = f"all of them by rank {rank} of {n}" if rank else f"not all of them among the {n} candidates"
        return f"The mention means {len(set(prediction.gold))} entities: {found}."
    if kind == "wrong_first":
        best = max(score for found, score in prediction.candidates if found in prediction.gold)
        return f"The gold entity is {place}, {prediction.candidates[0][1] - best:.3f} below the first."
    return f"The gold entity is {place}."
