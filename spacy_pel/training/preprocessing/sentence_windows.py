"""One document for each sentence with mentions, with its neighbouring sentences (Le & Nguyen 2023)."""

import spacy
from pydantic import NonNegativeInt

from ...corpora.original import OffsetMap
from ...registry import registry
from ...types import Document
from ...util.config import known_language
from .rewrite import rewritten

Sentence = tuple[int, int]


@registry.pel_preprocessors("spacy-pel.SentenceWindows.v1")
class SentenceWindows:
    """Cuts a document into one for each sentence in which mentions begin, named "ID#1", "ID#2", ... by the
    number of the sentence. Each has only the mentions of its sentence, so every mention occurs once. A
    mention is never cut; sentences that it joins count as one.

    Args:
        neighbours: sentences added before and after; 0 = the sentence alone.
        lang: the language whose tokenizer and full stops separate the sentences.
    """

    def __init__(self, *, neighbours: NonNegativeInt = 1, lang: str = "en") -> None:
        self.neighbours = neighbours
        with known_language(lang):
            self._nlp = spacy.blank(lang)
        self._nlp.add_pipe("sentencizer")
        self.report: dict[str, int] = {"sentences": 0, "sentences_without_mentions": 0}

    def __call__(self, document: Document) -> list[Document]:
        windows = []
        sentences = self._sentences(document)
        for number, (start, end) in enumerate(sentences):
            self.report["sentences"] += 1
            mentions = [mention for mention in document.mentions if start <= mention.start < end]
            if not mentions:
                self.report["sentences_without_mentions"] += 1
                continue
            first = sentences[max(0, number - self.neighbours)][0]
            last = sentences[min(len(sentences) - 1, number + self.neighbours)][1]
            window = document.text[first:last]
            name = f"{document.id}#{number + 1}"
            windows.append(rewritten(document, window, OffsetMap.cut(first, last), id=name, mentions=mentions))
        return windows

    def _sentences(self, document: Document) -> list[Sentence]:
        """Character offsets, without white space at the ends but where
        a mention reaches into it; none of them ends inside a mention."""
        sentences: list[Sentence] = []
        spans = [(span.start_char, span.end_char) for span in self._nlp(document.text).sents]
        bounds = [*(start for start, _ in spans), len(document.text)][1:]
        for (start, end), bound in zip(spans, bounds, strict=True):
            ends = [m.end for m in document.mentions if start <= m.start < bound]
            if sentences and sentences[-1][1] > start:  # a mention reaches into this one
                start, end = sentences[-1][0], max(sentences.pop()[1], end)
            sentences.append((start, max([end, *ends])))
        return sentences
