"""Parquet: read as the objects of JSON lines; written with a row per document, its mentions a list of structures."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from itertools import islice
from pathlib import Path
from typing import Any

from ...util import atomic_path
from ...util.files import check_is_file, unexpected
from ...util.parsing import DATA_ERRORS, JSON_ERRORS

VERSION = 1  # of the schema of links
METADATA = {"spacy_pel.links": str(VERSION)}
_ROWS = 1000  # read or written at a time


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


def document_rows(path: Any, files: Any = None) -> Iterator[dict[str, Any]]:
    """Stream the rows of a file of texts, without mentions, as the objects of JSON lines.

    Args:
        path, files: as for ``open_parquet``.

    Raises:
        PelError: if the file is missing or is not Parquet, or holds what JSON cannot.
    """
    file = open_parquet(path, files)
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


def write_parquet(path: Path, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> None:
    """Write linked documents as Parquet, atomically.

    The columns are the keys of the JSON lines, but a candidate is a structure of "id" and "score", as a list
    in Parquet has one type, "codes" is a structure with a list for each vocabulary, and "meta" is a string of JSON.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text", "mentions" and "meta".
        codes: the vocabularies whose codes the mentions have.

    Raises:
        PelError: if the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = link_schema(codes)
    stream = iter(records)
    with atomic_path(path) as part, pq.ParquetWriter(part, schema) as writer:
        while rows := [link_row(record) for record in islice(stream, _ROWS)]:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def link_schema(codes: Sequence[str] = ()) -> Any:
    """The schema of linked documents, one a row, with its version as the metadata "spacy_pel.links".

    Args:
        codes: the vocabularies whose codes the mentions have.
    """
    import pyarrow as pa

    text, number, texts = pa.string(), pa.float64(), pa.list_(pa.string())
    candidates = pa.list_(pa.struct([("id", text), ("score", number)]))
    place = {"start": pa.int64(), "end": pa.int64(), "text": text, "label": text, "ids": texts}
    scores = dict.fromkeys(("score", "nil_score", "probability"), number)
    reported = {"codes": pa.struct([(name, texts) for name in codes])} if codes else {}
    answer = {"kb_id": text, "name": text, **scores, "id_set": texts, **reported, "candidates": candidates}
    mentions = pa.list_(pa.struct(list((place | answer).items())))
    fields = [("id", text), ("text", text), ("mentions", mentions), ("meta", text)]
    return pa.schema(fields, metadata=METADATA)


def link_row(record: dict[str, Any]) -> dict[str, Any]:
    """A line of ``link`` as a row of ``link_schema``; no "mentions" stay null."""
    mentions = record["mentions"] and [
        {**found, "candidates": [{"id": key, "score": score} for key, score in found["candidates"]]}
        for found in record["mentions"]
    ]
    meta = json.dumps(record.get("meta") or {}, ensure_ascii=False)
    return {**record, "mentions": mentions, "meta": meta}
