"""BioC XML as the dictionaries of BioC JSON, one document at a time."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from ...util.files import open_bytes
from ...util.place import Place
from ...util.xml_elements import read_elements

_BLOCK = 1 << 20


def xml_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the documents of a BioC XML file, plain or gzipped.

    Args:
        path: the file.

    Yields:
        With "id", "passages", "annotations" and "relations", as BioC JSON has them.

    Raises:
        PelError: if the file is not XML, or a damaged .gz.
    """
    with open_bytes(path) as file:
        # the bytes, not the text: the XML declaration names the encoding; no lines: a file may have only one
        blocks = ((Place(path), block) for block in iter(partial(file.read, _BLOCK), b""))
        for _, _, element in read_elements(blocks, expected="BioC XML"):
            if element.tag == "document":
                yield _document(element)


def _document(element: Element) -> dict[str, Any]:
    return {
        "id": element.findtext("id", "").strip(),
        "passages": [_passage(passage) for passage in element.findall("passage")],
        **_annotations(element),
    }


def _passage(element: Element) -> dict[str, Any]:
    """A passage or a sentence: both have an offset, text and annotations."""
    passage: dict[str, Any] = {
        "offset": element.findtext("offset", "0"),
        "sentences": [_passage(sentence) for sentence in element.findall("sentence")],
        **_annotations(element),
    }
    text = element.findtext("text")
    if text is not None:
        passage["text"] = text
    return passage


def _annotations(element: Element) -> dict[str, Any]:
    """Those of a document, passage or sentence itself; its relations are counted only."""
    return {
        "annotations": [_annotation(annotation) for annotation in element.findall("annotation")],
        "relations": [{} for _ in element.findall("relation")],
    }


def _annotation(element: Element) -> dict[str, Any]:
    return {
        "infons": {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")},
        "text": element.findtext("text", ""),
        "locations": [dict(location.attrib) for location in element.findall("location")],
    }
