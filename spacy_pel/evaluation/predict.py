"""Predictions for gold mentions, which are given to the linker or found by the pipeline itself."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..corpora.document_stream import HOPELESS, by_mentions, process_documents, reason_of
from ..errors import Errors, PelError, Warnings
from ..index import EntityIndex
from ..kb import KnowledgeBase
from ..linking import Link, Linker, MentionQuery
from ..types import Document, Mention
from ..util import logger
from .metrics.detection import Detection, Found
from .outcomes import Outcomes, Prediction

MakeQueries = Callable[[Document], list[MentionQuery]]
IsSeen = Callable[[Sequence[str]], bool]


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
        bar: of progress, counts the documents.
    """

    bar: Any
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


def gold_queries(document: Document) -> list[MentionQuery]:
    """The gold mentions of a document, unchanged."""
    return [MentionQuery(document.text, m.start, m.end, m.label) for m in document.mentions]


def predict_gold(
    linker: Linker, documents: Iterable[Document], *, queries: MakeQueries, top_k: int, is_seen: IsSeen, tally: Tally
) -> Iterator[Prediction]:
    """Link the gold mentions.

    Args:
        linker: gives the links.
        documents: read as they are needed.
        queries: one query per mention of a document.
        top_k: candidates per mention.
        is_seen: does a gold entity occur in the training corpus?
        tally: counts time, mentions and documents.

    Yields:
        In the order of the corpus; where a document failed, without candidates and with the
        id "".
    """
    is_known = _form_in_index(linker.index)
    for block in by_mentions(documents, lambda one: len(one.mentions), n_mentions=linker.batch_size):
        for document, answers in _linked(linker, block, queries, top_k, tally):
            for mention, (query, link) in zip(document.mentions, answers, strict=True):
                prediction = gold_prediction(linker.kb, document, mention, is_seen)
                tally.saw(prediction)
                if link is not None:
                    prediction.set_link(link)
                    prediction.known_form = is_known(query.surface)
                yield prediction
            tally.bar.update(1)


def _linked(
    linker: Linker, block: list[Document], queries: MakeQueries, top_k: int, tally: Tally
) -> Iterator[tuple[Document, list[tuple[Any, Link | None]]]]:
    """The queries and links of each document; no links for one that fails on its own."""
    started = time.perf_counter()
    try:
        asked = [queries(document) for document in block]
        links = linker.link(list(chain.from_iterable(asked)), top_k=top_k)
    except Exception as err:
        if len(block) > 1:
            for document in block:
                yield from _linked(linker, [document], queries, top_k, tally)
        else:
            tally.failed(block[0], reason_of(err))
            yield block[0], [(None, None)] * len(block[0].mentions)
        return
    tally.took(started, len(links))
    tally.n_linked += len(block)
    left = iter(links)
    for document, of_document in zip(block, asked, strict=True):
        yield document, [(query, next(left)) for query in of_document]


def predict_end_to_end(
    nlp: Any,
    linker: Linker,
    documents: Iterable[Document],
    *,
    spans: Callable[[Any], Iterable[Any]],
    is_seen: IsSeen,
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
        tally: counts time, mentions and documents.
        detection: counts what is found.
        prefix: of the linker's extension attributes.

    Yields:
        For each gold mention; one that was not found has no candidates and the id "".
    """
    is_known, started = _form_in_index(linker.index), time.perf_counter()
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
        tally.bar.update(1)
        spans_found = [Found(*at, span.label_, _id_of(span, prefix)) for at, span in found.items()]
        detection.add(document.id, spans_found, predictions)
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
    outside = [entity_id for entity_id, live in zip(mention.ids, resolved, strict=True) if live is None]
    types = sorted({name for entity_id in gold for name in kb[entity_id].types})
    place = (document.id, mention.start, mention.end, document.text[mention.start : mention.end], mention.label)
    about: Any = {"composite": mention.composite, "seen": bool(gold) and is_seen(gold)}
    return Prediction(*place, gold, kb_id="", outside=outside, types=types, **about)


def link_outcomes(kb: KnowledgeBase, documents: Iterable[Document], links: Iterable[Link]) -> Outcomes:
    """What became of gold mentions.

    Args:
        kb: resolves the gold ids.
        documents: that have the mentions.
        links: one for each mention, in order.
    """
    mentions = ((document, mention) for document in documents for mention in document.mentions)
    predictions = [gold_prediction(kb, document, mention, lambda gold: False) for document, mention in mentions]
    for prediction, link in zip(predictions, links, strict=True):
        prediction.set_link(link)
    return Outcomes.of(predictions)


def seen_in_corpus(kb: KnowledgeBase, documents: Iterable[Document]) -> IsSeen:
    """Is one of these live ids a gold id of the documents?"""
    ids = {entity_id for document in documents for mention in document.mentions for entity_id in mention.ids}
    live: set[str] = {resolved for entity_id in ids if (resolved := kb.resolve(entity_id)) is not None}
    return lambda gold: not live.isdisjoint(gold)


def seen_in_index(kb: KnowledgeBase, index: EntityIndex | None) -> IsSeen:
    """Is one of these ids a gold id of the documents that the index was built with?
    Without an index, nothing was seen."""
    return lambda gold: index is not None and bool((index.priors.total(kb.rows(list(gold))) > 0).any())


def _form_in_index(index: EntityIndex | None) -> Callable[[str], bool]:
    """Does a surface form occur in the annotated text that the index was built with?"""
    return lambda form: index is not None and len(index.priors.counts([form])[0]) > 0
