import numpy as np
import pytest

from spacy_pel.encoders.token_arrays import RaggedTokens
from spacy_pel.training.retriever.example_store import RaggedWriter

LISTS = [[5, 6], [], [7], [8, 9, 10]]


@pytest.fixture
def tokens():
    return RaggedTokens.from_lists(LISTS)


def test_padded(tokens):
    ids, mask = tokens.padded([3, 0, 1], pad_id=-1)
    assert ids.tolist() == [[8, 9, 10], [5, 6, -1], [-1, -1, -1]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 0]]
    assert tokens.padded([], pad_id=0)[0].shape == (0, 0)


def test_disk(tokens, tmp_path):
    with RaggedWriter(tmp_path / "tokens") as writer:
        writer.append(tokens)
    loaded = RaggedTokens.from_disk(tmp_path / "tokens")
    assert isinstance(loaded.values, np.memmap)
    assert [loaded[row].tolist() for row in range(len(loaded))] == LISTS
