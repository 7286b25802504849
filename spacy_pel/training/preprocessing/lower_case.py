"""Lower-casing text, with offsets that stay right where a letter becomes two."""

from ...registry import registry
from ...types import Document
from .rewrite import with_letters


@registry.pel_preprocessors("spacy-pel.LowerCase.v1")
class LowerCase:
    """Lower-cases letter by letter. A letter that becomes two, such as "İ", keeps its position; the Greek
    sigma is the same at the end of a word as inside (``str.lower`` distinguishes them)."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"texts_lowered": 0}

    def __call__(self, document: Document) -> list[Document]:
        lowered = with_letters(document, str.lower)
        self.report["texts_lowered"] += lowered.text != document.text
        return [lowered]
