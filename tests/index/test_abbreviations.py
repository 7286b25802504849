"""What short forms stand for, counted by entity."""

import numpy as np
import pytest

from spacy_pel.abbreviations.inventory import abbreviation_counts
from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF


def test_counts_become_shares_of_candidates(kb, encoder, tmp_path):
    index = EntityIndex.build(kb, encoder, index=FaissIVF())
    before = index.fingerprint
    first, second, third = kb.live_rows[:3].tolist()
    index.add_abbreviations(abbreviation_counts([("QZs", first, 1.0), ("QZ", -1, 2.0), ("qz", third, 9.0)]))
    index.add_abbreviations(abbreviation_counts([("Q-Z", second, 4.0), ("QZ", first, 1.0)]))
    assert index.fingerprint != before and index.meta["abbreviations"] == 1
    index.to_disk(tmp_path / "index")
    for opened in (index, EntityIndex.from_disk(tmp_path / "index"), EntityIndex.from_bytes(index.to_bytes())):
        far = -encoder.encode_names(["QZ", "Qz"])
        table = find_candidates(kb, opened, far, ["QZ", "Qz"], row_k=1, top_k=9)
        values = table.features["abbreviation"]
        shares = dict(zip(table.kb_rows[0].tolist(), values[0].tolist(), strict=True))
        assert shares[first] == pytest.approx(2 / 8) and shares[second] == pytest.approx(4 / 8)
        assert values.sum() == pytest.approx(6 / 8)  # the rest is of no entity, and "Qz" is another form
    nothing = np.zeros(kb.n_rows, dtype=bool)
    filtered = find_candidates(kb, index, far, ["QZ", "QZ"], allowed=[nothing, None], row_k=1)
    assert filtered.kb_rows[0].max() == -1 and filtered.features["abbreviation"][1].sum() == pytest.approx(6 / 8)
