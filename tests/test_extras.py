"""Without extras linking works, and a command that needs one says how to install it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
EXTRAS = ("matplotlib", "fastapi", "uvicorn", "openvino", "scispacy", "ray", "pyspark", "pandas")
WITHOUT_EXTRAS = f"""
import json
import sys
from importlib.machinery import PathFinder

class WithoutExtras(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {EXTRAS} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutExtras
"""
RUN = """
import spacy
from spacy_pel import Entity, KnowledgeBase
from spacy_pel.evaluation.links import entity_url, render_links  # for serve and demo

nlp = spacy.blank("en")
nlp.add_pipe("entity_ruler").add_patterns([{"label": "ENTITY", "pattern": "asthma"}])
linker = nlp.add_pipe("proxy_entity_linker", config={"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}})
linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase([Entity("C1", "Asthma")]))
assert [ent.kb_id_ for ent in nlp("She has asthma.").ents] == ["C1"]

import typer
from typer.testing import CliRunner
from spacy_pel.cli import pel_cli

def commands(group):
    for word in group.list_commands(group.context_class(group)):
        command = group.get_command(group.context_class(group), word)
        if hasattr(command, "list_commands"):
            yield from ([word, *words] for words in commands(command))
        else:
            yield [word]

calls = [[*words, "--help"] for words in commands(typer.main.get_command(pel_cli))]
results = [CliRunner().invoke(pel_cli, call) for call in calls + json.loads(sys.argv[1])]
print(json.dumps([(result.exit_code, result.stderr) for result in results]))
"""
CALLS = {"report": ["report", "metrics"], "serve": ["serve", "pipeline"]}


def test_linking_needs_no_extra_and_commands_name_the_one_that_they_need():
    command = [sys.executable, "-c", WITHOUT_EXTRAS + RUN, json.dumps(list(CALLS.values()))]
    results = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout)
    helps, calls = results[: -len(CALLS)], results[-len(CALLS) :]
    assert len(helps) > 30 and {code for code, _ in helps} == {0}
    for extra, (code, error) in zip(CALLS, calls, strict=True):
        assert code == 2 and error.count("\n") == 1 and f"spacy-pel[{extra}]" in error, (extra, error)
