"""From the corpus format to spaCy: examples for training and evaluation, and DocBin files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import Warnings
from ..types import NIL, Document
from ..util import atomic_path, logger
from .readers.jsonl_corpus import read_corpus


@spacy.registry.readers("spacy-pel.MentionJsonl.v1")
class MentionJsonl:
    """Reads the corpus format for ``[corpora]`` of a config: yields examples whose reference has the gold
    mentions with labels and ids.

    The predicted doc is plain: it never has gold mentions or ids. ``report`` counts
    what ``doc.ents`` could not hold.

    Args:
        path: a .jsonl or .jsonl.gz file.
        limit: read at most this many documents; 0 = all.
    """

    def __init__(self, path: str | Path, *, limit: int = 0) -> None:
        self.path = Path(path)
        self.limit = limit
        self.report: dict[str, int] = {}

    def __call__(self, nlp: Language) -> Iterator[Example]:
        report = dict.fromkeys(("mentions", "misaligned", "overlapping"), 0)
        for number, document in enumerate(read_corpus(self.path)):
            if self.limit and number >= self.limit:
                break
            predicted = nlp.make_doc(document.text)
            yield Example(predicted, with_gold(predicted.copy(), document, report))
        if not self.report and (report["misaligned"] or report["overlapping"]):
            logger.warning(Warnings.W201.format(path=self.path, **report))
        self.report = report


def with_gold(doc: Doc, document: Document, report: dict[str, int]) -> Doc:
    """Set a document's mentions as ``doc.ents``, the first id of each as its ``kb_id``.

    Args:
        doc: the tokenised text of the document.
        document: where the mentions come from.
        report: counts "mentions", "misaligned" (the offsets lie inside a
            token) and "overlapping" (left out for a longer one).

    Returns:
        The doc.
    """
    spans: list[Span] = []
    for mention in document.mentions:
        kb_id = mention.ids[0] if mention.ids else NIL
        span = doc.char_span(mention.start, mention.end, label=mention.label, kb_id=kb_id)
        if span is not None:
            spans.append(span)
    longest = filter_spans(spans)
    doc.set_ents(longest)
    n = len(document.mentions)
    counts = {"mentions": n, "misaligned": n - len(spans), "overlapping": len(spans) - len(longest)}
    for key, count in counts.items():
        report[key] = report.get(key, 0) + count
    return doc


def to_docbin(path: str | Path, documents: Iterable[Document], nlp: Language, report: dict[str, int]) -> int:
    """Write documents as a .spacy file, e.g. for ``spacy evaluate``; the ids go to ``doc.user_data``.

    Args:
        path: the file.
        documents: what to write.
        nlp: its tokenizer cuts the texts.
        report: counts as in ``with_gold``.

    Returns:
        The number of documents.
    """
    docbin = DocBin(store_user_data=True)
    for document in documents:
        doc = with_gold(nlp.make_doc(document.text), document, report)
        doc.user_data["pel_doc_id"] = document.id
        docbin.add(doc)
    with atomic_path(path) as part:
        docbin.to_disk(part)
    return len(docbin)
