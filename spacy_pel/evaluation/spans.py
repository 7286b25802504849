"""End-to-end scores: mentions that the pipeline found itself, by exact offsets."""

from collections.abc import Sequence

from ..types import NIL
from .prediction import Prediction

Found = tuple[str, int, int, str]  # document, start, end, id


class SpanCounts:
    """Counts hits over documents. A hit has exactly the offsets of a gold mention."""

    def __init__(self) -> None:
        self.n_found = self.n_gold = self.n_matched = 0
        self.n_linked = self.n_linkable = self.n_right = 0

    def add(self, found: Sequence[Found], gold: Sequence[Prediction]) -> None:
        """Count one document.

        Args:
            found: the links of the pipeline, "NIL" included.
            gold: the gold mentions.
        """
        self.n_found += len(found)
        self.n_gold += len(gold)
        at = {(mention.doc, mention.start, mention.end): mention for mention in gold}
        self.n_linkable += sum(bool(mention.gold) for mention in gold)
        for doc, start, end, kb_id in found:
            mention = at.get((doc, start, end))
            self.n_matched += mention is not None
            self.n_linked += kb_id not in ("", NIL)
            self.n_right += mention is not None and kb_id in mention.gold

    def scores(self) -> dict[str, float]:
        """ "mention_precision|recall|f1" of the offsets and
        "link_precision|recall|f1" of offsets with the right id of the KB (NIL gives no credit)."""
        scores = _scores("mention", self.n_matched, self.n_found, self.n_gold)
        scores.update(_scores("link", self.n_right, self.n_linked, self.n_linkable))
        return scores


def _scores(name: str, hits: int, n_found: int, n_gold: int) -> dict[str, float]:
    return {
        f"{name}_precision": hits / n_found if n_found else 0.0,
        f"{name}_recall": hits / n_gold if n_gold else 0.0,
        f"{name}_f1": 2 * hits / (n_found + n_gold) if n_found + n_gold else 0.0,
    }
