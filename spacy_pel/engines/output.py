"""What is written: parts, on any file system that Arrow knows, and the formats that ``link`` makes of them.

A part is there whole or not at all, so that an interrupted run, or a worker's, is resumed by linking the parts
that are missing.
"""

import gzip
import json
import os
import platform
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from ..corpora.document_stream import HOPELESS
from ..corpora.formats.bioc import write_bioc
from ..corpora.formats.brat import write_brat
from ..corpora.formats.omop import OmopConcepts, write_omop
from ..corpora.formats.pubtator import write_pubtator
from ..corpora.formats.tables import link_row, link_schema, table_text, write_parquet, write_table
from ..errors import Errors, PelError
from ..types import NIL
from ..util import write_jsonl
from ..util.console import now
from ..util.writing import locked, output_errors
from .corpus import file_system
from .terms import write_terms

# endings of the output's name, and what writes it
_FORMATS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "jsonl": ((".jsonl", ".jsonl.gz"), write_jsonl),
    "parquet": ((".parquet",), write_parquet),
    "csv": ((".csv", ".csv.gz"), write_table),
    "tsv": ((".tsv", ".tsv.gz"), write_table),
    "pubtator": ((".pubtator", ".pubtator.gz"), write_pubtator),
    "bioc": ((".xml", ".xml.gz"), write_bioc),
    "brat": ((".brat",), write_brat),
    "omop": ((".csv", ".csv.gz"), write_omop),
}
_LINK_FORMATS = tuple(_FORMATS)
_FORMATS |= {"sssom": ((".sssom.tsv",), write_terms), "usagi": ((".csv",), write_terms)}
_ANY_NAME = ("pubtator", "brat")  # readers know the others by the file's name
PART_FORMATS = ("jsonl", "parquet", "csv", "tsv")
_TERM_FORMATS = ("sssom", *PART_FORMATS, "usagi")
_KINDS = tuple(ending for name in PART_FORMATS for ending in _FORMATS[name][0])
_VERSION = 4  # of the parts
# "_": no data, as for Spark
_SETTINGS, _SUCCESS, _LEFT_OUT, _UNFINISHED = "_settings.json", "_SUCCESS", "_left_out.jsonl", "_unfinished-"
_LOCK = "_lock"  # who writes the parts, on this machine
_PART = re.compile(rf"part-(\d{{6,}})(?:{'|'.join(map(re.escape, _KINDS))})")
_OTHER = re.compile(rf"_report-\d{{6,}}\.json|{_SETTINGS}|{_SUCCESS}|{_LEFT_OUT}|{_UNFINISHED}\w+")


def output_format(name: str, output: str | Path, known: Sequence[str] = (), *, terms: bool = False) -> str:
    """Choose the format of an output.

    Args:
        name: one of the formats, or "auto" = by the output's name.
        output: the file, or the folder for "brat".
        known: the formats to choose from; none = all.
        terms: of mapped terms, not of linked documents.

    Returns:
        The format.

    Raises:
        PelError: if there is no such format, or the output's name is another format's.
    """
    known = known or (_TERM_FORMATS if terms else _LINK_FORMATS)
    if name != "auto" and name not in known:
        raise PelError(Errors.E646.format(known=", ".join(("auto", *known)), got=name))
    candidates = known if name == "auto" else [name]
    for candidate in candidates:
        if str(output).endswith(_FORMATS[candidate][0]) or name in _ANY_NAME:
            return candidate
    endings = dict.fromkeys(ending for candidate in candidates for ending in _FORMATS[candidate][0])  # without repeats
    todo = "Rename it, or name its format with --to." if name == "auto" else "Rename it."
    raise PelError(Errors.E642.format(path=output, known=", ".join(endings), todo=todo))


def output_kind(name: str, path: str) -> str:
    """Choose the ending of the parts in a folder, e.g. ".jsonl.gz".

    Args:
        name: one of ``PART_FORMATS``, whatever the folder's name is, or "auto" = by its name.
        path: the output's folder.

    Raises:
        PelError: if there is no such format, or the name says none.
    """
    path = path.rstrip("/")
    if name in PART_FORMATS and not path.endswith(_FORMATS[name][0]):
        return f".{name}"
    endings = _FORMATS[output_format(name, path, PART_FORMATS)][0]
    return next(ending for ending in endings if path.endswith(ending))


