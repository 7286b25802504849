"""BRAT standoff: a .txt and an .ann file per document. See https://brat.nlplab.org/standoff.html"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...types import NIL
from ...util import atomic_path
from .one_line import codes_note, one_line, plain_lines

_PREFIX = "KB"  # of ids without one: BRAT wants DATABASE:ID
_LONGEST = 200  # bytes of a file's name, without its suffix


def write_brat(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as a folder of .txt and .ann files, atomically.

    A mention is a line ``T1``, its id a line ``N1`` with the entity's name. An id without a colon gets the
    prefix ``KB:``, as BRAT wants a database; so does an id that starts with ``KB:``, as the reader takes one
    off. Its codes in other vocabularies are a note. A NIL mention has a note ``NIL`` instead; one that the linker
    did not look at has neither. Offsets count characters (Unicode code points) of the .txt file, which are those of
    the text: tabs, and line ends other than newlines, become blanks, one each. A mention that goes on in the next
    line has a fragment for each line, as BRAT itself writes it.

    A file is named by the document's id: characters other than letters, digits, ``.``, ``-`` and ``_`` are
    written as %XX, and where two documents have the same id, the second is ``id~2``.

    Args:
        path: the folder.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the folder cannot be written.
    """
    with atomic_path(path) as part:
        part.mkdir()
        taken: set[str] = set()
        for record in records:
            name = _file_name(record["id"], taken)
            text = plain_lines(record["text"])
            _write(part / f"{name}.txt", text)
            _write(part / f"{name}.ann", "".join(f"{line}\n" for line in _lines(text, record["mentions"])))


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf8"))  # without other line ends on Windows


def _lines(text: str, mentions: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, mention in enumerate(mentions, start=1):
        fragments = list(_fragments(text, mention["start"], mention["end"]))
        if not fragments:
            continue
        spans = ";".join(f"{start} {end}" for start, end in fragments)
        surface = " ".join(text[start:end] for start, end in fragments)
        label = re.sub(r"[^A-Za-z0-9_-]+", "_", mention["label"]) or "Mention"
        yield f"T{number}\t{label} {spans}\t{surface}"
        kb_id = mention["kb_id"]
        if kb_id == NIL:
            yield f"#{number}\tAnnotatorNotes T{number}\t{NIL}"
        elif kb_id:
            name = " ".join(one_line(mention.get("name") or kb_id).split())
            yield f"N{number}\tReference T{number} {_reference(kb_id)}\t{name}"
            if note := codes_note(mention):
                yield f"#{number}\tAnnotatorNotes T{number}\t{note}"


def _fragments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a mention between newlines."""
    for match in re.finditer(r"[^\n]+", text[start:end]):
        yield start + match.start(), start + match.end()


def _reference(kb_id: str) -> str:
    kb_id = re.sub(r"[\s%]", lambda match: quote(match[0], safe=""), kb_id)  # columns are parted by blanks
    return f"{_PREFIX}:{kb_id}" if ":" not in kb_id or kb_id.startswith(f"{_PREFIX}:") else kb_id


def _percent(found: "re.Match[str]") -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf8"))


def _file_name(document_id: str, taken: set[str]) -> str:
    name = re.sub(r"[^\w.-]|^\.", _percent, document_id) or "%"
    if len(name.encode("utf8")) > _LONGEST:
        end = blake2b(document_id.encode("utf8"), digest_size=8).hexdigest()
        name = f"{name.encode('utf8')[:_LONGEST].decode('utf8', 'ignore')}~{end}"
    unique, number = name, 1
    while unique.casefold() in taken:  # some file systems do not tell A from a
        number += 1
        unique = f"{name}~{number}"
    taken.add(unique.casefold())
    return unique
