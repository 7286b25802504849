"""What every index asks of its vectors and files."""

from pathlib import Path
from typing import Any, Optional

from ..errors import Errors, PelError
from ..types import Encoder, VectorIndex, Vectors


def check_vectors(vectors: Vectors, width: int) -> None:
    """RAISES (PelError): if the vectors are not (n, width); width 0 = the index was not trained."""
    if not width:
        raise PelError(Errors.E403)
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise PelError(Errors.E402.format(expected=width, came=vectors.shape))


def check_metric(encoder: Encoder, index: Optional[VectorIndex] = None) -> None:
    """Does the index rank as the encoder's similarity does? One that does not say ranks by inner product.

    index (Optional[VectorIndex]): None = any that ranks by inner product.
    RAISES (PelError): if not.
    """
    similarity: Any = getattr(encoder, "similarity", None)  # HashEmbed has none
    metric = getattr(similarity, "metric", "inner_product")
    if metric != getattr(index, "metric", "inner_product"):
        came = getattr(similarity, "registered_name", "the inner product")
        raise PelError(Errors.E414.format(came=came, metric=metric))


def damaged(path: Path, expected: str, err: Exception) -> PelError:
    """RETURNS (PelError): the error to raise when a file of an index folder cannot be read."""
    came = (str(err) or type(err).__name__).strip().splitlines()[0]
    return PelError(Errors.E400.format(expected=expected, path=path, came=came))
