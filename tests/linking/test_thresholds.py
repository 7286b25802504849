"""NIL thresholds: which one counts, and choosing them."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.calibration import best_f1_threshold, precision_threshold
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.explanation import explain
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.types import NIL, Entity

from .annotated import hashed_linker, tfidf_linker
from .tables import NearestRow


@pytest.mark.parametrize(
    ("setting", "own", "other"), [(None, 0.5, 0.5), (0.9, 0.9, 0.9), ({"A": 0.8}, 0.8, 0.5), (0.0, 0.0, 0.0)]
)
def test_what_is_set_wins_and_then_the_label(linker, setting, own, other):
    assert linker.decider.threshold_of("A", None) is None
    decider = linker.decider
    decider.calibrated_threshold = 0.5
    assert [decider.threshold_of(label, setting) for label in "AB"] == [own, other]
    linker.threshold = setting
    queries = [ask("gout", "A"), ask("gout", "B")]
    assert [one.threshold for one in linker.link(queries)] == [own, other]


class FixedNil(NetworkNil):
    """P(NIL) of 0.4 for every mention."""

    is_probability = True

    def __call__(self, table, scores):
        return np.full(len(table), 0.4, dtype=np.float32)


def test_without_a_threshold_the_more_probable_answer_is_given():
    names = {"FEVER": ("fever",), "J00": ("common cold", "cold"), "T69": ("exposure to cold", "cold")}
    kb = KnowledgeBase([Entity(one, name, tuple(others)) for one, (name, *others) in names.items()])
    linker = tfidf_linker(kb, FixedNil())
    queries = [MentionQuery(text, 0, len(text), "A") for text in ("fever", "cold", "qqq")]
    links = linker.link(queries)
    best = [max(one.scores, default=0.0) for one in links]
    assert best[0] > 2 / 3 > best[1] > best[2] == 0.0  # P(NIL) of 0.4 against best x 0.6
    assert [one.kb_id == NIL for one in links] == [False, True, True]
    assert [one.threshold for one in links] == pytest.approx([b / (1 + b) for b in best])
    assert [one.probability for one in links[:2]] == pytest.approx([best[0] * 0.6, 0.4])
    why = explain(linker, queries[1])
    assert why.threshold == links[1].threshold < 0.4 and "of this mention" in str(why)
    linker.threshold = 0.5
    assert [one.kb_id == NIL for one in linker.link(queries)] == [False, False, True]
    assert [one.threshold for one in linker.link(queries)] == [0.5] * 3
    linker.threshold = {"B": 0.5}  # no threshold of A: as without one
    assert [one.kb_id == NIL for one in linker.link(queries)] == [False, True, True]
    linker.threshold, linker.decider.combiner = None, NearestRow()  # its scores are no probabilities
    assert [one.threshold for one in linker.link(queries)] == [0.5] * 3
    # cannot say how probable NIL is
    linker.decider.combiner, linker.decider.nil_model = LinearCombiner(), NetworkNil()
    assert [one.kb_id == NIL for one in linker.link(queries)] == [False, False, True]
    assert linker.link(queries)[0].threshold is None


@pytest.fixture
def linker():
    kb = KnowledgeBase([Entity("D0", "measles"), Entity("D1", "asthma"), Entity("D2", "gout")])
    return hashed_linker(kb, NearestRow(), NetworkNil(track_record=False))


def ask(surface, label):
    return MentionQuery(f"about {surface} and more", 6, 6 + len(surface), label)


def test_threshold_equals_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scores = (rng.integers(0, 12, 40) / 11).astype(np.float32)  # many equal scores
        is_nil = rng.random(40) < 0.4
        is_nil[0] = True

        def f1(threshold, scores=scores, is_nil=is_nil):
            called = scores > threshold
            return 2 * (called & is_nil).sum() / (called.sum() + is_nil.sum())

        best = max(f1(t) for t in np.linspace(-0.05, 1.05, 200))
        assert f1(best_f1_threshold(scores, is_nil)) == pytest.approx(best)


def test_threshold_may_call_all_nil_and_splits_neighbours():
    assert best_f1_threshold(np.asarray([0.3, 0.2], dtype=np.float32), np.asarray([True, True])) < 0.2
    low = np.float32(0.5)
    high = np.nextafter(low, np.float32(1))
    threshold = best_f1_threshold(np.asarray([low, high], dtype=np.float32), np.asarray([False, True]))
    assert (np.asarray([low, high]) > threshold).tolist() == [False, True]
    with pytest.raises(PelError, match="E610"):
        best_f1_threshold(np.asarray([0.1], dtype=np.float32), np.asarray([False]))


def test_precision_threshold_equals_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scores = (rng.integers(0, 12, 40) / 11).astype(np.float32)  # many equal scores
        is_nil = rng.random(40) < 0.5
        grid = np.append(-0.05, (np.arange(11) + 0.5) / 11)
        reached = [t for t in grid if (c := scores > t).any() and (c & is_nil).sum() / c.sum() >= 0.6]
        if not reached:
            with pytest.raises(PelError, match="E614"):
                precision_threshold(scores, is_nil, precision=0.6)
            continue
        found = precision_threshold(scores, is_nil, precision=0.6)
        assert ((scores > found) == (scores > reached[0])).all()


def test_precision_out_of_reach_names_the_best():
    scores = np.asarray([0.9, 0.5], dtype=np.float32)
    with pytest.raises(PelError, match="E614.*0.9.*best is 0.500"):
        precision_threshold(scores, np.asarray([False, True]), precision=0.9)
    with pytest.raises(PelError, match="E613"):
        precision_threshold(scores, np.asarray([False, True]), precision=1.5)
    with pytest.raises(PelError, match="E610"):
        precision_threshold(scores, np.asarray([False, False]), precision=0.5)
