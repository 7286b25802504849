"""Running several preprocessing steps in order."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from ..types import Document


@runtime_checkable
class Preprocessor(Protocol):
    """Makes a document into others with changed text or mentions: one, several or none.

    ``original_span`` maps the result back to the source; a mention that is kept is the same one there.
    ``report`` counts what was changed since the part was created.
    """

    report: dict[str, int]

    def __call__(self, document: Document) -> list[Document]: ...


def preprocess(documents: Iterable[Document], steps: Sequence[Preprocessor]) -> Iterator[Document]:
    """Send documents through steps.

    Args:
        documents: from any reader; they are not changed.
        steps: in this order.

    Yields:
        What the last step makes; each leads back to its source by ``original_span``.
    """
    for document in documents:
        made: list[Document] = [document]
        for step in steps:
            made = [new for old in made for new in step(old)]
        yield from made
