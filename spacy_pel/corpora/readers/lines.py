"""Lines of text and JSON files, with the place of every fault."""

import json
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

from ...errors import Errors, PelError
from ...util import open_text


def numbered_lines(path: Path) -> Iterator[Tuple[int, str]]:
    """Stream the lines of a UTF-8 file (or .gz), without their ends and without a BOM.

    path (Path): the file.
    YIELDS (Tuple[int, str]): the number of the line, from 1, and the line; empty lines too.
    RAISES (PelError): if the file is missing, a damaged .gz, or not UTF-8.
    """
    number = 0
    with open_text(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        except (UnicodeDecodeError, EOFError, OSError, zlib.error) as err:
            raise unreadable(path, number + 1, err) from err


def json_lines(path: Path) -> Iterator[Tuple[int, Dict[str, Any]]]:
    """Stream the objects of a JSON lines file.

    path (Path): the file.
    YIELDS (Tuple[int, Dict[str, Any]]): the number of the line and its object.
    RAISES (PelError): as ``numbered_lines``, and at a line that is not a JSON object.
    """
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as err:
            raise _no_object(path, number, f"invalid JSON ({err})") from err
        if not isinstance(record, dict):
            raise _no_object(path, number, type(record).__name__)
        yield number, record


def read_whole(path: Path) -> str:
    """RETURNS (str): the text of a UTF-8 file (or .gz) with its line ends as they are."""
    with open_text(path) as file:
        try:
            return file.buffer.read().decode("utf8")  # type: ignore[attr-defined]
        except (UnicodeDecodeError, EOFError, OSError, zlib.error) as err:
            raise unreadable(path, 1, err) from err


def unreadable(path: Path, line: int, err: Exception) -> PelError:
    """RETURNS (PelError): for a file that cannot be read to its end."""
    todo = "Download the file again."
    if isinstance(err, UnicodeDecodeError):
        todo = "Convert it, e.g. with: iconv -f LATIN1 -t UTF-8"
    return PelError(
        Errors.E002.format(
            expected="readable UTF-8 text", path=f"{path}, from line {line}", got=f"a fault: {err}", todo=todo
        )
    )


def _no_object(path: Path, number: int, got: str) -> PelError:
    return PelError(
        Errors.E002.format(
            expected="a JSON object", path=f"{path}, line {number}", got=got, todo="Fix the line."
        )
    )
