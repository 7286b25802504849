"""Imports point one way, and importing the package or the factory stays cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import resolve_name
from pathlib import Path

import pytest

import spacy_pel
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

ROOT = Path(spacy_pel.__file__).parent
# Floors, bottom to top: an import, also one for type checking, may lead to the same floor or further down. A file may
# have a floor of its own.
FLOORS = [
    ("about", "types", "errors", "registry", "util"),
    ("ontologies",),
    ("kb",),
    ("abbreviations",),
    ("corpora",),
    ("encoders",),
    ("index",),
    ("candidates",),
    ("linking",),
    ("abbreviations.inventory",),
    ("evaluation",),
    ("pipeline",),
    ("engines",),
    ("serving",),
    ("cli",),
    ("training",),  # the wing: what trains, merges ontologies and reads corpora of research
]
FLOOR = {place: number for number, places in enumerate(FLOORS) for place in places}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in FLOORS[0])
HEAVY = ("faiss", "transformers", "scispacy", "sklearn", "matplotlib", "pyarrow")


def room_of(module: str) -> str:
    """ "kb" for "spacy_pel.kb.knowledge_base"; "" for others."""
    parts = module.split(".")
    return parts[1] if parts[0] == "spacy_pel" and len(parts) > 1 else ""


def floor_of(module: str) -> int:
    """The floor of a file, or else of its room; the lowest for what has none."""
    parts = module.split(".")
    if parts[0] != "spacy_pel":
        return 0
    return FLOOR.get(".".join(parts[1:3]), FLOOR.get(room_of(module), 0))


def imported_by(path: Path) -> Iterator[tuple[str, int]]:
    """Full names of what a file imports, anywhere in it, and the line."""
    package = ".".join(["spacy_pel", *path.relative_to(ROOT).parent.parts])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            for name in node.names:  # "from .. import kb" names a module, too
                yield f"{module}.{name.name}", node.lineno


def test_every_room_has_its_floor():
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == {place.split(".")[0] for place in FLOOR} - {"about", "errors", "registry"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    own = floor_of(".".join(["spacy_pel", *path.relative_to(ROOT).with_suffix("").parts]))
    assert not [f"line {line}: {module}" for module, line in imported_by(path) if floor_of(module) > own]


def test_the_product_does_not_import_its_studies():
    assert not [path for path in MODULES for name, _ in imported_by(path) if name.startswith("spacy_pel_studies")]


def modules_after(statement: str) -> set:
    code = f"{statement}\nimport sys; print(' '.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_factories_are_cheap():
    """spaCy imports those of every installed plugin for every pipeline, also for one that does not use them."""
    points = [point for point in entry_points(group="spacy_factories") if point.value.startswith("spacy_pel.")]
    assert len(points) == 5
    loaded = modules_after("import " + ", ".join(point.module for point in points))
    assert loaded.isdisjoint(HEAVY)
    assert {room_of(module) for module in loaded} <= {
        "",
        "pipeline",
        "abbreviations",
        "corpora",
        "candidates",
        *FLOORS[0],
    }


def test_import_is_cheap():
    # spaCy itself brings torch where it is installed: what counts is what we add
    loaded = modules_after("import spacy_pel, spacy_pel.pipeline.factory")
    assert loaded.isdisjoint(HEAVY)
    ours = [module for module in loaded if room_of(module) not in {"", "pipeline", *FLOORS[0]}]
    assert not ours
    sources = [ROOT / "__init__.py", ROOT / "pipeline" / "factory.py"]
    assert all(not module.startswith("torch") for path in sources for module, _ in imported_by(path))


PIPELINE = Path(__file__).parents[1] / "assets" / "pel_medmentions"
LINK = f"""
import spacy
from spacy_pel.cli import pel_cli
nlp = spacy.load({str(PIPELINE)!r})
assert nlp("Aspirin relieves headache.").ents[0].kb_id_
pel_cli(["verify", {str(PIPELINE)!r}], standalone_mode=False)
"""


@pytest.mark.slow
def test_linking_never_needs_the_wing():
    """What trains linkers is installed with them, but a pipeline, the command line and the page do without it."""
    loaded = modules_after(f"{LINK}\nimport spacy_pel.serving, spacy_pel.engines.local, spacy_pel.cli.link")
    assert {"linking", "pipeline", "cli"} <= {room_of(module) for module in loaded}
    assert "training" not in {room_of(module) for module in loaded}


def test_public_names():
    for name in spacy_pel.__all__:
        assert getattr(spacy_pel, name) is not None
    assert set(spacy_pel.__all__) <= set(dir(spacy_pel))
    with pytest.raises(AttributeError, match="no_such_name"):
        spacy_pel.no_such_name  # noqa: B018


def test_data_is_read_without_pandas(tmp_path):
    pytest.importorskip("pandas")
    KnowledgeBase([Entity(f"C{number}", f"name {number}") for number in range(20)]).to_disk(tmp_path / "kb")
    loaded = modules_after(
        "from spacy_pel.kb import KnowledgeBase\n"
        f"kb = KnowledgeBase.from_disk({str(tmp_path / 'kb')!r})\n"
        "assert list(map(len, kb.rows_of_aliases([f'name {number}' for number in range(20)]))) == [1] * 20"
    )
    assert "pyarrow" in loaded and "pandas" not in loaded
