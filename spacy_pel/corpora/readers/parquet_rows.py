"""Parquet files of documents, as the objects of JSON lines."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...util.files import JSON_ERRORS, check_is_file
from ...util.place import unexpected

_ROWS = 1024  # read at a time


def open_parquet(path: Any, files: Any = None) -> Any:
    """Open a file.

    Args:
        path: the file.
        files: its file system, of Arrow; None = the local one.

    Raises:
        PelError: if it is missing or is not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if files is None:
        check_is_file(path)
    try:
        return pq.ParquetFile(path if files is None else files.open_input_file(path))
    except pa.ArrowInvalid as err:
        raise unexpected(path, "Parquet", f"an error: {str(err).rstrip('.')}", "Write the file again.") from err


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the rows of a file that ``link`` wrote, or of another one with documents, as the objects of JSON
    lines: a candidate is a pair ``[id, score]``, and "meta" a dictionary.

    Args:
        path: the file.
        columns: the columns to read, as far as there are such; None = all.

    Yields:
        The number of the row, from 1, and its object.

    Raises:
        PelError: if the file is missing or is not Parquet.
    """
    file = open_parquet(path)
    names = [name for name in file.schema_arrow.names if columns is None or name in columns]
    number = 0
    for batch in file.iter_batches(columns=names, batch_size=_ROWS):
        for row in batch.to_pylist():
            number += 1
            yield number, as_in_json(row)


def as_in_json(row: dict[str, Any]) -> dict[str, Any]:
    """A row of documents, linked or not, as an object of JSON lines."""
    meta = row.get("meta")
    if isinstance(meta, dict):  # a structure, which may hold dates
        row["meta"] = json.loads(json.dumps(meta, default=str))
    elif isinstance(meta, str):
        try:
            meta = json.loads(meta)
        except JSON_ERRORS:  # another file's column of this name
            meta = {}
        row["meta"] = meta if isinstance(meta, dict) else {}
    for mention in row.get("mentions") or ():
        if not isinstance(mention, dict):
            continue
        if mention.get("id_set", ()) is None:  # JSON lines have it only where there is one
            del mention["id_set"]
        if mention.get("candidates"):
            mention["candidates"] = [[candidate["id"], candidate["score"]] for candidate in mention["candidates"]]
    return row
