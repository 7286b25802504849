"""Arrow IPC files as random-access tables: written in chunks, read in place; and a search in columns of names.

Nothing is decoded when a file is opened. A memory-mapped file needs no private memory, and
all processes share its pages.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .names import hash_strings

Rows = NDArray[np.int64]
_FEW = 8
_SMALL = 1 << 22  # bytes


class TableWriter:
    """Writes a table chunk by chunk, so that it never has to be in memory as a whole.

    Args:
        path: the file.
        schema: its columns.
        chunk: rows that ``append`` collects before it writes them.
        compression: a codec of Arrow, such as "zstd": what is read is in private memory then. None = read in place.
    """

    def __init__(self, path: Path, schema: pa.Schema, *, chunk: int = 1 << 16, compression: str | None = None):
        self.path = path
        self.schema = schema
        self.chunk = chunk
        self._rows: list[tuple[Any, ...]] = []
        self._sink = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._sink, schema, options=pa.ipc.IpcWriteOptions(compression=compression))

    def write(self, columns: dict[str, Any]) -> None:
        """Append one chunk.

        Args:
            columns: lists, arrays or Arrow arrays of one length, by name.
        """
        self._writer.write_batch(pa.RecordBatch.from_pydict(columns, schema=self.schema))

    def append(self, *cells: Any) -> None:
        """Append one row, its cells in the order of the schema."""
        self._rows.append(cells)
        if len(self._rows) == self.chunk:
            self._write_rows()

    def _write_rows(self) -> None:
        self.write(dict(zip(self.schema.names, map(list, zip(*self._rows, strict=True)), strict=True)))
        self._rows = []

    def close(self) -> None:
        """Write what is left and the footer. Without it the file cannot be read."""
        if self._rows:
            self._write_rows()
        self._writer.close()
        self._sink.close()

    def reopened(self) -> "Table":
        """Close the file, and map it for reading."""
        self.close()
        return Table(mapped(self.path))


def mapped(path: Path) -> pa.Buffer:
    """The content of a file, memory-mapped."""
    with pa.memory_map(str(path)) as file:
        return file.read_buffer()


class Table:
    """Random access to the rows of a chunked Arrow file."""

    def __init__(self, buffer: pa.Buffer):
        self._reader = pa.ipc.open_file(buffer, memory_pool=pa.system_memory_pool())  # see read_arrays
        self._batches: list[pa.RecordBatch | None] = [None] * self._reader.num_record_batches
        counts = [chunk.num_rows for chunk in self.chunks()]
        self.starts = np.cumsum([0, *counts], dtype=np.int64)  # the first row of each chunk, and the end
        self._bounds: list[int] = self.starts.tolist()
        self.names: list[str] = self._reader.schema.names

    def __len__(self) -> int:
        return int(self.starts[-1])

    def chunk(self, number: int) -> pa.RecordBatch:
        """A view of the file, without a copy."""
        batch = self._batches[number]
        if batch is None:
            batch = self._batches[number] = self._reader.get_batch(number)
            batch.validate()
        return batch

    def chunks(self) -> Iterable[pa.RecordBatch]:
        """The chunks in order."""
        return map(self.chunk, range(len(self._batches)))

    def cells(self, rows: Rows, *columns: str) -> list[list[Any]]:
        """The cells of each column as Python objects, in the order of the rows."""
        if len(rows) > _FEW:
            return [self.take(name, rows).to_pylist() for name in columns]
        slots = []  # cheaper than sorting them by chunk
        for row in rows.tolist():
            number = bisect_right(self._bounds, row) - 1
            slots.append((self.chunk(number), row - self._bounds[number]))
        return [[chunk.column(name)[slot].as_py() for chunk, slot in slots] for name in columns]

    def find(
        self, column: str, queries: Sequence[str], hashes: NDArray[np.uint64], rows: NDArray[Any] | None = None
    ) -> Rows:
        """Look up the rows of strings. Hashes may collide, so the string at each hit is compared with the query.

        Args:
            column: of strings.
            queries: what to look for.
            hashes: of the column's strings, ascending.
            rows: the row of each hash; None = the column is in the order of the hashes.

        Returns:
            A row per query, -1 where the column lacks it.
        """
        found = np.full(len(queries), -1, dtype=np.int64)
        query_hashes = hash_strings(queries)
        position = np.searchsorted(hashes, query_hashes, side="left")
        stop = np.searchsorted(hashes, query_hashes, side="right")
        pending = np.flatnonzero(position < stop)
        while len(pending):  # a second round only where two strings share a hash
            at = position[pending] if rows is None else rows[position[pending]].astype(np.int64)
            (strings,) = self.cells(at, column)
            is_equal = np.array([queries[i] == text for i, text in zip(pending, strings, strict=True)], dtype=bool)
            found[pending[is_equal]] = at[is_equal]
            pending = pending[~is_equal]
            position[pending] += 1
            pending = pending[position[pending] < stop[pending]]
        return found

    def take(self, column: str, rows: Rows) -> pa.Array:
        """Gather a column.

        Args:
            column: its name.
            rows: rows in any order.

        Returns:
            The cells in the order of the rows.
        """
        if not len(rows):
            return pa.nulls(0, self._reader.schema.field(column).type)
        numbers = np.searchsorted(self.starts, rows, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        used, firsts = np.unique(numbers[order], return_index=True)
        parts = []
        for number, group in zip(used, np.split(order, firsts[1:]), strict=True):
            slots = rows[group] - self.starts[number]
            parts.append(self.chunk(int(number)).column(column).take(_indices(slots)))
        if len(parts) == 1:  # the stable sort left the rows as they were
            return parts[0]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_arrays(parts).take(_indices(back))


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays of one length as a file of a single chunk, so that they read as NumPy arrays. A file of less than
    4 MB is compressed."""
    batch = pa.RecordBatch.from_pydict(arrays)
    writer = TableWriter(path, batch.schema, compression="zstd" if batch.nbytes < _SMALL else None)
    writer.write(arrays)
    writer.close()


def read_arrays(buffer: pa.Buffer) -> dict[str, NDArray[Any]]:
    """Views of the file, without a copy unless it is compressed. The copy is in the heap: Arrow's pool keeps more."""
    batch = pa.ipc.open_file(buffer, memory_pool=pa.system_memory_pool()).get_batch(0)
    batch.validate()
    return {name: np.from_dlpack(batch.column(name)) for name in batch.schema.names}


def _indices(rows: Rows) -> pa.Array:
    """As ``pa.array``, which imports pandas where that is installed, as ``to_numpy`` does: 20 MB. What links calls
    neither."""
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])


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
        has_word = pc.match_substring(names, word)
        names, positions = names.filter(has_word), positions[has_word.to_numpy(zero_copy_only=False)]
    if not len(names):
        return []
    begins = [pc.or_(pc.starts_with(names, word), pc.match_substring(names, f" {word}")) for word in words]
    rank = np.full(len(names), 3)
    rank[np.all([begin.to_numpy(zero_copy_only=False) for begin in begins], axis=0)] = 2
    rank[pc.starts_with(names, text).to_numpy(zero_copy_only=False)] = 1
    rank[pc.equal(names, text).to_numpy(zero_copy_only=False)] = 0
    lengths = pc.utf8_length(names).to_numpy(zero_copy_only=False)
    order = np.lexsort((positions, lengths, rank))[:n]
    chosen = names.take(_indices(order)).to_pylist()
    return map(FoundName, rank[order].tolist(), lengths[order].tolist(), chosen, positions[order].tolist())
