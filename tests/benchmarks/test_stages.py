"""The stopwatch of the benchmark of stages."""

import pytest

from benchmarks.stages import Stopwatch


def test_a_stage_inside_another_counts_for_itself_only():
    ticks = iter([0.0, 1.0, 3.0, 7.0, 8.0, 9.0, 14.0])
    watch = Stopwatch(clock=lambda: next(ticks))
    with watch.stage("outer"):  # at 0
        assert watch.around("inner", lambda x, y: x + y)(1, y=2) == 3  # from 1 to 3
        with pytest.raises(ZeroDivisionError):
            watch.around("inner", lambda: 1 / 0)()  # from 7 to 8
    # until 9
    assert watch.seconds == {"outer": 1.0 + 4.0 + 1.0, "inner": 2.0 + 1.0}
