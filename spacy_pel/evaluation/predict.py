"""Predictions for gold mentions, which are given to the linker or found by the pipeline itself."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ..corpora.document_stream import HOPELESS, process_documents, reason_of
from ..corpora.original import original_id
from ..errors import Errors, PelError, Warnings
from ..kb import KnowledgeBase
from ..linking import Link, Linker, MentionQuery
from ..types import Document, Mention
from ..util import logger
from ..util.console import ChunkProgress
from .metrics.detection import Detection, Found
from .outcomes import Outcomes, Prediction

MakeQueries = Callable[[Document], list[MentionQuery]]
IsSeen = Callable[[Sequence[str]], bool]
IsKnown = Callable[[str], bool]
_MENTIONS = 1024  # linked at a time


@dataclass
class Tally:
    """Measures the time of linking, without reading the corpus and writing results, and counts the gold
    mentions whose ids the KB lacks and the documents that could not be linked.

    Attributes:
        seconds: of linking.
        n_mentions: mentions that were linked.
        n_with_ids: gold mentions with ids; of these, ``n_outside`` have an id that the KB lacks, and ``n_unknown``
            have none that the KB has.
        outside: an example of an id that the KB lacks.
        n_linked, n_left_out: documents that were linked, and those that could not be.
        bar: counts the documents that are linked.
    """

    bar: ChunkProgress
    seconds: float = 0.0
    n_mentions: int = 0
    n_with_ids: int = 0
    n_outside: int = 0
    n_unknown: int = 0
    outside: str = ""
    n_linked: int = 0
    n_left_out: int = 0

    def took(self, started: float, n_mentions: int) -> None:
        self.seconds += time.perf_counter() - started
        self.n_mentions += n_mentions

    def failed(self, document: Document, reason: str) -> None:
        """Raises:
        PelError: if many documents failed, and none was linked before.
        """
        self.n_left_out += 1
        logger.warning(Warnings.W606.format(id=document.id, got=reason))
        if not self.n_linked and self.n_left_out >= HOPELESS:
            raise PelError(Errors.E605.format(n=self.n_left_out, id=document.id, got=reason))

    def saw(self, prediction: Prediction) -> None:
        self.n_outside += bool(prediction.outside)
        self.n_with_ids += bool(prediction.outside or prediction.gold)
        self.n_unknown += bool(prediction.outside and not prediction.gold)
        self.outside = self.outside or next(iter(prediction.outside), "")


class _Answer(NamedTuple):
    link: Link
    form: str  # as the linker read it


def gold_queries(document: Document) -> list[MentionQuery]:
    """The gold mentions of a document, unchanged."""
    return [MentionQuery(document.text, m.start, m.end, m.label) for m in document.mentions]


def predict_gold(
    linker: Linker,
    documents: Iterable[Document],
    *,
    queries: MakeQueries,
    top_k: int,
    is_seen: IsSeen,
    is_known: IsKnown,
    tally: Tally,
) -> Iterator[Prediction]:
    """Link the gold mentions.

    Args:
        linker: gives the links.
        documents: read as they are needed.
        queries: one query per mention of a document.
        top_k: candidates per mention.
        is_seen: does a gold entity occur in the training corpus?
        is_known: does a surface form occur in annotated text?
        tally: counts time, mentions and documents.

    Yields:
        In the order of the corpus; where a document failed, without candidates and with the
        id "".
    """
    for block in _blocks(documents):
        answers = iter(_answers_or_none(linker, block, queries, top_k, tally, tally.bar))
        for document in block:
            for mention in document.mentions:
                prediction = gold_prediction(linker.kb, document, mention, is_seen)
                tally.saw(prediction)
                if answer := next(answers):
                    prediction.set_link(answer.link)
                    prediction.known_form = is_known(answer.form)
                yield prediction


def _answers_or_none(
    linker: Linker, block: list[Document], queries: MakeQueries, top_k: int, tally: Tally, bar: ChunkProgress | None
) -> list[_Answer | None]:
    """None for the mentions of a document that fails on its own."""
    try:
        answers = _answers(linker, block, queries, top_k, tally, bar)
    except Exception as err:
        if len(block) > 1:
            each = (_answers_or_none(linker, [document], queries, top_k, tally, None) for document in block)
            return list(chain.from_iterable(each))
        tally.failed(block[0], reason_of(err))
        return [None] * len(block[0].mentions)
    tally.n_linked += len(block)
    return list(answers)


def _answers(
    linker: Linker, block: list[Document], queries: MakeQueries, top_k: int, tally: Tally, bar: ChunkProgress | None
) -> list[_Answer]:
    started = time.perf_counter()
    asked: list[MentionQuery] = []
    ends: list[int] = []  # of the documents' mentions
    for document in block:
        asked += queries(document)
        ends.append(len(asked))
    links: list[Link] = []
    done = start = 0
    for number, end in enumerate(ends, start=1):
        if end - start >= linker.batch_size or number == len(ends):  # whole documents
            links += linker.link(asked[start:end], top_k=top_k)
            start = end
            if bar is not None:
                bar.advance(number - done)
                done = number
    tally.took(started, len(asked))
    return [_Answer(link, query.surface) for link, query in zip(links, asked, strict=True)]


def _blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    block: list[Document] = []
    for document in documents:
        block.append(document)
        if sum(len(other.mentions) for other in block) >= _MENTIONS:
            yield block
            block = []
    yield block


def predict_end_to_end(
    nlp: Any,
    linker: Linker,
    documents: Iterable[Document],
    *,
    spans: Callable[[Any], Iterable[Any]],
    is_seen: IsSeen,
    is_known: IsKnown,
    tally: Tally,
    detection: Detection,
    prefix: str = "pel",
) -> Iterator[Prediction]:
    """Let a pipeline find and link mentions, and look up the gold ones among them by offsets.

    Args:
        nlp: a pipeline with the linker.
        linker: the linker of that pipeline, for its KB.
        documents: read as they are needed.
        spans: gives the linked spans of a Doc.
        is_seen: does a gold entity occur in the training corpus?
        is_known: does a surface form occur in annotated text?
        tally: counts time, mentions and documents.
        detection: counts what is found.
        prefix: of the linker's extension attributes.

    Yields:
        For each gold mention; one that was not found has no candidates and the id "".
    """
    started = time.perf_counter()
    for document, pieces, error in process_documents(nlp, documents, batch_size=nlp.batch_size):
        found = {(start + span.start_char, start + span.end_char): span for start, doc in pieces for span in spans(doc)}
        tally.took(started, len(found))
        if error:
            tally.failed(document, error)
        else:
            tally.n_linked += 1
        predictions = []
        for mention in document.mentions:
            prediction = gold_prediction(linker.kb, document, mention, is_seen)
            tally.saw(prediction)
            span = found.get((mention.start, mention.end))
            if span is not None:
                _take_over(span, prediction, prefix)
                prediction.known_form = is_known(prediction.text)
            predictions.append(prediction)
        tally.bar.advance(1)
        spans_found = [Found(*at, span.label_, _id_of(span, prefix)) for at, span in found.items()]
        detection.add(original_id(document), spans_found, predictions)
        yield from predictions
        started = time.perf_counter()


def _take_over(span: Any, prediction: Prediction, prefix: str) -> None:
    """The answer of a pipeline from the attributes of a span."""
    prediction.kb_id = _id_of(span, prefix)
    prediction.candidates = [(str(key), float(score)) for key, score in span._.get(f"{prefix}_candidates")]
    prediction.nil_score = float(span._.get(f"{prefix}_nil_score") or 0.0)
    prediction.probability = span._.get(f"{prefix}_probability")
    prediction.id_set = span._.get(f"{prefix}_set") or None


def _id_of(span: Any, prefix: str) -> str:
    """The id that the linker gave; a later one may have set another ``kb_id_``."""
    return str(span._.get(f"{prefix}_id") or span.kb_id_)


def gold_prediction(kb: KnowledgeBase, document: Document, mention: Mention, is_seen: IsSeen) -> Prediction:
    """A prediction with its gold ids; id, candidates and NIL score are still to be set.

    Args:
        kb: resolves the gold ids.
        document: that has the mention.
        mention: with its gold ids.
        is_seen: does a gold entity occur in the training corpus?

    Returns:
        With no candidates and the id "".
    """
    resolved = [kb.resolve(entity_id) for entity_id in mention.ids]
    gold = list(dict.fromkeys(live for live in resolved if live is not None))
    start, end = mention.start, mention.end
    prediction = Prediction(document.id, start, end, document.text[start:end], mention.label, gold, kb_id="")
    prediction.original = original if (original := original_id(document)) != document.id else ""
    prediction.composite, prediction.seen = mention.composite, bool(gold) and is_seen(gold)
    prediction.outside = [entity_id for entity_id, live in zip(mention.ids, resolved, strict=True) if live is None]
    prediction.types = sorted({name for entity_id in gold for name in kb[entity_id].types})
    return prediction


def link_outcomes(kb: KnowledgeBase, documents: Iterable[Document], links: Iterable[Link]) -> Outcomes:
    """What became of gold mentions.

    Args:
        kb: resolves the gold ids.
        documents: that have the mentions.
        links: one for each mention, in order.
    """

    def predictions() -> Iterator[Prediction]:
        mentions = ((document, mention) for document in documents for mention in document.mentions)
        for (document, mention), link in zip(mentions, links, strict=True):
            prediction = gold_prediction(kb, document, mention, lambda gold: False)
            prediction.set_link(link)
            yield prediction

    return Outcomes.of(predictions())


if TYPE_CHECKING:  # imports faiss
    from ..index import EntityIndex


def seen_in_corpus(kb: KnowledgeBase, documents: Iterable[Document]) -> IsSeen:
    """Is one of these live ids a gold id of the documents?"""
    ids = {entity_id for document in documents for mention in document.mentions for entity_id in mention.ids}
    live: set[str] = {resolved for entity_id in ids if (resolved := kb.resolve(entity_id)) is not None}
    return lambda gold: not live.isdisjoint(gold)


def seen_in_index(kb: KnowledgeBase, index: "EntityIndex | None") -> IsSeen:
    """Is one of these ids a gold id of the documents that the index was built with?
    Without an index, nothing was seen."""
    return lambda gold: index is not None and bool((index.priors.total(kb.rows(list(gold))) > 0).any())


def form_in_index(index: "EntityIndex | None") -> Callable[[str], bool]:
    """Does a surface form occur in the annotated text that the index was built with?"""
    return lambda form: index is not None and len(index.priors.counts([form])[0]) > 0
