"""Tables: CSV, TSV and Parquet. Any table is read as the objects of JSON lines. Of linked documents, CSV and TSV have a
row for each mention; Parquet has a row for each document, its mentions a list of structures."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from io import StringIO
from itertools import chain, dropwhile, islice
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import quoted
from ...util import Place, atomic_path, ending_of, read_cells, read_lines, unexpected, write_text
from ...util.files import check_is_file
from ...util.parsing import DATA_ERRORS, JSON_ERRORS

VERSION = 1  # of the schema of links
METADATA = {"spacy_pel.links": str(VERSION)}
_ROWS = 1000  # read or written at a time


def open_table(
    path: Path, column: str, file: IO[bytes] | None = None
) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    r"""Open a table with quoted cells, as spreadsheets and pandas write it. Line ends within a cell stay what they are.

    Args:
        path: the file, plain or gzipped.
        column: one that the header should have. The delimiter is the comma (or the tab, if the file's name ends in
            .tsv), semicolon, tab or bar that makes it a column.
        file: its open content, unpacked; None = it is opened here.

    Returns:
        The names of the columns, none of an empty file; and an iterator of the rows: the number of a row's last line,
        and its cells by column. A column without a name is called "column_3", and is there if its cell is not
        empty; the second column of a name is called "name_2".

    Raises:
        PelError: if the file is missing or not UTF-8; while reading, if a row has more or fewer cells than the header,
            or a quotation mark is not closed. Names the line.
    """
    # Excel takes the delimiter from a first line such as "sep=;", and SSSOM begins with its metadata
    about = "#" if ".sssom." in path.name else "sep="
    lines = read_lines(path, file, line_ends="\n")
    lines = dropwhile(lambda line: not line[1].strip() or line[1].startswith(about), lines)
    first = next(lines, (0, ""))
    delimiter = _delimiter(path, first[1], column)
    cells = read_cells(path, chain([first], lines), delimiter=delimiter, texts=True)
    _, header = next(cells, (0, [])) if first[0] else (0, [])
    header = [name.strip() for name in header]
    names = unique_names(header)

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        for line, row in cells:
            if len(row) < len(names) or any(row[len(names) :]):
                expected, got = f"{len(names)} cells, as in the header", f"{len(row)}: {quoted(row)}"
                raise unexpected(Place(path, line), expected, got, "Put quotation marks around texts.")
            named = zip(names, header, row, strict=False)
            yield line, {name: cell for name, plain, cell in named if plain or cell}

    return names, rows()


def _delimiter(path: Path, line: str, column: str) -> str:
    """The one that makes this name a column of the header, and most columns."""

    def names(delimiter: str) -> list[str]:
        return [name.strip().lower() for name in next(csv.reader([line], delimiter=delimiter), [])]

    delimiters = ("\t" if ending_of(path) == ".tsv" else ",", *",;\t|")
    return max(delimiters, key=lambda delimiter: (column.lower() in names(delimiter), len(names(delimiter))))


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


_COLUMNS = ("start", "end", "text", "label", "id", "name", "p_right", "p_nil", "relation")
# of a mention, in these columns
_KEYS = ("start", "end", "text", "label", "kb_id", "name", "probability", "nil_score", "relation")


def write_table(path: Path, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> None:
    """Write linked documents as CSV or TSV, see ``table_rows``, atomically; gzipped if the name ends in .gz.

    Args:
        path: the file; TSV if its name ends in .tsv or .tsv.gz.
        records, codes: see ``table_rows``.

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        write_rows(file, table_rows(records, codes), "\t" if ending_of(path) == ".tsv" else ",")


def table_text(records: Iterable[dict[str, Any]], *, codes: Sequence[str] = (), delimiter: str = ",") -> str:
    """The table of linked documents as text, see ``table_rows``."""
    file = StringIO()
    write_rows(file, table_rows(records, codes), delimiter)
    return file.getvalue()


def table_rows(records: Iterable[dict[str, Any]], codes: Sequence[str]) -> Iterator[list[str]]:
    """The header of a table of links, and a row for each mention.

    The columns are "document" (the document's id), "start", "end", "text", "label", "id" (or NIL, or empty if the
    linker did not look at the mention), "name", "p_right", "p_nil" and "relation"; those of ``codes``, several
    codes joined by a bar; and the keys of the documents' "meta", with "meta_" before those that are the name of such
    a column.

    Args:
        records: lines of ``link``: "id", "mentions" and "meta"; they are read twice, an iterator into memory.
        codes: keys of a mention's "codes".
    """
    records = list(records) if isinstance(records, Iterator) else records
    keys = list(dict.fromkeys(key for record in records for key in record.get("meta") or {}))
    own = ["document", *_COLUMNS, *codes]
    header = [*own, *keys]
    for at, key in enumerate(keys, start=len(own)):
        while header.count(key) > 1:
            key = header[at] = f"meta_{key}"
    yield header
    for record in records:
        meta = record.get("meta") or {}
        meta_cells = [_cell(meta.get(key)) for key in keys]
        for mention in record["mentions"]:
            cells = [_cell(mention.get(key)) for key in _KEYS]
            cells += ["|".join(mention.get("codes", {}).get(vocabulary, ())) for vocabulary in codes]
            yield [record["id"], *cells, *meta_cells]


