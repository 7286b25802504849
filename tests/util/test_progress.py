"""The progress bar on stderr."""

import pytest

from spacy_pel.util import console, progress
from spacy_pel.util.console import ChunkProgress, report_parts


@pytest.fixture(autouse=True)
def delay(monkeypatch):
    usual = console._DELAY
    monkeypatch.setattr(console, "_DELAY", 0.0)
    return usual


def last_line(capfd):
    return capfd.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]


def test_items_pass_and_are_counted(capfd):
    assert list(progress(range(20), description="Linking", total=30, start=10, warm_up=5)) == list(range(20))
    assert "30/30" in last_line(capfd)


def test_what_is_done_at_once_has_no_bar(capfd, delay, monkeypatch):
    monkeypatch.setattr(console, "_DELAY", delay)
    assert list(progress(range(3), description="Linking")) == [0, 1, 2]
    assert list(progress(range(3), description="Linking", warm_up=2)) == [0, 1, 2]
    with ChunkProgress(description="Linking", total=3) as bar, bar.chunk(3):
        pass
    assert capfd.readouterr().err == ""


def test_silent(capfd):
    assert list(progress(range(9), description="Linking", warm_up=2, show=False)) == list(range(9))
    assert capfd.readouterr().err == ""


def test_no_items_no_bar(capfd):
    assert list(progress([], description="Linking", warm_up=64)) == []
    assert list(progress(iter(()), description="Linking", total=0)) == []
    with ChunkProgress(description="Linking", total=0), ChunkProgress(description="Linking", show=False) as bar:
        with bar.chunk(3):
            assert list(report_parts("ab", [1, 1])) == ["a", "b"]
    assert capfd.readouterr().err == ""


def test_a_chunk_advances_with_its_work(capfd):
    seen = []
    with ChunkProgress(description="Embedding", total=30) as bar:
        for _ in range(2):
            with bar.chunk(10):
                for _ in report_parts(range(3), [6, 3, 1]):
                    seen.append(bar._bar.n)
                list(report_parts(range(2), [1, 1]))  # never back, never further
                assert bar._bar.n == seen[-1]
        list(report_parts(range(3), [1, 1, 1]))  # of no chunk
        with bar.chunk(10):
            assert bar._bar.n == 20
    assert seen == [6, 9, 10, 16, 19, 20]
    assert "30/30" in last_line(capfd)
