"""A corpus in parts that any worker can read, link and write, on any file system that Arrow knows.

The input is one file, or a folder of files, .parquet, .jsonl or .jsonl.gz. The output is a folder with a file
for each part. A part is there whole or not at all, so that an interrupted run, or a worker's, is resumed by
linking the parts that are missing.
"""

import gzip
import io
import json
import re
import uuid
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from ..corpora.readers.parquet_rows import as_in_json
from ..errors import Errors, PelError
from ..pipeline.saved import LoadedPipeline
from ..types import Document
from ..util import fingerprint
from ..util.files import json_object
from .batch import link_batch
from .documents import document_of
from .finished import changed_settings
from .job import count, usual_part_size

_KINDS = (".parquet", ".jsonl", ".jsonl.gz")
_SETTINGS, _SUCCESS, _UNFINISHED = "_settings.json", "_SUCCESS", "_unfinished-"  # "_": no data, as for Spark
_LEFT_OUT = "_left_out-"
_OWN = re.compile(
    rf"(part-\d{{6,}}\.(parquet|jsonl|jsonl\.gz)|{_LEFT_OUT}\d{{6,}}\.jsonl|{_SETTINGS}|{_SUCCESS}|{_UNFINISHED}\w+)"
)


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


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or of a URI such as "s3://bucket/folder",
    and the path in it.

    Raises:
        PelError: if Arrow has no such file system.
    """
    if "://" not in path:
        return fs.LocalFileSystem(), Path(path).resolve().as_posix()
    try:
        return fs.FileSystem.from_uri(path)
    except (pa.ArrowException, ValueError) as err:
        raise PelError(Errors.E634.format(path=path, got=str(err).rstrip("."))) from err


class PartedCorpus:
    """The input, in parts.

    Args:
        path: a file or a folder, or the URI of one.
        format_name: "jsonl" or "parquet": only these files of a folder; "auto" = both.
        part_size: documents per part; None = a 50th of them, 10 to 1,000. The last part of each
            file may be smaller.

    Raises:
        PelError: if there are no such files, or one cannot be read.
    """

    def __init__(self, path: str, *, format_name: str = "auto", part_size: int | None = None) -> None:
        if format_name not in ("auto", "jsonl", "parquet"):
            raise PelError(Errors.E640.format(known="jsonl, parquet", got=f"'{format_name}' for {path}"))
        self.kinds = [kind for kind in _KINDS if format_name == "auto" or format_name in kind]
        self.files, inside = file_system(path)
        self._infos = self._find(path, inside)
        sizes = [self._n_documents(info.path) for info in self._infos]
        self.n_documents = sum(sizes)
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
            for first, n, offset in self._cuts(info.path):
                yield Part(number, info.path, first, n, offset)
                number += 1

    def _find(self, path: str, inside: str) -> list[fs.FileInfo]:
        info = self.files.get_file_info(inside)
        if info.type == fs.FileType.Directory:
            found = self.files.get_file_info(fs.FileSelector(inside, recursive=True))
            infos = [one for one in found if one.is_file and one.path.endswith(tuple(self.kinds))]
            infos = [one for one in infos if not _is_hidden(PurePosixPath(one.path).relative_to(inside))]
        else:
            infos = [info] if info.is_file and inside.endswith(tuple(self.kinds)) else []
        if not infos:
            raise PelError(Errors.E635.format(known=", ".join(self.kinds), path=path))
        return sorted(infos, key=lambda one: one.path)

    def _n_documents(self, path: str) -> int:
        if path.endswith(".parquet"):
            return _open_parquet(self.files, path).metadata.num_rows
        return sum(1 for _ in _lines(self.files, path))

    def _cuts(self, path: str) -> Iterator[tuple[int, int, int]]:
        """Documents before a part, in it, and its offset."""
        if path.endswith(".parquet"):
            n_rows = _open_parquet(self.files, path).metadata.num_rows
            for first in range(0, n_rows, self.part_size):
                yield first, min(self.part_size, n_rows - first), 0
            return
        first = 0
        lines = _lines(self.files, path)
        while part := [offset for offset, _ in islice(lines, self.part_size)]:
            # the lines of a gzipped file can only be counted
            yield first, len(part), 0 if path.endswith(".gz") else part[0]
            first += len(part)


def read_part(files: fs.FileSystem, part: Part) -> list[Document]:
    """Read the documents of a part.

    Returns:
        As ``link`` reads them; one without an id has its number in the file.

    Raises:
        PelError: if there are no such documents.
    """
    records = _parquet_records(files, part) if part.path.endswith(".parquet") else _json_records(files, part)
    documents = [
        document_of(record, number, f"{part.path}, document {number}")
        for number, record in enumerate(records, start=part.first + 1)
    ]
    if len(documents) != part.n:
        raise PelError(Errors.E636.format(path=part.path, expected=part.first + part.n))
    return documents


def _parquet_records(files: fs.FileSystem, part: Part) -> Iterator[dict[str, Any]]:
    file = _open_parquet(files, part.path)
    names = [name for name in file.schema_arrow.names if name in ("id", "text", "meta")]
    first, groups, skipped = 0, [], 0
    for number in range(file.metadata.num_row_groups):
        n_rows = file.metadata.row_group(number).num_rows
        if first + n_rows <= part.first:
            skipped += n_rows
        elif first < part.first + part.n:
            groups.append(number)
        first += n_rows
    table = file.read_row_groups(groups, columns=names, use_threads=False)
    return map(as_in_json, table.slice(part.first - skipped, part.n).to_pylist())


def _json_records(files: fs.FileSystem, part: Part) -> Iterator[dict[str, Any]]:
    skipped = part.first if part.path.endswith(".gz") else 0
    lines = _lines(files, part.path, part.offset)
    for number, (_, line) in enumerate(islice(lines, skipped, skipped + part.n), start=part.first + 1):
        where = f"{part.path}, document {number}"
        try:
            yield json_object(line.decode("utf8"), where)
        except UnicodeDecodeError as err:
            got = f"the byte {line[err.start : err.start + 1].hex()}"
            raise PelError(Errors.E002.format(expected="UTF-8", path=where, got=got, todo="Convert the file.")) from err


def _lines(files: fs.FileSystem, path: str, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """The offset of each line that is not blank, and the line."""
    try:
        with files.open_input_file(path) as raw:
            raw.seek(offset)
            unpacked = gzip.open(raw) if path.endswith(".gz") else io.BufferedReader(raw, 1 << 20)  # type: ignore[arg-type]
            for line in unpacked:
                size = len(line)
                if offset == 0:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield offset, line
                offset += size
    except (EOFError, OSError, zlib.error) as err:
        raise PelError(
            Errors.E002.format(expected="JSON lines", path=path, got=f"an error: {err}", todo="Copy it again.")
        ) from err


def _open_parquet(files: fs.FileSystem, path: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(files.open_input_file(path))
    except pa.ArrowInvalid as err:
        got = f"an error: {str(err).rstrip('.')}"
        raise PelError(
            Errors.E002.format(expected="Parquet", path=path, got=got, todo="Write the file again.")
        ) from err


def output_kind(name: str, path: str) -> str:
    """Choose the format of the parts.

    Args:
        name: "jsonl", "parquet", or "auto" = by the output's name.
        path: the output's folder.

    Returns:
        ".parquet", ".jsonl" or ".jsonl.gz".

    Raises:
        PelError: if there is no such format, or the name says none.
    """
    if name not in ("auto", "jsonl", "parquet"):
        raise PelError(Errors.E646.format(known="auto, jsonl, parquet", got=name))
    by_name = next((kind for kind in _KINDS if path.rstrip("/").endswith(kind)), None)
    if name != "auto" and (by_name is None or name not in by_name):
        return f".{name}"
    if by_name is None:
        known, todo = ", ".join(_KINDS), "Rename it, or name its format with --to."
        raise PelError(Errors.E642.format(path=path, known=known, todo=todo))
    return by_name


class PartedOutput:
    """The output: a folder with ``part-000000.parquet`` and so on, or ``.jsonl`` or ``.jsonl.gz``; it is
    whole once it has a file ``_SUCCESS``. Documents that the pipeline failed on are in no part:
    ``_left_out-000000.jsonl`` says why.

    Args:
        path: the folder, or its URI.
        kind: ".parquet", ".jsonl" or ".jsonl.gz".
    """

    def __init__(self, path: str, kind: str) -> None:
        self.name, self.kind = path, kind
        self.files, self.folder = file_system(path)

    def overlaps(self, path: str) -> bool:
        """Whether a file or folder is this folder, is in it, or has it in it."""
        _, inside = file_system(path)
        given, own = f"{inside}/", f"{self.folder}/"
        return given.startswith(own) or own.startswith(given)

    def start(self, settings: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Make the folder ready.

        Args:
            settings: what the parts depend on; parts written with others are refused.
            resume: keep the parts that are there, which may be all.
            overwrite: replace an output that is whole.

        Raises:
            PelError: if the folder holds something else, or an output that is not to be replaced or
                resumed.
        """
        names = set(self._names())
        others = sorted(name for name in names if not _OWN.fullmatch(name))
        if others:
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got=f"one with {others[0]}"))
        is_whole = _SUCCESS in names
        if names and (_SETTINGS not in names or (is_whole and (overwrite or not resume))):
            if not overwrite:
                raise PelError(Errors.E657.format(path=self.name))
            self._delete(names)
        elif names:
            if not resume:
                raise PelError(Errors.E643.format(folder=self.name))
            changed = changed_settings(json.loads(self._read(_SETTINGS)), settings)
            if changed:
                error = Errors.E639 if is_whole else Errors.E644
                raise PelError(error.format(path=self.name, folder=self.name, changed=changed))
            return
        self.files.create_dir(self.folder, recursive=True)
        self._write(_SETTINGS, json.dumps(settings).encode("utf8"))

    def written(self) -> list[int]:
        """The numbers of the parts that are there."""
        names = (name for name in self._names() if name.startswith("part-") and name.endswith(self.kind))
        return sorted(int(name.split(".")[0][5:]) for name in names)

    def write(self, part: int, linked: pa.RecordBatch, left_out: Sequence[dict[str, Any]] = ()) -> None:
        """Write a part, and before it the "id" and "error" of the documents that are left out of it; each
        atomically. Two workers may write the same one: they write the same."""
        beside = f"{_LEFT_OUT}{part:06}.jsonl"
        if left_out:
            self._write(beside, _json_lines(left_out))
        elif self.files.get_file_info(f"{self.folder}/{beside}").is_file:  # of an earlier try
            self._delete([beside])
        if self.kind == ".parquet":
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_batches([linked]), sink)
            content = sink.getvalue().to_pybytes()
        else:
            content = _json_lines(map(as_in_json, linked.to_pylist()))
            if self.kind.endswith(".gz"):
                content = gzip.compress(content, mtime=0)
        self._write(f"part-{part:06}{self.kind}", content)

    def finish(self) -> None:
        """All parts are there: remove what interrupted workers left, and say so."""
        self._delete(name for name in self._names() if name.startswith(_UNFINISHED))
        self._write(_SUCCESS, b"")

    def left_out(self, numbers: Collection[int]) -> list[dict[str, Any]]:
        """ "id" and "error" of the documents that are left out of parts."""
        names = sorted(name for name in self._names() if name.startswith(_LEFT_OUT))
        names = [name for name in names if int(name.split(".")[0][len(_LEFT_OUT) :]) in numbers]
        return [json.loads(line) for name in names for line in self._read(name).splitlines()]

    def counts(self, numbers: Collection[int]) -> dict[str, int]:
        """ "documents", "mentions", "nil" and "left_out" of parts that are there."""
        counts = Counter(count(self.left_out(numbers)))
        for number in numbers:
            name = f"part-{number:06}{self.kind}"
            if self.kind == ".parquet":
                file = pq.ParquetFile(pa.BufferReader(self._read(name)))
                records = file.read(columns=["mentions"]).to_pylist()
            else:
                content = self._read(name)
                content = gzip.decompress(content) if self.kind.endswith(".gz") else content
                records = [json.loads(line) for line in content.splitlines()]
            counts.update(count(records))
        return counts

    def _names(self) -> list[str]:
        selector = fs.FileSelector(self.folder, allow_not_found=True)
        info = self.files.get_file_info(self.folder)
        if info.is_file:
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got="a file"))
        return [one.base_name for one in self.files.get_file_info(selector)]

    def _read(self, name: str) -> bytes:
        with self.files.open_input_file(f"{self.folder}/{name}") as file:
            return file.read()

    def _write(self, name: str, content: bytes) -> None:
        unfinished = f"{self.folder}/{_UNFINISHED}{uuid.uuid4().hex}"
        with self.files.open_output_stream(unfinished, compression=None) as file:
            file.write(content)
        self.files.move(unfinished, f"{self.folder}/{name}")

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.files.delete_file(f"{self.folder}/{name}")


