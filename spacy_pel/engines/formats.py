"""The formats that ``link`` writes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..corpora.formats.bioc import BiocCorpus, write_bioc
from ..corpora.formats.brat import BratCorpus, write_brat
from ..corpora.formats.fhir import read_fhir, write_fhir
from ..corpora.formats.jsonl import JsonlCorpus
from ..corpora.formats.jsonl import read_links as read_records
from ..corpora.formats.omop import OmopConcepts, note_id, read_omop, write_omop
from ..corpora.formats.parquet import write_parquet
from ..corpora.formats.pubtator import PubtatorCorpus, write_pubtator
from ..corpora.formats.table import open_table, read_table, write_table
from ..errors import Errors, PelError
from ..types import CorpusReader, Document
from ..util import write_jsonl
from ..util.console import without_warnings


class _Format(NamedTuple):
    endings: tuple[str, ...]  # of the output's name
    write: Callable[..., Any]
    reader: Callable[[], CorpusReader] | None = None
    # of formats without texts
    read: Callable[[Path, Iterable[Document]], Iterator[Document]] = read_table


_FORMATS = {
    "jsonl": _Format((".jsonl", ".jsonl.gz"), write_jsonl, JsonlCorpus),
    "parquet": _Format((".parquet",), write_parquet, JsonlCorpus),
    "csv": _Format((".csv", ".csv.gz"), write_table),
    "tsv": _Format((".tsv", ".tsv.gz"), write_table),
    "pubtator": _Format((".pubtator", ".pubtator.gz"), write_pubtator, PubtatorCorpus),
    "bioc": _Format((".xml", ".xml.gz"), write_bioc, BiocCorpus),
    "brat": _Format((".brat",), write_brat, BratCorpus),
    "fhir": _Format((".ndjson", ".ndjson.gz"), write_fhir, read=read_fhir),
    "omop": _Format((".csv", ".csv.gz"), write_omop, read=read_omop),
}
_ANY_NAME = ("pubtator", "brat")  # readers know the others by the file's name


def output_format(name: str, output: Path) -> str:
    """Choose the format of an output.

    Args:
        name: one of the formats, or "auto" = by the output's name.
        output: the file, or the folder for "brat".

    Returns:
        The format.

    Raises:
        PelError: if there is no such format, or the output's name is another format's.
    """
    if name != "auto" and name not in _FORMATS:
        raise PelError(Errors.E646.format(known=", ".join(("auto", *_FORMATS)), got=name))
    candidates = list(_FORMATS) if name == "auto" else [name]
    for known in candidates:
        if output.name.endswith(_FORMATS[known].endings) or name in _ANY_NAME:
            return known
    endings = dict.fromkeys(ending for known in candidates for ending in _FORMATS[known].endings)  # without repeats
    todo = "Rename it, or name its format with --to." if name == "auto" else "Rename it."
    raise PelError(Errors.E642.format(path=output, known=", ".join(endings), todo=todo))


def check_replaceable(output: Path, format_name: str) -> None:
    """Check that an output that exists is one of its format, so that replacing it deletes nothing else.

    Raises:
        PelError: if a file is to replace a folder or the reverse, or a folder holds other files than
            BRAT's.
    """
    if not output.exists():
        return
    wanted = "a folder of .txt and .ann files" if format_name == "brat" else "a file"
    if output.is_dir() != (format_name == "brat"):
        raise PelError(Errors.E647.format(path=output, wanted=wanted, got="a folder" if output.is_dir() else "a file"))
    for file in output.iterdir() if output.is_dir() else ():
        if file.suffix not in (".txt", ".ann") or not file.is_file():
            raise PelError(Errors.E647.format(path=output, wanted=wanted, got=f"one with {file.name}"))


def checked(documents: Iterable[Document], format_name: str) -> Iterator[Document]:
    """Documents, before they are linked.

    Raises:
        PelError: if the format of the output cannot hold one.
    """
    for document in documents:
        if format_name == "omop":
            note_id(document.id)
        yield document


def write_links(
    output: Path,
    records: Iterable[dict[str, Any]],
    format_name: str,
    codes: Sequence[str] = (),
    concepts: OmopConcepts | None = None,
) -> None:
    """Write linked documents in a format, atomically.

    Args:
        output: the file or folder.
        records: linked documents.
        format_name: see ``output_format``.
        codes: the vocabularies whose codes the mentions have.
        concepts: of OMOP, for these codes.

    Raises:
        PelError: if the output cannot be written.
    """
    write = _FORMATS[format_name].write
    if write in (write_table, write_parquet):
        write = partial(write, codes=codes)
    elif write is write_omop:
        write = partial(write, concepts=concepts)
    write(output, records)


def codes_in(output: Path, format_name: str) -> list[str] | None:
    """The vocabularies whose codes an output has, perhaps with names of other columns; None = it does not show that.

    Raises:
        PelError: if the output cannot be read.
    """
    if format_name in ("csv", "tsv"):
        return open_table(output, "document")[0]
    if format_name in ("jsonl", "parquet"):
        mentions = (mention for record in read_records(output) for mention in record.get("mentions") or ())
        first = next(mentions, None)
        return None if first is None else list(first.get("codes") or ())
    return None


def read_links(output: Path, format_name: str, documents: Iterable[Document]) -> Iterator[Document]:
    """Read what ``write_links`` wrote.

    Args:
        output: the file or folder.
        format_name: its format.
        documents: those that were linked, as a table does not hold their texts.

    Raises:
        PelError: if it is something else.
    """
    made = _FORMATS[format_name]
    with without_warnings("W202", "W203"):  # that these are links
        yield from made.reader()([output]) if made.reader else made.read(output, documents)
