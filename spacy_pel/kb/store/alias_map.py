"""Normalised names on disk, sorted by hash: from a name to its rows, and from a row to its names."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...util import hash_strings, normalize_alias
from ...util.ragged import Offsets, offsets_of, take_pieces
from .arrow_files import Rows, Table, TableWriter, find_strings, read_arrays, write_arrays
from .name_search import FoundName, search_names

HASHES, NAMES, ROWS = "alias_hashes.arrow", "alias_names.arrow", "alias_rows.arrow"
NAMES_OF_ROWS = "row_names.arrow"
_CHUNK = 1 << 16
_SCHEMA = pa.schema([("name", pa.string())])


class AliasMap:
    """Reads the map in place.

    Args:
        buffers: the contents of the four files by name.
    """

    def __init__(self, buffers: dict[str, pa.Buffer]):
        table = read_arrays(buffers[HASHES])
        self._hashes, self._starts, self._counts = table["hash"], table["start"], table["count"]
        self._names = Table(buffers[NAMES])
        self._rows = read_arrays(buffers[ROWS])["row"]
        lists = pa.ipc.open_file(buffers[NAMES_OF_ROWS]).get_batch(0).column("names")
        self._offsets, self._names_of_rows = lists.offsets.to_numpy(), lists.values.to_numpy()

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, names: Sequence[str]) -> list[Rows]:
        """Look names up.

        Args:
            names: normalised names.

        Returns:
            The rows with each name, ascending.
        """
        found = [np.zeros(0, dtype=np.int64)] * len(names)
        positions = find_strings(names, self._hashes, partial(self._names.texts, "name"))
        for i in np.flatnonzero(positions >= 0).tolist():
            start = int(self._starts[positions[i]])
            found[i] = self._rows[start : start + int(self._counts[positions[i]])].astype(np.int64)
        return found

    def search(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        """The names that contain each word of a normalised
        text, best first, and the rows with each."""
        columns = (chunk.column("name") for chunk in self._names.chunks())
        found = search_names(columns, text, n)
        starts = [int(self._starts[one.place]) for one in found]
        counts = [int(self._counts[one.place]) for one in found]
        rows = [self._rows[at : at + k].astype(np.int64) for at, k in zip(starts, counts, strict=True)]
        return list(zip(found, rows, strict=True))

    def names_at(self, rows: Rows) -> tuple[list[str], Offsets]:
        """The reverse look-up: names as they were normalised when the map was written.

        Args:
            rows: (n,) rows.

        Returns:
            The distinct normalised names of all rows, and (n + 1,)
            offsets: row i has those at ``offsets[i]:offsets[i + 1]``; a retired row has none.
        """
        positions = take_pieces(self._names_of_rows, self._offsets, rows)
        lengths = self._offsets[rows + 1] - self._offsets[rows]
        return self._names.texts("name", positions.astype(np.int64)), offsets_of(lengths)


class AliasMapWriter:
    """Collects the names of entities and writes the map.

    Names are appended to a spill file; only their hashes and rows (12 bytes each) stay in memory. These are
    sorted in the end, and the names are written in their order.

    Args:
        folder: for the files and, temporarily, the spill file.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._spill_path = folder / "names.spill"
        self._spill = TableWriter(self._spill_path, _SCHEMA)
        self._names: list[str] = []
        self._pending_rows: list[int] = []
        self._hashes: list[NDArray[np.uint64]] = []
        self._rows: list[NDArray[np.int32]] = []

    def add(self, row: int, names: Sequence[str]) -> None:
        """Add the names of an entity.

        Args:
            row: the entity's row; rows must be added in ascending order.
            names: its names, not normalised.
        """
        keys = dict.fromkeys(map(normalize_alias, names))
        keys.pop("", None)
        self._names.extend(keys)
        self._pending_rows.extend([row] * len(keys))
        if len(self._names) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        self._hashes.append(hash_strings(self._names))
        self._rows.append(np.array(self._pending_rows, dtype=np.int32))
        self._spill.write({"name": self._names})
        self._names, self._pending_rows = [], []

    def finish(self, n_rows: int) -> None:
        """Sort, and write the files.

        Args:
            n_rows: rows of the knowledge base, those without a name included.
        """
        self._flush()
        self._spill.close()
        hashes, rows = np.concatenate(self._hashes), np.concatenate(self._rows)
        order = np.argsort(hashes, kind="stable")  # stable: rows stay ascending within a name
        hashes, rows = hashes[order], rows[order]
        names = TableWriter(self._folder / NAMES, _SCHEMA)
        firsts = [np.zeros(0, dtype=np.int64)]  # where a new name begins
        with pa.memory_map(str(self._spill_path)) as file:
            spill = Table(file.read_buffer())
            for start, stop in _cuts(hashes):
                chunk = spill.take("name", order[start:stop])
                new = _new_names(hashes[start:stop], chunk)
                if new is None:  # two names share a hash: make equal names adjacent
                    resort = np.array(_by_name(hashes[start:stop], chunk), dtype=np.int64)
                    rows[start:stop], chunk = rows[start:stop][resort], chunk.take(pa.array(resort))
                    new = _changes(chunk)
                firsts.append(start + np.flatnonzero(new))
                names.write({"name": chunk.filter(pa.array(new))})
            del spill
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
        self._spill_path.unlink()


def _cuts(hashes: NDArray[np.uint64]) -> list[Any]:
    # pieces of about one chunk that do not split equal hashes
    cuts, start = [], 0
    while start < len(hashes):
        stop = min(start + _CHUNK, len(hashes))
        stop = int(np.searchsorted(hashes, hashes[stop - 1], side="right"))
        cuts.append((start, stop))
        start = stop
    return cuts


def _changes(names: pa.Array) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    same = pc.equal(names.slice(1), names.slice(0, len(names) - 1))
    return np.append(True, ~same.to_numpy(zero_copy_only=False))


def _new_names(hashes: NDArray[np.uint64], names: pa.Array) -> Any:
    new = _changes(names)
    collided = new[1:] & (hashes[1:] == hashes[:-1])
    return None if collided.any() else new


def _by_name(hashes: NDArray[np.uint64], names: pa.Array) -> list[int]:
    texts, keys = names.to_pylist(), hashes.tolist()
    return sorted(range(len(texts)), key=lambda i: (keys[i], texts[i], i))
