"""The texts to link, one document after the other or in parts: plain text, JSON lines, CSV, TSV, Parquet, PubTator,
BioC; the tables and JSON lines from any file system that Arrow knows."""

import gzip
import io
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import pyarrow as pa
from pyarrow import fs

from ..corpora.document_stream import article_of
from ..corpora.formats.bioc import BiocCorpus
from ..corpora.formats.pubtator import PubtatorCorpus
from ..corpora.formats.tables import document_rows, json_object_of, open_table
from ..errors import Errors, PelError, Warnings, quoted, shortened
from ..types import Document
from ..util import fingerprint, logger, read_lines, read_text
from ..util.files import GZIP, check_format, open_bytes, unexpected
from ..util.parsing import check_unicode, json_objects

# endings of the files of a folder, plain or gzipped
_TABLES = {name: (f".{name}", f".{name}.gz") for name in ("jsonl", "csv", "tsv")} | {"parquet": (".parquet",)}
_TEXTS = {"txt": (".txt", ".txt.gz"), "bioc": (".xml", ".xml.gz", ".json", ".json.gz")}
_TXT = re.compile(r"\.txt(\.gz)?$", re.IGNORECASE)
_HEAD = 8192  # bytes that say what a JSON file is
_PUBTATOR = re.compile(r"^[^|\t]+\|[ta]\|")


class Columns(NamedTuple):
    """The columns of a table, or keys of JSON, with the text and the id of a document, in any case.

    Attributes:
        text: None = the first of ``usual`` that there is.
        id: None = "id", which may be missing.
        usual: names of the column of texts.
        option: that names it.
    """

    text: str | None = None
    id: str | None = None
    usual: tuple[str, ...] = ("text",)
    option: str = "--text-column"

    def of(self, record: Collection[str], where: str) -> tuple[str, str | None]:
        """The keys of text and id among those of an object or row.

        Raises:
            PelError: if it lacks one.
        """
        texts = (find_column(record, name) for name in ([self.text] if self.text else self.usual))
        text, id = next(filter(None, texts), None), find_column(record, self.id or "id")
        if text is None or (id is None and self.id):
            name, option = (self.id, "--id-column") if text is not None else (self.text or self.usual[0], self.option)
            got = ", ".join(shortened(name, 40) for name in record)
            raise PelError(Errors.E641.format(where=where, name=name, got=shortened(got), option=option))
        return text, id


USUAL_COLUMNS = Columns()


