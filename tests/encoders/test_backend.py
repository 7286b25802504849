"""Batches of like length, in the order of the rows whatever runs them."""

import time

import numpy as np
import pytest

from spacy_pel.encoders.backend import encode_batches
from spacy_pel.templates import RaggedTokens

TOKENS = RaggedTokens.from_lists([[5, 6], [], [7], [8, 9, 10]])


class Sums:
    """One number for each sequence; the first batch is the slowest."""

    def __init__(self, workers):
        self.workers = workers

    def __call__(self, ids, mask):
        time.sleep(0.01 * ids.shape[1])
        return (ids * mask).sum(axis=1, keepdims=True).astype(np.float32)


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_cover_each_row_once_longest_first(workers):
    batches = list(encode_batches(Sums(workers), TOKENS, batch_size=3, pad_id=99))
    assert [rows.tolist() for rows, _, _ in batches] == [[3, 0, 2], [1]]
    assert [mask.sum(axis=1).tolist() for _, mask, _ in batches] == [[3, 2, 1], [0]]
    assert [values[:, 0].tolist() for _, _, values in batches] == [[27, 11, 7], [0]]


def test_progress_is_shown_on_demand(capsys):
    shown = list(encode_batches(Sums(1), TOKENS, batch_size=2, pad_id=0, show_progress=True))
    assert len(shown) == 2 and "Encoding" in capsys.readouterr().err
    list(encode_batches(Sums(1), TOKENS, batch_size=2, pad_id=0))
    assert not capsys.readouterr().err
