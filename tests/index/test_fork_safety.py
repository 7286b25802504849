import os

import numpy as np
import pytest
from forks import end_of, in_child

from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.util import processes

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


@pytest.mark.parametrize("n_queries", [8, 200])
def test_forked_child_searches_after_its_parent_did(n_queries):
    import faiss

    vectors = np.random.default_rng(0).standard_normal((4000, 64), dtype=np.float32)
    index = FaissIVF(flat_below=None, codes="int8")
    index.train(vectors)
    index.add(vectors)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(4)
    try:
        expected = index.search(vectors[:n_queries], 5)[1]

        def finds_the_same():
            same = (index.search(vectors[:n_queries], 5)[1] == expected).all()
            return bool(same) and faiss.omp_get_max_threads() == 1

        assert end_of(in_child(finds_the_same, 20)) == 0
    finally:
        faiss.omp_set_num_threads(before)


def test_a_child_that_forks_still_tokenizes(monkeypatch):
    """Its own pool of threads, which is dead, must not come back once its child is there."""
    tokenizers = pytest.importorskip("tokenizers")
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    processes.make_fork_safe()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"fever": 0, "[UNK]": 1}, unk_token="[UNK]"))
    texts = ["fever"] * 64
    tokenizer.encode_batch(texts)  # the parent has used its threads

    def forks_and_tokenizes():
        os.waitpid(in_child(lambda: None), 0)
        return len(tokenizer.encode_batch(texts)) == len(texts)

    assert end_of(in_child(forks_and_tokenizes, 20)) == 0
    assert "TOKENIZERS_PARALLELISM" not in os.environ
