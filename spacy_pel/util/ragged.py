"""Ragged arrays: pieces of different lengths in two arrays, without Python loops.

Written by hand: Arrow and awkward lists would copy what is memory-mapped here, and have no segment functions.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Sequence, Type, TypeVar

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]
R = TypeVar("R", bound="Ragged")


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
        """RETURNS (NDArray[int64]): (n,) number of values of each piece."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> NDArray[np.int64]:
        """RETURNS (NDArray[int64]): (m,) the piece that each value belongs to."""
        return owners(self.offsets)

    def take(self: R, pieces: NDArray[np.int64]) -> R:
        """RETURNS (Ragged): these pieces, in this order, in memory; repeats are allowed."""
        return type(self)(take_pieces(self.values, self.offsets, pieces), offsets_of(self.lengths[pieces]))

    @classmethod
    def concatenate(cls: Type[R], parts: Sequence[R]) -> R:
        """RETURNS (Ragged): the pieces of all parts in order."""
        values = [part.values for part in parts] or [np.zeros(0, dtype=cls.dtype)]
        lengths = [np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)]
        return cls(np.concatenate(values), offsets_of(np.concatenate(lengths)))


def offsets_of(lengths: NDArray[Any]) -> Offsets:
    """RETURNS (NDArray[int64]): (n + 1,) offsets of n pieces with these lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def owners(offsets: Offsets) -> NDArray[np.int64]:
    """RETURNS (NDArray[int64]): (m,) the piece that each value belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places_in_pieces(offsets: Offsets) -> NDArray[np.int64]:
    """RETURNS (NDArray[int64]): (m,) the position of each value in its piece, from 0."""
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def take_pieces(values: NDArray[Any], offsets: Offsets, pieces: NDArray[np.int64]) -> NDArray[Any]:
    """The values of some pieces, one piece after the other.

    values (NDArray): (m,) values.
    offsets (NDArray[int64]): (n + 1,) their offsets.
    pieces (NDArray[int64]): which pieces, in which order; repeats are allowed.
    RETURNS (NDArray): the values; their lengths are ``np.diff(offsets)[pieces]``.
    """
    lengths = np.diff(offsets)[pieces]
    starts = np.repeat(offsets[pieces] - offsets_of(lengths)[:-1], lengths)
    return values[starts + np.arange(lengths.sum())]


def segment_sum(values: NDArray[Any], offsets: Offsets) -> NDArray[np.float64]:
    """RETURNS (NDArray[float64]): (n,) sums; 0 for an empty piece."""
    sums = np.bincount(owners(offsets), weights=values, minlength=len(offsets) - 1)
    return sums.astype(np.float64, copy=False)


def segment_max(values: NDArray[Any], offsets: Offsets, *, empty: float) -> NDArray[Any]:
    """RETURNS (NDArray): (n,) the largest value of each piece; ``empty`` where there is none."""
    result = np.full(len(offsets) - 1, empty, dtype=values.dtype)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        result[filled] = np.maximum.reduceat(values, offsets[filled])
    return result


def segment_softmax(values: NDArray[Any], offsets: Offsets) -> NDArray[np.float64]:
    """RETURNS (NDArray[float64]): (m,) shares that sum to 1 within each piece."""
    owner = owners(offsets)
    powers = np.exp(values - segment_max(values, offsets, empty=0.0)[owner])
    return powers / segment_sum(powers, offsets)[owner]


def segment_rank(values: NDArray[Any], offsets: Offsets) -> NDArray[np.int64]:
    """RETURNS (NDArray[int64]): (m,) 0 for the largest value of its piece, 1 for the next …
    Equal values keep their order.
    """
    order = np.lexsort((-values, owners(offsets)))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = places_in_pieces(offsets)
    return rank
