"""The progress bar on stderr."""

import pytest

from spacy_pel.util import console, progress
from spacy_pel.util.console import progress_bar


@pytest.fixture(autouse=True)
def delay(monkeypatch):
    usual = console._DELAY
    monkeypatch.setattr(console, "_DELAY", 0.0)
    return usual


def test_items_pass_and_are_counted(capfd):
    assert list(progress(range(20), description="Linking")) == list(range(20))
    assert "20/20" in capfd.readouterr().err


def test_chunks_are_counted_when_they_are_done(capfd):
    with progress_bar("Embedding", 30) as bar:
        for _ in range(3):
            bar.update(10)
    assert "30/30" in capfd.readouterr().err


def test_what_is_done_at_once_silent_or_empty_has_no_bar(capfd, delay, monkeypatch):
    assert list(progress(range(9), description="Linking", show=False)) == list(range(9))
    assert list(progress([], description="Linking")) == []
    assert list(progress(iter(()), description="Linking", total=0)) == []
    monkeypatch.setattr(console, "_DELAY", delay)
    assert list(progress(range(3), description="Linking")) == [0, 1, 2]
    with progress_bar("Linking", 3) as bar:
        bar.update(3)
    assert capfd.readouterr().err == ""
