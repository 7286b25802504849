"""Inverted lists of short codes in a file of their own, which processes map and share."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from ..types import Rows
from ..util import atomic_path
from .faiss_rows import read_faiss, unreadable, write_faiss

_SUFFIX = ".codes"
_BLOCK = 32  # codes that are interleaved
_ID = 8  # bytes of a row's number
_CAN_MAP = hasattr(faiss, "OnDiskInvertedLists")  # not on Windows
# the file of the lists is the one beside this one, whatever path is in it; FAISS can map centroids too, but
# ends the process where they are cut off
_FLAGS = faiss.IO_FLAG_SKIP_IVF_DATA | faiss.IO_FLAG_READ_ONLY


def write_lists(lists: Any, path: Path) -> None:
    """Write an index of inverted lists, and the lists to a file of the same name that ends in ".codes".
    FAISS alone can read both with ``IO_FLAG_ONDISK_SAME_DIR``.

    Args:
        lists: the index.
        path: ends in ".faiss".

    Raises:
        OSError: if a file cannot be written.
    """
    if not _CAN_MAP:
        write_faiss(lists, path)
        return
    stored, end = lists.invlists, 0
    table = np.zeros((lists.nlist, 3), dtype=np.uint64)  # size, capacity, offset: FAISS's OnDiskOneList
    with atomic_path(path.with_suffix(_SUFFIX)) as part, part.open("wb") as file:
        for number in range(lists.nlist):
            size = stored.list_size(number)
            room = -(-size // _BLOCK) * _BLOCK
            table[number] = size, room, end
            if size:  # an empty list has no array
                file.write(faiss.rev_swig_ptr(stored.get_codes(number), room * lists.code_size).data)
                file.write(np.resize(faiss.rev_swig_ptr(stored.get_ids(number), size), room).data)
            end += room * (lists.code_size + _ID)
    on_disk: Any = faiss.OnDiskInvertedLists()
    on_disk.nlist, on_disk.code_size, on_disk.totsize = lists.nlist, lists.code_size, end
    on_disk.filename, on_disk.read_only = path.with_suffix(_SUFFIX).name, True
    on_disk.lists.resize(lists.nlist)
    faiss.memcpy(on_disk.lists.data(), faiss.swig_ptr(table), table.nbytes)
    shell: Any = faiss.IndexIVFPQFastScan(
        lists.quantizer, lists.d, lists.nlist, lists.pq.M, lists.pq.nbits, lists.metric_type
    )
    shell.pq, shell.by_residual, shell.is_trained = lists.pq, lists.by_residual, True
    shell.nprobe, shell.ntotal = lists.nprobe, lists.ntotal
    shell.replace_invlists(on_disk, False)
    write_faiss(shell, path)


def read_lists(path: Path) -> tuple[Any, Rows]:
    """Read an index of inverted lists, and map its lists where FAISS can.

    Args:
        path: as for ``write_lists``.

    Returns:
        The index, and the numbers of all rows, list by list.

    Raises:
        PelError: if a file is missing or damaged.
    """
    codes = path.with_suffix(_SUFFIX)
    lists = read_faiss(path.parent, path.name, flags=_FLAGS)
    inverted: Any = faiss.downcast_InvertedLists(lists.invlists)
    if not (_CAN_MAP and isinstance(inverted, faiss.OnDiskInvertedLists)):
        sizes = [(number, inverted.list_size(number)) for number in range(lists.nlist)]
        # an empty list has no array
        ids = [faiss.rev_swig_ptr(inverted.get_ids(number), size) for number, size in sizes if size]
        return lists, np.concatenate([np.empty(0, dtype=np.int64), *ids])
    described: Any = inverted.lists
    table: NDArray[np.uint64] = np.empty((described.size(), 3), dtype=np.uint64)
    faiss.memcpy(faiss.swig_ptr(table), described.data(), table.nbytes)
    expected = lists.nlist, lists.code_size, codes.stat().st_size if codes.is_file() else None
    if (len(table), inverted.code_size, inverted.totsize) != expected or not _fits(table, *expected[1:]):
        raise unreadable(path.parent, ValueError("other sizes"), f"a complete {codes.name}")
    inverted.filename, inverted.read_only = str(codes), True
    inverted.prefetch_nthread = 0  # each search joins the threads of the last one, which a forked child lacks
    try:
        inverted.do_mmap()
    except RuntimeError as err:
        raise unreadable(path.parent, err, f"a complete {codes.name}") from err
    return lists, _rows_in_file(codes, table.astype(np.int64), lists.code_size)


def _rows_in_file(codes: Path, table: NDArray[np.int64], code_size: int) -> Rows:
    # through the mapping, nearly all of its pages would count as memory of this process
    ids = [np.empty(0, dtype=np.int64)]
    with codes.open("rb") as file:
        for size, room, start in table.tolist():
            file.seek(start + room * code_size)
            ids.append(np.frombuffer(file.read(size * _ID), dtype=np.int64))
    return np.concatenate(ids)


def _fits(table: NDArray[np.uint64], code_size: int, n_bytes: int) -> bool:
    """Is all that FAISS will read inside the file?"""
    sizes, rooms, starts = (column.astype(np.float64) for column in table.T)  # cannot overflow
    whole = (rooms >= sizes) & (rooms % _BLOCK == 0)
    return bool((whole & (starts + rooms * (code_size + _ID) <= n_bytes)).all())
