"""The README: its Python runs, and its tables name what there is."""

import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
import spacy
import typer

from spacy_pel import KnowledgeBase, __version__
from spacy_pel.cli import pel_cli
from spacy_pel.types import Entity

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")
PIPELINE = Path("assets") / "pel_medmentions"


def section(name: str) -> str:
    return re.search(f"<!-- {name} -->\n(.*?)<!-- /{name} -->", README, re.DOTALL)[1]


@pytest.fixture
def pipeline(tmp_path, monkeypatch):
    """Runs the test where the pipeline is: the shipped one, or a small one in its place."""
    if (ROOT / PIPELINE / "config.cfg").is_file():
        monkeypatch.chdir(ROOT)
        return
    monkeypatch.chdir(tmp_path)
    nlp = spacy.blank("en")
    names = ["tobramycin", "cystic fibrosis", "CF"]
    patterns = [{"label": "ENTITY", "pattern": [{"LOWER": word} for word in name.split()]} for name in names]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    config = {"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}}
    linker = nlp.add_pipe("proxy_entity_linker", config=config)
    kb = KnowledgeBase([Entity(f"C{number}", name) for number, name in enumerate(names[:2])])
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: kb)
    PIPELINE.parent.mkdir()
    nlp.to_disk(PIPELINE)


def test_python_of_the_readme_runs(pipeline, capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "('cystic fibrosis', 'ENTITY', 'C" in printed
    assert "canonical_name='cystic fibrosis'" in printed and "['MY:1']" in printed


def test_names_of_the_readme_are_the_registered_ones():
    written = [
        (group, name)
        for group, names in re.findall(r"^\| `(\w+)` \| (.*) \|$", section("names"), re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", names)
    ]
    points = distribution("spacy-pel").entry_points
    published = [(point.group, point.name) for point in points if point.group.startswith("spacy_")]
    assert sorted(written) == sorted(entry for entry in published if entry[0] != "spacy_cli")


def test_commands_of_the_readme_are_the_commands():
    written = re.findall(r"^\| `((?:kb )?[\w-]+)", section("commands"), re.MULTILINE)
    top = typer.main.get_command(pel_cli)
    commands = {name for name in top.commands if name != "kb"}
    commands |= {f"kb {name}" for name in top.commands["kb"].commands}
    assert sorted(written) == sorted(commands)


def test_every_command_has_an_example():
    top = typer.main.get_command(pel_cli)
    for command in [*top.commands.values(), *top.commands["kb"].commands.values()]:
        assert "Example: spacy-pel " in (command.help or "") or command.name == "kb", command.name


@pytest.mark.parametrize("path", re.findall(r"(?:configs|assets)/[\w.]+\.(?:cfg|md)", README))
def test_files_of_the_readme_are_there(path):
    assert (ROOT / path).is_file()


def test_one_version():
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf8")
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    assert distribution("spacy-pel").version == __version__
