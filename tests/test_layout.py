"""The package as its reader sees it: short files, and folders whose __init__ only re-exports."""

import ast
from pathlib import Path

import pytest

import spacy_pel

PACKAGE = Path(spacy_pel.__file__).parent
ROOT = Path(__file__).parents[1]
FILES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])


def test_files_are_short():
    lengths = {path: len(path.read_text(encoding="utf8").splitlines()) for path in FILES}
    too_long = {path.name for path, length in lengths.items() if length > 300}
    assert len(lengths) > 50 and too_long <= {"errors.py"}, "only the list of texts may be longer"


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/**/__init__.py")), ids=lambda path: path.parent.name)
def test_init_only_reexports(path):
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert isinstance(node, (ast.Import, ast.ImportFrom)) or is_all or is_docstring, ast.unparse(node)
