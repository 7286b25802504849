"""Runs notebooks without Jupyter: ``python tests/notebook.py docs/tutorial.ipynb`` stores new outputs."""

import ast
import base64
import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> Cell:
    """A notebook as JSON."""
    return json.loads(path.read_text(encoding="utf8"))


def run(notebook: Cell) -> Iterator[tuple[Cell, list[Cell]]]:
    """Run the code cells of a notebook in the working directory.

    Yields:
        A code cell and its outputs. A cell of commands begins with "!".
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            yield cell, _commands(code) if code.startswith("!") else _python(code, names)


def _commands(code: str) -> list[Cell]:
    printed = ""
    for line in code.splitlines():
        program, *words = shlex.split(line.removeprefix("!"))
        assert program == "spacy-pel", line
        command = [sys.executable, "-m", "spacy_pel", *words]
        printed += subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return _stream(printed)


def _python(code: str, names: dict[str, Any]) -> list[Cell]:
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as stdout:
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    shown = [] if value is None else [{"output_type": "display_data", "metadata": {}, "data": _data(value)}]
    return _stream(stdout.getvalue()) + shown


def _stream(text: str) -> list[Cell]:
    return [{"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}] if text else []


def _data(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=80, metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    if hasattr(value, "_repr_html_"):
        return {"text/html": value._repr_html_().splitlines(keepends=True)}
    return {"text/plain": [repr(value)]}


if __name__ == "__main__":
    path = Path(sys.argv[1]).resolve()
    notebook = read(path)
    os.chdir(path.parent)
    for number, (cell, outputs) in enumerate(run(notebook), start=1):
        cell |= {"execution_count": number, "outputs": outputs}
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf8")
