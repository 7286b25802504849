from spacy_pel.encoders.token_arrays import RaggedTokens


def test_padded():
    tokens = RaggedTokens.from_lists([[5, 6], [], [7], [8, 9, 10]])
    ids, mask = tokens.padded([3, 0, 1], pad_id=-1)
    assert ids.tolist() == [[8, 9, 10], [5, 6, -1], [-1, -1, -1]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 0]]
    assert tokens.padded([], pad_id=0)[0].shape == (0, 0)
