"""Predictions for the tests of metrics and reports."""

from spacy_pel.evaluation import Prediction


def predicted(gold, candidates, kb_id=None, *, doc="d", label="", nil=0.0, rank=0, **more):
    """A prediction with the candidates in this order, and the first of them as the answer.

    ``rank`` puts the first gold id at this place among 64 other candidates.
    """
    if candidates is None:
        candidates = [f"X{place}" for place in range(1, 65)]
        if rank:
            candidates[rank - 1] = gold[0]
    ranked = [(entity_id, 1.0 / place) for place, entity_id in enumerate(candidates, start=1)]
    chosen = candidates[0] if kb_id is None else kb_id
    return Prediction(doc, 0, 1, "x", label, gold, chosen, ranked, nil, **more)
