"""What every index asks of its vectors and files."""

from pathlib import Path

from ..errors import Errors, PelError
from ..types import Vectors


def check_vectors(vectors: Vectors, width: int) -> None:
    """RAISES (PelError): if the vectors are not (n, width); width 0 = the index was not trained."""
    if not width:
        raise PelError(Errors.E403)
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise PelError(Errors.E402.format(expected=width, came=vectors.shape))


def damaged(path: Path, expected: str, err: Exception) -> PelError:
    """RETURNS (PelError): the error to raise when a file of an index folder cannot be read."""
    came = (str(err) or type(err).__name__).strip().splitlines()[0]
    return PelError(Errors.E400.format(expected=expected, path=path, came=came))
