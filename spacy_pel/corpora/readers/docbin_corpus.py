"""spaCy's DocBin files (.spacy), as `spacy train` and annotation tools use them."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from spacy.tokens import Doc, DocBin
from spacy.util import get_lang_class
from spacy.vocab import Vocab, create_vocab

from ...errors import PelError
from ...registry import registry
from ...types import DOC_ID, NIL, Document
from ...util.config import known_language
from ...util.files import check_expansion, check_is_file
from ..policy import split_ids
from .reader_base import CorpusReaderBase, wrong_format

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
        if self.spans_key is None and not doc.ents and any(doc.spans.values()):
            self.count("documents_with_span_groups_alone")
        elif self.spans_key is not None and self.spans_key not in doc.spans:
            self.count("documents_without_span_group")
        for span in doc.ents if self.spans_key is None else doc.spans.get(self.spans_key, ()):
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
        packed_size, size, unpacked = len(data), 0, zlib.decompressobj()
        rest = data
        while rest and not unpacked.eof:
            size += len(unpacked.decompress(rest, _CHUNK))
            check_expansion(path, packed_size=packed_size, size=size)  # a small file may unpack to gigabytes
            rest = unpacked.unconsumed_tail
        yield from DocBin(store_user_data=True).from_bytes(data).get_docs(vocab)
    except PelError:
        raise
    except Exception as err:  # zlib, msgpack, numpy and spaCy each raise their own errors
        raise wrong_format("docbin", path, "a DocBin", f"unreadable bytes ({err})") from err
