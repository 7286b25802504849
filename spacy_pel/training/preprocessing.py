"""Steps that change a corpus before it is used, such as leaving out annotation that another corpus contradicts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ..corpora.formats.jsonl import read_corpus
from ..registry import registry
from ..types import Document
from ..util import normalize_alias


def preprocess(
    documents: Iterable[Document], steps: Sequence[Callable[[Document], list[Document]]]
) -> Iterator[Document]:
    """Send documents through steps.

    Args:
        documents: from any reader; they are not changed.
        steps: in this order. Each makes one, several or no documents of one.

    Yields:
        What the last step makes; each leads back to its source, see ``Original``.
    """
    for document in documents:
        made: list[Document] = [document]
        for step in steps:
            made = [new for old in made for new in step(old)]
        yield from made


@registry.pel_preprocessors("spacy-pel.Agree.v1")
class Agree:
    """Leaves out mentions whose surface form names only other entities in a reference corpus.

    Guidelines differ: "renal failure" is one entity in one corpus and its parent in another. Where both become
    annotated text of one knowledge base, the reference decides.

    Args:
        reference: a corpus as JSON lines, with ids of the same knowledge base.
    """

    def __init__(self, reference: str) -> None:
        self._entities: dict[str, set[str]] = defaultdict(set)
        for document in read_corpus(reference):
            for mention in document.mentions:
                self._entities[normalize_alias(document.text[mention.start : mention.end])].update(mention.ids)
        self.report = {"contradicting_mentions": 0}

    def __call__(self, document: Document) -> list[Document]:
        """The document without them."""
        kept = []
        for mention in document.mentions:
            known = self._entities.get(normalize_alias(document.text[mention.start : mention.end]))
            if known is None or not known.isdisjoint(mention.ids):
                kept.append(mention)
        self.report["contradicting_mentions"] += len(document.mentions) - len(kept)
        return [replace(document, mentions=kept)]