def link_part(
    pipeline: LoadedPipeline,
    files: fs.FileSystem,
    part: Part,
    output: PartedOutput,
    *,
    n_candidates: int,
    batch_size: int,
) -> dict[str, int]:
    """Read, link and write a part.

    Args:
        pipeline: of this process.
        files: of the input.
        part: what to link.
        output: where to write it.
        n_candidates: how many candidates to write per mention.
        batch_size: as in ``link_batch``.

    Returns:
        Its number as "part", and "documents", "mentions", "nil" and "left_out".

    Raises:
        PelError: if it cannot be read.
    """
    documents = read_part(files, part)
    batch = pa.RecordBatch.from_pydict(
        {
            "id": [document.id for document in documents],
            "text": [document.text for document in documents],
            "meta": [json.dumps(document.meta) for document in documents],
        }
    )
    linked = link_batch(pipeline, batch, n_candidates=n_candidates, batch_size=batch_size)
    is_linked = linked["mentions"].is_valid()
    failed = linked.filter(pc.invert(is_linked)).select(["id", "meta"]).to_pylist()
    left_out = [{"id": row["id"], "error": json.loads(row["meta"])["error"]} for row in failed]
    linked = linked.filter(is_linked)
    output.write(part.number, linked, left_out)
    return {"part": part.number, **count([*linked.select(["mentions"]).to_pylist(), *left_out])}


def _json_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf8")


def _is_hidden(path: PurePosixPath) -> bool:
    return any(name.startswith(("_", ".")) for name in path.parts)
