"""Metrics by groups: of mentions (label, type of the entity, known and new forms and entities) and of documents."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...corpora.original import original_id
from ...errors import Errors, PelError
from ...types import Document
from ..outcomes import Flags, Floats, Outcomes, Prediction
from .bootstrap import document_draws
from .probabilities import RankedAnswers, coverage_intervals, coverages
from .recall import RECALL_AT, found_within

NO_NAME = "–"  # of a mention without label, or whose gold entity has no type
GroupsOf = Callable[[Prediction], Sequence[str]]


def by_label(prediction: Prediction) -> Sequence[str]:
    return (prediction.label or NO_NAME,)


def by_kb_type(prediction: Prediction) -> Sequence[str]:
    """A mention counts in each type of its gold entities; NIL mentions have none."""
    return prediction.types or (NO_NAME,)


def by_seen(prediction: Prediction) -> Sequence[str]:
    if not prediction.gold:
        return ("NIL",)
    return ("seen",) if prediction.seen else ("unseen",)


def by_form(prediction: Prediction) -> Sequence[str]:
    return ("known form",) if prediction.known_form else ("new form",)


GROUPINGS: Mapping[str, GroupsOf] = {"label": by_label, "type": by_kb_type, "form": by_form, "seen": by_seen}


class MentionGroups:
    """Collects the mentions of each group.

    Args:
        groups_of: gives the names of a mention's groups.
    """

    def __init__(self, groups_of: GroupsOf):
        self.groups_of = groups_of
        self._members: dict[str, list[int]] = {}
        self._n = 0

    def add(self, prediction: Prediction) -> None:
        for name in self.groups_of(prediction):
            self._members.setdefault(name, []).append(self._n)
        self._n += 1

    def masks(self) -> dict[str, Flags]:
        """Name -> (n,) members; the largest group first."""
        masks = {}
        for name, members in sorted(self._members.items(), key=lambda item: (-len(item[1]), item[0])):
            masks[name] = np.zeros(self._n, dtype=np.bool_)
            masks[name][members] = True
        return masks

    def metrics(self, outcomes: Outcomes, *, n_samples: int = 200, seed: int = 0) -> dict[str, dict[str, Any]]:
        """``group_metrics`` of each group, with the intervals of coverage.

        Args:
            outcomes: of the same mentions.
            n_samples: bootstrap samples.
            seed: random seed of the bootstrap.
        """
        groups = {}
        for name, mask in self.masks().items():
            rng = np.random.default_rng(seed)
            answers = RankedAnswers(outcomes.probability[mask], outcomes.correct[mask])
            intervals = coverage_intervals(answers, outcomes.document[mask], n_samples=n_samples, rng=rng)
            groups[name] = {**group_metrics(outcomes, mask), **intervals}
        return groups


def group_metrics(outcomes: Outcomes, mask: Flags) -> dict[str, Any]:
    """Metrics of one group.

    Returns:
        "n"; "recall@1", "recall" at any rank, "accuracy" with NIL, "coverage@95" and "coverage@98"; None where there is
        no mention to count.
    """
    rank = outcomes.rank[mask & ~outcomes.is_nil]
    hits = {"recall@1": rank == 1, "recall": rank >= 1, "accuracy": outcomes.correct[mask]}
    shares = {key: float(flags.mean()) if len(flags) else None for key, flags in hits.items()}
    answers = RankedAnswers(outcomes.probability[mask], outcomes.correct[mask])
    return {"n": int(mask.sum()), **shares, **coverages(answers)}


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
            known = ", ".join(document.meta) or "none"
            raise PelError(Errors.E623.format(key=self.key, document=document.id, known=known))
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
            accuracy = float(outcomes.correct[mine].mean())
            groups[name] = {"n": int(mine.sum()), "n_nil": int((mine & outcomes.is_nil).sum()), "accuracy": accuracy}
            linkable = mine & ~outcomes.is_nil
            if linkable.any():
                documents: list[str] = [ids[i] for i in outcomes.document[linkable]]
                linkable_groups[name] = GroupOutcomes(documents, outcomes.rank[linkable])
        result: dict[str, Any] = {"group_by": self.key, "groups": groups}
        result["macro_accuracy"] = float(np.mean([metrics["accuracy"] for metrics in groups.values()]))
        if linkable_groups:
            recall = recall_by_group(GroupTable(linkable_groups, ks=ks), n_samples=n_samples, seed=seed)
            for name, metrics in recall["groups"].items():
                groups[name].update({key: value for key, value in metrics.items() if key != "n"})
            result.update({f"macro_{key}": value for key, value in recall["macro"].items()})
        return result


class GroupOutcomes(NamedTuple):
    """The mentions of one group whose gold entity is in the KB.

    Attributes:
        documents: id of each mention's document.
        rank: rank of the gold entity among the candidates, 0 = not among them.
    """

    documents: list[str]
    rank: NDArray[np.int64]

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> "GroupOutcomes":
        """Args:
        predictions: of one group; those without gold are left out.
        """
        linkable = [prediction for prediction in predictions if prediction.gold]
        ranks = np.array([prediction.rank for prediction in linkable], dtype=np.int64)
        return cls([prediction.source for prediction in linkable], ranks)


class GroupTable:
    """Sums of every document in every group, which is all that the bootstrap needs.

    Args:
        groups: a system's outcomes by group.
        ks: for recall@k.
    """

    def __init__(self, groups: Mapping[str, GroupOutcomes], *, ks: Sequence[int] = RECALL_AT):
        self.groups = list(groups)
        self.ks = tuple(ks)
        # sorted: two systems on the same mentions draw the same documents
        documents = sorted({document for group in groups.values() for document in group.documents})
        row_of = {document: row for row, document in enumerate(documents)}
        self.counts: Floats = np.zeros((len(documents), len(groups)))
        self.hits: Floats = np.zeros((len(self.ks), len(documents), len(groups)))
        for column, group in enumerate(groups.values()):
            rows = np.array([row_of[document] for document in group.documents], dtype=np.int64)
            np.add.at(self.counts[:, column], rows, 1.0)
            for number, k in enumerate(self.ks):
                np.add.at(self.hits[number, :, column], rows, found_within(group.rank, k).astype(np.float64))

    def recall(self) -> Floats:
        """(ks, groups), recall@k of each group; 0 for a group without mentions."""
        return self.hits.sum(axis=1) / np.maximum(self.counts.sum(axis=0), 1e-12)

    def micro(self) -> Floats:
        """(ks,), recall@k over all mentions."""
        return self.hits.sum(axis=(1, 2)) / max(self.counts.sum(), 1e-12)

    def draws(self, n_samples: int, seed: int) -> tuple[Floats, Floats, Floats]:
        """Bootstrap samples of documents.

        Returns:
            (samples, ks, groups) recall@k of the groups,
            (samples, ks) their mean, (samples, ks) micro. A group without mentions in a sample
            is left out of that sample's mean.
        """
        parts: list[Floats] = []
        micro: list[Floats] = []
        rng = np.random.default_rng(seed)
        for drawn in document_draws(len(self.counts), n_samples, rng):
            counts = drawn @ self.counts  # (block, groups)
            hits = np.stack([drawn @ hits for hits in self.hits], axis=1)  # (block, ks, groups)
            parts.append(np.where(counts[:, None] > 0, hits / np.maximum(counts[:, None], 1e-12), np.nan))
            micro.append(hits.sum(axis=2) / np.maximum(counts.sum(axis=1), 1e-12)[:, None])
        recall = np.concatenate(parts)
        present = np.maximum((~np.isnan(recall)).sum(axis=2), 1)
        return recall, np.nansum(recall, axis=2) / present, np.concatenate(micro)


def recall_by_group(table: GroupTable, *, n_samples: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Metrics of one system.

    Returns:
        "groups" (by group), "macro" (mean over the groups) and "micro" (over all
        mentions), each with "recall@k", "recall@k_low" and "recall@k_high" for every k: 95% bootstrap
        intervals over documents.
    """
    recall, macro, micro = table.draws(n_samples, seed)
    by_group = table.recall()
    counts = table.counts.sum(axis=0)
    return {
        "groups": {
            name: {"n": int(counts[g]), **with_intervals(table.ks, by_group[:, g], recall[:, :, g])}
            for g, name in enumerate(table.groups)
        },
        "macro": with_intervals(table.ks, by_group.mean(axis=1), macro),
        "micro": {"n": int(counts.sum()), **with_intervals(table.ks, table.micro(), micro)},
    }


def with_intervals(ks: Sequence[int], values: Floats, samples: Floats) -> dict[str, float]:
    """Metrics by name, from arrays.

    Args:
        values: (ks,).
        samples: (samples, ks), from the bootstrap.

    Returns:
        "recall@k", "recall@k_low" and "recall@k_high" for every k.
    """
    low, high = np.nanpercentile(samples, [2.5, 97.5], axis=0)
    metrics: dict[str, float] = {}
    for number, k in enumerate(ks):
        metrics[f"recall@{k}"] = float(values[number])
        metrics[f"recall@{k}_low"] = float(low[number])
        metrics[f"recall@{k}_high"] = float(high[number])
    return metrics
