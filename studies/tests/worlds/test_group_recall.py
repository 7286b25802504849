"""Recall by groups of documents: by hand, and the bootstrap against a slow transcription."""

import numpy as np
import pytest
from spacy_pel_studies.worlds.group_recall import GroupOutcomes, GroupTable, recall_by_group

from spacy_pel.evaluation import Prediction


def predicted(gold, doc, rank=0):
    """A prediction whose gold entity is at this rank; 0 = not among the candidates."""
    candidates = [("G" if place == rank else f"X{place}", 1.0 / place) for place in range(1, 65)]
    return Prediction(doc, 0, 1, "x", "", gold, "", candidates)


def group(*ranks_by_document):
    return GroupOutcomes.of(
        [predicted(["G"], f"d{n}", rank) for n, ranks in enumerate(ranks_by_document) for rank in ranks]
    )


def test_by_hand():
    groups = {"CL": group([1, 2, 0, 1], [64]), "MONDO": group([1])}
    metrics = recall_by_group(GroupTable(groups), n_samples=20)
    assert metrics["groups"]["CL"]["n"] == 5 and metrics["groups"]["MONDO"]["n"] == 1
    assert metrics["groups"]["CL"]["recall@1"] == pytest.approx(2 / 5)
    assert metrics["groups"]["CL"]["recall@2"] == pytest.approx(3 / 5)
    assert metrics["groups"]["CL"]["recall@64"] == pytest.approx(4 / 5)
    assert metrics["macro"]["recall@1"] == pytest.approx((2 / 5 + 1) / 2)
    assert metrics["micro"]["recall@1"] == pytest.approx(3 / 6) and metrics["micro"]["n"] == 6
    assert metrics["groups"]["MONDO"]["recall@1_low"] == metrics["groups"]["MONDO"]["recall@1_high"] == 1.0


def test_mentions_without_gold_are_left_out():
    outcomes = GroupOutcomes.of([predicted(["G"], "a", 1), predicted([], "a")])
    assert outcomes.documents == ["a"] and outcomes.rank.tolist() == [1]


def test_intervals_equal_a_slow_transcription():
    rng = np.random.default_rng(5)
    groups = {
        name: group(*(rng.integers(0, 5, size=rng.integers(1, 6)).tolist() for _ in range(n)))
        for name, n in (("A", 7), ("B", 4))
    }
    metrics = recall_by_group(GroupTable(groups, ks=(1, 2)), n_samples=30, seed=3)
    # the same draws, document by document
    documents = sorted({one for outcomes in groups.values() for one in outcomes.documents})
    draws = np.random.default_rng(3).multinomial(len(documents), [1 / len(documents)] * len(documents), 30)
    means, shares = [], {name: [] for name in groups}
    for drawn in draws:
        present = []
        for name, outcomes in groups.items():
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
    assert metrics["macro"]["recall@2_low"] == pytest.approx(low)
    assert metrics["macro"]["recall@2_high"] == pytest.approx(high)
    for name in groups:
        low, high = np.percentile(shares[name], [2.5, 97.5])
        assert metrics["groups"][name]["recall@2_low"] == pytest.approx(low)
        assert metrics["groups"][name]["recall@2_high"] == pytest.approx(high)
