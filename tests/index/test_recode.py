import numpy as np

from spacy_pel.index import EntityIndex, recode
from spacy_pel.index.faiss_flat import FaissFlat


def test_a_recoded_index_finds_the_same_entities(kb, encoder, documents):
    kinds = ("card", "alias", "mention")
    full = EntityIndex.build(kb, encoder, index=FaissFlat(), kinds=kinds, documents=documents)
    queries = encoder.encode_names(["chronic lung disease", "common cold", "cold temperature"])
    small = recode(full, FaissFlat(codes="fp16"))
    assert small.meta["live_rows"] == full.meta["live_rows"]
    assert small.kb_fingerprint == full.kb_fingerprint
    for kind in kinds:
        expected = full.search_entities(queries, 1, kinds=(kind,))
        scores, rows = small.search_entities(queries, 1, kinds=(kind,))
        np.testing.assert_array_equal(rows, expected[1])
        np.testing.assert_allclose(scores, expected[0], atol=2e-3)


def test_retired_rows_are_left_out(kb, encoder):
    full = EntityIndex.build(kb, encoder, index=FaissFlat(), kinds=("alias",))
    before = full.meta["live_rows"]["alias"]
    rows = kb.retire(["C90"])
    full.add_entities(kb, encoder, rows)
    small = recode(full, FaissFlat(codes="int8", pca=16))
    assert len(small) == small.meta["live_rows"]["alias"] < before
    assert not np.isin(small.kb_rows, rows).any()
