"""A corpus in parts that any worker can read and link, on any file system that Arrow knows."""

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, repeat
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pyarrow import fs

from ..corpora.formats.parquet import document_columns, json_rows, open_parquet
from ..corpora.formats.table import open_table
from ..errors import Errors, PelError
from ..kb.codes import Codes
from ..pipeline.saved import LoadedPipeline
from ..types import Document
from ..util import fingerprint
from ..util.files import READ_ERRORS, unexpected
from ..util.parsing import json_object
from .batch import link_documents
from .documents import USUAL_COLUMNS, Columns, document_of
from .job import usual_part_size
from .parts import FORMATS, KINDS, PartedOutput, file_system

_JSON_LINES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Part:
    """Consecutive documents of a file.

    Attributes:
        number: of the part, in the corpus.
        path: the file, as its file system names it.
        first: documents of the file before this part.
        n: number of documents.
        offset: of the first document's line in a file .jsonl, in bytes.
    """

    number: int
    path: str
    first: int
    n: int
    offset: int = 0


class PartedCorpus:
    """One file, or a folder of files, of ``KINDS``, in parts.

    Args:
        path: a file or a folder, or the URI of one.
        format_name: "jsonl", "parquet", "csv" or "tsv": only these files of a folder; "auto" = all.
        part_size: documents per part; None = a 50th of them, 10 to 1,000. The last part of each
            file may be smaller.
        columns: of text and id.

    Raises:
        PelError: if there are no such files, or one cannot be read.
    """

    def __init__(
        self, path: str, *, format_name: str = "auto", part_size: int | None = None, columns: Columns = USUAL_COLUMNS
    ) -> None:
        if format_name not in ("auto", *FORMATS):
            raise PelError(Errors.E640.format(known=", ".join(FORMATS), got=f"'{format_name}' for {path}"))
        self.columns = columns
        kinds = tuple(kind for kind in KINDS if format_name == "auto" or format_name in kind)
        self.files, inside = file_system(path)
        infos = [self.files.get_file_info(inside)]
        if infos[0].type == fs.FileType.Directory:
            infos = self.files.get_file_info(fs.FileSelector(inside, recursive=True))
            infos = [info for info in infos if not _is_hidden(PurePosixPath(info.path).relative_to(inside))]
        infos = [info for info in infos if info.is_file and info.path.endswith(kinds)]
        if not infos:
            raise PelError(Errors.E635.format(known=", ".join(kinds), path=path))
        self._infos = sorted(infos, key=lambda info: info.path)
        self.n_documents = sum(1 for info in self._infos for _ in self._offsets(info.path))
        if not self.n_documents:
            raise PelError(Errors.E645.format(path=path))
        self.part_size = part_size or usual_part_size(self.n_documents)

    @property
    def fingerprint(self) -> str:
        """Of names, sizes and times of the files; contents are not read."""
        return fingerprint([[info.path, info.size, info.mtime_ns] for info in self._infos])

    def parts(self) -> Iterator[Part]:
        """In order; a file .jsonl is read for that, to find its lines."""
        number = 0
        for info in self._infos:
            first = 0
            documents = self._offsets(info.path)
            while offsets := list(islice(documents, self.part_size)):
                yield Part(number, info.path, first, len(offsets), offsets[0])
                first += len(offsets)
                number += 1

    def _offsets(self, path: str) -> Iterator[int]:
        """Of each document: where its line begins; 0 in files whose rows or lines can only be counted."""
        if path.endswith(".parquet"):
            return repeat(0, open_parquet(path, self.files).metadata.num_rows)
        if not path.endswith(_JSON_LINES):
            return (0 for _ in _table_records(self.files, path, self.columns))
        lines = _lines(self.files, path)
        return (0 if path.endswith(".gz") else offset for offset, _ in lines)


