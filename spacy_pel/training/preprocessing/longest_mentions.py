"""Keeping the longest of overlapping mentions (Le & Nguyen 2023)."""

from dataclasses import replace
from typing import Any

from spacy.util import filter_spans

from ...registry import registry
from ...types import Document


@registry.pel_preprocessors("spacy-pel.LongestMentions.v1")
class LongestMentions:
    """Leaves out mentions that overlap a longer one, or an equally long one that begins earlier; of several
    with the same span the first is kept. ``doc.ents`` is filled by the same rule."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"overlapping_dropped": 0}

    def __call__(self, document: Document) -> list[Document]:
        mentions: Any = document.mentions  # have a start and an end, as spans do
        longest: Any = filter_spans(mentions)
        self.report["overlapping_dropped"] += len(document.mentions) - len(longest)
        return [replace(document, mentions=longest, meta=dict(document.meta))]
