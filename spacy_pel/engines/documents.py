"""Reading the texts to link: plain text, JSON lines, CSV, TSV, Parquet, PubTator, BioC."""

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..corpora.formats.parquet import document_rows, json_object_of
from ..corpora.formats.table import open_table
from ..errors import Errors, PelError, Warnings, quoted, shortened
from ..types import Document
from ..util import logger, read_jsonl, read_lines, read_text
from ..util.files import unexpected
from ..util.parsing import check_unicode

_ENDINGS = {"txt": (".txt",), "bioc": (".xml", ".json")}  # of the files of a folder, plain or gzipped
_TXT = re.compile(r"\.txt(\.gz)?$", re.IGNORECASE)
_PUBTATOR = re.compile(r"^[^|\t]+\|[ta]\|")


class Columns(NamedTuple):
    """The columns of a table, or keys of JSON, with the text and the id of a document, in any case.

    Attributes:
        text: None = "text".
        id: None = "id", which may be missing.
    """

    text: str | None = None
    id: str | None = None

    def of(self, record: dict[str, Any], where: str) -> tuple[str, str | None]:
        """The keys of text and id in an object or row.

        Raises:
            PelError: if it lacks one.
        """
        text, id = _find(record, self.text or "text"), _find(record, self.id or "id")
        if text is None or (id is None and self.id):
            wanted, option = (self.id, "--id-column") if text is not None else (self.text or "text", "--text-column")
            got = ", ".join(shortened(name, 40) for name in record)
            raise PelError(Errors.E641.format(where=where, name=wanted, got=shortened(got), option=option))
        return text, id


USUAL_COLUMNS = Columns()


def _find(names: Collection[str], wanted: str) -> str | None:
    """The name among them that is wanted, or else the only one that differs in case alone."""
    if wanted in names:
        return wanted
    alike = [name for name in names if name.lower() == wanted.lower()]
    return alike[0] if len(alike) == 1 else None


def read_documents(path: Path, format_name: str = "auto", columns: Columns = USUAL_COLUMNS) -> Iterator[Document]:
    """Read texts, one document after the other. Files may be gzipped, except for Parquet.

    Args:
        path: "txt": one document per line, named by its line number, or a folder of .txt
            files, one document each, named by the file. "jsonl": objects with "text" (null = empty) and
            perhaps "id" and "meta". "csv", "tsv" and "parquet": columns of these names. "pubtator": title and
            abstract lines. "bioc": XML or JSON, or a folder of such files; the passages of a document
            are one text, in which each keeps its offset unless passages overlap. Annotations are left out.
        format_name: one of these, or "auto" = by the file's name and first line.
        columns: of "jsonl", "csv", "tsv" and "parquet". All others go into the documents' meta.

    Yields:
        Without mentions.

    Raises:
        PelError: if the format is unknown, the file is not in it or lacks a column, a folder holds files of two, or
            columns are named for a format without.
    """
    if not path.exists():
        raise unexpected(path, "texts", "no such file", "Check the path.")
    name = input_format(path, format_name)
    if name not in _READERS | _WITH_COLUMNS:
        got = f"{path}, whose name says none" if format_name == "auto" else f"'{format_name}' for {path}"
        raise PelError(Errors.E640.format(got=got, known=", ".join(sorted(_READERS | _WITH_COLUMNS))))
    if name in _WITH_COLUMNS:
        yield from _WITH_COLUMNS[name](path, columns)
    elif columns == USUAL_COLUMNS:
        yield from _READERS[name](path)
    else:
        option = "--text-column" if columns.text else "--id-column"
        raise PelError(Errors.E639.format(known=", ".join(_WITH_COLUMNS), option=option, got=name))


def input_format(path: Path, format_name: str = "auto") -> str:
    """The name of the format in which ``read_documents`` reads a file or folder."""
    if format_name != "auto":
        return format_name
    if path.is_dir():
        texts, articles = _files(path, "txt"), _files(path, "bioc")
        if texts and articles:
            raise PelError(Errors.E648.format(path=path, n_txt=len(texts), n_bioc=len(articles)))
        return "bioc" if articles else "txt"
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if kind.lower() in _ENDINGS["bioc"]:
        return "bioc"
    if kind.lower() in (".txt", ".pubtator"):
        first = next((line for _, line in read_lines(path) if line.strip()), "")
        return "pubtator" if _PUBTATOR.match(first) else "txt"
    return kind.lstrip(".").lower()


