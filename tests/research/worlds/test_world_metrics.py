"""Figures over several worlds: by hand, and the bootstrap against a slow transcription."""

import numpy as np
import pytest

from spacy_pel.evaluation import Prediction
from spacy_pel.research.worlds.tables import WorldOutcomes, WorldTable, world_difference, world_metrics


def prediction(doc, rank, gold=True):
    candidates = [(f"X{place}", 1.0) for place in range(1, 65)]
    if rank:
        candidates[rank - 1] = ("G", 1.0)
    return Prediction(doc, 0, 1, "a", "", ["G"] if gold else [], "", candidates)


def world(*ranks_by_document):
    return WorldOutcomes.of(
        [prediction(f"d{n}", rank) for n, ranks in enumerate(ranks_by_document) for rank in ranks]
    )


def test_by_hand():
    worlds = {"CL": world([1, 2, 0, 1], [64]), "MONDO": world([1])}
    figures = world_metrics(WorldTable(worlds), n_samples=20)
    assert figures["worlds"]["CL"]["n"] == 5 and figures["worlds"]["MONDO"]["n"] == 1
    assert figures["worlds"]["CL"]["recall@1"] == pytest.approx(2 / 5)
    assert figures["worlds"]["CL"]["recall@2"] == pytest.approx(3 / 5)
    assert figures["worlds"]["CL"]["recall@64"] == pytest.approx(4 / 5)
    assert figures["macro"]["recall@1"] == pytest.approx((2 / 5 + 1) / 2)
    assert figures["micro"]["recall@1"] == pytest.approx(3 / 6) and figures["micro"]["n"] == 6
    assert figures["worlds"]["MONDO"]["recall@1_low"] == figures["worlds"]["MONDO"]["recall@1_high"] == 1.0


def test_mentions_without_gold_are_left_out():
    outcomes = WorldOutcomes.of([prediction("a", 1), prediction("a", 1, gold=False)])
    assert outcomes.documents == ["a"] and outcomes.rank.tolist() == [1]


def test_intervals_equal_a_slow_transcription():
    rng = np.random.default_rng(5)
    worlds = {
        name: world(*(rng.integers(0, 5, size=rng.integers(1, 6)).tolist() for _ in range(n)))
        for name, n in (("A", 7), ("B", 4))
    }
    figures = world_metrics(WorldTable(worlds, ks=(1, 2)), n_samples=30, seed=3)
    # the same draws, document by document
    documents = sorted({one for outcomes in worlds.values() for one in outcomes.documents})
    draws = np.random.default_rng(3).multinomial(len(documents), [1 / len(documents)] * len(documents), 30)
    means, shares = [], {name: [] for name in worlds}
    for drawn in draws:
        present = []
        for name, outcomes in worlds.items():
            hits = total = 0.0
            for document, rank in zip(outcomes.documents, outcomes.rank, strict=True):
                times = drawn[documents.index(document)]
                hits += times * (1 <= rank <= 2)
                total += times
            if total:
                present.append(hits / total)
                shares[name].append(hits / total)
        means.append(sum(present) / len(present))
    low, high = np.percentile(means, [2.5, 97.5])
    assert figures["macro"]["recall@2_low"] == pytest.approx(low)
    assert figures["macro"]["recall@2_high"] == pytest.approx(high)
    for name in worlds:
        low, high = np.percentile(shares[name], [2.5, 97.5])
        assert figures["worlds"][name]["recall@2_low"] == pytest.approx(low)
        assert figures["worlds"][name]["recall@2_high"] == pytest.approx(high)


def test_differences_are_paired():
    ours = {"A": world([1, 2], [1, 0], [1, 1]), "B": world([1], [2], [1])}
    worse = {"A": world([2, 2], [2, 0], [2, 1]), "B": world([1], [2], [1])}
    same = world_difference(WorldTable(ours), WorldTable(ours), n_samples=40)
    assert same["macro"]["recall@1_low"] == same["macro"]["recall@1_high"] == 0.0
    figures = world_difference(WorldTable(ours), WorldTable(worse), n_samples=200)
    assert figures["worlds"]["A"]["recall@1"] == pytest.approx(1 / 2)
    assert figures["macro"]["recall@1"] == pytest.approx(1 / 4)
    assert figures["micro"]["recall@1"] == pytest.approx(3 / 9)
    # one mention of each document is better: whichever documents are drawn, it is half of them
    assert figures["worlds"]["A"]["recall@1_low"] == figures["worlds"]["A"]["recall@1_high"] == 0.5
    assert figures["macro"]["recall@2"] == 0.0


def test_the_same_seed_gives_the_same():
    table = WorldTable({"A": world([1, 2], [1, 0], [0, 1])})
    assert world_metrics(table, n_samples=50, seed=1) == world_metrics(table, n_samples=50, seed=1)
    assert world_metrics(table, n_samples=50, seed=1) != world_metrics(table, n_samples=50, seed=2)
