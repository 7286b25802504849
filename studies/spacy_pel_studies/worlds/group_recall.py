"""Recall by world: of each, their mean (macro) and over all mentions (micro), with bootstrap intervals."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.evaluation.metrics.all_metrics import RECALL_AT, found_within
from spacy_pel.evaluation.metrics.bootstrap import document_draws
from spacy_pel.evaluation.outcomes import Prediction
from spacy_pel.types import Floats


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
        return cls([prediction.doc for prediction in linkable], ranks)


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
