"""The formats that ``link`` writes."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..corpora.writers.bioc import write_bioc
from ..corpora.writers.brat import write_brat
from ..corpora.writers.parquet import write_parquet
from ..corpora.writers.pubtator import write_pubtator
from ..errors import Errors, PelError
from ..util import write_jsonl

Writer = Callable[[Path, Iterable[dict[str, Any]]], Any]

# how the output's name ends for each format, and what writes it
_FORMATS: dict[str, tuple[tuple[str, ...], Writer]] = {
    "jsonl": ((".jsonl", ".jsonl.gz"), write_jsonl),
    "parquet": ((".parquet",), write_parquet),
    "pubtator": ((".pubtator", ".pubtator.gz"), write_pubtator),
    "bioc": ((".xml", ".xml.gz"), write_bioc),
    "brat": ((".brat",), write_brat),
}
_ANY_NAME = ("pubtator", "brat")  # readers know the others by the file's name
_BRAT_FILES = (".txt", ".ann")


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
    for known, (endings, _) in _FORMATS.items():
        if name in ("auto", known) and (output.name.endswith(endings) or (name in _ANY_NAME)):
            return known
    endings = tuple(end for known in _FORMATS if name in ("auto", known) for end in _FORMATS[known][0])
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
    others = [file.name for file in output.iterdir() if not _of_brat(file)] if output.is_dir() else []
    if output.is_dir() != (format_name == "brat"):
        raise PelError(Errors.E647.format(path=output, wanted=wanted, got="a folder" if output.is_dir() else "a file"))
    if others:
        raise PelError(Errors.E647.format(path=output, wanted=wanted, got=f"one with {others[0]}"))


def write_links(output: Path, records: Iterable[dict[str, Any]], format_name: str) -> None:
    """Write linked documents in a format, atomically.

    Raises:
        PelError: if the output cannot be written.
    """
    _FORMATS[format_name][1](output, records)


def _of_brat(file: Path) -> bool:
    return file.suffix in _BRAT_FILES and file.is_file()
