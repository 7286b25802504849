"""Mapping mentions of a preprocessed corpus, gold, linked or evaluated, back to the original texts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError, shortened
from ...evaluation.metrics.all_metrics import RECALL_AT, compute_metrics
from ...evaluation.outcomes import Outcomes, Prediction, read_metrics, read_predictions, recorded
from ...types import Document
from ...util import write_json
from ..offset_map import Original, hash_of

Record = dict[str, Any]


def restored(records: Iterable[Record], originals: dict[str, Document], path: Path) -> Iterator[Record]:
    """Map the mentions of preprocessed documents back to their originals.

    Args:
        records: lines of a corpus, or of what `spacy-pel link` made of one.
        originals: the documents before preprocessing, by id.
        path: where these come from, for errors.

    Yields:
        Lines with the original texts; other keys of a mention are kept. Of mentions with the same offsets and label
        the first is kept.

    Raises:
        PelError: if a line is not a document, or an original is missing or has another text.
    """
    for record in records:
        source = _original(record)
        if source.id not in originals:
            raise PelError(Errors.E240.format(document=source.id, path=path, what="was preprocessed"))
        original = originals[source.id]
        if source.text_hash != hash_of(original.text):
            raise PelError(Errors.E248.format(document=source.id, path=path, length=len(original.text)))
        mentions: dict[tuple[int, int, str], Record] = {}
        for mention in record.get("mentions") or ():
            start, end = source.offsets.original_span(mention["start"], mention["end"])
            if end > len(original.text):
                raise PelError(Errors.E241.format(document=source.id, path=path, start=start, end=end))
            moved = {**mention, "start": start, "end": end, "text": original.text[start:end]}
            mentions.setdefault((start, end, str(mention.get("label") or "")), moved)
        ordered = sorted(mentions.values(), key=lambda mention: (mention["start"], -mention["end"]))
        yield {"id": source.id, "text": original.text, "mentions": ordered, "meta": original.meta}


def _original(record: Record) -> Original:
    """Where a record is from; its mentions have whole numbers as "start" and "end"."""
    meta, mentions = record.get("meta") or {}, record.get("mentions") or []
    mentions = mentions if isinstance(mentions, list) else [mentions]
    spans = [(one.get("start"), one.get("end")) if isinstance(one, dict) else (None,) for one in mentions]
    is_document = isinstance(record.get("text"), str) and "id" in record and isinstance(meta, dict)
    if not is_document or {type(place) for span in spans for place in span} - {int}:  # type(), as True is an int, too
        raise PelError(Errors.E202.format(where="a line to restore", got=shortened(repr(record))))
    return Original.of(Document(str(record["id"]), record["text"], meta=meta))


def restore_run(run: Path, documents: Iterable[Document], output: Path, *, corpus: Path) -> dict[str, Any]:
    """Rewrite an evaluation so that it can be compared with others on the original corpus.

    Args:
        run: the folder that ``evaluate`` wrote.
        documents: the preprocessed corpus that was evaluated.
        output: gets predictions.jsonl with the ids and offsets of the originals, and metrics.json with
            bootstrap intervals over the original documents.
        corpus: the file of the documents, for error messages.

    Returns:
        The metrics.

    Raises:
        PelError: if a prediction belongs to no document of the corpus.
    """
    metrics = read_metrics(run)
    sources = {document.id: Original.of(document) for document in documents}

    def moved() -> Iterator[Prediction]:
        for prediction in read_predictions(run / "predictions.jsonl"):
            if prediction.doc not in sources:
                raise PelError(Errors.E240.format(document=prediction.doc, path=corpus, what="was evaluated"))
            source = sources[prediction.doc]
            start, end = source.offsets.original_span(prediction.start, prediction.end)
            yield replace(prediction, doc=source.id, start=start, end=end)

    outcomes = Outcomes.of(recorded(moved(), output))
    ks = [k for k in RECALL_AT if f"recall@{k}" in metrics]
    metrics = {**metrics, **compute_metrics(outcomes, ks=ks), "restored_from": str(run)}
    write_json(output / "metrics.json", metrics)
    return metrics
