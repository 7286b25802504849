"""Rectangular arrays of candidates, (n, k): a row for each mention, -1 or -inf where it has fewer than k."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def best_first(values: NDArray[Any]) -> Places:
    """(n, k), the columns of each row, the largest value first; equal values keep their order."""
    return np.argsort(-values, axis=1, kind="stable")


def ranks(values: NDArray[Any]) -> Places:
    """(n, k), 0 for the largest value of its row, 1 for the next …; equal values keep their order."""
    rank = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(rank, best_first(values), np.arange(values.shape[1])[None], axis=1)
    return rank


def softmax(values: NDArray[Any]) -> NDArray[np.float64]:
    """(n, k), shares of each row; 0 for -inf, also where a row has nothing else."""
    highest = values.max(axis=1, keepdims=True)
    powers = np.exp(values.astype(np.float64) - np.where(np.isfinite(highest), highest, 0.0))
    sums = powers.sum(axis=1, keepdims=True)
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