def read_part(files: fs.FileSystem, part: Part, columns: Columns = USUAL_COLUMNS) -> list[Document]:
    """Read the documents of a part.

    Args:
        files: where it is.
        part: what to read.
        columns: of text and id.

    Returns:
        As ``link`` reads them; one without an id has its number in the file.

    Raises:
        PelError: if there are no such documents.
    """
    records: Iterator[dict[str, Any]]
    if part.path.endswith(".parquet"):
        records = _parquet_records(files, part)
    elif part.path.endswith(_JSON_LINES):
        records = _json_records(files, part)
    else:
        records = islice(_table_records(files, part.path, columns), part.first, part.first + part.n)
    documents = [
        document_of(record, number, f"{part.path}, document {number}", columns)
        for number, record in enumerate(records, start=part.first + 1)
    ]
    if len(documents) != part.n:
        raise PelError(Errors.E636.format(path=part.path, expected=part.first + part.n))
    return documents


def _parquet_records(files: fs.FileSystem, part: Part) -> Iterator[dict[str, Any]]:
    file = open_parquet(part.path, files)
    sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    starts = list(accumulate(sizes, initial=0))
    groups = [
        number
        for number, size in enumerate(sizes)
        if starts[number] < part.first + part.n and starts[number] + size > part.first
    ]
    table = file.read_row_groups(groups, columns=document_columns(file.schema_arrow), use_threads=False)
    skipped = part.first - starts[groups[0]] if groups else 0
    return json_rows(table.slice(skipped, part.n), part.path)


def _json_records(files: fs.FileSystem, part: Part) -> Iterator[dict[str, Any]]:
    skipped = part.first if part.path.endswith(".gz") else 0
    lines = _lines(files, part.path, part.offset)
    for number, (_, line) in enumerate(islice(lines, skipped, skipped + part.n), start=part.first + 1):
        yield json_object(line, f"{part.path}, document {number}")


def _table_records(files: fs.FileSystem, path: str, columns: Columns) -> Iterator[dict[str, Any]]:
    with files.open_input_file(path) as raw:
        names, rows = open_table(Path(path), columns.text or "text", _unpacked(raw, path))
        if names:
            columns.of(dict.fromkeys(names), path)
        yield from (record for _, record in rows)


def _unpacked(raw: Any, path: str) -> IO[bytes]:
    return gzip.open(raw) if path.endswith(".gz") else io.BufferedReader(raw, 1 << 20)  # type: ignore[return-value]


def _lines(files: fs.FileSystem, path: str, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """The offset of each line that is not blank, and the line."""
    try:
        with files.open_input_file(path) as raw:
            raw.seek(offset)
            for line in _unpacked(raw, path):
                size = len(line)
                if offset == 0:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield offset, line
                offset += size
    except READ_ERRORS as err:
        raise unexpected(path, "JSON lines", f"an error: {err}", "Copy it again.") from err


def _is_hidden(path: PurePosixPath) -> bool:
    return any(name.startswith(("_", ".")) for name in path.parts)


def link_part(
    pipeline: LoadedPipeline,
    files: fs.FileSystem,
    part: Part,
    output: PartedOutput,
    *,
    n_candidates: int,
    batch_size: int,
    codes: Codes,
    columns: Columns = USUAL_COLUMNS,
) -> dict[str, int]:
    """Read, link and write a part.

    Args:
        pipeline: of this process.
        files: of the input.
        part: what to link.
        output: where to write it.
        n_candidates: how many candidates to write per mention.
        batch_size: as in ``link_batch``.
        codes: gives the codes to write.
        columns: of text and id.

    Returns:
        Its number as "part", and "documents", "mentions", "nil" and "left_out".

    Raises:
        PelError: if it cannot be read.
    """
    documents = read_part(files, part, columns)
    linked = link_documents(pipeline, documents, n_candidates=n_candidates, batch_size=batch_size, codes=codes)
    return {"part": part.number, **output.write(part.number, linked, codes=codes.names)}
