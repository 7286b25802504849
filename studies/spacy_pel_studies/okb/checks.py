"""The checks of Appendix D: is the out-of-KB part similar to the whole corpus, or easier?"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from spacy_pel.types import Entity

from .choice import Choice
from .mentions import Naming, any_row, distinct_rows, share

Splits = Mapping[str, Sequence[Naming]]


def split_counts(splits: Splits, choice: Choice) -> dict[str, dict[str, Any]]:
    """Count mentions and entities (the paper's Table 7).

    Args:
        splits: split -> its mentions.
        choice: the removed entities.

    Returns:
        Split -> "mentions", "nil_before" (mentions that had no entity
        in the KB), "okb_mentions" (that became NIL), "okb_entities" (that they name), "partly" (mentions
        that lost some of their ids), "nil_share" after all, and "parts": mentions of each type.
    """
    counts: dict[str, dict[str, Any]] = {}
    for name, found in splits.items():
        okb = [naming for naming in found if naming.is_okb]
        nil_before = sum(not naming.rows for naming in found)
        counts[name] = {
            "mentions": len(found),
            "nil_before": nil_before,
            "okb_mentions": len(okb),
            "okb_entities": len(distinct_rows(okb)),
            "partly": sum(0 < len(naming.left) < len(naming.rows) for naming in found),
            "nil_share": share(nil_before + len(okb), len(found)),
            "parts": {part: sum(any_row(one, mask) for one in okb) for part, mask in choice.parts.items()},
        }
    return counts


def zero_shot(splits: Splits, train: str) -> dict[str, dict[str, float]]:
    """Check 1: are entities that the training split lacks as frequent as in the whole corpus?

    Args:
        splits: split -> its mentions.
        train: the split that decides what was seen, before entities are removed.

    Returns:
        Split -> shares of "mentions" and of "entities" that are
        unseen, each for the out-of-KB mentions ("okb_...") and for all mentions of the KB ("all_...").
    """
    seen = distinct_rows(splits[train])
    result: dict[str, dict[str, float]] = {}
    for name, found in splits.items():
        result[name] = {}
        for kind, chosen in (("okb", [one for one in found if one.is_okb]), ("all", found)):
            linkable = [one for one in chosen if one.rows]
            entities = distinct_rows(linkable)
            unseen = sum(seen.isdisjoint(one.rows) for one in linkable)
            result[name][f"{kind}_mentions"] = share(unseen, len(linkable))
            result[name][f"{kind}_entities"] = share(len(entities - seen), len(entities))
    return result


def surface_overlap(splits: Splits) -> list[dict[str, Any]]:
    """Check 2: how many surface forms of a split occur in another one?

    Args:
        splits: split -> its mentions.

    Returns:
        For each pair of splits: share of the distinct surface forms "of" the
        later one that are "in" the earlier one, for the out-of-KB mentions ("okb") and all ("all").
    """
    rows = []
    for first, second in combinations(splits, 2):
        row: dict[str, Any] = {"of": second, "in": first}
        for kind in ("okb", "all"):
            forms = [
                {one.surface for one in splits[name] if one.is_okb or (kind == "all" and one.rows)}
                for name in (first, second)
            ]
            row[kind] = share(len(forms[0] & forms[1]), len(forms[1]))
        rows.append(row)
    return rows


class Lengths:
    """Check 3: are the removed entities described at the same length as those of the whole KB?"""

    def __init__(self) -> None:
        self.words: list[int] = []  # of definitions
        self.names: list[int] = []

    def add(self, entity: Entity) -> None:
        """Count an entity."""
        self.names.append(1 + len(entity.aliases))
        if entity.definition:
            self.words.append(len(entity.definition.split()))

    def summary(self) -> dict[str, float | None]:
        """ "entities", share "with_definition", the mean, median
        and 10th and 90th percentile of its words (None without any), and the mean number of names."""
        words = np.asarray(self.words, dtype=np.float64)
        low, median, high = np.percentile(words, [10, 50, 90]).tolist() if len(words) else [None] * 3
        return {
            "entities": len(self.names),
            "with_definition": share(len(self.words), len(self.names)),
            "words_mean": float(words.mean()) if len(words) else None,
            "words_median": median,
            "words_p10": low,
            "words_p90": high,
            "names_mean": float(np.mean(self.names)) if self.names else None,
        }
