"""Parquet files of documents, as the objects of JSON lines."""

import json
import math
from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

from ...util.files import check_is_file, unexpected
from ...util.parsing import DATA_ERRORS, JSON_ERRORS

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


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the rows of a file that ``link`` wrote as the objects of JSON lines: a candidate is a pair
    ``[id, score]``, and "meta" a dictionary.

    Args:
        path: the file.

    Yields:
        The number of the row, from 1, and its object.

    Raises:
        PelError: if the file is missing or is not Parquet.
    """
    number = 0
    for batch in open_parquet(path).iter_batches(batch_size=_ROWS):
        for row in batch.to_pylist():
            number += 1
            yield number, as_in_json(row)


def document_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the rows of a file of texts, without mentions, as the objects of JSON lines.

    Raises:
        PelError: if the file is missing or is not Parquet, or holds what JSON cannot.
    """
    file = open_parquet(path)
    for batch in file.iter_batches(columns=document_columns(file.schema_arrow), batch_size=_ROWS):
        yield from json_rows(batch, path)


def document_columns(schema: Any) -> list[str]:
    """The names of all columns but the mentions of ``link`` and of the corpus format."""
    return [field.name for field in schema if field.name != "mentions" or field.type.num_fields == 0]


def json_rows(table: Any, place: object) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow table as the objects of JSON lines: dates as in ISO 8601, to the microsecond.

    Args:
        table: a table or batch. A second column of a name is called "name_2".
        place: where it is from, for errors.

    Raises:
        PelError: if it holds a date that Python has not.
    """
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    names = unique_names(table.schema.names)
    kinds = map(_without_nanoseconds, table.schema.types)
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    try:
        rows = table.rename_columns(names).cast(schema, safe=False).to_pylist()
    except DATA_ERRORS as err:
        raise unexpected(place, "values that JSON can hold", f"an error: {err}", "Leave out their column.") from err
    for row in rows:
        yield {name: _json_value(value) for name, value in row.items()}


def _without_nanoseconds(kind: Any) -> Any:
    """The Arrow type whose values Python can hold."""
    import pyarrow as pa

    if getattr(kind, "unit", "") != "ns":
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


def unique_names(names: list[str]) -> list[str]:
    """The names of columns: one without a name is called "column_3", the second of a name "name_2"."""
    unique: dict[str, None] = {}
    for at, given in enumerate(names, start=1):
        base, number = given or f"column_{at}", 1
        name = base
        while name in unique or (number > 1 and name in names):
            number += 1
            name = f"{base}_{number}"
        unique[name] = None
    return list(unique)


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(one) for one in value]
    if isinstance(value, (date, time)):  # also a datetime
        return value.isoformat()
    return value.decode("utf8", "backslashreplace") if isinstance(value, bytes) else str(value)


def as_in_json(row: dict[str, Any]) -> dict[str, Any]:
    """A row of links as an object of JSON lines."""
    if "meta" in row:
        row["meta"] = _json_value(json_object_of(row["meta"]) or {})
    for mention in row.get("mentions") or ():
        if not isinstance(mention, dict):
            continue
        if mention.get("id_set", ()) is None:  # JSON lines have it only where there is one
            del mention["id_set"]
        if mention.get("candidates"):
            mention["candidates"] = [[candidate["id"], candidate["score"]] for candidate in mention["candidates"]]
    return row


def json_object_of(value: Any) -> dict[str, Any] | None:
    """A dictionary, or the object whose JSON a string is; None if it is neither."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except JSON_ERRORS:
            return None
    return value if isinstance(value, dict) else None
