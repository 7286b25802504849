"""Places in files, and errors that name them."""

from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, PelError


class Place(NamedTuple):
    """Where a record is: a file and a line (0 = the format has no meaningful lines)."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else str(self.path)


def unexpected(place: object, expected: str, got: object, todo: str = "Fix the file.") -> PelError:
    """The error for content that a reader cannot use.

    Args:
        place: where it is, mostly a Place.
        expected, got: what should be there, and what is there.
        todo: a sentence for the user.
    """
    return PelError(Errors.E002.format(expected=expected, path=place, got=got, todo=todo))
