"""Searching names for a part of one: a scan of the normalised names where they are, without an index."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_MANY = 1000  # hits in a chunk, from which on Arrow is faster than one hit after the other


class FoundName(NamedTuple):
    """A name that was found; the order of these tuples is the order of the results.

    Attributes:
        rank: 0 = the text itself, 1 = a name that begins with it, 2 = each word of it begins a word of the
            name, 3 = each word of it is in the name.
        length: of the name: of equal rank, the shortest name is the nearest.
        name: normalised.
        position: in the searched names.
    """

    rank: int
    length: int
    name: str
    position: int


def search_names(chunks: Iterable[pa.StringArray], text: str, n: int) -> list[FoundName]:
    """Find the names that contain each word of a text, in any order.

    Args:
        chunks: normalised names.
        text: normalised, not empty.
        n: how many at most.

    Returns:
        The best first; positions count over all chunks.
    """
    if text.encode("utf8", "ignore").decode("utf8") != text:
        return []  # a lone surrogate is in no name
    words = sorted(set(text.split()), key=len, reverse=True)  # the longest leaves the fewest
    best: list[FoundName] = []
    start = 0
    for chunk in chunks:
        best = sorted([*best, *_in_chunk(chunk, start, text, words, n)])[:n]
        start += len(chunk)
    return best


def _in_chunk(names: pa.StringArray, start: int, text: str, words: Sequence[str], n: int) -> Iterable[FoundName]:
    positions = np.arange(start, start + len(names))
    for word in words:
        found = _that_contain(names, word)
        names, positions = names.take(pa.array(found)), positions[found]
        if not len(names):
            return []
    begins = [pc.or_(pc.starts_with(names, word), pc.match_substring(names, f" {word}")) for word in words]
    rank = np.full(len(names), 3)
    rank[np.all([one.to_numpy(zero_copy_only=False) for one in begins], axis=0)] = 2
    rank[pc.starts_with(names, text).to_numpy(zero_copy_only=False)] = 1
    rank[pc.equal(names, text).to_numpy(zero_copy_only=False)] = 0
    lengths = pc.utf8_length(names).to_numpy(zero_copy_only=False)
    order = np.lexsort((positions, lengths, rank))[:n]
    chosen = names.take(pa.array(order)).to_pylist()
    return map(FoundName, rank[order].tolist(), lengths[order].tolist(), chosen, positions[order].tolist())


def _that_contain(names: pa.StringArray, word: str) -> NDArray[np.int64]:
    """Which names contain a word, ascending. Looking for it in the bytes of all
    names is faster than in one name after the other."""
    if not len(names):
        return np.zeros(0, dtype=np.int64)
    _, starts, data = names.buffers()
    offsets = np.frombuffer(starts, dtype=np.int32)[names.offset : names.offset + len(names) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    text, wanted = data[first:last].to_pybytes() if last > first else b"", word.encode("utf8")
    hits: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(hits) < _MANY:
        hits.append(at)
        at = text.find(wanted, at + 1)
    if at >= 0:
        return np.flatnonzero(pc.match_substring(names, word).to_numpy(zero_copy_only=False))
    found = np.array(hits, dtype=np.int64) + first
    owners = np.searchsorted(offsets, found, side="right") - 1
    return np.unique(owners[found + len(wanted) <= offsets[owners + 1]])  # not across two names