def write_rows(file: IO[str], rows: Iterable[Iterable[Any]], delimiter: str) -> None:
    """Write rows, with quotation marks around cells with line ends of any kind."""
    # csv quotes a cell with a CR only where rows end in CR LF
    lines: Any = SimpleNamespace(write=lambda line: file.write(line.removesuffix("\r\n") + "\n"))
    csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerows(rows)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _open_parquet(path: Path, file: IO[bytes] | None = None) -> pq.ParquetFile:
    """Open a file.

    Args:
        path: the file.
        file: its open content; None = it is opened here.

    Raises:
        PelError: if it is missing or is not Parquet.
    """
    if file is None:
        check_is_file(path)
    try:
        return pq.ParquetFile(file or path)
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
    batches = _open_parquet(path).iter_batches(batch_size=_ROWS)
    yield from enumerate((_as_in_json(row) for batch in batches for row in batch.to_pylist()), start=1)


def document_rows(path: Path, file: IO[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """Stream the rows of a Parquet file of texts as the objects of JSON lines; without the mentions of ``link`` and of
    the corpus format.

    Args:
        path: the file.
        file: its open content; None = it is opened here.

    Raises:
        PelError: if the file is missing or is not Parquet, or holds what JSON cannot.
    """
    table = _open_parquet(path, file)
    names = [field.name for field in table.schema_arrow if field.name != "mentions" or field.type.num_fields == 0]
    for batch in table.iter_batches(columns=names, batch_size=_ROWS):
        yield from json_rows(batch, path)


def json_rows(table: pa.RecordBatch | pa.Table, place: object) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow table as the objects of JSON lines: dates as in ISO 8601, to the microsecond.

    Args:
        table: a table or batch. A second column of a name is called "name_2".
        place: where it is from, for errors.

    Raises:
        PelError: if it holds a date that Python has not.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    names = unique_names(table.schema.names)
    schema = pa.schema(list(zip(names, map(_without_nanoseconds, table.schema.types), strict=True)))
    try:
        rows = table.rename_columns(names).cast(schema, safe=False).to_pylist()
    except DATA_ERRORS as err:
        raise unexpected(place, "values that JSON can hold", f"an error: {err}", "Leave out their column.") from err
    yield from map(_as_json, rows)


def _without_nanoseconds(kind: pa.DataType) -> pa.DataType:
    """The Arrow type whose values Python can hold."""
    if getattr(kind, "unit", "") != "ns":
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")


def _as_json(value: Any) -> Any:
    """A value as JSON holds it; numbers that are not finite are null."""

    def text_of(other: Any) -> str:
        if isinstance(other, (date, time)):  # also a datetime
            return other.isoformat()
        return other.decode("utf8", "backslashreplace") if isinstance(other, bytes) else str(other)

    return json.loads(json.dumps(value, default=text_of), parse_constant=lambda _: None)


def _as_in_json(row: dict[str, Any]) -> dict[str, Any]:
    """A row of links as an object of JSON lines."""
    if "meta" in row:
        row["meta"] = _as_json(json_object_of(row["meta"]) or {})
    for mention in (one for one in row.get("mentions") or () if isinstance(one, dict)):
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
    """Write linked documents as Parquet, see ``link_schema``, atomically.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text", "mentions" and "meta".
        codes: the vocabularies whose codes the mentions have.

    Raises:
        PelError: if the file cannot be written.
    """
    schema = link_schema(codes)
    stream = iter(records)
    with atomic_path(path) as part, pq.ParquetWriter(part, schema) as writer:
        while rows := [link_row(record) for record in islice(stream, _ROWS)]:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def link_schema(codes: Sequence[str] = ()) -> pa.Schema:
    """The schema of linked documents, one a row, with its version as the metadata "spacy_pel.links".

    The columns are the keys of the JSON lines, but a candidate is a structure of "id" and "score", as a list
    has one type, "codes" is a structure with a list for each vocabulary, and "meta" is a string of JSON.

    Args:
        codes: the vocabularies whose codes the mentions have.
    """
    text, number, texts = pa.string(), pa.float64(), pa.list_(pa.string())
    candidates = pa.list_(pa.struct([("id", text), ("score", number)]))
    place = {"start": pa.int64(), "end": pa.int64(), "text": text, "label": text, "ids": texts}
    scores = dict.fromkeys(("score", "nil_score", "probability"), number)
    reported = {"codes": pa.struct([(name, texts) for name in codes])} if codes else {}
    answer = {"kb_id": text, "name": text, **scores, "relation": text, "id_set": texts, **reported}
    answer["candidates"] = candidates
    mentions = pa.list_(pa.struct(list((place | answer).items())))
    fields = [("id", text), ("text", text), ("mentions", mentions), ("meta", text)]
    return pa.schema(fields, metadata=METADATA)


def link_row(record: dict[str, Any]) -> dict[str, Any]:
    """A line of ``link`` as a row of ``link_schema``; no "mentions" stay null."""
    mentions = record["mentions"] and [
        {**mention, "candidates": [{"id": key, "score": score} for key, score in mention["candidates"]]}
        for mention in record["mentions"]
    ]
    meta = json.dumps(record.get("meta") or {}, ensure_ascii=False)
    return {**record, "mentions": mentions, "meta": meta}
