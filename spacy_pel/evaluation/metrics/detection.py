"""What a pipeline finds end to end, compared with the gold mentions: offsets, types and links."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...types import NIL, Numbers
from ...types.semantic_types import ST21PV, label_of
from ..outcomes import Prediction
from .all_metrics import precision_recall_f1
from .bootstrap import share_interval


class Found(NamedTuple):
    """A mention that the pipeline found: offsets, label, and the id or "NIL" that it was linked to."""

    start: int
    end: int
    label: str
    kb_id: str


def _zeros() -> Numbers:
    return np.zeros(7, dtype=np.int64)


@dataclass
class Detection:
    """Counts of mentions. A hit has exactly the offsets of a gold mention.

    Attributes:
        documents: document -> mentions found, gold mentions, hits, hits with the right type, mentions linked
            to the KB, gold mentions in the KB, hits with the right id.
        found, gold, typed: label -> mentions found, gold mentions, hits where both have it. A semantic type, by
            id or by name, counts as its label in ST21pv.
    """

    documents: dict[str, Numbers] = field(default_factory=lambda: defaultdict(_zeros))
    found: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    typed: Counter[str] = field(default_factory=Counter)

    def add(self, source: str, found: Sequence[Found], gold: Sequence[Prediction]) -> None:
        """Count a document.

        Args:
            source: the document that counts as drawn at random.
            found: what the pipeline found.
            gold: the gold mentions.
        """
        by_offsets = {(mention.start, mention.end): mention for mention in gold}
        hits = [(one, by_offsets[one[:2]]) for one in found if one[:2] in by_offsets]
        typed = [label_of(one.label) for one, mention in hits if label_of(one.label) == label_of(mention.label)]
        n_linked = sum(one.kb_id not in ("", NIL) for one in found)
        n_linkable = sum(bool(mention.gold) for mention in gold)
        n_right = sum(one.kb_id in mention.gold for one, mention in hits)
        self.documents[source] += (len(found), len(gold), len(hits), len(typed), n_linked, n_linkable, n_right)
        self.found.update(label_of(one.label) for one in found)
        self.gold.update(label_of(mention.label) for mention in gold)
        self.typed.update(typed)

    def scores(self, *, n_samples: int = 1000, seed: int = 0) -> dict[str, Any]:
        """Precision, recall and F1.

        Args:
            n_samples: bootstrap samples for the intervals of F1.
            seed: random seed of the bootstrap.

        Returns:
            "mention_precision|recall|f1" of the offsets and "link_precision|recall|f1" of offsets with the
            right id of the KB (NIL gives no credit). Where the labels can be compared also
            "typed_precision|recall|f1" of offsets with the right type, "type_accuracy", the share of the hits with
            the right type, and "mention_types", the same for each label.
        """
        counts = np.array([*self.documents.values()] or [_zeros()])
        found, gold, hits, typed, linked, linkable, right = counts.T
        parts = {"mention": (hits, found, gold), "link": (right, linked, linkable)}
        if self._has_types:
            parts["typed"] = (typed, found, gold)
        scores: dict[str, Any] = {}
        for name, (n_hits, n_found, n_gold) in parts.items():
            scores |= precision_recall_f1(name, n_hits.sum(), n_found.sum(), n_gold.sum())
            rng = np.random.default_rng(seed)
            interval = share_interval(2.0 * n_hits, n_found + n_gold, n_samples=n_samples, rng=rng)
            scores[f"{name}_f1_low"], scores[f"{name}_f1_high"] = interval
        if self._has_types:
            scores["type_accuracy"] = float(typed.sum() / max(hits.sum(), 1))
            scores["mention_types"] = {label: self._of_label(label) for label in sorted(self.gold | self.found)}
        return scores

    @property
    def _has_types(self) -> bool:
        """Whether gold and found mentions have labels of one scheme, with several labels."""
        gold, found = self.gold.keys(), self.found.keys()
        return len(gold) > 1 and (gold | found <= set(ST21PV.values()) or gold <= found or found <= gold)

    def _of_label(self, label: str) -> dict[str, float]:
        n_found, n_gold = self.found[label], self.gold[label]
        scores = precision_recall_f1("typed", self.typed[label], n_found, n_gold)
        return {"n_gold": n_gold, "n_found": n_found, **scores}
