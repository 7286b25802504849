"""Reading the texts to link: plain text, JSON lines, Parquet, PubTator, BioC."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..corpora.readers.parquet_rows import open_parquet, parquet_rows
from ..errors import Errors, PelError, Warnings, quoted
from ..types import Document
from ..util import logger, read_jsonl, read_lines, read_text
from ..util.files import check_unicode
from ..util.place import unexpected

_ENDINGS = {"txt": (".txt",), "bioc": (".xml", ".json")}  # of the files of a folder, plain or gzipped
_TXT = re.compile(r"\.txt(\.gz)?$", re.IGNORECASE)
_RENAME = "Rename the one with the text."
_PUBTATOR = re.compile(r"^[^|\t]+\|[ta]\|")


def read_documents(path: Path, format_name: str = "auto") -> Iterator[Document]:
    """Read texts, one document after the other. Files may be gzipped, except for Parquet.

    Args:
        path: "txt": one document per line, named by its line number, or a folder of .txt
            files, one document each, named by the file. "jsonl": objects with "text" (null = empty) and
            perhaps "id" and "meta". "parquet": columns of these names. "pubtator": title and
            abstract lines. "bioc": XML or JSON, or a folder of such files; the passages of a document
            are one text, in which each keeps its offset unless passages overlap. Annotations are left out.
        format_name: one of these, or "auto" = by the file's name and first line.

    Yields:
        Without mentions.

    Raises:
        PelError: if the format is unknown, the file is not in it, or a folder holds files of two.
    """
    if not path.exists():
        raise unexpected(path, "texts", "no such file", "Check the path.")
    name = input_format(path, format_name)
    if name not in _READERS:
        got = f"{path}, whose name says none" if format_name == "auto" else f"'{format_name}' for {path}"
        raise PelError(Errors.E640.format(got=got, known=", ".join(sorted(_READERS))))
    yield from _READERS[name](path)


def input_format(path: Path, format_name: str = "auto") -> str:
    """The name of the format in which ``read_documents`` reads a file or folder."""
    return _guess(path) if format_name == "auto" else format_name


def _guess(path: Path) -> str:
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


def _jsonl(path: Path) -> Iterator[Document]:
    for number, record in enumerate(read_jsonl(path), start=1):
        yield document_of(record, number, f"{path}, document {number}")


def _parquet(path: Path) -> Iterator[Document]:
    columns = open_parquet(path).schema_arrow.names
    if "text" not in columns:
        raise PelError(Errors.E641.format(where=path, got=f"the columns {', '.join(columns)}", todo=_RENAME))
    for number, record in parquet_rows(path, ("id", "text", "meta")):
        yield document_of(record, number, f"{path}, row {number}")


def document_of(record: dict[str, Any], number: int, where: str) -> Document:
    """Make a document of an object of JSON lines, or of a row.

    Args:
        record: with "text" (null = nothing to link), and perhaps "id" and "meta".
        number: its id if it has none.
        where: file and number, for errors.

    Returns:
        Without mentions; null is an empty text.

    Raises:
        PelError: without a text that UTF-8 can hold.
    """
    if "text" not in record:
        raise PelError(Errors.E641.format(where=where, got=f"the keys {', '.join(record)}", todo=_RENAME))
    text = "" if record["text"] is None else record["text"]
    if not isinstance(text, str):
        raise PelError(Errors.E641.format(where=where, got=quoted(text), todo="Convert it to a string."))
    check_unicode({key: record.get(key) for key in ("id", "text", "meta")}, where)
    meta = record.get("meta")
    key = record.get("id")
    has_id = key is not None and key != ""  # 0 is one
    return Document(str(key if has_id else number), text, meta=meta if isinstance(meta, dict) else {})


def _pubtator(path: Path) -> Iterator[Document]:
    from ..corpora.readers.pubtator_corpus import PubtatorCorpus

    for document in PubtatorCorpus()([path]):
        yield Document(document.id, document.text, meta=document.meta)


def _bioc(path: Path) -> Iterator[Document]:
    from ..corpora.readers.bioc_corpus import BiocCorpus

    reader = BiocCorpus(annotations=False)
    for document in reader(_files(path, "bioc") if path.is_dir() else [path]):
        yield Document(document.id, document.text)
    if moved := reader.report.get("moved_passages"):
        logger.warning(Warnings.W601.format(n=moved, path=path))


Reader = Callable[[Path], Iterator[Document]]
_READERS: dict[str, Reader] = {"txt": _text, "jsonl": _jsonl, "parquet": _parquet, "pubtator": _pubtator, "bioc": _bioc}
