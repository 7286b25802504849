"""Predictions for gold mentions: given to the linker, or found by a pipeline itself."""

import time
from typing import Any, Callable, Iterable, Iterator, List, Sequence

from ..linking import Linker, MentionQuery, cut_window
from ..types import Document, Mention
from .prediction import Prediction
from .spans import SpanCounts

MakeQueries = Callable[[Document], List[MentionQuery]]
IsSeen = Callable[[Sequence[str]], bool]
_MENTIONS = 1024  # linked at a time


class Stopwatch:
    """Adds up the time of linking alone, without reading the corpus and writing results."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.n_mentions = 0

    def add(self, started: float, n_mentions: int) -> None:
        self.seconds += time.perf_counter() - started
        self.n_mentions += n_mentions


def gold_queries(document: Document) -> List[MentionQuery]:
    """RETURNS (List[MentionQuery]): the gold mentions of a document, just as they stand there."""
    return [cut_window(document.text, m.start, m.end, label=m.label) for m in document.mentions]


def live_ids(linker: Linker, mention: Mention) -> List[str]:
    """RETURNS (List[str]): the gold ids that the KB knows, redirects followed; empty = NIL."""
    resolved = (linker.kb.resolve(entity_id) for entity_id in mention.ids)
    return list(dict.fromkeys(entity_id for entity_id in resolved if entity_id is not None))


def predict_gold(
    linker: Linker,
    documents: Iterable[Document],
    *,
    queries: MakeQueries,
    is_seen: IsSeen,
    stopwatch: Stopwatch,
) -> Iterator[Prediction]:
    """Link the gold mentions.

    linker (Linker): gives the links.
    documents (Iterable[Document]): read as they are needed.
    queries (MakeQueries): one query per mention of a document.
    is_seen (IsSeen): does a gold entity occur in the training corpus?
    stopwatch (Stopwatch): takes the time of linking.
    YIELDS (Prediction): in the order of the corpus.
    """
    waiting: List[Document] = []
    for document in documents:
        waiting.append(document)
        if sum(len(one.mentions) for one in waiting) >= _MENTIONS:
            yield from _link(linker, waiting, queries, is_seen, stopwatch)
            waiting = []
    yield from _link(linker, waiting, queries, is_seen, stopwatch)


def _link(
    linker: Linker,
    documents: List[Document],
    queries: MakeQueries,
    is_seen: IsSeen,
    stopwatch: Stopwatch,
) -> Iterator[Prediction]:
    started = time.perf_counter()
    asked = [query for document in documents for query in queries(document)]
    links = iter(linker.link(asked))
    stopwatch.add(started, len(asked))
    for document in documents:
        for mention in document.mentions:
            link = next(links)
            prediction = _blank(linker, document, mention, is_seen)
            prediction.kb_id = link.kb_id
            prediction.candidates = [(candidate.entity_id, candidate.score) for candidate in link.candidates]
            prediction.nil_score = link.nil_score
            yield prediction


def predict_end_to_end(
    nlp: Any,
    linker: Linker,
    documents: Iterable[Document],
    *,
    spans: Callable[[Any], Iterable[Any]],
    is_seen: IsSeen,
    stopwatch: Stopwatch,
    counts: SpanCounts,
) -> Iterator[Prediction]:
    """Let a pipeline find and link mentions, and look up the gold ones among them by offsets.

    nlp (Language): a pipeline with the linker in it.
    linker (Linker): the pipeline's, for its KB.
    documents (Iterable[Document]): read as they are needed.
    spans (Callable): gives the linked spans of a Doc.
    is_seen (IsSeen): does a gold entity occur in the training corpus?
    stopwatch (Stopwatch): takes the time of the whole pipeline.
    counts (SpanCounts): takes the hits.
    YIELDS (Prediction): for each gold mention; one that was not found has no candidates and
        the id "".
    """
    started = time.perf_counter()
    for doc, document in nlp.pipe(((one.text, one) for one in documents), as_tuples=True):
        found = {(span.start_char, span.end_char): span for span in spans(doc)}
        stopwatch.add(started, len(found))
        predictions = []
        for mention in document.mentions:
            prediction = _blank(linker, document, mention, is_seen)
            span = found.get((mention.start, mention.end))
            if span is not None:
                prediction.kb_id = span.kb_id_
                prediction.candidates = [(str(key), float(score)) for key, score in span._.pel_candidates]
                prediction.nil_score = float(span._.pel_nil_score or 0.0)
            predictions.append(prediction)
        counts.add([(document.id, *place, span.kb_id_) for place, span in found.items()], predictions)
        yield from predictions
        started = time.perf_counter()


def _blank(linker: Linker, document: Document, mention: Mention, is_seen: IsSeen) -> Prediction:
    gold = live_ids(linker, mention)
    return Prediction(
        doc=document.id,
        start=mention.start,
        end=mention.end,
        text=document.text[mention.start : mention.end],
        label=mention.label,
        gold=gold,
        kb_id="",
        composite=mention.composite,
        seen=bool(gold) and is_seen(gold),
    )
