"""Arrays: pieces of different lengths, rectangular tables of candidates, vectors."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

Offsets = NDArray[np.int64]
R = TypeVar("R", bound="Ragged")
Item = TypeVar("Item", bound=Hashable)


@dataclass
class Ragged:
    """Piece i is ``values[offsets[i]:offsets[i + 1]]``. The arrays may be memory-mapped.

    values: (m,) the values of all pieces, one piece after the other.
    offsets: (n + 1,) int64.
    """

    values: NDArray[Any]
    offsets: Offsets
    dtype: ClassVar[Any] = np.int64  # of the values of no pieces at all

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, piece: int) -> NDArray[Any]:
        return self.values[self.offsets[piece] : self.offsets[piece + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) number of values of each piece."""
        return np.diff(self.offsets)

    def take(self: R, pieces: NDArray[np.int64]) -> R:
        """These pieces, in this order, in memory; repeats are allowed."""
        return type(self)(take_pieces(self.values, self.offsets, pieces), offsets_of(self.lengths[pieces]))

    @classmethod
    def concatenate(cls: type[R], parts: Sequence[R]) -> R:
        """The pieces of all parts in order."""
        values = [part.values for part in parts] or [np.zeros(0, dtype=cls.dtype)]
        lengths = [np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)]
        return cls(np.concatenate(values), offsets_of(np.concatenate(lengths)))


def offsets_of(lengths: NDArray[Any]) -> Offsets:
    """(n + 1,) offsets of n pieces with these lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def grouped(values: NDArray[Any], numbers: NDArray[np.int64], n: int) -> Ragged:
    """The values of each number below n, in their order; the number of each value is given."""
    return Ragged(values[np.argsort(numbers, kind="stable")], offsets_of(np.bincount(numbers, minlength=n)))


def in_range(numbers: NDArray[Any], n: int) -> bool:
    """Whether all numbers are of n things, from 0."""
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < n)


def owners(offsets: Offsets) -> NDArray[np.int64]:
    """(m,) the piece that each value belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def take_pieces(values: NDArray[Any], offsets: Offsets, pieces: NDArray[np.int64]) -> NDArray[Any]:
    """The values of some pieces, one piece after the other.

    Args:
        values: (m,) values.
        offsets: (n + 1,) their offsets.
        pieces: which pieces, in which order; repeats are allowed.

    Returns:
        The values; their lengths are ``np.diff(offsets)[pieces]``.
    """
    lengths = offsets[pieces + 1] - offsets[pieces]
    starts = np.repeat(offsets[pieces] - offsets_of(lengths)[:-1], lengths)
    return values[starts + np.arange(lengths.sum())]


def segment_sum(values: NDArray[Any], offsets: Offsets) -> NDArray[np.float64]:
    """(n,) sums; 0 for an empty piece."""
    sums = np.bincount(owners(offsets), weights=values, minlength=len(offsets) - 1)
    return sums.astype(np.float64, copy=False)


def numbered(items: Iterable[Item]) -> tuple[list[Item], NDArray[np.int64]]:
    """The distinct items, in the order in which they come first, and which of them each item is."""
    numbers: dict[Item, int] = {}
    which = [numbers.setdefault(item, len(numbers)) for item in items]
    return list(numbers), np.array(which, dtype=np.int64)


# BLAS and pairwise sums add floats in an order that depends on the shape of an array and the number of threads. These
# two do not, so a mention gets the same numbers in any batch.


row_products: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]] = partial(np.einsum, "nw,mw->nm")
"""(n, m), the inner products of n rows with m others."""


def row_sums(values: NDArray[Any]) -> NDArray[Any]:
    """(n, ...), the sums over the second axis, from the first value on: zeros behind the others change nothing."""
    return np.cumsum(values, axis=1)[:, -1]


Places = NDArray[np.int64]


def best_first(values: NDArray[Any]) -> Places:
    """(n, k), the columns of each row, the largest value first; equal values keep their order."""
    return np.argsort(-values, axis=1, kind="stable")


def ranks(values: NDArray[Any]) -> Places:
    """(n, k), 0 for the largest value of its row, 1 for the next …; equal values have the same rank, the better one."""
    order = best_first(values)
    descending = np.take_along_axis(values, order, 1)
    places = np.tile(np.arange(values.shape[1]), (len(values), 1))
    places[:, 1:][descending[:, 1:] == descending[:, :-1]] = 0
    places = np.maximum.accumulate(places, axis=1)
    rank = np.empty_like(places)
    np.put_along_axis(rank, order, places, axis=1)
    return rank


def softmax(values: NDArray[Any]) -> NDArray[np.float64]:
    """(n, k), shares of each row; 0 for -inf, also where a row has nothing else."""
    highest = values.max(axis=1, keepdims=True)
    powers = np.exp(values.astype(np.float64) - np.where(np.isfinite(highest), highest, 0.0))
    sums = row_sums(powers)[:, None]
    return np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)


def places_of(owners: NDArray[np.int64]) -> Places:
    """(m,), the position of each value among those of its owner; owners are ascending."""
    return np.arange(len(owners)) - np.searchsorted(owners, owners)


def first_places(keys: NDArray[np.int64], k: int) -> Places:
    """Where the first k distinct keys are, in their order, each where it is first."""
    return np.sort(np.unique(keys, return_index=True)[1])[:k]


def look_up(ascending: NDArray[Any], wanted: NDArray[Any]) -> tuple[Places, NDArray[np.bool_]]:
    """Where values are in an array that is not empty, and whether they are there."""
    position = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return position, ascending[position] == wanted


def at_least_float32(vectors: "Tensor") -> "Tensor":
    """Half precision has too few digits for scores that a loss multiplies.

    Returns:
        Float32; float64 does not change.
    """
    return vectors if vectors.dtype.itemsize > 4 else vectors.float()


def unit_length(vectors: NDArray[Any]) -> NDArray[Any]:
    """(n, width), scaled to length 1; a vector of zeros does not change."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(norms, 1e-12)
