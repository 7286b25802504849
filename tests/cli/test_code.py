"""--code FILE: parts of one's own, in training and where what was trained is used."""

import shutil

import pytest

from spacy_pel.util import read_json

from .conftest import done, refused
from .test_debug import config  # noqa: F401

LOSS = """
import torch

from spacy_pel.registry import registry


@registry.pel_losses("{name}")
class Hinge(torch.nn.Module):
    def __init__(self, *, margin: float = 0.2):
        super().__init__()
        self.margin = margin

    def forward(self, positives, negatives, mask):
        missing = (self.margin + negatives - positives.unsqueeze(1)).relu()
        return (missing * mask).sum(dim=1)
"""
TEMPLATE = """
from typing import ClassVar

from spacy_pel.encoders.templates import EntityCard
from spacy_pel.registry import registry


@registry.pel_templates("test.NameOnly.v1")
class NameOnly(EntityCard):
    registered_name: ClassVar[str] = "test.NameOnly.v1"

    def parts(self, entity):
        return [entity.canonical_name]
"""


def loss(path, name):
    path.write_text(LOSS.replace("{name}", name))
    return ["--code", path, "--pel.loss", f'{{"@pel_losses": "{name}", "margin": 0.5}}']


def test_a_loss_in_a_file(config, tmp_path):  # noqa: F811
    own = loss(tmp_path / "hinge.py", "test.Hinge.v1")
    refusal = refused("E310", "debug", config, *own[2:])
    assert "test.Hinge.v1" in refusal and "make sure the code is available" in refusal
    assert done("debug", config, *own, "--json").json["parts"]["loss"] == "Hinge"
    done("train", config, "--output", tmp_path / "out", *own, "--pel.training.max_steps", 1)
    assert (tmp_path / "out" / "model-best").is_dir()
    unknown = [own[0], own[1], own[2], own[3].replace("margin", "margn")]
    assert "did you mean 'margin'?" in refused("E310", "debug", config, *unknown)


def test_a_template_is_needed_to_train_and_to_read_the_encoder(config, folder, tmp_path):  # noqa: F811
    code = tmp_path / "name_only.py"
    code.write_text(TEMPLATE)
    settings = ["--pel.encoder.entity_template.@pel_templates", "test.NameOnly.v1", "--pel.training.max_steps", 1]
    done(f"--code={code}", "train", config, "--output", tmp_path / "out", *settings)
    model = tmp_path / "out" / "model-best"
    assert read_json(model / "bi_encoder.json")["entity_template"][0] == "test.NameOnly.v1"
    done("index", folder / "kb", model, tmp_path / "index", "--code", code, "--kinds", "card")


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, "E002", "a Python file"),
        ("x = 1\nraise OSError('no disk')\n", "E699", "code.py, line 2 cannot be imported: OSError: no disk"),
        ("import no_such_package\n", "E699", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("def f(:\n", "E699", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_imported(config, tmp_path, content, code, said):  # noqa: F811
    path = tmp_path / "code.py"
    if content is not None:
        path.write_text(content)
    error = refused(code, "debug", config, "--code", path)
    assert said in error and error.count("\n") == 1


def test_code_without_a_file(config):  # noqa: F811
    assert "--code FILE" in refused("E002", "debug", config, "--code")


def test_a_pipeline_with_a_component_in_a_file_is_measured_in_another_process(folder, tmp_path):
    code, pipeline = tmp_path / "own.py", tmp_path / "pipeline"
    code.write_text("from spacy import Language\n\n\n@Language.component('own')\ndef own(doc):\n    return doc\n")
    shutil.copytree(folder / "pipeline", pipeline)
    settings = (pipeline / "config.cfg").read_text().replace("pipeline = [", 'pipeline = ["own",')
    (pipeline / "config.cfg").write_text(
        settings.replace("[components]\n", '[components]\n\n[components.own]\nfactory = "own"\n')
    )
    facts = done("info", pipeline, "--code", code, "--json").json
    assert facts["components"]["own"] == "own"
