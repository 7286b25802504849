"""--code FILE: parts of one's own, in training and where what was trained is used."""

import pytest
import spacy

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

COMPONENT = """
from spacy.language import Language


@Language.component("test_nothing")
def nothing(doc):
    return doc
"""


def loss(path, name):
    path.write_text(LOSS.replace("{name}", name))
    return ["--code", path, "--pel.loss", f'{{"@pel_losses": "{name}", "margin": 0.5}}']


@pytest.mark.slow
def test_a_loss_in_a_file(config, tmp_path):  # noqa: F811
    own = loss(tmp_path / "hinge.py", "test.Hinge.v1")
    refusal = refused("E310", "debug", config, *own[2:])
    assert "test.Hinge.v1" in refusal and "make sure the code is available" in refusal
    checked = done("debug", config, *own, "--json").json
    assert checked["parts"]["loss"] == "Hinge" and f"--code {own[1]} --pel.loss" in checked["next"]
    done("train", config, "--output", tmp_path / "out", *own, "--pel.training.max_steps", 1)
    assert (tmp_path / "out" / "model-best").is_dir()
    unknown = [own[0], own[1], own[2], own[3].replace("margin", "margn")]
    assert "did you mean 'margin'?" in refused("E310", "debug", config, *unknown)


@pytest.mark.slow
def test_a_template_is_needed_to_train_and_to_read_the_encoder(config, folder, tmp_path):  # noqa: F811
    code = tmp_path / "name_only.py"
    code.write_text(TEMPLATE)
    settings = ["--pel.encoder.entity_template.@pel_templates", "test.NameOnly.v1", "--pel.training.max_steps", 1]
    done(f"--code={code}", "train", config, "--output", tmp_path / "out", *settings)
    model = tmp_path / "out" / "model-best"
    assert read_json(model / "bi_encoder.json")["entity_template"][0] == "test.NameOnly.v1"
    done("index", folder / "kb", model, tmp_path / "index", "--code", code, "--kinds", "card")


@pytest.mark.slow
def test_a_component_in_the_process_that_measures_a_pipeline(folder, tmp_path):
    code = tmp_path / "component.py"
    code.write_text(COMPONENT)
    done("info", folder / "kb", "--code", code)  # registers it here as well
    nlp = spacy.load(folder / "pipeline")
    nlp.add_pipe("test_nothing")
    nlp.to_disk(tmp_path / "pipeline")
    assert "test_nothing" in done("info", tmp_path / "pipeline", "--code", code, "--json").json["components"]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (None, "E002", "a Python file"),
        ("x = 1\nraise OSError('no disk')\n", "E699", "code.py, line 2 cannot be imported: OSError: no disk"),
        ("import no_such_package\n", "E699", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("def f(:\n", "E699", "SyntaxError"),
        ("import sys\nsys.exit(1)\n", "E699", "code.py, line 2 cannot be imported: SystemExit: 1"),
    ],
)
def test_a_file_that_cannot_be_imported(config, tmp_path, content, code, said):  # noqa: F811
    path = tmp_path / "code.py"
    if content is not None:
        path.write_text(content)
    error = refused(code, "debug", config, "--code", path)
    assert said in error and error.count("\n") == 1


def test_an_error_in_own_code_names_its_line(tmp_path):
    code = tmp_path / "lines.py"
    code.write_text(
        "from spacy_pel import registry\n\n\n@registry.pel_kb_readers('test.Lines.v1')\nclass Lines:\n"
        "    def __call__(self, paths):\n        yield from open(paths)\n"
    )
    names = tmp_path / "names.txt"
    names.write_text("asthma\n")
    args = ["kb", "build", tmp_path / "kb", "--reader", "test.Lines.v1", names]
    assert "--code FILE" in refused("E001", *args)
    assert f"at {code}, line 7. Correct this file" in refused("E015", *args, "--code", code)
