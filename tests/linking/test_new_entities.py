"""The share of new entities: which candidates are new, the estimate, and what is shifted."""

import numpy as np
import pytest

from spacy_pel.linking import MentionQuery
from spacy_pel.linking.new_entities import (
    estimate_share,
    log_odds,
    new_candidates,
    share_at_home,
    share_of_new,
    shares_by_document,
    shift,
)
from spacy_pel.types import CandidateTable

KNOWN, NEW = 1.0, 0.0  # popularity


def table(*mentions, seen=False):
    """Of mentions with candidates (popularity, edit, name cosine); None = no candidate."""
    width = max(map(len, mentions))
    rows = np.full((len(mentions), width), -1)
    features = {name: np.zeros((len(mentions), width), np.float32) for name in ("popularity", "edit", "name", "seen")}
    for i, candidates in enumerate(mentions):
        for j, (popularity, edit, name) in enumerate(candidates):
            rows[i, j] = 10 * i + j
            for key, value in (("popularity", popularity), ("edit", edit), ("name", name), ("seen", float(seen))):
                features[key][i, j] = value
    return CandidateTable(rows, features)


def test_an_entity_without_annotated_text_is_new():
    found = new_candidates(table([(KNOWN, 0.5, 0.5), (NEW, 0.9, 0.9), (NEW, 0.1, 0.6)], [(KNOWN, 0.2, 0.2)]))
    assert found.tolist() == [[False, True, True], [False, False, False]]


@pytest.mark.parametrize(
    ("known", "new", "is_new"),
    [
        ((0.8, 0.8), (0.8, 0.8), False),  # the same name
        ((0.9, 0.8), (0.8, 0.8), False),
        ((0.9, 0.9), (0.8, 0.8), False),
        ((0.9, 0.7), (0.8, 0.8), True),  # spelled alike, but another meaning
        ((0.7, 0.9), (0.8, 0.8), True),
        ((0.7, 0.7), (0.8, 0.8), True),
    ],
)
def test_a_twin_of_an_annotated_entity_is_not_new(known, new, is_new):
    for order in ([(KNOWN, *known), (NEW, *new)], [(NEW, *new), (KNOWN, *known)]):
        (found,) = new_candidates(table(order)).tolist()
        assert found[[popularity for popularity, *_ in order].index(NEW)] == is_new


def test_forms_that_annotated_text_has_say_nothing():
    known = table([(KNOWN, 0.5, 0.5), (NEW, 0.9, 0.9)], seen=True)
    scores = np.array([[0.3, 0.7]], np.float32)
    assert not new_candidates(known).any() and np.isnan(share_of_new(known, scores)).all()
    assert shift(known, scores, np.array([3.0])) is scores


def test_the_share_is_estimated_by_expectation_maximisation():
    """Scores of a calibrated model on text where new entities are three times as frequent as at home."""
    rng = np.random.default_rng(0)
    home, true, n = 0.2, 0.6, 20_000
    is_new = rng.random(n) < true
    evidence = np.where(
        is_new, rng.normal(1.5, 1.0, n), rng.normal(0.0, 1.0, n)
    )  # equal variances: log ratio is linear
    odds = np.log(home / (1 - home)) + 1.5 * evidence - 1.5**2 / 2
    shares = 1 / (1 + np.exp(-odds))
    assert estimate_share(shares, home) == pytest.approx(true, abs=0.02)
    assert abs(shares.mean() - true) > 0.15, "the mean is no estimate"
    assert estimate_share(np.append(shares, np.nan), home) == estimate_share(shares, home)


def test_a_few_mentions_say_little():
    assert estimate_share(np.array([]), 0.2) == pytest.approx(0.2)
    one, many = estimate_share(np.array([0.9]), 0.2), estimate_share(np.full(200, 0.9), 0.2)
    assert 0.2 < one < 0.35 < 0.9 < many < 1.0


def test_documents_have_shares_of_their_own():
    first, second = "angrolosis and wexinate, angrolosis", "plain text"
    queries = [MentionQuery(first, 0, 10), MentionQuery(second, 0, 5), MentionQuery(first, 15, 23)]
    queries.append(MentionQuery(first, 25, 35))  # a form that the document repeats
    shares = np.array([0.9, 0.01, 0.8, 0.9])
    of_first, of_second, *rest = shares_by_document(queries, shares, 0.2)
    assert rest == [of_first, of_first] and of_second < 0.2 < of_first
    assert of_first == estimate_share(np.array([0.9, 0.8]), 0.2), "each form once"
    assert shares_by_document([*queries, *queries], np.tile(shares, 2), 0.2)[0] == of_first, "nor a document twice"


def test_odds_of_new_entities_are_multiplied():
    candidates = table([(KNOWN, 0.5, 0.5), (NEW, 0.9, 0.9), (KNOWN, 0.1, 0.1)], [(KNOWN, 0.5, 0.5)])
    scores = np.array([[0.6, 0.2, 0.2], [1.0, -np.inf, -np.inf]], np.float32)
    shifted = shift(candidates, scores, log_odds(np.array([0.5, 0.5]), 0.2))
    assert shifted[0].sum() == pytest.approx(1.0) and shifted[0, 0] / shifted[0, 2] == pytest.approx(3.0)
    assert shifted[0, 1] / (1 - shifted[0, 1]) == pytest.approx(4 * 0.2 / 0.8)  # odds of 1 instead of 1 to 4
    assert shifted[1].tolist() == [1.0, -np.inf, -np.inf]
    assert shift(candidates, scores, log_odds(np.array([0.2, 0.2]), 0.2)) is scores
    assert scores[0].tolist() == pytest.approx([0.6, 0.2, 0.2]), "the given scores stay"


def test_the_share_at_home_is_the_mean_of_forms():
    text = "angrolosis, angrolosis, wexinate"
    queries = [MentionQuery(text, *at) for at in ((0, 10), (12, 22), (24, 32))]
    candidates = table(*[[(KNOWN, 0.5, 0.5), (NEW, 0.9, 0.9)]] * 3)
    scores = np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6]], np.float32)
    assert share_at_home(queries, candidates, scores) == pytest.approx(0.4)
    assert share_at_home(queries, table(*[[(KNOWN, 0.5, 0.5)]] * 3), np.ones((3, 1), np.float32)) is None
