"""Opening a KB from its own folder or from a pipeline's."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Errors, PelError
from ..pipeline.saved import FACTORY, saved_part
from ..util.files import check_format, ending_of, first_bytes, format_of, unexpected
from ..util.saved_folder import MANIFEST

if TYPE_CHECKING:
    from ..kb import KnowledgeBase


_SOURCE = "a table of codes, an ontology or another source of entities"
_READERS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".obo", ".json", ".ttl", ".owl", ".rdf"), "obo"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".xml": "mesh",
}
# file -> reader
_FOLDERS = {"entities.arrow": "saved", "MRCONSO*": "umls", "RXNCONSO*": "rxnorm", "**/*sct2_Description*": "rf2"}
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
# files of any name, by how they begin: JSON lines or an array of such objects, the NCI Thesaurus as a flat file, OBO
# and RDF
_KEYS = rb"concept_id|canonical_name|code|curie|cui|label|term|display|preferred_(?:name|term|label)"
_BEGINNINGS = {
    "jsonl": re.compile(
        rb'(\xef\xbb\xbf)?\s*(?:\{[^{}]*(?:"concept_id"\s*:|\}[^\S\n]*\n\s*\{)|\[\s*\{[^{}]*"(?:(?:%b)"\s*:|id"\s*:\s*\d))'
        % _KEYS
    ),
    "obo": re.compile(
        rb"(\xef\xbb\xbf)?(?:C\d+\t<?https?://ncicb\.nci\.nih\.gov/|format-version:|\s*(?:<[?!][^>]*>\s*)*<rdf:RDF)"
    ),
}


def reader_of_all(paths: Sequence[Path]) -> str:
    """The KB reader for files, by the name of the first of them.

    Raises:
        PelError: as ``reader_of``, or if the name of another file says that it is of another kind.
    """
    reader = reader_of(paths[0])
    for path in paths[1:]:
        other = _reader_by_content(path) or _READERS.get(ending_of(path), reader)
        if other != reader:
            raise PelError(Errors.E698.format(first=paths[0], reader=reader, path=path, other=other))
    return reader


def reader_of(path: Path) -> str:
    """The KB reader for a file or folder, by its content or name.

    Raises:
        PelError: if there is nothing, or neither says.
    """
    if not path.exists():
        raise unexpected(path, _SOURCE, "no such file", "Check the path.")
    if found := _reader_by_content(path):
        return found
    kind = ending_of(path)
    if kind not in _READERS or path.is_dir():
        got = f"the folder {path}" if path.is_dir() else str(path)
        todo = "Save it as CSV." if kind in _SPREADSHEETS else "Name its format with --reader."
        raise PelError(Errors.E659.format(got=got, known=", ".join(_READERS), todo=todo))
    return _READERS[kind]


def _reader_by_content(path: Path) -> str:
    """The reader for a folder of a release, for JSON lines, for a flat file of the NCI
    Thesaurus, or for a table with the header of a published one; "" = the content does not say."""
    from ..kb.readers.csv_kb import published_as

    if path.is_dir():
        return next((reader for pattern, reader in _FOLDERS.items() if any(path.glob(pattern))), "")
    head = first_bytes(path, 1 << 16)
    check_format(path, head)
    if format_of(head):  # FHIR
        return "obo"
    if reader := next((reader for reader, pattern in _BEGINNINGS.items() if pattern.match(head)), ""):
        return reader
    names = head.partition(b"\n")[0].decode("utf8", "replace").lstrip("\ufeff")
    return published_as(re.split("[\t,]", names))


def source_record(reader: str, settings: dict[str, Any], licence: str | None) -> dict[str, Any]:
    """What meta.json says of a source beside what its reader knows."""
    return {"reader": reader, "settings": settings, **({"licence": licence} if licence else {})}


def recorded(source: dict[str, Any], reader: str, files: Sequence[Path], name: str | None) -> dict[str, Any]:
    """The record of an earlier release of the same source in a KB; empty if there is none.

    Args:
        source: of the KB.
        reader, files: of the release.
        name: of the source, if the user gives it. Otherwise it is that of all releases that the reader reads, or that
            of an ontology whose ids are in the file, or the files have the same names.
    """
    for record in (source, *source.get("added", ())):
        own = record.get("name", "")
        is_same = own in ("", record.get("origin"), name) or {path.name for path in files} <= {*record.get("files", ())}
        if record.get("reader") == reader and (own == name if name else is_same or _has_ids_of(own, files[0])):
            return {"name": record.get("origin") or reader, **record}
    return {}


def _has_ids_of(ontology: str, path: Path) -> bool:
    if not path.is_file():  # the folder of a release
        return False
    mark = rf"(id: |[/#]){re.escape(ontology)}[:_.]".encode()
    return re.search(mark, first_bytes(path, 1 << 18), re.IGNORECASE) is not None


def open_kb(path: Path) -> "KnowledgeBase":
    """Open a KB without loading the pipeline around it.

    Args:
        path: the folder of a KB or of a pipeline.

    Raises:
        PelError: if it is neither, or there is nothing.
    """
    from ..kb import KnowledgeBase

    if not (path / "config.cfg").is_file():
        if path.is_dir() and not any((path / name).is_file() for name in (MANIFEST, "meta.json")):
            raise PelError(Errors.E686.format(path=path, missing="meta.json"))
        return KnowledgeBase.from_disk(path)
    folder = saved_part(path, "kb")
    if folder is None:
        raise PelError(Errors.E686.format(path=path, missing=f"component '{FACTORY}' with a KB"))
    return KnowledgeBase.from_disk(folder)
