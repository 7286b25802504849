"""The entry points in pyproject.toml and the decorators in the source register the same parts."""

import ast
import inspect
import re
from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

import catalogue
import pytest
import spacy
import typer
from spacy.language import Language
from spacy.util import registry as spacy_registry

import spacy_pel
from spacy_pel import registry

PACKAGE = Path(spacy_pel.__file__).parent
OBJECT = re.compile(r"^spacy-pel\.[A-Z][A-Za-z0-9]*\.v\d+$")
FUNCTION = re.compile(r"^spacy-pel\.[a-z][a-z0-9_]*\.v\d+$")
FACTORY = re.compile(r"^[a-z][a-z0-9_]*$")
COMMANDS = ("spacy_cli", "spacy_pel_commands", "spacy_pel_kb_commands")  # groups of entry points that are no registries
REINSTALL = "Then run: pip install -e . --no-deps"


def published():
    """(group, name, "module:class or function") of the installed package."""
    points = distribution("spacy-pel").entry_points
    return sorted((p.group, p.name, p.value) for p in points if p.group.startswith("spacy_"))


def decorated():
    """(group, name, "module:class or function") of all decorators in the source."""
    parts = []
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(["spacy_pel", *path.relative_to(PACKAGE).with_suffix("").parts])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Language.factory":
                # called, not a decorator: the function is an argument
                functions = [keyword.value for keyword in node.keywords if keyword.arg == "func"]
                parts += [
                    ("spacy_factories", ast.literal_eval(node.args[0]), f"{module}:{ast.unparse(function)}")
                    for function in functions
                ]
            for call in getattr(node, "decorator_list", []):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
                    owner = ast.unparse(call.func.value)
                    if owner in ("registry", "spacy.registry", "spacy_registry", "Language"):
                        kind = "factories" if owner == "Language" else call.func.attr
                        parts.append((f"spacy_{kind}", ast.literal_eval(call.args[0]), f"{module}:{node.name}"))
    return sorted(parts)


def lines_to_change(verb, entries):
    """What to do in pyproject.toml, line by line."""
    return [
        f'{verb} this line in [project.entry-points.{group}]:\n"{name}" = "{value}"'
        for group, name, value in sorted(entries)
    ]


def test_entry_points_are_the_decorated_parts():
    published_parts = {entry for entry in published() if entry[0] not in COMMANDS}
    todo = lines_to_change("Add", set(decorated()) - published_parts)
    todo += lines_to_change("Remove", published_parts - set(decorated()))
    assert not todo, "\n".join(["In pyproject.toml:", *todo, REINSTALL])


def test_no_name_twice():
    counts = Counter((group, name) for group, name, _ in decorated())
    assert [entry for entry, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(("group", "name", "value"), published(), ids=lambda value: value)
def test_resolves_to_the_decorated_part(group, name, value):
    point = next(p for p in distribution("spacy-pel").entry_points if (p.group, p.name) == (group, name))
    part = point.load()
    if group == "spacy_factories":
        spacy.blank("en")  # reads the factories
        assert FACTORY.match(name) and Language.has_factory(name)
        return
    if group == "spacy_displacy_colors":
        assert all(color.startswith("#") for color in part().values())
        return
    if group in COMMANDS:
        assert isinstance(part, typer.Typer) and name in {part.info.name, *(c.name for c in part.registered_commands)}
        return
    table = getattr(registry, group.removeprefix("spacy_"), None)
    if table is None:
        table = getattr(spacy_registry, group.removeprefix("spacy_"))
    assert table.get(name) is part
    if name[len("spacy-pel.")].isupper():
        assert OBJECT.match(name)
    else:
        assert FUNCTION.match(name) and inspect.isfunction(part)
        assert group in ("spacy_scorers", "spacy_callbacks")  # these registries hold builders of functions
    assert part.__doc__, "the reader of the config needs to know what its settings mean"
    for parameter in inspect.signature(part).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, "spaCy checks configs by annotations"
        assert not isinstance(parameter.annotation, str), "a postponed annotation switches the check off"


@pytest.mark.parametrize("name", registry.names())
def test_spacy_knows_our_registries(name):
    assert getattr(spacy_registry, name) is getattr(registry, name)
    assert getattr(registry, name).namespace == ("spacy", name)


def test_nothing_of_ours_is_registered_elsewhere():
    ours = {path for path in catalogue.REGISTRY if path[-1].startswith("spacy-pel.")}
    of_studies = {point.group for point in distribution("spacy-pel-studies").entry_points}
    groups = {group for group, _, _ in published()} | of_studies
    assert {path[-2] for path in ours} <= {group.removeprefix("spacy_") for group in groups}


# -- what a name is registered for ------------------------------------------------------------------

REPOSITORY = Path(__file__).parents[1]
RULED = (
    *("losses", "anchors", "regularizers", "negatives", "mixing", "indexes", "backends", "encoders", "similarities"),
    *("templates", "rankers", "rank_recipes", "candidates", "preprocessors"),
)
KEPT = {  # without a config, the project, or code of studies and benchmarks
    "spacy-pel.BiEncoderCandidates.v1": "the default generator"
}


def used_text():
    """Configs, the project, the default pipeline, and the code of studies and benchmarks."""
    paths = [REPOSITORY / "project.yml", *REPOSITORY.glob("configs/*.cfg"), *REPOSITORY.glob("assets/*/config.cfg")]
    paths += [*REPOSITORY.glob("benchmarks/**/*.py"), *REPOSITORY.glob("studies/spacy_pel_studies/**/*.py")]
    return "\n".join(path.read_text(encoding="utf8") for path in paths)


def test_a_registered_name_needs_a_use():
    text = used_text()
    # options name a part in short: --preprocess agree
    words = set(re.findall(r"\w+", text))
    names = {name for kind in RULED for name in registry.parts(f"pel_{kind}").values() if name.startswith("spacy-pel.")}
    short = {name: name.split(".")[1] for name in names}
    unused = {name for name in names if name not in text and words.isdisjoint({short[name], short[name].lower()})}
    assert unused <= KEPT.keys(), "give it a config, or delete it; a row of docs/studies.md may keep it, with a reason"
