"""Evaluate a linker or a pipeline on a corpus; writes metrics.json and predictions.jsonl."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..kb.compare import no_known_id, warn_of_other_ids
from ..linking import Linker
from ..types import Document
from ..util import machine_note, write_json
from ..util.console import progress_bar
from .metrics.all_metrics import RECALL_AT, compute_metrics
from .metrics.detection import Detection
from .metrics.groups import GROUPINGS, MentionGroups, Relations
from .outcomes import Outcomes, Prediction, recorded, tapped
from .predict import IsSeen, MakeQueries, Tally, gold_queries, predict_end_to_end, predict_gold, seen_in_index

_GROUPED_BY = ("label", "form", "seen")


def evaluate(
    linker: Linker,
    documents: Iterable[Document],
    *,
    queries: MakeQueries = gold_queries,
    is_seen: IsSeen | None = None,
    top_k: int = 64,
    output: str | Path | None = None,
    corpus_fingerprint: str = "",
    seed: int = 0,
    show_progress: bool = False,
) -> dict[str, Any]:
    """Link the gold mentions of a corpus and compare the links with the gold ids.

    Args:
        linker: of a pipeline: ``nlp.get_pipe("proxy_entity_linker").linker``.
        documents: with gold mentions.
        queries: makes the queries of a document, e.g. with abbreviations expanded.
        is_seen: is one of these ids a gold id of the training corpus? None = of the
            documents that the index was built with.
        top_k: candidates per mention; recall@k is given for k up to this.
        output: folder for the files; None = write nothing.
        corpus_fingerprint: goes into the metrics.
        seed: random seed of the bootstrap.
        show_progress: show a progress bar.

    Returns:
        The metrics, see ``all_metrics.POLICY`` and docs/file-formats.md.

    Raises:
        PelError: if the corpus has no mentions.
    """
    predict = partial(predict_gold, linker, queries=queries, top_k=top_k)
    facts = {"end_to_end": False, "top_k": top_k, "corpus_fingerprint": corpus_fingerprint}
    return _evaluate(linker, documents, predict, facts, is_seen, output, seed, show_progress)


def evaluate_end_to_end(
    nlp: Any,
    linker: Linker,
    documents: Iterable[Document],
    *,
    spans: Callable[[Any], Iterable[Any]],
    is_seen: IsSeen | None = None,
    output: str | Path | None = None,
    corpus_fingerprint: str = "",
    seed: int = 0,
    show_progress: bool = False,
    extension_prefix: str = "pel",
) -> dict[str, Any]:
    """Let a pipeline find the mentions itself. The metrics count all gold mentions: one that the
    pipeline did not find with exactly these offsets is wrong. In addition, there are precision, recall
    and F1 of the mentions found (see ``Detection.scores``).

    Args:
        nlp: a pipeline with the linker.
        linker: the linker of that pipeline.
        spans: gives the linked spans of a Doc.
        extension_prefix: the component's setting.
            The other arguments and the result are those of ``evaluate``.
    """
    detection = Detection()
    predict = partial(predict_end_to_end, nlp, linker, spans=spans, detection=detection, prefix=extension_prefix)
    facts = {"end_to_end": True, "top_k": linker.top_k, "corpus_fingerprint": corpus_fingerprint}
    return _evaluate(linker, documents, predict, facts, is_seen, output, seed, show_progress, detection)


def _evaluate(
    linker: Linker,
    documents: Iterable[Document],
    predict: Callable[..., Iterator[Prediction]],
    facts: dict[str, Any],
    is_seen: IsSeen | None,
    output: str | Path | None,
    seed: int,
    show_progress: bool,
    detection: Detection | None = None,
) -> dict[str, Any]:
    _check_ids(linker.kb, documents)
    relations, groups = Relations(linker.kb), {name: MentionGroups(GROUPINGS[name]) for name in _GROUPED_BY}
    total = len(documents) if isinstance(documents, Sized) else None
    with progress_bar("Linking documents", total, show=show_progress) as bar:
        tally = Tally(bar)
        predictions = predict(documents, is_seen=is_seen or seen_in_index(linker.kb, linker.index), tally=tally)
        taps = [relations.add, *(group.add for group in groups.values())]
        outcomes = Outcomes.of(recorded(tapped(predictions, taps), output))
    if not len(outcomes.rank):
        raise PelError(Errors.E620)
    if tally.n_left_out and not tally.n_linked:
        raise PelError(Errors.E607.format(n=tally.n_left_out))
    if outcomes.is_nil.all() and tally.n_outside:
        raise no_known_id(linker.kb, n=tally.n_outside, example=tally.outside)
    warn_of_other_ids(linker.kb, n_outside=tally.n_unknown, n=tally.n_with_ids, example=tally.outside)
    metrics = {
        **compute_metrics(outcomes, ks=[k for k in RECALL_AT if k <= facts["top_k"]], seed=seed),
        **relations.metrics(),
        "mention_groups": {name: group.metrics(outcomes, seed=seed) for name, group in groups.items()},
        **(detection.scores(seed=seed) if detection else {}),
        **facts,
        **({"n_documents_left_out": tally.n_left_out} if tally.n_left_out else {}),
        "n_outside": tally.n_outside,
        "threshold": linker.nil_threshold,
        "threshold_by_label": linker.label_thresholds,
        "seconds": tally.seconds,
        "mentions_per_second": tally.n_mentions / max(tally.seconds, 1e-9),
        "machine": machine_note(),
    }
    for part, fingerprint in linker.fingerprints.items():
        metrics[f"{'model' if part == 'encoder' else part}_fingerprint"] = fingerprint
    if linker.reranker is not None:
        metrics["ranker_fingerprint"] = linker.reranker.ranker.fingerprint
    if output is not None:
        write_json(Path(output) / "metrics.json", metrics)
    return metrics


def _check_ids(kb: KnowledgeBase, documents: Iterable[Document]) -> None:
    """Raises:
    PelError: if the KB has none of the gold ids. Before an hour of linking, not after it, unless
        the documents can be read only once.
    """
    if not isinstance(documents, Sequence):
        return
    given = [mention.ids for document in documents for mention in document.mentions if mention.ids]
    if given and not any(kb.resolve(entity_id) is not None for ids in given for entity_id in ids):
        raise no_known_id(kb, n=len(given), example=given[0][0])
