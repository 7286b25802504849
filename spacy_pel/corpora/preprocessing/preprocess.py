"""Several steps of preprocessing, one after the other."""

from typing import Dict, Iterable, Iterator, List, Protocol, Sequence, runtime_checkable

from ...types import Document


@runtime_checkable
class Preprocessor(Protocol):
    """Makes a document into others with changed text or mentions: one, several or none.

    What it makes leads back to the source by ``original_span``; a mention that stays
    is the same one there. ``report`` counts what was changed since the part was made.
    """

    report: Dict[str, int]

    def __call__(self, document: Document) -> List[Document]: ...


def preprocess(documents: Iterable[Document], steps: Sequence[Preprocessor]) -> Iterator[Document]:
    """Send documents through steps.

    documents (Iterable[Document]): of any reader; they stay as they are.
    steps (Sequence[Preprocessor]): in this order.
    YIELDS (Document): what the last step makes; each leads back to its source by ``original_span``.
    """
    for document in documents:
        made: List[Document] = [document]
        for step in steps:
            made = [new for one in made for new in step(one)]
        yield from made
