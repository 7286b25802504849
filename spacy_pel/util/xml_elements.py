"""The elements right below the root of an XML file, streamed."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from ..errors import PelError
from .files import READ_ERRORS
from .place import Place, unexpected


def read_elements(
    path: Path, chunks: Iterable[tuple[Place, bytes]], *, expected: str
) -> Iterator[tuple[Place, Element, Element]]:
    """Stream the children of the root; memory holds one at a time.

    Args:
        path: the file, for errors before its first chunk.
        chunks: its content, e.g. line by line.
        expected: the kind of XML, for the error.

    Yields:
        The place of the chunk in which the child ends, the root without
        its children, and the child.

    Raises:
        PelError: if the XML is broken or cut off.
    """
    parser: Any = XMLPullParser(events=("start", "end"))
    place: Place | None = None
    root: Element | None = None
    depth = 0
    end: tuple[Place | None, bytes] = (None, b"")
    try:
        for current, chunk in chain(chunks, [end]):
            place = current or place
            if chunk:
                parser.feed(chunk)
            elif place is not None:
                parser.close()  # the parser may hold back the end of the file until it is closed
            for event, element in parser.read_events():
                root = element if root is None else root
                depth += 1 if event == "start" else -1
                if event == "end" and depth == 1 and place is not None:
                    yield place, root, element
                    del root[:]  # yielded elements must not accumulate below the root
    # LookupError, ValueError: its declaration names an encoding that is unknown, or of several bytes
    except (ParseError, LookupError, ValueError, *READ_ERRORS) as err:
        if isinstance(err, PelError):
            raise
        raise unexpected(place or path, expected, f"malformed XML ({err})", "Download the file again.") from err
