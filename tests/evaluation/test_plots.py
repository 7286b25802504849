"""The figures of a report: which there are, and that each run keeps its colour in all of them."""

from pathlib import Path

from spacy_pel.evaluation import Outcomes, compute_metrics
from spacy_pel.evaluation.outcomes import Run
from spacy_pel.training.report.report import inline_figures

from .conftest import predicted


def run(*nil_scores, nil=True, ks=(1, 4, 64), path=Path("run"), probability=None):
    golds = [[] if nil and i % 2 else ["A"] for i in range(len(nil_scores))]
    outcomes = Outcomes.of(
        predicted(golds[i], "A", doc=f"d{i}", nil=score, probability=probability) for i, score in enumerate(nil_scores)
    )
    return Run(path, compute_metrics(outcomes, ks=ks, n_samples=5), outcomes, [], [])


def test_figures_that_there_are_data_for():
    assert list(inline_figures({"a": run(0.1, 0.9, nil=False)})) == ["Candidates"]
    assert list(inline_figures({"a": run(-3.0, 5.0)})) == ["Candidates", "NIL (dot = calibrated decision)"]
    assert list(inline_figures({"a": run(0.1, 0.9)}))[-1] == "Reliability"
    assert list(inline_figures({"a": run(0.1, nil=False, probability=0.8)})) == ["Candidates", "Risk and coverage"]


def test_a_run_has_the_same_colour_in_each_figure():
    """Also where the run before it has no line, or candidates up to another k."""
    b = run(0.1, 0.9, ks=(1, 2), probability=0.7)
    figures = inline_figures({"no probabilities": run(-3.0, 5.0), "b": b})
    assert "var(--s0)" in figures["Candidates"] and "var(--s1)" in figures["Candidates"]
    assert "var(--s0)" not in figures["Reliability"] and "var(--s1)" in figures["Reliability"]
    assert "var(--s0)" not in figures["Risk and coverage"] and "var(--s1)" in figures["Risk and coverage"]
    assert all("var(--s2)" not in svg for svg in figures.values())
