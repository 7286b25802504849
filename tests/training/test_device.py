"""The precision of a training on this processor."""

import logging

import pytest
import torch

from spacy_pel.training.optimizer import make_accelerator, native_bfloat16


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_bfloat16_without_units_for_it_is_said_to_be_slow(caplog, precision):
    with caplog.at_level(logging.WARNING, "spacy_pel"):
        accelerator = make_accelerator(-1, mixed_precision=precision, accumulate_gradient=1)
    assert accelerator.mixed_precision == precision
    slow = precision == "bf16" and not native_bfloat16(torch.device("cpu"))
    assert ("PEL-W300" in caplog.text) == slow


@pytest.mark.parametrize("native", [True, False])
def test_auto_is_bfloat16_where_the_device_has_units_for_it(caplog, monkeypatch, native):
    monkeypatch.setattr("spacy_pel.training.optimizer.native_bfloat16", lambda device: native)
    with caplog.at_level(logging.INFO, "spacy_pel"):
        accelerator = make_accelerator(-1, mixed_precision="auto", accumulate_gradient=1)
    assert accelerator.mixed_precision == ("bf16" if native else "no")
    assert f"Precision: {'bfloat16' if native else 'float32'}" in caplog.text and "W300" not in caplog.text
