"""The arithmetic of the GPU report."""

import numpy as np
import pytest

from benchmarks.gpu import BF16, FP32, Row, forward_flops, peak_of, smaller_until_it_fits

H100 = "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize("card", ["NVIDIA L40"])
def test_an_unknown_card_has_no_share(card):
    row = Row("encoding", BF16, "entities", count=1, tokens=1, flops=1e12, seconds=2.0)
    assert peak_of(card, BF16) is None and row.share_of_peak(card) is None and row.cells(card)[4] == "–"
    assert row.share_of_peak(H100) == pytest.approx(0.5e12 / 989e12) and row.cells(H100)[4] == "0.1%"
    row.setting = FP32
    assert row.share_of_peak(H100) == pytest.approx(0.5e12 / 67e12)


@pytest.mark.parametrize(
    ("most", "size", "parts", "note"),
    [(32, 32, 1, None), (9, 8, 4, "out of memory with batches of 32: batch_size = 8, accumulate_gradient = 4")],
)
def test_smaller_batches_where_memory_runs_out(most, size, parts, note):
    def train(batch_size, n):
        return {"asked": (batch_size, n)} if batch_size <= most else None

    found = smaller_until_it_fits(train, 32)
    assert found["asked"] == (size, parts) and found.get("note") == note


def test_operations_of_a_model_of_berts_base_size():
    # 85 million weights besides the embeddings, two operations each; attention adds 4 x 768 for each pair and layer
    assert forward_flops(np.array([100]), layers=12, width=768) == 2 * 84_934_656 * 100 + 4 * 12 * 768 * 100**2
    one, both = (forward_flops(np.array(lengths), layers=2, width=8) for lengths in ([7], [7, 7]))
    assert both == 2 * one
