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
    module = import_module(f"benchmarks.{name}")
    for node in ast.walk(ast.parse(inspect.getsource(module))):  # the imports inside functions, too
        if isinstance(node, ast.ImportFrom) and not node.level and node.module.startswith("spacy_pel"):
            exec(compile(ast.Module([node], []), name, "exec"), {})
    main = getattr(module, "main", None)
    if main is None:  # it has only what others use
        return
    shown = run(main, "--help")
    assert shown.exit_code == 0 and "Usage: " in shown.output and (inspect.getdoc(main) or module.__doc__), shown.output
