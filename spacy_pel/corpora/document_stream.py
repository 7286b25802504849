"""Documents through a pipeline: long ones in pieces, and one that fails leaves the others alone."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, groupby, islice
from typing import Any, NamedTuple, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import ignore_error, raise_error

from ..abbreviations.documents import SharedDefinitions
from ..errors import PelError, one_line, shortened
from ..types import Document
from ..util.parsing import check_unicode

DocT = TypeVar("DocT")
HOPELESS = 100  # documents that fail, and none that does not, after which it is the pipeline's fault
ARTICLE = "article_id"  # in the meta of documents that are passages of one article
_PIECE = 100_000  # characters: more would need more memory, and context reaches no further than a paragraph
# where to cut, best first: after a paragraph, a sentence, a line, a word
_ENDS = [re.compile(end) for end in (r"\n[^\S\n]*\n\s*", r"[.!?][\])}\"'”’]*\s+", r"\n\s*", r"\s+")]


class ProcessedDocument(NamedTuple):
    """A document after a pipeline.

    Attributes:
        document: as it was given.
        pieces: its text, linked, each piece with the offset of its first character; none
            if the pipeline failed.
        error: why the pipeline failed; "" = it did not.
    """

    document: Document
    pieces: list[tuple[int, Doc]]
    error: str


class _Piece(NamedTuple):
    number: int  # of the document
    document: Document
    start: int
    text: str

    @property
    def article(self) -> Hashable:
        """What it shares abbreviations with."""
        article = article_of(self.document)
        return article if article is not None or len(self.text) == len(self.document.text) else (self.number,)


def article_of(document: Document) -> str | int | None:
    """The article of which a document is a passage; None = it is none."""
    article = document.meta.get(ARTICLE)
    return article if isinstance(article, (str, int)) and article != "" else None  # "": an empty cell of a table


def process_documents(nlp: Language, documents: Iterable[Document], *, batch_size: int) -> Iterator[ProcessedDocument]:
    """Run a pipeline over documents. A text longer than ``nlp.max_length`` is cut into pieces, between
    paragraphs or else sentences. Where a batch fails, its documents are processed one by one, so that only
    those that fail on their own are lost.

    Abbreviations that a piece defines are known in the next ones, and those of a document in the next ones with
    the same ``article_id`` in their meta.

    Args:
        nlp: the pipeline.
        documents: read as they are needed.
        batch_size: documents per batch.

    Yields:
        In order.
    """
    pieces = (
        _Piece(number, document, start, text)
        for number, document in enumerate(documents)
        for start, text in text_pieces(document.text, nlp.max_length)
    )
    results = _results(nlp, pieces, batch_size)
    for _, group in groupby(results, key=lambda result: result[0].number):
        results_of_document = list(group)
        error = next((result for _, result in results_of_document if isinstance(result, str)), "")
        docs = [] if error else [(piece.start, doc) for piece, doc in results_of_document]
        yield ProcessedDocument(results_of_document[0][0].document, docs, error)  # type: ignore[arg-type]


def text_pieces(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Cut a text that is longer than a pipeline accepts.

    Args:
        text: any text.
        longest: characters that the pipeline accepts.

    Yields:
        Offset and text of each piece; together they are the text.
    """
    start, size = 0, len(text) if len(text) <= longest else min(longest, _PIECE)
    while len(text) - start > size:
        end = start + size
        found = ([match.end() for match in one.finditer(text, start + size // 2, end)] for one in _ENDS)
        end = next((ends[-1] for ends in found if ends), end)
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _results(nlp: Language, pieces: Iterator[_Piece], batch_size: int) -> Iterator[tuple[_Piece, Doc | str]]:
    """Each piece with its Doc, or why it has none."""
    numbered = enumerate(pieces)
    waiting: dict[int, _Piece] = {}  # pieces that were read and have no result yet
    unread: list[Exception] = []  # why no more pieces could be read
    share = SharedDefinitions()

    def docs(some: Iterable[tuple[int, _Piece]]) -> Iterator[tuple[Doc, int]]:
        for number, piece in _until_error(some, unread):
            waiting[number] = piece
            try:
                doc = share(nlp.make_doc(piece.text), piece.article)
            except Exception:  # it is tried again on its own
                continue
            yield doc, number

    for first in numbered:
        # a batch at a time: after an error, only the rest of that batch is done again
        batch = chain([first], islice(numbered, batch_size - 1))
        with suppress(Exception), _error_handler(nlp, ignore_error):
            for doc, number in nlp.pipe(docs(batch), as_tuples=True, batch_size=batch_size):
                while (lost := next(iter(waiting))) < number:  # they wait in order
                    yield waiting[lost], _alone(nlp, waiting.pop(lost))
                yield waiting.pop(number), doc
        for piece in waiting.values():
            yield piece, _alone(nlp, piece)
        waiting.clear()
        if unread:
            raise unread[0]


def _until_error(items: Iterable[Any], errors: list[Exception]) -> Iterator[Any]:
    """The items. An error in reading them ends them and is kept: ``nlp.pipe`` could not tell
    it from one of a component."""
    try:
        yield from items
    except Exception as err:
        errors.append(err)


def reason_of(err: Exception) -> str:
    """An error as the reason why a document was left out."""
    got = str(err) if isinstance(err, PelError) else f"{type(err).__name__}: {err}"
    return shortened(one_line(got).strip(": ").removesuffix("."), 300)


def _alone(nlp: Language, piece: _Piece) -> Doc | str:
    """Of a piece on its own; the reason, if the pipeline fails."""
    try:
        check_unicode({"text": piece.text}, f"the document {piece.document.id}")
        with _error_handler(nlp, raise_error):
            doc = next(nlp.pipe([piece.text], batch_size=1), None)
    except Exception as err:
        return reason_of(err)
    return "the pipeline's error handler skipped it" if doc is None else doc


@contextmanager
def _error_handler(nlp: Language, handler: Any) -> Iterator[None]:
    """Set the handler of components that have none of their own."""
    before, nlp.default_error_handler = nlp.default_error_handler, handler
    try:
        yield
    finally:
        nlp.default_error_handler = before


def by_mentions(
    stream: Iterable[DocT], count: Callable[[DocT], int], *, n_mentions: int, n_docs: int | None = None
) -> Iterator[list[DocT]]:
    """Documents in order, in batches that have this many mentions together, or are this many, or are the last."""
    docs: list[DocT] = []
    n_found = 0
    for doc in stream:
        docs.append(doc)
        n_found += count(doc)
        if n_found >= n_mentions or len(docs) == n_docs:
            yield docs
            docs, n_found = [], 0
    if docs:
        yield docs
