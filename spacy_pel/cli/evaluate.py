"""The command ``evaluate``: the accuracy of a pipeline on an annotated corpus."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from ._app import pel_cli
from ._options import Corpus, Files, Pipeline, Seed, flag, option
from ._output import JSON, emit, message, text_table

_MAY_BE_NULL = (
    *("accuracy_seen", "accuracy_unseen", "nil_ece", "nil_brier", "answer_ece", "answer_brier"),
    *("coverage@95", "coverage@98", "aurc"),
)
_NO_SHARES = {"seconds", "mentions_per_second", "threshold", "nil_share", "set_size"}


@pel_cli.command("evaluate", rich_help_panel="Evaluate")
def evaluate(
    pipeline: Pipeline,
    corpus: Corpus,
    output: Annotated[Path, option("FOLDER", "Folder for metrics.json, predictions.jsonl and the plots.")],
    end_to_end: Annotated[bool, flag("--end-to-end", "Let the pipeline find the mentions, too.")] = False,
    top_k: Annotated[int, option("N", "Candidates per mention (gold mentions only).", min=1, max=100_000)] = 64,
    seen: Annotated[Files, option("FILE", "Training corpus (repeatable). Default: that of the index.")] = None,
    group_by: Annotated[str | None, option("KEY", "Also metrics by a key of the documents, e.g. meta.world.")] = None,
    seed: Seed = 0,
    as_json: bool = JSON,
) -> None:
    """Evaluate a pipeline on gold mentions, or end to end.

    Example: spacy-pel evaluate training/pipeline corpus/test.jsonl --output metrics/test
    """
    from ..corpora import read_corpus, read_gold
    from ..evaluation import evaluate as evaluate_linker
    from ..evaluation import evaluate_end_to_end, seen_in_corpus
    from ..evaluation.figures import plot_run
    from ..evaluation.outcomes import read_run
    from ..pipeline.gold import query_maker
    from ..pipeline.mentions import mention_spans
    from ..pipeline.saved import load_pipeline
    from ..util import fingerprint

    nlp, name, component = load_pipeline(pipeline)
    documents, queries = list(read_gold(corpus)), query_maker(nlp, name=name)  # offsets are checked before linking
    common: dict[str, Any] = {"output": output, "seed": seed, "show_progress": True, "group_by": group_by}
    common["corpus_fingerprint"] = fingerprint(corpus)
    if seen:
        texts = chain.from_iterable(read_corpus(path) for path in seen)
        common["is_seen"] = seen_in_corpus(component.linker.kb, texts)
    if end_to_end:
        spans, prefix = partial(mention_spans, spans_key=component.spans_key), component.extension_prefix
        metrics = evaluate_end_to_end(nlp, component.linker, documents, spans=spans, extension_prefix=prefix, **common)
    else:
        metrics = evaluate_linker(component.linker, documents, queries=queries, top_k=top_k, **common)
    plot_run(read_run(output))
    message(f"Wrote {output}")
    emit(metrics, as_json=as_json, text=_metrics_text)


def _metrics_text(metrics: dict[str, Any]) -> str:
    """The metrics with their intervals in percent, one per line."""
    lines = [
        f"{metrics['n']:,} mentions in {metrics['n_documents']:,} documents, {metrics['n_nil']:,} NIL "
        f"({100 * metrics['nil_share']:.1f}%)"
    ]
    for key, value in metrics.items():
        if value is None and key in _MAY_BE_NULL:
            lines.append(f"{key:<22} {'–':>6}")
        elif isinstance(value, float) and not key.endswith(("_low", "_high")) and key not in _NO_SHARES:
            interval = ""
            if f"{key}_low" in metrics:
                interval = f"  [{100 * metrics[f'{key}_low']:.1f}, {100 * metrics[f'{key}_high']:.1f}]"
            lines.append(f"{key:<22} {100 * value:6.2f}{interval}")
    columns = ("accuracy", "recall@1", "coverage@95", "coverage@98")
    rows = [
        [name, f"{group['n']:,}", *(_percent(group[key]) for key in columns)]
        for groups in metrics["mention_groups"].values()
        for name, group in groups.items()
    ]
    lines.append(text_table(["mentions of", "n", *columns], rows))
    for name, group in metrics.get("groups", {}).items():
        recall = f", recall@1 {100 * group['recall@1']:.2f}" if "recall@1" in group else ""
        lines.append(f"{name}: accuracy {100 * group['accuracy']:.2f}{recall} of {group['n']:,} mentions")
    if types := metrics.get("mention_types"):
        typed = ("n_gold", "n_found", "typed_precision", "typed_recall", "typed_f1")
        rows = [
            [label, *(f"{100 * row[key]:.1f}" if "typed" in key else f"{row[key]:,}" for key in typed)]
            for label, row in types.items()
        ]
        lines.append(text_table(["label", "gold", "found", "P", "R", "F1"], rows))
    lines.append(f"{metrics['mentions_per_second']:,.0f} mentions/s, {metrics['seconds']:,.1f} s")
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
