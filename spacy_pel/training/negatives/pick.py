"""Drawing rows: uniformly, or from the mined table."""

import numpy as np
from numpy.typing import NDArray

from .draw import DrawRequest


def random_each(request: DrawRequest, n: int) -> NDArray[np.int64]:
    """(mentions, n), uniform over the knowledge base."""
    return request.rng.integers(request.n_rows, size=(len(request), n))


def hard_each(request: DrawRequest, n: int, depth: int) -> NDArray[np.int64]:
    """Draw n of the ``depth`` nearest entities of each mention, or all of them if depth is n.

    Where fewer were mined (a small knowledge base, or nothing yet), random ones fill the rest.

    Returns:
        (mentions, n).
    """
    found = request.mined.take(request.examples, depth)
    if depth > n:
        order = np.where(found < 0, 2.0, request.rng.random(found.shape)).argsort(axis=1, kind="stable")
        found = np.take_along_axis(found, order, axis=1)
    picked = np.full((len(request), n), -1, dtype=np.int64)
    picked[:, : found.shape[1]] = found[:, :n]
    return np.where(picked < 0, random_each(request, n), picked)


def hard_together(request: DrawRequest, n: int, depth: int) -> NDArray[np.int64]:
    """Draw n distinct entities for the whole batch; mentions contribute their nearest in turn.

    Returns:
        (n,), the rest filled with random ones.
    """
    found = request.mined.take(request.examples, depth)
    order = np.where(found < 0, 2.0, request.rng.random(found.shape)).argsort(axis=1, kind="stable")
    turns = np.take_along_axis(found, order, axis=1)[request.rng.permutation(len(request))].T.ravel()
    turns = turns[turns >= 0]
    _, firsts = np.unique(turns, return_index=True)
    picked = turns[np.sort(firsts)][:n]
    return np.concatenate([picked, request.rng.integers(request.n_rows, size=n - len(picked))])
