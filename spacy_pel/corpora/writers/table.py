"""CSV and TSV: a row for each linked mention."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import IO, Any

from ...types import NIL, TITLE_LENGTH, Document, Mention
from ...util.files import ending_of, write_text
from ...util.place import Place, unexpected
from ..readers.table_rows import open_table

# keys of the mention
_COLUMNS = {
    "start": "start",
    "end": "end",
    "text": "text",
    "label": "label",
    "id": "kb_id",
    "name": "name",
    "p_right": "probability",
    "p_nil": "nil_score",
}


def write_table(path: Path, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> None:
    """Write linked documents as CSV or TSV, a row for each mention, atomically; gzipped if the name ends in .gz.

    The columns are "document" (the document's id), "start", "end", "text", "label", "id" (or NIL, or empty if the
    linker did not look at the mention), "name", "p_right" and "p_nil"; those of ``codes``, several codes joined by
    a bar; and the keys of the documents' "meta", with "meta_" before those that are the name of another column.

    Args:
        path: the file; TSV if its name ends in .tsv or .tsv.gz.
        records: lines of ``link``: "id", "mentions" and "meta".
        codes: keys of a mention's "codes".

    Raises:
        PelError: if the file cannot be written.
    """
    # the header names the keys of all documents: they are stored until it is known
    with write_text(path) as file, TemporaryFile("w+", encoding="utf8", dir=path.parent) as stored:
        keys: dict[str, None] = {}
        for record in records:
            keys |= dict.fromkeys(record.get("meta") or {})
            if record["mentions"]:
                kept = {key: record.get(key) for key in ("id", "mentions", "meta")}
                stored.write(json.dumps(kept) + "\n")
        stored.seek(0)
        delimiter = "\t" if ending_of(path) == ".tsv" else ","
        write_rows(file, map(json.loads, stored), keys=keys, codes=codes, delimiter=delimiter)


def write_rows(
    file: IO[str], records: Iterable[dict[str, Any]], *, keys: Iterable[str], codes: Sequence[str], delimiter: str
) -> None:
    """Write the header and the rows of a table, see ``write_table``.

    Args:
        file: open for writing.
        records: linked documents.
        keys: those of the "meta" of all documents of the table.
        codes: keys of a mention's "codes".
        delimiter: between cells.
    """
    # csv quotes a cell with a CR only where rows end in CR LF
    lines: Any = SimpleNamespace(write=lambda line: file.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
    header = ["document", *_COLUMNS, *codes]
    keys = [key for key in keys if key != TITLE_LENGTH]  # of PubTator, not of the user
    for key in keys:
        while key in header:
            key = f"meta_{key}"
        header.append(key)
    writer.writerow(header)
    for record in records:
        meta = record.get("meta") or {}
        others = [_cell(meta.get(key)) for key in keys]
        for mention in record["mentions"]:
            cells = [_cell(mention.get(key)) for key in _COLUMNS.values()]
            cells += ["|".join(mention.get("codes", {}).get(vocabulary, ())) for vocabulary in codes]
            writer.writerow([record["id"], *cells, *others])


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def read_table(path: Path, documents: Iterable[Document]) -> Iterator[Document]:
    """Read the mentions of a table that ``write_table`` wrote.

    Args:
        path: the file.
        documents: those that were linked, in order.

    Yields:
        The documents with their mentions.

    Raises:
        PelError: if it is another table, or has mentions that are in none of the texts.
    """
    names, rows = open_table(path, "document")
    if not {"document", *_COLUMNS} <= set(names):
        raise unexpected(path, "a table of links", f"the columns {', '.join(names)}")
    line, row = next(rows, (0, {}))
    for document in documents:
        found = Document(document.id, document.text, meta=document.meta)
        while row and row["document"] == document.id and (mention := _mention(row, document.text)):
            found.mentions.append(mention)
            line, row = next(rows, (0, {}))
        yield found
    if row:
        raise unexpected(Place(path, line), "a mention of the texts that were linked", f"'{row['text']}'")


def _mention(row: dict[str, str], text: str) -> Mention | None:
    """The mention of a row, if it is in this text."""
    try:
        start, end = int(row["start"]), int(row["end"])
    except ValueError:
        return None
    ids = (row["id"],) if row["id"] not in ("", NIL) else ()
    return Mention(start, end, label=row["label"], ids=ids) if text[start:end] == row["text"] else None
