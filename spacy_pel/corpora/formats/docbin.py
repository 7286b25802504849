"""spaCy: DocBin files (.spacy), as `spacy train` and annotation tools use them, and examples for training."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import filter_spans, get_lang_class
from spacy.vocab import Vocab, create_vocab

from ...errors import PelError, Warnings
from ...registry import registry
from ...types import DOC_ID, NIL, Document
from ...util import logger
from ...util.config import known_language
from ...util.files import check_expansion, check_is_file
from ..policy import split_ids
from .base import CorpusReaderBase, wrong_format
from .jsonl import read_corpus

_CHUNK = 2**20  # bytes


@registry.pel_corpus_readers("spacy-pel.DocbinCorpus.v1")
@dataclass(kw_only=True, eq=False)
class DocbinCorpus(CorpusReaderBase):
    """Reads entities (or a span group) with labels and ``kb_id``; ``|`` joins alternative ids.

    A document's id is ``doc.user_data["pel_doc_id"]`` (the command `convert` writes it), or the
    file's name and a number.

    Args:
        lang: the language whose blank vocabulary reads the file.
        spans_key: take the spans of this group; None = ``doc.ents``.
        unlabelled: mentions with the id "", i.e. unannotated: "drop" leaves them out
            and counts them, "nil" takes them for NIL like those with the id "NIL".
        label: the label of every mention; None = as the file has it.
        strip_prefix: taken off the ids that have it.
    """

    strict: bool = field(default=False, init=False)  # the text is the file's own
    lang: str = "en"
    spans_key: str | None = None
    unlabelled: Literal["drop", "nil"] = "drop"

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        with known_language(self.lang):
            vocab = create_vocab(self.lang, get_lang_class(self.lang).Defaults)  # without a tokenizer's rules
        for path in paths:
            for number, doc in enumerate(_docs(path, vocab), start=1):
                doc_id = doc.user_data.get(DOC_ID, f"{path.stem}-{number}")
                document = Document(str(doc_id), doc.text)
                self._mentions(document, doc, f"{path}, document {number}")
                yield document

    def _mentions(self, document: Document, doc: Doc, where: str) -> None:
        groups = {f"spans_key={key}": group for key, group in doc.spans.items() if group} | {"doc.ents": doc.ents}
        read = groups.pop("doc.ents" if self.spans_key is None else f"spans_key={self.spans_key}", ())
        self.unread.update(key for key, group in groups.items() if group)
        for span in read:
            if not span.kb_id_ and self.unlabelled == "drop":
                self.count("mentions")
                self.count("unlabelled")
                continue
            kb_id = "" if span.kb_id_ == NIL else span.kb_id_
            ids, _ = split_ids(kb_id, joiners="|", strip_prefix=self.strip_prefix)
            place = [(span.start_char, span.end_char)]
            self.add(document, place, span.text, label=span.label_, ids=ids, where=where)


def _docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    check_is_file(path)
    data = path.read_bytes()
    try:
        rest, size, unpacked = data, 0, zlib.decompressobj()
        while rest and not unpacked.eof:
            size += len(unpacked.decompress(rest, _CHUNK))
            check_expansion(path, packed_size=len(data), size=size)  # a small file may unpack to gigabytes
            rest = unpacked.unconsumed_tail
        yield from DocBin(store_user_data=True).from_bytes(data).get_docs(vocab)
    except PelError:
        raise
    except Exception as err:  # zlib, msgpack, numpy and spaCy each raise their own errors
        raise wrong_format("docbin", path, "a DocBin", f"unreadable bytes ({err})") from err


@spacy.registry.readers("spacy-pel.MentionJsonl.v1")
class MentionJsonl:
    """Reads the corpus format for ``[corpora]`` of a config: yields examples whose reference has the gold
    mentions with labels and ids.

    The predicted doc has the document's id in ``user_data``, but never gold mentions or their ids. Tokens of
    mentions that have no label, or that ``doc.ents`` cannot hold, are missing values in the reference: they count
    neither in training nor in scores. ``report`` counts what ``doc.ents`` could not hold.

    Args:
        path: a .jsonl or .jsonl.gz file.
        limit: read at most this many documents; 0 = all.
    """

    def __init__(self, path: str | Path, *, limit: int = 0) -> None:
        self.path, self.limit = Path(path), limit
        self.report: dict[str, int] = {}

    def __call__(self, nlp: Language) -> Iterator[Example]:
        report: Counter[str] = Counter()
        for document in islice(read_corpus(self.path), self.limit or None):
            predicted = nlp.make_doc(document.text)
            predicted.user_data[DOC_ID] = document.id
            reference = with_gold(predicted.copy(), document, report)
            _set_missing(reference, document)
            yield Example(predicted, reference)
        if not self.report and (report["misaligned"] or report["overlapping"]):
            logger.warning(Warnings.W201.format(path=self.path, **report))
        self.report = report


def with_gold(doc: Doc, document: Document, report: Counter[str]) -> Doc:
    """Set a document's mentions as ``doc.ents``, the first id of each as its ``kb_id``.

    Args:
        doc: the tokenised text of the document.
        document: where the mentions come from.
        report: counts "mentions", "misaligned" (the offsets lie inside a
            token) and "overlapping" (left out for a longer one).

    Returns:
        The doc.
    """
    found = [
        doc.char_span(mention.start, mention.end, label=mention.label, kb_id=next(iter(mention.ids), NIL))
        for mention in document.mentions
    ]
    spans = [span for span in found if span is not None]
    longest = filter_spans(spans)
    doc.set_ents(longest)
    report.update({"mentions": len(found), "misaligned": found.count(None), "overlapping": len(spans) - len(longest)})
    return doc


def _set_missing(doc: Doc, document: Document) -> None:
    """Mark the tokens of mentions that are not entities with a label; ``doc.ents`` keeps the others."""
    known = [ent for ent in doc.ents if ent.label_]
    spans = (doc.char_span(mention.start, mention.end, alignment_mode="expand") for mention in document.mentions)
    tokens = {token.i for span in spans if span is not None for token in span}
    missing = tokens.difference(token.i for ent in known for token in ent)
    doc.set_ents(known, missing=[doc[i : i + 1] for i in sorted(missing)])
