"""Map an evaluation on a preprocessed corpus back to the original texts."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...corpora.original import Original
from ...errors import Errors, PelError
from ...evaluation.metrics.all_metrics import compute_metrics
from ...evaluation.metrics.recall import RECALL_AT
from ...evaluation.outcomes import Outcomes, Prediction, read_metrics, read_predictions, recorded
from ...types import Document
from ...util import write_json


def restore_run(
    run: Path, documents: Iterable[Document], output: Path, *, corpus: Path, seed: int = 0
) -> dict[str, Any]:
    """Rewrite an evaluation so that it can be compared with others on the original corpus.

    Args:
        run: the folder that ``evaluate`` wrote.
        documents: the preprocessed corpus that was evaluated.
        output: gets predictions.jsonl with the ids and offsets of the originals, and metrics.json with
            bootstrap intervals over the original documents.
        corpus: the file of the documents, for error messages.
        seed: random seed of the bootstrap.

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
            yield replace(prediction, doc=source.id, original="", start=start, end=end)

    outcomes = Outcomes.of(recorded(moved(), output))
    ks = [k for k in RECALL_AT if f"recall@{k}" in metrics]
    metrics = {**metrics, **compute_metrics(outcomes, ks=ks, seed=seed), "restored_from": str(run)}
    write_json(output / "metrics.json", metrics)
    return metrics
