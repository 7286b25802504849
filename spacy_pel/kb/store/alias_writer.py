"""Writes the normalised names, sorted by hash: from a name to its rows, and from a row to its names."""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...util import hash_strings, normalize_alias
from ...util.arrays import offsets_of
from ...util.arrow_files import TableWriter, write_arrays

HASHES, NAMES, ROWS = "alias_hashes.arrow", "alias_names.arrow", "alias_rows.arrow"
NAMES_OF_ROWS = "row_names.arrow"
_CHUNK = 1 << 16
_SCHEMA = pa.schema([("name", pa.string())])


class AliasWriter:
    """Collects the names of entities and writes the files.

    Names are appended to a spill file; only their hashes and rows (12 bytes each) stay in memory. These are
    sorted in the end, and the names are written in their order.

    Args:
        folder: for the files and, temporarily, the spill file.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._spill = TableWriter(folder / "names.spill", _SCHEMA, chunk=_CHUNK)
        self._rows = array("i")

    def add(self, row: int, names: Sequence[str]) -> None:
        """Add the names of an entity.

        Args:
            row: the entity's row; rows must be added in ascending order.
            names: its names, not normalised.
        """
        for name in dict.fromkeys(map(normalize_alias, names)):
            if name:
                self._spill.append(name)
                self._rows.append(row)

    def finish(self, n_rows: int) -> None:
        """Sort, and write the files.

        Args:
            n_rows: rows of the knowledge base, those without a name included.
        """
        spill = self._spill.reopened()
        hashes = hashes_of(chunk.column("name") for chunk in spill.chunks())
        order = np.argsort(hashes, kind="stable")  # stable: rows stay ascending within a name
        hashes, rows = hashes[order], np.frombuffer(self._rows, dtype=np.int32)[order]
        names = TableWriter(self._folder / NAMES, _SCHEMA)
        firsts = [np.zeros(0, dtype=np.int64)]  # where a new name begins
        for start, stop in _cuts(hashes):
            chunk = spill.take("name", order[start:stop])
            is_new = _changes(chunk)
            same_hash = hashes[start + 1 : stop] == hashes[start : stop - 1]
            if (is_new[1:] & same_hash).any():  # two names share a hash: make equal names adjacent
                keys = zip(hashes[start:stop].tolist(), chunk.to_pylist(), range(stop - start), strict=True)
                resort = np.array([at for _, _, at in sorted(keys)])
                rows[start:stop], chunk = rows[start:stop][resort], chunk.take(pa.array(resort))
                is_new = _changes(chunk)
            firsts.append(start + np.flatnonzero(is_new))
            names.write({"name": chunk.filter(pa.array(is_new))})
        names.close()
        starts = np.concatenate(firsts)
        counts = np.diff(np.append(starts, len(hashes))).astype(np.int32)
        write_arrays(self._folder / HASHES, {"hash": hashes[starts], "start": starts, "count": counts})
        write_arrays(self._folder / ROWS, {"row": rows})
        name_of_pair = np.repeat(np.arange(len(starts), dtype=np.int32), counts)
        by_row = name_of_pair[np.argsort(rows, kind="stable")]
        offsets = offsets_of(np.bincount(rows, minlength=n_rows)).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(by_row))
        write_arrays(self._folder / NAMES_OF_ROWS, {"names": lists})
        self._spill.path.unlink()


def hashes_of(columns: Iterator[pa.StringArray]) -> NDArray[np.uint64]:
    """The hashes of the strings of all chunks, in order."""
    return np.concatenate([np.zeros(0, dtype=np.uint64), *(hash_strings(column.to_pylist()) for column in columns)])


def _cuts(hashes: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Pieces of about one chunk that do not split equal hashes."""
    start = 0
    while start < len(hashes):
        stop = min(start + _CHUNK, len(hashes))
        stop = int(np.searchsorted(hashes, hashes[stop - 1], side="right"))
        yield start, stop
        start = stop


def _changes(names: pa.Array) -> NDArray[np.bool_]:
    """Whether a name differs from the one before it."""
    import pyarrow.compute as pc

    same = pc.equal(names.slice(1), names.slice(0, len(names) - 1))
    return np.append(True, ~same.to_numpy(zero_copy_only=False))
