import numpy as np
import pytest

from spacy_pel.linking.gate import Answers, fit_gate

RNG = np.random.default_rng(0)
N = 2000
IS_NIL = RNG.random(N) < 0.2


def scored(noise: float) -> np.ndarray:
    """P(NIL) that tells NIL mentions from others the better, the less noise there is."""
    return (1 / (1 + np.exp(-3 * (IS_NIL - 0.5) - noise * RNG.standard_normal(N)))).astype(np.float32)


def answers(nil_scores: np.ndarray, right: float) -> Answers:
    return Answers(nil_scores, RNG.random(N) < right)


def share_read(form: Answers, gate: float) -> float:
    return float((form.nil_scores > gate).mean())


def test_nothing_is_read_where_forms_are_as_good():
    form = answers(scored(0.5), 0.8)
    gate = fit_gate(form, form, IS_NIL)
    assert share_read(form, gate) == 0


def test_it_loses_a_tenth_of_a_point_at_most():
    form, context = answers(scored(2.0), 0.6), answers(scored(0.5), 0.9)
    gate = fit_gate(form, context, IS_NIL)
    read = form.nil_scores > gate
    right = np.where(read, context.is_right, form.is_right)
    assert 0.5 < read.mean() and right.mean() >= context.is_right.mean() - 0.001


@pytest.mark.parametrize("noise", [1.0, 3.0])
def test_ranking_nil_counts_as_well(noise):
    from sklearn.metrics import average_precision_score

    right = RNG.random(N) < 0.8  # the same answers
    form, context = Answers(scored(noise), right), Answers(scored(0.3), right)
    gate = fit_gate(form, context, IS_NIL)
    mixed = np.where(form.nil_scores > gate, context.nil_scores, form.nil_scores)
    whole = average_precision_score(IS_NIL, context.nil_scores)
    assert average_precision_score(IS_NIL, mixed) >= whole - 0.002
    assert 0 < share_read(form, gate) < 1


def test_mentions_likeliest_to_be_nil_are_read_first():
    form, context = answers(scored(1.0), 0.8), answers(scored(0.5), 0.8)
    gate = fit_gate(form, context, IS_NIL)
    read = form.nil_scores > gate
    assert not read.any() or form.nil_scores[read].min() > form.nil_scores[~read].max(initial=0.0)
