"""The progress bar on stderr."""

import re
import time

from spacy_pel.util import progress


def in_batches(n_batches, *, start_up):
    """YIELDS (int): five at a time, the first ones late."""
    time.sleep(start_up)
    for batch in range(n_batches):
        yield from range(5 * batch, 5 * batch + 5)
        time.sleep(0.02)


def last_line(capfd):
    return capfd.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]


def test_the_rate_counts_from_the_first_batch(capfd):
    items = progress(in_batches(4, start_up=1.5), description="Linking", total=30, start=10, warm_up=5)
    assert list(items) == list(range(20))
    line = last_line(capfd)
    assert "30/30" in line
    assert float(re.search(r"([\d.]+)it/s", line)[1]) > 25  # 20 items in 1.6 s would be 13


def test_fewer_items_than_a_batch(capfd):
    assert list(progress(in_batches(1, start_up=0), description="Linking", warm_up=64)) == list(range(5))
    assert "Linking: 5it" in last_line(capfd)
    assert list(progress([], description="Linking", warm_up=64)) == []


def test_silent(capfd):
    assert list(progress(range(9), description="Linking", warm_up=2, show=False)) == list(range(9))
    assert capfd.readouterr().err == ""
