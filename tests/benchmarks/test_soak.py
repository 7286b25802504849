"""The figures of the soak."""

import pytest

from benchmarks.soak import Reading, growth, in_steps


def reading(documents, resident):
    return Reading(documents, 1.0, resident, resident / 2, resident, 1)


def test_growth_is_that_after_the_first_documents():
    readings = [reading(0, 10), reading(50, 70), reading(60, 60), reading(100, 100), reading(250, 102)]
    readings += [reading(210, 104), reading(300, 101)]
    steps = in_steps(readings, 100)
    assert [(step.documents, step.resident) for step in steps] == [(50, 70), (100, 100), (210, 104), (300, 101)]
    assert growth(steps, 100) == pytest.approx(0.04)
    assert growth(steps, 200) == 0.0
    assert growth(steps[:2], 100) != growth(steps[:2], 100)  # nan
