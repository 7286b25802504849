"""What the benchmark of the kinds of evidence leaves out, and its differences."""

import numpy as np
import pytest

from benchmarks.evidence import KINDS, first_is_right, measure, without
from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.linking.calibration import Examples
from spacy_pel.types import LABEL_TYPE, MENTION_TYPE, TOPIC, CandidateTable


def made_up_examples(n: int = 200) -> Examples:
    """Two candidates each; equal names tell which is right for all, counts for every second mention."""
    rng = np.random.default_rng(0)
    right = rng.integers(2, size=n)
    features = {name: rng.normal(size=(n, 2)).astype(np.float32) for name in (*FEATURES, TOPIC)}
    for name in ("seen", "exact", "prior", "abbreviation", "variant", "vote", TOPIC):
        features[name] = np.zeros((n, 2), dtype=np.float32)
    features["exact"][np.arange(n), right] = 1
    halves = np.arange(0, n, 2)
    features["prior"][halves, right[halves]] = 1
    table = CandidateTable(np.tile([0, 1], (n, 1)), features)
    gold = [np.array([row]) for row in right]
    return Examples(None, [None] * n, table, gold, [one // 4 for one in range(n)], np.zeros(n, dtype=bool))


def test_what_is_left_out_is_missed():
    examples = made_up_examples()
    assert first_is_right(examples, examples.table).all()
    left = without(examples.table, ("exact",))
    assert not left.features["exact"].any() and examples.table.features["exact"].any()
    hits = first_is_right(examples, left)
    assert hits[::2].all() and 0.3 < hits[1::2].mean() < 0.7  # the others are guessed


def test_every_feature_belongs_to_a_kind():
    assert {name for features in KINDS.values() for name in features} == {*FEATURES, LABEL_TYPE, MENTION_TYPE, TOPIC}


def test_differences_and_intervals():
    rows = {kind: (one, other) for kind, one, other in measure(made_up_examples(), np.arange(200) % 2 == 1)}
    one, other = rows["equal names"]
    assert one.a == other.a == 1.0 and one.b == pytest.approx((1 + other.b) / 2)
    assert one.low < one.difference < one.high < 0
    assert rows["variants"][0].difference == 0