def find_column(names: Collection[str], name: str) -> str | None:
    """The name itself, or else the only one that differs from it in case alone."""
    if name in names:
        return name
    alike = [other for other in names if other.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or of a URI such as "s3://bucket/folder", and the path in it.

    Raises:
        PelError: if Arrow has no such file system.
    """
    if "://" not in path:
        return fs.LocalFileSystem(), Path(path).resolve().as_posix()
    try:
        return fs.FileSystem.from_uri(path)
    except (pa.ArrowException, ValueError) as err:
        raise PelError(Errors.E634.format(path=path, got=str(err).rstrip("."))) from err


class Part(NamedTuple):
    """Documents in a row. The passages of an article are in one part."""

    number: int
    documents: list[Document]


class Corpus:
    """Texts to link. Files may be gzipped, except for Parquet.

    * "txt": one document per line, named by its line number; of a folder, a document per file, named by the file.
    * "jsonl": objects with "text" (null = empty) and perhaps "id" and "meta".
    * "csv", "tsv" and "parquet": columns of these names.
    * "pubtator": title and abstract lines. "bioc": XML or JSON; the passages of a document are one text, in which each
      keeps its offset unless passages overlap. Annotations are left out.

    A folder holds files of "txt" or "bioc", or, also below it, of the others. These may be read from a URI, too.

    Args:
        path: a file or a folder, or a URI.
        format_name: one of these, or "auto" = by the name and the first line.
        columns: of text and id; other columns go into the documents' meta.

    Raises:
        PelError: if there is nothing at the path, the format is unknown or has no columns, or a folder holds files of
            two formats.
    """

    def __init__(self, path: str | Path, format_name: str = "auto", columns: Columns = USUAL_COLUMNS) -> None:
        self.path, self.columns = str(path), columns
        self._files, self._inside = file_system(self.path)
        self._is_local = "://" not in self.path
        info = self._files.get_file_info(self._inside)
        if info.type == fs.FileType.NotFound:
            raise unexpected(path, "texts", "no such file", "Check the path.")
        self.is_folder = info.type == fs.FileType.Directory
        self.format = self._folder_format(format_name) if self.is_folder else self._file_format(format_name)
        formats = [*_TABLES, *(("txt", "bioc", "pubtator") if self._is_local else ())]
        if self.format != "tables" and self.format not in formats:
            got = f"{path}, whose name says none" if format_name == "auto" else f"'{format_name}' for {path}"
            raise PelError(Errors.E640.format(got=got, known=", ".join(sorted(formats))))
        if (columns.text or columns.id) and self.format not in (*_TABLES, "tables"):
            option = columns.option if columns.text else "--id-column"
            raise PelError(Errors.E639.format(known=", ".join(_TABLES), option=option, got=self.format))

    def _file_format(self, format_name: str) -> str:
        if format_name != "auto":
            return format_name
        path = PurePosixPath(self._inside)
        ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
        if ending in _TEXTS["bioc"]:
            return "jsonl" if ending == ".json" and self._holds_texts() else "bioc"
        if self._is_local and ending != ".parquet":
            check_format(self.path, of_texts=True)
        if ending == ".txt" and self._is_local:
            first = next((line for _, line in read_lines(Path(self.path)) if line.strip()), "")
            return "pubtator" if _PUBTATOR.match(first) else "txt"
        return ending.lstrip(".")

    def _holds_texts(self) -> bool:
        """Whether a JSON file has objects of texts, not BioC's passages; its beginning says so."""
        if not self._is_local:
            return True
        with open_bytes(self.path) as file:
            head = file.read(_HEAD)
        first = head.lstrip().split(b"\n")[0].rstrip()
        is_list = b'"text"' in head or first[:1] == b"[" or (self.columns.text is not None and first[-1:] == b"}")
        return is_list and not re.search(rb'"(passages|documents|PubTator3)"', head)

    def _folder_format(self, format_name: str) -> str:
        """Of the files in a folder; "tables" = of each by its own name."""
        if format_name != "auto":
            return format_name
        counts = {name: len(self._named(name)) for name in ("txt", "bioc")}
        if all(counts.values()):
            raise PelError(Errors.E648.format(path=self.path, n_txt=counts["txt"], n_bioc=counts["bioc"]))
        return next((name for name, n in counts.items() if n), "tables" if self._named("tables") else "txt")

    def _named(self, format_name: str) -> list[str]:
        """The files of a folder that have an ending of the format; those of tables also below it."""
        endings = _TEXTS.get(format_name) or _TABLES.get(format_name) or sum(_TABLES.values(), ())
        below = fs.FileSelector(self._inside, recursive=format_name not in _TEXTS)
        paths = [info.path for info in self._files.get_file_info(below) if info.is_file]
        names = {path: PurePosixPath(path).relative_to(self._inside) for path in paths}
        if below.recursive:  # "_": no data, as for Spark
            names = {path: name for path, name in names.items() if not any(part[0] in "_." for part in name.parts)}
        return sorted(path for path in names if path.lower().endswith(endings))

    @property
    def files(self) -> list[str]:
        """What is read, as the file system names it."""
        return self._named(self.format) if self.is_folder else [self._inside]

    @property
    def fingerprint(self) -> str:
        """Of the names and contents of the files; elsewhere than on this machine, of names, sizes and times."""
        if self._is_local:
            return fingerprint([[Path(path).name, fingerprint(Path(path))] for path in self.files])
        return fingerprint([[info.path, info.size, info.mtime_ns] for info in self._files.get_file_info(self.files)])

    def __iter__(self) -> Iterator[Document]:
        """The documents, without mentions.

        Raises:
            PelError: if a file is not in the format, or lacks a column.
        """
        if self.format == "bioc":
            yield from _bioc([Path(path) for path in self.files], self.path)
            return
        for path in self.files:
            name = Path(path if self.is_folder else self.path)  # errors name the file as the user does
            if self.format == "txt":
                yield from _text(name, self.is_folder)
            elif self.format == "pubtator":
                for document in PubtatorCorpus()([name]):
                    yield Document(document.id, document.text, meta=document.meta)
            else:
                for number, (where, row) in enumerate(self.rows(path), start=1):
                    yield document_of(row, number, where, self.columns)

    def rows(self, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The objects or rows of one of the ``files`` that is a table or JSON lines, and where they are.

        Raises:
            PelError: if it is not in the format, or lacks a column.
        """
        name = Path(path if self.is_folder else self.path)  # errors name the file as the user does
        kinds = (kind for kind, endings in _TABLES.items() if path.lower().endswith(endings))
        kind = next(kinds) if self.format == "tables" else self.format
        rows = _rows(kind, name, None if self._is_local else self._open(path), self.columns)
        yield from ((f"{name}, {place}", row) for place, row in rows)

    def _open(self, path: str) -> IO[bytes]:
        raw: Any = self._files.open_input_file(path)
        if path.endswith(".parquet"):
            return raw  # type: ignore[no-any-return]
        buffered = io.BufferedReader(raw, 1 << 20)
        is_packed = path.endswith(".gz") or buffered.peek(2)[:2] == GZIP
        return gzip.open(buffered) if is_packed else buffered  # type: ignore[return-value]

    def parts(self, size: int) -> Iterator[Part]:
        """The documents in parts of this size; one is larger where an article would be cut otherwise."""
        documents: list[Document] = []
        number = 0
        for document in self:
            article = article_of(document)
            if len(documents) >= size and (article is None or article != article_of(documents[-1])):
                yield Part(number, documents)
                number, documents = number + 1, []
            documents.append(document)
        if documents:
            yield Part(number, documents)


def _text(path: Path, is_folder: bool) -> Iterator[Document]:
    if is_folder:
        text = read_text(path).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        yield Document(_TXT.sub("", path.name), text)
        return
    for number, line in read_lines(path):
        if line.strip():
            yield Document(str(number), line)


def _bioc(paths: list[Path], place: str) -> Iterator[Document]:
    reader = BiocCorpus(annotations=False)
    for document in reader(paths):
        yield Document(document.id, document.text)
    if moved := reader.report.get("moved_passages"):
        logger.warning(Warnings.W601.format(n=moved, path=place))


def _rows(kind: str, path: Path, file: IO[bytes] | None, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects or rows of a table, and where in the file they are."""
    if kind == "jsonl":
        objects = json_objects(path, read_lines(path, file))
        yield from ((f"document {number}", row) for number, (_, row) in enumerate(objects, start=1))
    elif kind == "parquet":
        yield from ((f"row {number}", row) for number, row in enumerate(document_rows(path, file), start=1))
    else:
        names, rows = open_table(path, columns.text or columns.usual[0], file)
        if names:
            columns.of(names, f"{path}")  # also where there are no rows, as of a table without a header
        yield from ((f"line {line}", row) for line, row in rows)


def document_of(record: dict[str, Any], number: int, where: str, columns: Columns = USUAL_COLUMNS) -> Document:
    """Make a document of an object of JSON lines, or of a row.

    Args:
        record: with a text (null = nothing to link), and perhaps an id, "meta" and anything else.
        number: its id if it has none, or a blank one.
        where: file and number, for errors.
        columns: the keys of text and id.

    Returns:
        Without mentions; null is an empty text. What UTF-8 cannot hold fails in the pipeline, which names the document.

    Raises:
        PelError: without a text, or if UTF-8 cannot hold what goes along with it.
    """
    text_key, id_key = columns.of(record, where)
    text = "" if record[text_key] is None else record[text_key]
    if not isinstance(text, str):
        raise PelError(Errors.E665.format(where=where, key=text_key, got=quoted(text)))
    meta = meta_of(record, text_key, id_key)
    key = record[id_key] if id_key is not None else None
    check_unicode({"id": key, "meta": meta}, where)
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
    more = {key: value for key, value in record.items() if key not in (text_key, id_key)}
    if not isinstance(more.get("mentions"), str):
        more.pop("mentions", None)
    meta = json_object_of(more.get("meta"))
    if meta is not None or more.get("meta") in (None, ""):
        more.pop("meta", None)
    return more | (meta or {})
