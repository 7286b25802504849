"""Metrics by groups of documents, e.g. their wiki or ontology, and the mean over the groups."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...corpora.preprocessing import original_id
from ...errors import Errors, PelError
from ...types import Document
from .group_recall import GroupOutcomes, GroupTable, group_metrics
from .outcomes import Outcomes

_PREFIX = "meta."


class DocumentGroups:
    """Remembers the group of each document.

    Args:
        key: "meta.KEY", a key of the documents' meta, e.g. "meta.world"; dots for nested objects.

    Raises:
        PelError: if the key does not start with "meta.".
    """

    def __init__(self, key: str):
        if not key.startswith(_PREFIX) or key == _PREFIX:
            raise PelError(Errors.E622.format(got=key))
        self.key = key
        self._groups: dict[str, str] = {}  # of documents with mentions, in the order of the corpus

    def watch(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Record the groups of documents as they pass to the linker.

        Yields:
            The same documents.

        Raises:
            PelError: if a document lacks the key.
        """
        for document in documents:
            if document.mentions:
                self._groups.setdefault(original_id(document), self._group(document))
            yield document

    def _group(self, document: Document) -> str:
        value: Any = document.meta
        for part in self.key[len(_PREFIX) :].split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, (str, int)):
            raise PelError(
                Errors.E623.format(key=self.key, document=document.id, known=", ".join(document.meta) or "none")
            )
        return str(value)

    def metrics(self, outcomes: Outcomes, *, ks: Sequence[int], n_samples: int = 1000, seed: int = 0) -> dict[str, Any]:
        """Metrics of the groups.

        Args:
            outcomes: of the mentions of the documents that ``watch`` has seen.

        Returns:
            "group_by"; "groups", by name: n, n_nil, accuracy (with NIL) and recall@k
            with intervals, unnormalised: all mentions count whose gold entity is in the KB; and
            "macro_accuracy", "macro_recall@k" with intervals: every group has the same weight.
        """
        ids, names = list(self._groups), sorted(set(self._groups.values()))
        of_document = np.array([names.index(group) for group in self._groups.values()], dtype=np.int64)
        group = of_document[outcomes.document]
        linkable_groups: dict[str, GroupOutcomes] = {}
        groups: dict[str, dict[str, Any]] = {}
        for number, name in enumerate(names):
            mine = group == number
            groups[name] = {
                "n": int(mine.sum()),
                "n_nil": int((mine & outcomes.is_nil).sum()),
                "accuracy": float(outcomes.correct[mine].mean()),
            }
            linkable = mine & ~outcomes.is_nil
            if linkable.any():
                documents: list[str] = [ids[i] for i in outcomes.document[linkable]]
                linkable_groups[name] = GroupOutcomes(documents, outcomes.rank[linkable])
        result: dict[str, Any] = {"group_by": self.key, "groups": groups}
        result["macro_accuracy"] = float(np.mean([metrics["accuracy"] for metrics in groups.values()]))
        if linkable_groups:
            recall = group_metrics(GroupTable(linkable_groups, ks=ks), n_samples=n_samples, seed=seed)
            for name, metrics in recall["groups"].items():
                groups[name].update({key: value for key, value in metrics.items() if key != "n"})
            result.update({f"macro_{key}": value for key, value in recall["macro"].items()})
        return result