def write_links(
    output: Path,
    records: Iterable[dict[str, Any]],
    format_name: str,
    codes: Sequence[str] = (),
    concepts: OmopConcepts | None = None,
    *,
    terms: bool = False,
) -> None:
    """Write linked documents in a format, atomically.

    Args:
        output: the file or folder.
        records: linked documents.
        format_name: see ``output_format``.
        codes: the vocabularies whose codes the mentions have.
        concepts: of OMOP, for these codes.
        terms: they are mapped terms.

    Raises:
        PelError: if the output cannot be written.
    """
    write = _FORMATS[format_name][1]
    if terms:
        write = partial(write_terms, to=format_name)
    elif write in (write_table, write_parquet):
        write = partial(write, codes=codes)
    elif write is write_omop:
        write = partial(write, concepts=concepts)
    write(output, records)


@dataclass
class Report:
    """What was linked.

    Attributes:
        documents, mentions, nil: their numbers.
        left_out: "id" and "error" of the documents that the pipeline failed on.
    """

    documents: int = 0
    mentions: int = 0
    nil: int = 0
    left_out: list[dict[str, str]] = field(default_factory=list)

    @property
    def n_read(self) -> int:
        """Documents that were linked or left out."""
        return self.documents + len(self.left_out)

    def add(self, report: "Report") -> None:
        """Count what another report counts, too."""
        self.documents += report.documents
        self.mentions += report.mentions
        self.nil += report.nil
        self.left_out += report.left_out

    def check(self, *, is_all: bool = False) -> None:
        """Check that it is documents that are at fault, and not the pipeline.

        Args:
            is_all: whether no more documents follow.

        Raises:
            PelError: if many documents, or all, were left out and none was linked.
        """
        if not self.documents and len(self.left_out) >= (1 if is_all else HOPELESS):
            first = self.left_out[0]
            raise PelError(Errors.E605.format(n=len(self.left_out), id=first["id"], got=first["error"]))


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Be the only process of this machine that writes parts to a folder. The lock of a killed process ends with it.

    Args:
        folder: made, and removed again if nothing is written.

    Raises:
        PelError: if another process has it, and says which one; or if the folder cannot be made.
    """
    lock = folder / _LOCK
    if not folder.is_file():
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            lock.touch()
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(lock, patience=0))
        except PelError as err:
            who = lock.read_text(encoding="utf8") if lock.is_file() else ""
            raise PelError(Errors.E669.format(folder=folder, got=who or "another process")) from err
        if folder.is_dir():
            with output_errors(folder):
                lock.write_text(f"process {os.getpid()} on {platform.node()}, since {now()}", encoding="utf8")
        try:
            yield
        finally:
            if folder.is_dir() and list(folder.iterdir()) == [lock]:
                shutil.rmtree(folder)


class PartedOutput:
    """A folder with ``part-000000.parquet`` and so on, or another kind of files, and a report of each; it is whole once
    it has a file ``_SUCCESS``. Documents that the pipeline failed on are in no part, but in ``_left_out.jsonl``.

    Args:
        path: the folder, or its URI.
        kind: the ending of the parts, see ``output_kind``.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.name, self.kind = path, kind
        self.files, self.folder = file_system(path)

    def exists(self) -> bool:
        """Whether the folder holds anything."""
        return bool(self._names())

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Check what can be checked before the settings are known.

        Args:
            resume: use the parts that are there, which may be all.
            overwrite: replace an output that is whole, or start an unfinished one over unless ``resume``.

        Raises:
            PelError: if the folder holds something else, or an output that is not to be replaced or resumed.
        """
        names = self._names()
        foreign = sorted(name for name in names if not (_PART.fullmatch(name) or _OTHER.fullmatch(name)))
        if foreign:
            got = f"one with {foreign[0]}"
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got=got))
        is_unfinished = _SETTINGS in names and _SUCCESS not in names
        if is_unfinished and not (resume or overwrite):
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
        settings = {"format": _VERSION, **settings}
        names = self._names()
        if _SETTINGS in names and resume and not (_SUCCESS in names and overwrite):
            if changed := changed_settings(json.loads(self._read(_SETTINGS)), settings):
                raise PelError(Errors.E644.format(folder=self.name, changed=changed))
            return
        with output_errors(self.name):
            self._delete(names)
            self.files.create_dir(self.folder, recursive=True)
        self._write(_SETTINGS, _json_lines([settings]))

    def written(self) -> list[int]:
        """The numbers of the parts that are there."""
        matches = (_PART.fullmatch(name) for name in self._names() if name.endswith(self.kind))
        return sorted(int(match[1]) for match in matches if match)

    def write(self, part: int, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> Report:
        """Write a part, and before it the report of it; each atomically. Two workers may write the same part: they
        write the same.

        Args:
            part: its number.
            records: linked documents, and "id" and "error" of those that the pipeline failed on.
            codes: the vocabularies whose codes the mentions have.

        Returns:
            The report.
        """
        linked: list[dict[str, Any]] = []
        left_out: list[dict[str, Any]] = []
        for record in records:
            (left_out if "error" in record else linked).append(record)
        ids = [mention["kb_id"] for record in linked for mention in record["mentions"]]
        report = Report(len(linked), len(ids), ids.count(NIL), left_out)
        self._write(_report_file(part), _json_lines([asdict(report)]))
        if self.kind == ".parquet":
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(list(map(link_row, linked)), schema=link_schema(codes)), sink)
            content = sink.getvalue().to_pybytes()
        else:
            delimiter = "\t" if "tsv" in self.kind else ","
            is_json = ".jsonl" in self.kind
            content = _json_lines(linked) if is_json else table_text(linked, codes=codes, delimiter=delimiter).encode()
            content = gzip.compress(content, mtime=0) if self.kind.endswith(".gz") else content
        self._write(f"part-{part:06}{self.kind}", content)
        return report

    def report(self, parts: Iterable[int]) -> Report:
        """The report of parts that are there."""
        report = Report()
        for part in parts:
            report.add(Report(**json.loads(self._read(_report_file(part)))))
        return report

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The linked documents of all parts, which are JSON lines."""
        for part in self.written():
            yield from map(json.loads, self._read(f"part-{part:06}{self.kind}").splitlines())

    def finish(self, report: Report) -> None:
        """All parts are there: remove what interrupted workers left, and mark the output as whole."""
        self._delete(name for name in self._names() if name.startswith(_UNFINISHED))
        if report.left_out:
            self._write(_LEFT_OUT, _json_lines(report.left_out))
        self._write(_SUCCESS, b"")

    def remove(self) -> None:
        """Remove the folder; the settings last, so that a removal that is interrupted can be resumed."""
        self._delete(sorted(self._names(), key=lambda name: name == _SETTINGS))
        self.files.delete_dir(self.folder)

    def _names(self) -> list[str]:
        if self.files.get_file_info(self.folder).is_file:
            raise PelError(Errors.E647.format(path=self.name, wanted="a folder of links", got="a file"))
        found = self.files.get_file_info(fs.FileSelector(self.folder, allow_not_found=True))
        return [info.base_name for info in found if info.base_name != _LOCK]

    def _read(self, name: str) -> bytes:
        with self.files.open_input_file(f"{self.folder}/{name}") as file:
            return file.read()

    def _write(self, name: str, content: bytes) -> None:
        unfinished = f"{self.folder}/{_UNFINISHED}{uuid.uuid4().hex}"
        with output_errors(f"{self.name}/{name}"):
            with self.files.open_output_stream(unfinished, compression=None) as file:
                file.write(content)
            self.files.move(unfinished, f"{self.folder}/{name}")

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.files.delete_file(f"{self.folder}/{name}")


def are_nested(one: str, other: str) -> bool:
    """Whether two files or folders are the same, or one is in the other."""
    paths = [f"{file_system(path)[1]}/" for path in (one, other)]
    return paths[0].startswith(paths[1]) or paths[1].startswith(paths[0])


def changed_settings(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Which settings changed, and from what to what, except for fingerprints, which say nothing to a reader."""
    changes = []
    for key, value in new.items():
        before = old.get(key, "none")
        if value != before:
            is_short = max(len(str(before)), len(str(value))) < 20
            changes.append(f"{key} changed from {before} to {value}" if is_short else f"{key} changed")
    return ", ".join(changes)


def _report_file(part: int) -> str:
    return f"_report-{part:06}.json"


def _json_lines(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode("utf8")
