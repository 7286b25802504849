"""A custom loss, as in docs/parts.md: one file and one entry point, in another package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[3] / "configs" / "tiny.cfg"
FILE = '''
from torch import nn

from spacy_pel import registry


@registry.pel_losses("my-package.Hinge.v1")
class Hinge(nn.Module):
    """A hinge loss.

    margin (float): between the positive and each negative.
    """

    def __init__(self, margin: float = 0.5):
        super().__init__()
        self.margin = margin

    def forward(self, positives, negatives, mask):
        beyond = (self.margin + negatives - positives.unsqueeze(1)).clamp(min=0)
        return beyond.masked_fill(~mask, 0).sum(dim=1)
'''
ENTRY_POINTS = "[spacy_pel_losses]\nmy-package.Hinge.v1 = my_hinge:Hinge\n"
RUN = """
import sys

import torch
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.training.retriever.objective import Objective
from spacy_pel.registry import registry

pel = read_settings(sys.argv[1]).pel
assert registry.parts("pel_losses")["hinge"] == "my-package.Hinge.v1"
pel.encoder.initialize()
loss = Objective(pel.encoder.towers, pel.loss).loss
value = loss(torch.tensor([0.2]), torch.tensor([[0.1, 0.9]]), torch.tensor([[True, False]]))
print(type(loss).__name__, round(value.item(), 4))
"""


def test_a_file_and_an_entry_point(tmp_path):
    (tmp_path / "my_hinge.py").write_text(FILE)
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    text = CONFIG.read_text()
    old = '@pel_losses = "spacy-pel.ProxySoftplus.v1"\nalpha = 32.0\nmargin = 0.0'
    assert old in text
    (tmp_path / "my.cfg").write_text(text.replace(old, '@pel_losses = "my-package.Hinge.v1"\nmargin = 0.3'))
    # as if it were installed
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", RUN, str(tmp_path / "my.cfg")]
    result = subprocess.run(command, env=where, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["Hinge", "0.2"]
