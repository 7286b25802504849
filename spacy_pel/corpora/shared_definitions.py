"""Abbreviations that the earlier passages of an article define."""

from collections.abc import Hashable
from typing import Any

from spacy.tokens import Doc

from .abbreviations import find_abbreviations, other_number

KNOWN = "pel_known_abbreviations"  # short and long texts, in ``doc.user_data`` where spaCy stores extensions


class SharedDefinitions:
    """Tells the passages of an article which abbreviations the passages before them define. What a passage
    defines itself comes first.

    Call it with the passages in order, those of an article in a row, before they go through a pipeline::

        share = SharedDefinitions()
        nlp.pipe(share(nlp.make_doc(text), article_id) for text, article_id in passages)
    """

    def __init__(self) -> None:
        self._article: Hashable = None
        self._known: dict[str, str] = {}

    def __call__(self, doc: Doc, article: Hashable) -> Doc:
        """Add what is known so far to a passage.

        Args:
            doc: the passage; only its tokens are read.
            article: identifies the article. None = the passage is a document of its own.

        Returns:
            The same Doc.
        """
        if article is None or article != self._article:
            self._article, self._known = article, {}
        if self._known:
            known = [{"short_text": short, "long_text": long_text} for short, long_text in self._known.items()]
            user_data: Any = doc.user_data
            user_data["._.", KNOWN, None, None] = known
        for found in find_abbreviations(doc) if article is not None else ():
            short, long_text = found["short_text"], found["long_text"]
            self._known[short] = long_text
            self._known.setdefault(other_number(short), long_text)
        return doc
