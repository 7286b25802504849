"""PubTator: title, abstract and a line per mention."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...types import NIL, TITLE_LENGTH
from ...util.writing import write_text
from .one_line import first_line_end, one_line

_SENTENCE_END = re.compile(r"(?<=[.?!])\s")
_NO_ID = "-"  # as PubTator Central writes it


def write_pubtator(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as PubTator, atomically; gzipped if the name ends in .gz.

    The title is that of the PubTator file from which the text comes ("title_length" in its meta). Otherwise
    it is the first line of a text or, if it has one line, its first sentence; a text of one sentence has no
    abstract. Offsets are those of the text: tabs and line ends become blanks, one each. The last column is
    the id, or ``-`` if there is none.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        for record in records:
            file.writelines(f"{line}\n" for line in _lines(record))


def _title_end(record: dict[str, Any], text: str) -> int:
    known = (record.get("meta") or {}).get(TITLE_LENGTH)
    if type(known) is int and 0 <= known <= len(text) and text[known : known + 1] in (" ", ""):
        return known
    cut = first_line_end(record["text"])
    if cut >= 0:
        return cut
    sentence = _SENTENCE_END.search(text)
    return sentence.start() if sentence else len(text)


def _lines(record: dict[str, Any]) -> Iterator[str]:
    name = re.sub(r"[\s|]", "_", record["id"])
    text = one_line(record["text"])
    cut = _title_end(record, text)
    yield f"{name}|t|{text[:cut]}"
    if cut < len(text):
        yield f"{name}|a|{text[cut + 1 :]}"  # a reader joins both by the blank that is left out
    for mention in record["mentions"]:
        start, end, kb_id = mention["start"], mention["end"], mention["kb_id"]
        entity_id = _NO_ID if kb_id in ("", NIL) else one_line(kb_id)
        yield "\t".join([name, str(start), str(end), text[start:end], one_line(mention["label"]), entity_id])
    yield ""
