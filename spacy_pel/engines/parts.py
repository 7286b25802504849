"""The parts of an output, on any file system that Arrow knows.

A part is there whole or not at all, so that an interrupted run, or a worker's, is resumed by linking the parts
that are missing.
"""

import gzip
import io
import json
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ..corpora.formats.parquet import as_in_json, link_row, link_schema
from ..corpora.formats.table import open_table, table_text
from ..errors import Errors, PelError
from .job import count

KINDS = (".parquet", ".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
FORMATS = ("jsonl", "parquet", "csv", "tsv")
_FORMAT = 2  # of the records in a part
# "_": no data, as for Spark
_SETTINGS, _SUCCESS, _UNFINISHED, _LEFT_OUT = "_settings.json", "_SUCCESS", "_unfinished-", "_left_out-"
_PART = re.compile(rf"part-(\d{{6,}})(?:{'|'.join(map(re.escape, KINDS))})")
_OTHER = re.compile(rf"{_LEFT_OUT}\d{{6,}}\.jsonl|{_SETTINGS}|{_SUCCESS}|{_UNFINISHED}\w+")


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


def output_kind(name: str, path: str) -> str:
    """Choose the format of the parts.

    Args:
        name: "jsonl", "parquet", "csv", "tsv", or "auto" = by the output's name.
        path: the output's folder.

    Returns:
        One of ``KINDS``.

    Raises:
        PelError: if there is no such format, or the name says none.
    """
    if name not in ("auto", *FORMATS):
        raise PelError(Errors.E646.format(known=", ".join(("auto", *FORMATS)), got=name))
    by_name = next((kind for kind in KINDS if path.rstrip("/").endswith(kind)), None)
    if name != "auto" and (by_name is None or name not in by_name):
        return f".{name}"
    if by_name is None:
        known, todo = ", ".join(KINDS), "Rename it, or name its format with --to."
        raise PelError(Errors.E642.format(path=path, known=known, todo=todo))
    return by_name


class PartedOutput:
    """A folder with ``part-000000.parquet`` and so on, or another kind of files; it is whole once it has
    a file ``_SUCCESS``. Documents that the pipeline failed on are in no part: ``_left_out-000000.jsonl`` says
    why.

    Args:
        path: the folder, or its URI.
        kind: one of ``KINDS``.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.name, self.kind = path, kind
        self.files, self.folder = file_system(path)

    def exists(self) -> bool:
        """Whether the folder holds anything."""
        return bool(self._names())

    def overlaps(self, path: str) -> bool:
        """Whether a file or folder is this folder, is in it, or has it in it."""
        folder, other = f"{self.folder}/", f"{file_system(path)[1]}/"
        return other.startswith(folder) or folder.startswith(other)

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Check what can be checked before the settings are known.

        Args:
            resume: use the parts that are there, which may be all.
            overwrite: replace an output that is whole.

        Raises:
            PelError: if the folder holds something else, or an output that is not to be replaced or resumed.
        """
        names = self._names()
        others = sorted(name for name in names if not (_PART.fullmatch(name) or _OTHER.fullmatch(name)))
        if others:
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got=f"one with {others[0]}"))
        is_unfinished = _SETTINGS in names and _SUCCESS not in names
        if is_unfinished and not resume:
            raise PelError(Errors.E643.format(folder=self.name))
        if names and not is_unfinished and not overwrite and not (resume and _SETTINGS in names):
            raise PelError(Errors.E657.format(path=self.name))

    def start(self, settings: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Make the folder ready.

        Args:
            settings: what the parts depend on; parts written with others are refused.
            resume, overwrite: as for ``check``.

        Raises:
            PelError: as ``check``, and if the parts were written with other settings.
        """
        self.check(resume=resume, overwrite=overwrite)
        settings = {"format": _FORMAT, **settings}
        names = self._names()
        if _SETTINGS in names and not (_SUCCESS in names and overwrite):
            if changed := _changes(json.loads(self._read(_SETTINGS)), settings):
                raise PelError(Errors.E644.format(folder=self.name, changed=changed))
            return
        self._delete(names)
        self.files.create_dir(self.folder, recursive=True)
        self._write(_SETTINGS, json.dumps(settings).encode("utf8"))

    def written(self) -> list[int]:
        """The numbers of the parts that are there."""
        matches = (_PART.fullmatch(name) for name in self._names() if name.endswith(self.kind))
        return sorted(int(match[1]) for match in matches if match)

    def write(self, part: int, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> dict[str, int]:
        """Write a part, and before it what is left out of it; each atomically. Two workers may write the same
        part: they write the same.

        Args:
            part: its number.
            records: linked documents, and "id" and "error" of those that the pipeline failed on.
            codes: the vocabularies whose codes the mentions have.

        Returns:
            Their counts.
        """
        records = list(records)
        linked = [record for record in records if "error" not in record]
        left_out = [record for record in records if "error" in record]
        left_out_file = f"{_LEFT_OUT}{part:06}.jsonl"
        if left_out:
            self._write(left_out_file, _json_lines(left_out))
        elif self.files.get_file_info(f"{self.folder}/{left_out_file}").is_file:  # of an earlier try
            self._delete([left_out_file])
        if self.kind == ".parquet":
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(list(map(link_row, linked)), schema=link_schema(codes)), sink)
            content = sink.getvalue().to_pybytes()
        else:
            if ".jsonl" in self.kind:
                content = _json_lines(linked)
            else:
                delimiter = "\t" if "tsv" in self.kind else ","
                content = table_text(linked, codes=codes, delimiter=delimiter).encode("utf8")
            content = gzip.compress(content, mtime=0) if self.kind.endswith(".gz") else content
        self._write(f"part-{part:06}{self.kind}", content)
        return count(records)

    def records(self, parts: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The linked documents of parts that are there. Of tables: as many mentions, each as a document."""
        for part in parts:
            content = self._read(f"part-{part:06}{self.kind}")
            if self.kind == ".parquet":
                yield from map(as_in_json, pq.read_table(pa.BufferReader(content)).to_pylist())
                continue
            content = gzip.decompress(content) if self.kind.endswith(".gz") else content
            if ".jsonl" in self.kind:
                yield from map(json.loads, content.splitlines())
            else:
                file: Any = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
                _, rows = open_table(Path(f"part{self.kind}"), "document", file)
                yield from ({"mentions": [{"kb_id": row["id"]}]} for _, row in rows)

    def left_out(self, parts: Collection[int]) -> list[dict[str, Any]]:
        """ "id" and "error" of the documents that are left out of parts."""
        names = sorted(name for name in self._names() if name.startswith(_LEFT_OUT))
        names = [name for name in names if int(name.split(".")[0][len(_LEFT_OUT) :]) in parts]
        return [json.loads(line) for name in names for line in self._read(name).splitlines()]

    def counts(self, parts: Collection[int]) -> dict[str, int]:
        """The counts of parts that are there."""
        return count([*self.left_out(parts), *self.records(parts)])

    def finish(self) -> None:
        """All parts are there: remove what interrupted workers left, and mark the output as whole."""
        self._delete(name for name in self._names() if name.startswith(_UNFINISHED))
        self._write(_SUCCESS, b"")

    def remove(self) -> None:
        """Remove the folder; the settings last, so that a removal that is interrupted can be resumed."""
        self._delete(sorted(self._names(), key=lambda name: name == _SETTINGS))
        self.files.delete_dir(self.folder)

    def _names(self) -> list[str]:
        if self.files.get_file_info(self.folder).is_file:
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got="a file"))
        return [info.base_name for info in self.files.get_file_info(fs.FileSelector(self.folder, allow_not_found=True))]

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


def _changes(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Which settings changed, and from what to what, except for fingerprints, which say nothing to a reader."""
    changes = []
    for key, value in new.items():
        before = old.get(key, "none")
        if value != before:
            is_short = max(len(str(before)), len(str(value))) < 20
            changes.append(f"{key} changed from {before} to {value}" if is_short else f"{key} changed")
    return ", ".join(changes)


def _json_lines(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode("utf8")
