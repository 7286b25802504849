"""Every benchmark can be imported and says what it wants: a change of the package that breaks one is noticed."""

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import benchmarks

FOLDER = Path(benchmarks.__file__).parent
MODULES = [f"{path.stem}" for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"]
MODULES += [f"{path.parent.name}.__main__" for path in sorted(FOLDER.glob("*/__main__.py"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_it_imports_and_explains_itself(name, run):
    main = getattr(import_module(f"benchmarks.{name}"), "main", None)
    if main is None:  # it has only what others use
        return
    shown = run(main, "--help")
    assert shown.exit_code == 0 and "Usage: " in shown.output, shown.output
    assert inspect.getdoc(main) or import_module(f"benchmarks.{name}").__doc__


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_what_its_functions_import_exists(path):
    # --help does not reach these imports
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spacy_pel") and not node.level:
            exec(compile(ast.Module([node], []), str(path), "exec"), {})
