"""BioC XML: a passage per document, an annotation per mention."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ...types import NIL
from ...util.writing import write_text

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection>
<source>spacy_pel</source>
<date></date>
<key></key>
"""
_TAIL = "</collection>\n"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML 1.0, also as references
_NO_ID = "-"


def write_bioc(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as BioC XML, atomically; gzipped if the name ends in .gz.

    A document is one passage at offset 0. Offsets and lengths count characters (Unicode code points). An
    annotation has the infons "identifier" (the id, or ``-`` for NIL; none if the linker did not look at the
    mention), "type" (the label), "name" (the entity's), "score" and, where it has codes in a vocabulary, e.g. "codes
    MESH". Control characters that XML does not allow become blanks.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        file.write(_HEAD)
        for record in records:
            file.writelines(f"{line}\n" for line in _lines(record))
        file.write(_TAIL)


def _lines(record: dict[str, Any]) -> Iterator[str]:
    text = record["text"]
    yield f"<document>\n<id>{_escaped(record['id'])}</id>"
    yield f"<passage>\n<offset>0</offset>\n<text>{_escaped(text)}</text>"
    for number, mention in enumerate(record["mentions"], start=1):
        start, end = mention["start"], mention["end"]
        yield f'<annotation id="T{number}">'
        for key, value in _infons(mention).items():
            yield f"<infon key={quoteattr(key)}>{_escaped(value)}</infon>"
        yield f'<location offset="{start}" length="{end - start}"/>'
        yield f"<text>{_escaped(text[start:end])}</text>\n</annotation>"
    yield "</passage>\n</document>"


def _infons(mention: dict[str, Any]) -> dict[str, str]:
    kb_id = mention["kb_id"]
    infons = {"identifier": _NO_ID if kb_id == NIL else kb_id} if kb_id else {}
    infons["type"] = mention["label"]
    if mention.get("name") is not None:
        infons["name"] = mention["name"]
    if mention.get("score") is not None:
        infons["score"] = str(mention["score"])
    codes = mention.get("codes", {})
    return infons | {f"codes {name}": ", ".join(some) for name, some in codes.items() if some}


def _escaped(text: str) -> str:
    # a parser turns a bare \r into \n
    return escape(_FORBIDDEN.sub(" ", text), {"\r": "&#13;"})
