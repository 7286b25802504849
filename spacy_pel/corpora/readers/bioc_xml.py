"""BioC XML as the dictionaries of BioC JSON, one document at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...errors import PelError
from ...util.files import READ_ERRORS, open_bytes
from .reader_base import wrong_format


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
        try:
            # the bytes, not the text: the XML declaration names the encoding
            for _, element in ElementTree.iterparse(file):
                if element.tag == "document":
                    yield _document(element)
                    element.clear()
        # LookupError, ValueError: its declaration names an encoding that is unknown, or of several bytes
        except (ElementTree.ParseError, LookupError, ValueError, *READ_ERRORS) as err:
            if isinstance(err, PelError):
                raise
            raise wrong_format("bioc", path, "BioC XML", f"malformed XML ({err})") from err


def _document(element: ElementTree.Element) -> dict[str, Any]:
    return {
        "id": element.findtext("id", "").strip(),
        "passages": [_passage(passage) for passage in element.findall("passage")],
        **_annotations(element),
    }


def _passage(element: ElementTree.Element) -> dict[str, Any]:
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


def _annotations(element: ElementTree.Element) -> dict[str, Any]:
    """Those of a document, passage or sentence itself; its relations are counted only."""
    return {
        "annotations": [_annotation(annotation) for annotation in element.findall("annotation")],
        "relations": [{} for _ in element.findall("relation")],
    }


def _annotation(element: ElementTree.Element) -> dict[str, Any]:
    return {
        "infons": {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")},
        "text": element.findtext("text", ""),
        "locations": [dict(location.attrib) for location in element.findall("location")],
    }
