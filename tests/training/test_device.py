"""The precision of a training on this processor."""

import logging

import pytest
import torch

from spacy_pel.training.optimizer import native_bfloat16, uses_bfloat16

CPU = torch.device("cpu")


@pytest.mark.parametrize("precision", ["no", "bf16"])
def test_bfloat16_without_units_for_it_is_said_to_be_slow(caplog, precision):
    with caplog.at_level(logging.WARNING, "spacy_pel"):
        assert uses_bfloat16(precision, CPU) == (precision == "bf16")
    assert ("PEL-W300" in caplog.text) == (precision == "bf16" and not native_bfloat16(CPU))


@pytest.mark.parametrize("native", [True, False])
def test_auto_is_bfloat16_where_the_device_has_units_for_it(caplog, monkeypatch, native):
    monkeypatch.setattr("spacy_pel.training.optimizer.native_bfloat16", lambda device: native)
    with caplog.at_level(logging.INFO, "spacy_pel"):
        assert uses_bfloat16("auto", CPU) == native
    assert f"Precision: {'bfloat16' if native else 'float32'}" in caplog.text and "W300" not in caplog.text
