"""Figures over several worlds (wikis, ontologies): per world, and their mean."""

from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ...evaluation.metrics.bootstrap import document_draws
from ...evaluation.metrics.metrics import RECALL_AT
from ...evaluation.prediction import Prediction

POLICY = (
    "recall@k of a world: share of its mentions whose gold entity is in the world's KB that have it among "
    "the first k distinct candidates. macro: mean over the worlds, each counts the same. micro: over all "
    "mentions. Intervals: 95 % bootstrap, documents drawn with replacement; a document with mentions of "
    "several worlds is drawn for all of them together. Differences are taken within each draw (paired)."
)
Floats = NDArray[np.float64]


class WorldOutcomes(NamedTuple):
    """The mentions of one world whose gold entity its KB has.

    documents (List[str]): id of each mention's document.
    rank (NDArray[int64]): where the gold entity stands among the candidates, 0 = not there.
    """

    documents: List[str]
    rank: NDArray[np.int64]

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> "WorldOutcomes":
        """predictions (Sequence[Prediction]): of one world; those without gold are left out."""
        linkable = [prediction for prediction in predictions if prediction.gold]
        ranks = np.array([prediction.rank for prediction in linkable], dtype=np.int64)
        return cls([prediction.doc for prediction in linkable], ranks)


class WorldTable:
    """Sums of every document in every world, which is all that the bootstrap needs.

    worlds (Mapping[str, WorldOutcomes]): a system's outcomes by world.
    ks (Sequence[int]): for recall@k.
    """

    def __init__(self, worlds: Mapping[str, WorldOutcomes], *, ks: Sequence[int] = RECALL_AT):
        self.worlds = list(worlds)
        self.ks = tuple(ks)
        # sorted: two systems on the same mentions draw the same documents
        documents = sorted({document for one in worlds.values() for document in one.documents})
        place = {document: number for number, document in enumerate(documents)}
        self.counts: Floats = np.zeros((len(documents), len(worlds)))
        self.hits: Floats = np.zeros((len(self.ks), len(documents), len(worlds)))
        for column, one in enumerate(worlds.values()):
            rows = np.array([place[document] for document in one.documents], dtype=np.int64)
            np.add.at(self.counts[:, column], rows, 1.0)
            for number, k in enumerate(self.ks):
                right = (one.rank >= 1) & (one.rank <= k)
                np.add.at(self.hits[number, :, column], rows, right.astype(np.float64))

    def shares(self) -> Floats:
        """RETURNS (Floats): (ks, worlds), recall@k of each world; 0 for a world without mentions."""
        return self.hits.sum(axis=1) / np.maximum(self.counts.sum(axis=0), 1e-12)

    def micro(self) -> Floats:
        """RETURNS (Floats): (ks,), recall@k over all mentions."""
        return self.hits.sum(axis=(1, 2)) / max(self.counts.sum(), 1e-12)

    def draws(self, n_samples: int, seed: int) -> Tuple[Floats, Floats, Floats]:
        """Bootstrap samples of documents.

        RETURNS (Tuple[Floats, Floats, Floats]): (samples, ks, worlds) recall@k of the worlds,
            (samples, ks) their mean, (samples, ks) micro. A world that a sample holds no mention
            of is left out of that sample's mean.
        """
        parts: List[Floats] = []
        micro: List[Floats] = []
        rng = np.random.default_rng(seed)
        for drawn in document_draws(len(self.counts), n_samples, rng):
            counts = drawn @ self.counts  # (block, worlds)
            hits = np.stack([drawn @ hits for hits in self.hits], axis=1)  # (block, ks, worlds)
            parts.append(np.where(counts[:, None] > 0, hits / np.maximum(counts[:, None], 1e-12), np.nan))
            micro.append(hits.sum(axis=2) / np.maximum(counts.sum(axis=1), 1e-12)[:, None])
        shares = np.concatenate(parts)
        present = np.maximum((~np.isnan(shares)).sum(axis=2), 1)
        return shares, np.nansum(shares, axis=2) / present, np.concatenate(micro)


def world_metrics(table: WorldTable, *, n_samples: int = 1000, seed: int = 0) -> Dict[str, Any]:
    """Figures of one system.

    RETURNS (Dict[str, Any]): "worlds" (by world), "macro" and "micro", each with "recall@k",
        "recall@k_low" and "recall@k_high" for every k; see ``POLICY``.
    """
    shares, macro, micro = table.draws(n_samples, seed)
    by_world = table.shares()
    counts = table.counts.sum(axis=0)
    return {
        "worlds": {
            world: {"n": int(counts[w]), **_figures(table.ks, by_world[:, w], shares[:, :, w])}
            for w, world in enumerate(table.worlds)
        },
        "macro": _figures(table.ks, by_world.mean(axis=1), macro),
        "micro": {"n": int(counts.sum()), **_figures(table.ks, table.micro(), micro)},
    }


def world_difference(
    ours: WorldTable, theirs: WorldTable, *, n_samples: int = 1000, seed: int = 0
) -> Dict[str, Any]:
    """How much better is the first of two systems on the same mentions?

    RETURNS (Dict[str, Any]): as ``world_metrics``, of the differences.
    """
    left, right = ours.draws(n_samples, seed), theirs.draws(n_samples, seed)
    shares, macro, micro = (mine - other for mine, other in zip(left, right, strict=True))
    by_world = ours.shares() - theirs.shares()
    return {
        "worlds": {
            world: _figures(ours.ks, by_world[:, w], shares[:, :, w]) for w, world in enumerate(ours.worlds)
        },
        "macro": _figures(ours.ks, by_world.mean(axis=1), macro),
        "micro": _figures(ours.ks, ours.micro() - theirs.micro(), micro),
    }


def _figures(ks: Sequence[int], values: Floats, samples: Floats) -> Dict[str, float]:
    """values: (ks,). samples: (samples, ks)."""
    low, high = np.nanpercentile(samples, [2.5, 97.5], axis=0)
    figures: Dict[str, float] = {}
    for number, k in enumerate(ks):
        figures[f"recall@{k}"] = float(values[number])
        figures[f"recall@{k}_low"] = float(low[number])
        figures[f"recall@{k}_high"] = float(high[number])
    return figures