def folder_files(folder: Path, format_name: str = "auto") -> list[Path]:
    """The files of a folder that are read, in this order."""
    return _files(folder, input_format(folder, format_name))


def _files(folder: Path, format_name: str) -> list[Path]:
    endings = tuple(end for plain in _ENDINGS.get(format_name, ()) for end in (plain, f"{plain}.gz"))
    return sorted(file for file in folder.iterdir() if endings and file.name.lower().endswith(endings))


def _text(path: Path) -> Iterator[Document]:
    if path.is_dir():
        for file in _files(path, "txt"):
            text = read_text(file).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
            yield Document(_TXT.sub("", file.name), text)
        return
    for number, line in read_lines(path):
        if line.strip():
            yield Document(str(number), line)


def _jsonl(path: Path, columns: Columns) -> Iterator[Document]:
    for number, record in enumerate(read_jsonl(path), start=1):
        yield document_of(record, number, f"{path}, document {number}", columns)


def _table(path: Path, columns: Columns) -> Iterator[Document]:
    names, rows = open_table(path, columns.text or "text")
    if names:
        columns.of(dict.fromkeys(names), f"{path}")  # also where there are no rows, as of a table without a header
    for number, (line, record) in enumerate(rows, start=1):
        yield document_of(record, number, f"{path}, line {line}", columns)


def _parquet(path: Path, columns: Columns) -> Iterator[Document]:
    for number, record in enumerate(document_rows(path), start=1):
        yield document_of(record, number, f"{path}, row {number}", columns)


def document_of(record: dict[str, Any], number: int, where: str, columns: Columns = USUAL_COLUMNS) -> Document:
    """Make a document of an object of JSON lines, or of a row.

    Args:
        record: with a text (null = nothing to link), and perhaps an id, "meta" and anything else.
        number: its id if it has none, or a blank one.
        where: file and number, for errors.
        columns: the keys of text and id.

    Returns:
        Without mentions; null is an empty text.

    Raises:
        PelError: without a text that UTF-8 can hold.
    """
    text_key, id_key = columns.of(record, where)
    text = "" if record[text_key] is None else record[text_key]
    if not isinstance(text, str):
        raise PelError(Errors.E665.format(where=where, key=text_key, got=quoted(text)))
    meta = meta_of(record, text_key, id_key)
    key = record[id_key] if id_key is not None else None
    check_unicode({"id": key, "text": text, "meta": meta}, where)
    key = id_of(key) or ""
    return Document(key if key.strip() else str(number), text, meta=meta)


def id_of(value: Any) -> str | None:
    """The id of a document as text; None if there is none."""
    if value is None:
        return None
    is_whole = isinstance(value, float) and value.is_integer()  # in a column of integers, some of them missing
    return str(int(value) if is_whole else value)


def meta_of(record: dict[str, Any], text_key: str, id_key: str | None) -> dict[str, Any]:
    """What goes along with a document: what its object or row holds apart from text, id and mentions. If it has
    "meta", an object or its JSON, the keys of that are added, and win.
    """
    others = {key: value for key, value in record.items() if key not in (text_key, id_key)}
    if not isinstance(others.get("mentions"), str):
        others.pop("mentions", None)
    meta = json_object_of(others.get("meta"))
    if meta is not None or others.get("meta") in (None, ""):
        others.pop("meta", None)
    return others | (meta or {})


def _pubtator(path: Path) -> Iterator[Document]:
    from ..corpora.formats.pubtator import PubtatorCorpus

    for document in PubtatorCorpus()([path]):
        yield Document(document.id, document.text, meta=document.meta)


def _bioc(path: Path) -> Iterator[Document]:
    from ..corpora.formats.bioc import BiocCorpus

    reader = BiocCorpus(annotations=False)
    for document in reader(_files(path, "bioc") if path.is_dir() else [path]):
        yield Document(document.id, document.text)
    if moved := reader.report.get("moved_passages"):
        logger.warning(Warnings.W601.format(n=moved, path=path))


_READERS: dict[str, Callable[[Path], Iterator[Document]]] = {"txt": _text, "pubtator": _pubtator, "bioc": _bioc}
_WITH_COLUMNS: dict[str, Callable[[Path, Columns], Iterator[Document]]] = {
    "jsonl": _jsonl,
    "csv": _table,
    "tsv": _table,
    "parquet": _parquet,
}
