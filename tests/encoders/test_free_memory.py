"""Memory of a process."""

import ctypes
import sys

import pytest

from spacy_pel.encoders import backend
from spacy_pel.util import processes


def held():
    return processes.memory_in_use()["own"] / 2**20


@pytest.mark.skipif(sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc")
@pytest.mark.parametrize("last", [-backend._EVERY, 1e6])  # a forked process counts its time from 0
def test_free_pages_between_used_ones_go_back(monkeypatch, last):
    blocks = [bytes(1 << 16) for _ in range(3000)]
    full = held()
    blocks = blocks[::2]
    monkeypatch.setattr(backend, "_returned", backend.time.process_time())
    backend.return_free_memory()
    assert held() > full - 10  # too soon: it costs time
    monkeypatch.setattr(backend, "_returned", last)
    backend.return_free_memory()
    assert held() < full - 60 and len(blocks) == 1500
