"""Averages of two encoders' weights."""

import numpy as np
import pytest
import torch
from encoders.conftest import make_encoder
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.templates import MarkedContext
from spacy_pel.errors import PelError
from spacy_pel.training.retriever.loop import average

NAMES = ["fever", "heart attack"]


def make(seed=0, **settings):
    torch.manual_seed(seed)
    encoder = make_encoder(**{"name": "random:layers=1,width=32", **settings})
    with torch.no_grad():  # as a training would
        for values in encoder.towers.parameters():
            values += 0.01 * torch.randn(values.shape, generator=torch.Generator().manual_seed(seed))
    encoder.changed()
    return encoder


@pytest.mark.parametrize("tied", [True, False])
def test_weights_lie_on_the_line_between_both(tied):
    one, other = (make(seed, tied=tied).towers.state_dict() for seed in (1, 2))
    found = average(make(1, tied=tied), make(2, tied=tied), weight=0.25).towers.state_dict()
    assert found.keys() == one.keys() and len(one) > 10
    for key, values in found.items():
        expected = 0.75 * one[key] + 0.25 * other[key] if values.is_floating_point() else one[key]
        torch.testing.assert_close(values, expected)


@pytest.mark.parametrize(
    ("settings", "differing"),
    [
        ({"pooling": "cls"}, "pooling"),
        ({"mention_template": MarkedContext(max_length=64)}, "mention_template"),
        ({"tied": True}, "tied"),
        ({"name": "random:layers=2,width=32"}, "the shapes of the weights"),
    ],
)
def test_encoders_that_differ_in_more_than_weights_are_refused(settings, differing):
    for one, other in ((make(), make(**settings)), (make(**settings), make())):
        before = one.encode_names(NAMES)
        with pytest.raises(PelError, match=f"E351.*{differing}"):
            average(one, other)
        assert np.array_equal(one.encode_names(NAMES), before)
    one, other = make(), make()
    other.tokenizer.add_tokens(["lung"])
    with pytest.raises(PelError, match="E351.*vocabulary"):
        average(one, other)


def test_the_command(tmp_path):
    for seed in (1, 2):
        make(seed).to_disk(tmp_path / str(seed))
    folders = [str(tmp_path / name) for name in ("1", "2", "out")]
    result = CliRunner().invoke(pel_cli, ["average", *folders, "--weight", "0.5"])
    assert result.exit_code == 0, result.output
    expected = average(make(1), make(2), weight=0.5)
    found = load_encoder(tmp_path / "out")
    found.backend = expected.backend  # the default reads in bfloat16 where the processor can
    np.testing.assert_allclose(found.encode_names(NAMES), expected.encode_names(NAMES), atol=1e-5)
    assert found.fingerprint in result.output
