"""The package as its reader sees it: folders whose __init__ only re-exports, error texts with their codes."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import spacy_pel
from spacy_pel.errors import Errors, Warnings

PACKAGE = Path(spacy_pel.__file__).parent


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/**/__init__.py")), ids=lambda path: path.parent.name)
def test_init_only_reexports(path):
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        is_all = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        assert isinstance(node, (ast.Import, ast.ImportFrom)) or is_all or is_docstring, ast.unparse(node)


def test_every_text_has_its_own_code():
    def codes_in(*paths):
        return re.findall(
            r"^    ([EW]\d{3}) = ", "".join(path.read_text(encoding="utf8") for path in paths), re.MULTILINE
        )

    codes = codes_in(PACKAGE / "errors.py")
    all_codes = codes + codes_in(Path(__file__).parents[1] / "studies" / "spacy_pel_studies" / "errors.py")
    assert len(all_codes) == len(set(all_codes)) > len(codes) > 90
    for code in codes:
        text = getattr(Errors if code[0] == "E" else Warnings, code)
        assert text.startswith(f"[PEL-{code}] ") and text.count("[PEL-") == 1


def test_every_text_is_used_and_gets_its_fields():
    texts, used = {"Errors": Errors, "Warnings": Warnings}, set()
    for path in [*PACKAGE.rglob("*.py"), *(Path(__file__).parents[1] / "studies" / "spacy_pel_studies").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            code = getattr(node.func, "value", None) if isinstance(node, ast.Call) else node
            if not isinstance(code, ast.Attribute) or ast.unparse(code.value) not in texts:
                continue
            text = getattr(texts[ast.unparse(code.value)], code.attr)  # there is one
            used.add(code.attr)
            if node is not code:
                given = {keyword.arg for keyword in node.keywords}
                fields = {re.split(r"[.[]", name)[0] for _, name, *_ in Formatter().parse(text) if name is not None}
                assert given == fields or (None in given and given - {None} <= fields), f"{path}, line {node.lineno}"
    assert {code for code in {*vars(Errors), *vars(Warnings)} if code[0] in "EW"} == used


@pytest.mark.parametrize("folder", sorted({path.parent for path in PACKAGE.rglob("*.py")}), ids=lambda path: path.name)
def test_folders_are_packages(folder):
    assert (folder / "__init__.py").is_file()
