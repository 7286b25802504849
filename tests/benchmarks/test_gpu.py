"""The GPU report: its arithmetic, and all of its parts at tiny size on the CPU."""

import json

import numpy as np
import pytest
import torch

from benchmarks.gpu import (
    BF16,
    COMPILED,
    ENTITIES,
    FP32,
    HEAD,
    MENTIONS,
    Budget,
    Row,
    duration,
    forward_flops,
    main,
    peak_of,
    smaller_until_it_fits,
)

H100 = "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("card", "precision", "tera"),
    [
        (H100, BF16, 989),
        (H100, FP32, 67),
        ("NVIDIA H100 PCIe", BF16, 756),
        ("NVIDIA H200", BF16, 989),
        ("NVIDIA A100-SXM4-80GB", FP32, 19.5),
        ("NVIDIA L40S", BF16, 362),
        ("NVIDIA L4", BF16, 121),
    ],
)
def test_peaks_of_cards(card, precision, tera):
    assert peak_of(card, precision) == pytest.approx(1e12 * tera)


@pytest.mark.parametrize("card", ["NVIDIA GeForce GTX 1080", "NVIDIA L40", "NVIDIA GH200 480GB"])
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


def test_the_time_is_divided_among_the_rows_that_are_left():
    budget = Budget(10, rows=2)
    assert budget.next() == pytest.approx(150, abs=1) and budget.next() == pytest.approx(300, abs=1)
    assert Budget(-1, rows=1).next() == 0


@pytest.mark.parametrize(
    ("seconds", "text"), [(59.94, "59.9 s"), (119, "119.0 s"), (570, "9.5 min"), (11_160, "3.1 h")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_skipped(run):
    done = run(main)
    assert done.exit_code == 0 and done.stdout.startswith("Skipped: ") and len(done.stdout.splitlines()) == 1


def test_an_unknown_size_or_device(run):
    for options in (["--size", "huge"], ["--device", "tpu"]):
        done = run(main, *options)
        assert done.exit_code == 2 and "Expected --size paper or tiny" in done.output


@pytest.mark.slow
def test_all_parts_at_tiny_size_on_the_cpu(run, tmp_path):
    done = run(main, "--size", "tiny", "--device", "cpu", "--minutes", 60, "--output", tmp_path / "gpu.json")
    assert done.exit_code == 0, (done.output, done.exception)
    table = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")]
    assert table[0] == HEAD and {len(line) for line in table} == {len(HEAD)}
    rows = {(row["part"], row["setting"]): row for row in json.loads((tmp_path / "gpu.json").read_text())["rows"]}
    assert [tuple(line[:2]) for line in table[2:]] == list(rows)
    assert {(part, how) for part in ("training", "encoding") for how in (FP32, BF16, COMPILED)} < rows.keys()
    assert {part for part, _ in rows} == {"training", "encoding", "mining", "linking"}
    for row in rows.values():
        assert row["count"] > 0 and row["seconds"] > 0 and row["memory_mb"] > 0
        assert row["share_of_peak"] is None, "a processor has none"
    for (part, _), row in rows.items():
        if part in ("training", "encoding"):
            total = MENTIONS if part == "training" else ENTITIES
            assert row["whole_seconds"] == pytest.approx(total * row["seconds"] / row["count"])
            assert row["tokens"] > 4 * row["count"] and row["flops"] > 2 * 12 * 32**2 * row["tokens"]
    trained = [rows["training", how] for how in (FP32, BF16, COMPILED)]
    assert {row["count"] for row in trained} == {2 * 4}, "two updates of four mentions"
    assert len({row["tokens"] for row in trained}) == 1, "all of them read the same"
    # a mention, its entity and four others, of at most 64 word pieces
    assert 0 < trained[0]["padding"] < 1 and trained[0]["tokens"] <= 8 * 6 * 64
    assert rows["linking", "as a pipeline does"]["count"] >= 2 * 4 * 10, "two batches; other words may be names, too"
