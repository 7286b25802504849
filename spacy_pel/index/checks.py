"""Checks of vectors and files that all indexes share."""

from pathlib import Path

from ..errors import Errors, PelError
from ..types import Vectors
from ..util.saved_folder import damaged

KIND = "index"  # of the saved folder


def check_vectors(vectors: Vectors, width: int) -> None:
    """Raises:
    PelError: if the vectors are not (n, width); width 0 = the index was not trained.
    """
    if not width:
        raise PelError(Errors.E403)
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise PelError(Errors.E402.format(expected=width, got=vectors.shape))


def unreadable(path: Path, err: Exception, file: str = "readable files") -> PelError:
    """The error for a file of an index folder that cannot be read."""
    return damaged(path, KIND, file, (str(err) or type(err).__name__).strip().splitlines()[0])
