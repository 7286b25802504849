"""Differences between two systems over several worlds."""

import numpy as np
import pytest
from spacy_pel_studies.worlds.group_recall import GroupOutcomes, GroupTable
from spacy_pel_studies.worlds.tables import world_difference


def world(*ranks_by_document):
    """Each document's ranks of the gold entities."""
    documents = [f"d{n}" for n, ranks in enumerate(ranks_by_document) for _ in ranks]
    return GroupOutcomes(documents, np.array([rank for ranks in ranks_by_document for rank in ranks]))


def test_differences_are_paired():
    ours = {"A": world([1, 2], [1, 0], [1, 1]), "B": world([1], [2], [1])}
    worse = {"A": world([2, 2], [2, 0], [2, 1]), "B": world([1], [2], [1])}
    same = world_difference(GroupTable(ours), GroupTable(ours), n_samples=40)
    assert same["macro"]["recall@1_low"] == same["macro"]["recall@1_high"] == 0.0
    metrics = world_difference(GroupTable(ours), GroupTable(worse), n_samples=200)
    assert metrics["groups"]["A"]["recall@1"] == pytest.approx(1 / 2)
    assert metrics["macro"]["recall@1"] == pytest.approx(1 / 4)
    assert metrics["micro"]["recall@1"] == pytest.approx(3 / 9)
    # one mention of each document is better: whichever documents are drawn, it is half of them
    assert metrics["groups"]["A"]["recall@1_low"] == metrics["groups"]["A"]["recall@1_high"] == 0.5
    assert metrics["macro"]["recall@2"] == 0.0
