"""Batches of like length, in the order of the rows whatever runs them."""

import os
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from spacy_pel.encoders.backend import CPU, TorchBackend, chosen_precision, encode_batches
from spacy_pel.encoders.bert import _Linear
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.openvino_backend import OpenVinoBackend
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.token_arrays import RaggedTokens

from .conftest import make_encoder

needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
TOKENS = RaggedTokens.from_lists([[5, 6], [], [7], [8, 9, 10]])


class Sums:
    """One number for each sequence; the first batch is the slowest."""

    packs = True

    def __init__(self, workers):
        self.workers = workers

    def __call__(self, ids, mask):
        time.sleep(0.01 * ids.shape[1])
        return (ids * mask).sum(axis=1, keepdims=True).astype(np.float32)


@pytest.mark.parametrize(
    "workers, size, rows",
    [(1, 3, [[3, 0, 2], [1]]), (2, 3, [[3, 0], [2, 1]]), (3, 1, [[3], [0], [2], [1]]), (9, 3, [[3], [0], [2], [1]])],
)
def test_batches_cover_each_row_once_longest_first_and_keep_all_workers_busy(workers, size, rows):
    batches = list(encode_batches(Sums(workers), TOKENS, batch_size=size, pad_id=99))
    assert [found.tolist() for found, _, _ in batches] == rows
    assert [mask.sum(axis=1).tolist() for _, mask, _ in batches] == [[(2, 0, 1, 3)[i] for i in own] for own in rows]
    assert [found[:, 0].tolist() for _, _, found in batches] == [[(11, 0, 7, 27)[i] for i in own] for own in rows]


def test_sequences_of_one_length_stand_together_where_a_backend_does_not_pack():
    tokens = RaggedTokens.from_lists([[5, 6], [7], [8, 9], [1, 2]])
    batches = encode_batches(lambda ids, mask: ids.sum(axis=1, keepdims=True), tokens, batch_size=2, pad_id=99)
    assert [(rows.tolist(), mask.all()) for rows, mask, _ in batches] == [([0, 2], True), ([3], True), ([1], True)]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("saved", [True, False])  # saved ones are read as our own Bert, which packs
def test_a_sequence_gets_the_same_vector_whatever_stands_beside_it(tiny_bert, tmp_path, saved, precision):
    rng = np.random.default_rng(0)
    encoder = make_encoder(tiny_bert, tied=True, backend=TorchBackend(precision=precision))
    if saved:
        encoder.to_disk(tmp_path / "encoder")
        encoder = load_encoder(tmp_path / "encoder", backend=encoder.backend)
    names = ["a", "of the", "aspirin", "breast cancer of the left side", "type 2 diabetes mellitus, with names " * 3]
    alone = [encoder.encode_names([name])[0] for name in names]
    threads = torch.get_num_threads()
    for round_ in range(12):
        torch.set_num_threads(1 + round_ % 2)
        which = rng.integers(len(names), size=rng.integers(1, 40))
        found = encoder.encode_names([names[i] for i in which])
        np.testing.assert_array_equal(found, np.stack([alone[i] for i in which]))
    torch.set_num_threads(threads)
    many = encoder.encode_names([names[-1]] * encoder.batch_size)  # more tokens than are widened at a time
    np.testing.assert_array_equal(many, np.stack([alone[-1]] * len(many)))


@pytest.mark.parametrize("shape", [(384, 1536), (1536, 384), (32, 64)])
def test_products_are_precise_and_the_same_in_any_batch_and_with_any_number_of_threads(shape):
    torch.manual_seed(0)
    linear = _Linear(*shape).to_empty(device="cpu")
    torch.nn.init.normal_(linear.weight)
    torch.nn.init.normal_(linear.bias)
    tokens, before = torch.randn(1056, shape[0]), torch.get_num_threads()
    exact = (tokens.double() @ linear.weight.double().T + linear.bias.double()).detach()
    with torch.inference_mode():
        found = linear(tokens)
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            for n in (32, 64, 96, 512, 1056):
                assert torch.equal(linear(tokens[:n]), found[:n])
    torch.set_num_threads(before)
    assert float((found - exact).abs().max()) < 1e-6 * shape[0]
    assert linear(tokens).requires_grad  # where something is learned, too


def test_the_default_is_torch_in_float32_on_a_processor():
    assert isinstance(BiEncoder().backend, TorchBackend) and BiEncoder().backend.precision is None
    assert chosen_precision(CPU) == "float32"


@needs_openvino
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_openvino_gives_the_vectors_of_torch_and_a_forked_child_uses_torch(tiny_bert):
    from multiprocessing import get_context

    torch_encoder = make_encoder(tiny_bert, tied=True)
    encoder = make_encoder(tiny_bert, tied=True, backend=OpenVinoBackend())
    expected = torch_encoder.encode_names(["aspirin", "cold"])
    np.testing.assert_allclose(encoder.encode_names(["aspirin", "cold"]), expected, atol=1e-5)
    assert encoder.fingerprint == torch_encoder.fingerprint
    assert not [name for name in sys.modules if name.startswith("openvino_telemetry")], "it reports to nobody"
    context = get_context("fork")
    received, sent = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sent.send(encoder.encode_names(["aspirin", "cold"])))
    child.start()
    assert received.poll(60), "the child hangs"
    np.testing.assert_array_equal(received.recv(), expected)
    child.join(60)
    assert child.exitcode == 0
