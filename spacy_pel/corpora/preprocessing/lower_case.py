"""Lower-casing text, with offsets that stay right where a letter becomes two."""

from ...registry import registry
from ...types import Document
from .offset_map import OffsetMap
from .rewrite import rewritten


@registry.pel_preprocessors("spacy-pel.LowerCase.v1")
class LowerCase:
    """Lower-cases letter by letter. A letter that becomes two, such as "İ", keeps its position; the Greek
    sigma is the same at the end of a word as inside (``str.lower`` distinguishes them)."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"texts_lowered": 0}

    def __call__(self, document: Document) -> list[Document]:
        letters = [letter.lower() for letter in document.text]
        changes = [(at, at + 1, len(low)) for at, low in enumerate(letters) if len(low) != 1]
        text = "".join(letters)
        self.report["texts_lowered"] += text != document.text
        return [rewritten(document, text, OffsetMap.replaced(len(document.text), changes))]
