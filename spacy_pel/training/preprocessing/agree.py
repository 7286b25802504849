"""Leaving out annotation that contradicts that of another corpus."""

from collections import defaultdict
from dataclasses import replace

from ...corpora.formats.jsonl import read_corpus
from ...registry import registry
from ...types import Document
from ...util import normalize_alias


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
