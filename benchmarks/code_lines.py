"""Lines of code by folder, without blank lines, comments and docstrings.

python -m benchmarks.code_lines spacy_pel --depth 2
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_code_lines(source: str) -> int:
    """Count the lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(lines)


def count_by_file(folder: Path) -> dict[Path, int]:
    """Count the code lines of each file in a folder and below it."""
    return {path: count_code_lines(path.read_text(encoding="utf8")) for path in folder.rglob("*.py")}


def count_by_room(by_file: dict[Path, int], folder: Path, depth: int) -> dict[str, tuple[int, int]]:
    """Sum code lines and files of each room.

    Args:
        by_file: the code lines of the files.
        folder: what they are in.
        depth: parts of the path that name a room.

    Returns:
        Room, "." for the folder itself -> code lines, files.
    """
    lines, files = Counter[str](), Counter[str]()
    for path, n in by_file.items():
        room = "/".join(path.relative_to(folder).parts[:-1][:depth]) or "."
        lines[room] += n
        files[room] += 1
    return {room: (lines[room], files[room]) for room in sorted(files)}


def main(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    depth: Annotated[int, typer.Option(min=1, help="Folders that name a room.")] = 1,
) -> None:
    """Print the code lines and files of each room."""
    rooms = count_by_room(count_by_file(folder), folder, depth)
    table = Table("room", "code lines", "files", show_footer=True)
    table.columns[0].footer = "all"
    for number in (0, 1):
        table.columns[number + 1].justify = "right"
        table.columns[number + 1].footer = f"{sum(counts[number] for counts in rooms.values()):,}"
    for room, (lines, files) in rooms.items():
        table.add_row(room, f"{lines:,}", f"{files:,}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
