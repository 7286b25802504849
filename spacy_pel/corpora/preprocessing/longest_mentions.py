"""Keeping the longest of overlapping mentions (Le & Nguyen 2023)."""

from dataclasses import replace

from ...registry import registry
from ...types import Document
from ..policy import without_overlaps


@registry.pel_preprocessors("spacy-pel.LongestMentions.v1")
class LongestMentions:
    """Leaves out mentions that overlap a longer one, or an equally long one that begins earlier; of several
    with the same span the first is kept. ``doc.ents`` is filled by the same rule."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"overlapping_dropped": 0}

    def __call__(self, document: Document) -> list[Document]:
        longest = without_overlaps(document.mentions)
        self.report["overlapping_dropped"] += len(document.mentions) - len(longest)
        return [replace(document, mentions=longest, meta=dict(document.meta))]
