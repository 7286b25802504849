"""The figures of the paper's Table 4, from the outcomes of all mentions."""

from typing import Any, Dict, Sequence

from .metrics import recall_all_at
from .nil_metrics import average_precision, precision_recall_f1
from .outcomes import Outcomes
from .reliability import reliability_metrics


def nil_figures(outcomes: Outcomes, ks: Sequence[int] = (1, 64)) -> Dict[str, Any]:
    """How well NIL is told, and what that leaves of recall (Wiatrak et al. 2022, Table 4).

    outcomes (Outcomes): of all mentions.
    ks (Sequence[int]): for recall over all classes, see ``metrics.recall_all_at``.
    RETURNS (Dict[str, Any]): "nil_aupr", "nil_precision", "nil_recall", "nil_f1", "nil_ece" and
        "recall_all@k": the keys of metrics.json.
    """
    figures: Dict[str, Any] = {"nil_aupr": average_precision(outcomes.nil_score, outcomes.is_nil)}
    decided = precision_recall_f1(outcomes.called_nil, outcomes.is_nil)
    figures.update({f"nil_{name}": value for name, value in decided.items()})
    figures["nil_ece"] = reliability_metrics(outcomes.nil_score, outcomes.is_nil)["nil_ece"]
    figures.update({f"recall_all@{k}": recall_all_at(outcomes, k) for k in ks})
    return figures
