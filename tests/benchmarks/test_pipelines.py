"""The benchmark that compares pipelines on weights that are fitted on the corpus itself."""

import numpy as np

from benchmarks.pipelines import MEASURES, Run, compare


def a_run(first, found, unseen) -> Run:
    flags = (np.array(one, dtype=np.bool_) for one in (first, found, unseen))
    return Run(*flags, np.arange(len(first)), [f"mention {i}" for i in range(len(first))])


def test_differences_are_of_the_other_run_to_the_base():
    base = a_run([1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1])
    other = a_run([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1])
    found = compare(base, other)
    assert list(found) == list(MEASURES)
    assert [(one.a, one.b) for one in found.values()] == [(0.5, 1), (2 / 3, 1), (0, 1), (0.75, 1)]
    assert all(one.difference == 0 for one in compare(base, base).values())
    # unseen is what the first pipeline has not seen: the columns are of the same mentions
    assert [one.b for one in compare(other, base).values()] == [0.5, 0, 0.5, 0.75]
