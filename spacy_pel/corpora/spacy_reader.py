"""From the corpus format to spaCy: examples for training and evaluation, and DocBin files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..errors import Warnings
from ..types import DOC_ID, NIL, Document
from ..util import atomic_path, logger
from .original import original_id
from .readers.jsonl_corpus import read_corpus


@spacy.registry.readers("spacy-pel.MentionJsonl.v1")
class MentionJsonl:
    """Reads the corpus format for ``[corpora]`` of a config: yields examples whose reference has the gold
    mentions with labels and ids.

    The predicted doc has the document's original id in ``user_data``, but never gold mentions or their ids. Tokens of
    mentions that have no label, or that ``doc.ents`` cannot hold, are missing values in the reference: they count
    neither in training nor in scores. ``report`` counts what ``doc.ents`` could not hold.

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
            predicted.user_data[DOC_ID] = original_id(document)
            reference = with_gold(predicted.copy(), document, report)
            _set_missing(reference, document)
            yield Example(predicted, reference)
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


def _set_missing(doc: Doc, document: Document) -> None:
    """Mark the tokens of mentions that are not entities with a label; ``doc.ents`` keeps the others."""
    known = [ent for ent in doc.ents if ent.label_]
    spans = (doc.char_span(mention.start, mention.end, alignment_mode="expand") for mention in document.mentions)
    tokens = {token.i for span in spans if span is not None for token in span}
    missing = tokens.difference(token.i for ent in known for token in ent)
    doc.set_ents(known, missing=[doc[i : i + 1] for i in sorted(missing)])


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
        doc.user_data[DOC_ID] = document.id
        docbin.add(doc)
    with atomic_path(path) as part:
        docbin.to_disk(part)
    return len(docbin)
