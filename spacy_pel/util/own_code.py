"""Importing files with parts of the user's own."""

import traceback
from collections.abc import Iterable
from pathlib import Path

from ..errors import Errors, PelError
from .place import unexpected


def import_code(paths: Iterable[str]) -> None:
    """Import Python files, as ``spacy train --code`` does.

    Raises:
        PelError: if a file is missing or cannot be imported.
    """
    from spacy.util import import_file

    for path in paths:
        if not Path(path).is_file():
            raise unexpected(path, "a Python file", "no file", "Give it as --code FILE.")
        try:
            import_file("python_code", path)
        except (Exception, SystemExit) as err:  # whatever the code raises
            place = line_in(path, err) or path
            raise PelError(Errors.E699.format(place=place, got=f"{type(err).__name__}: {err}")) from err


def line_in(path: str, err: BaseException) -> str | None:
    """Where in a file an exception came from, e.g. "loss.py, line 3"; None if from elsewhere."""
    lines = [frame.lineno for frame in traceback.extract_tb(err.__traceback__) if frame.filename == path]
    return f"{path}, line {lines[-1]}" if lines else None
