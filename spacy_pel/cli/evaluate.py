"""The command ``evaluate``: how well a pipeline links a corpus."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import pel_cli
from ._output import JSON, emit, message


@pel_cli.command("evaluate")
def evaluate(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder.")],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for metrics.json, predictions.jsonl and the plots.")
    ],
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Let the pipeline find the mentions as well.")
    ] = False,
    top_k: Annotated[
        int, typer.Option(metavar="N", min=1, max=100_000, help="Candidates per mention (gold mentions only).")
    ] = 64,
    seen: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Training corpus, to tell seen from unseen entities (repeatable); default: the texts that "
            "the index was built with.",
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Also compute metrics for each group of documents, and their macro average; a key of the "
            "documents' meta, e.g. meta.world.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Evaluate a pipeline on gold mentions, or end to end.

    Example: spacy-pel evaluate training/pipeline corpus/test.jsonl --output metrics/test
    """
    from itertools import chain

    from ..corpora import read_corpus, read_gold
    from ..evaluation import evaluate as evaluate_linker
    from ..evaluation import evaluate_end_to_end, seen_in_corpus
    from ..evaluation.report.plots import plot_run
    from ..evaluation.run_folder import read_run
    from ..pipeline.gold import query_maker
    from ..pipeline.mentions import mention_spans
    from ..pipeline.saved import load_pipeline
    from ..util import fingerprint

    nlp, name, component = load_pipeline(pipeline)
    documents = list(read_gold(corpus))  # offsets are checked before hours of linking
    common: dict[str, Any] = {"output": output, "seed": seed, "show_progress": True}
    common["group_by"] = group_by
    common["corpus_fingerprint"] = fingerprint(Path(corpus))
    if seen:
        texts = chain.from_iterable(read_corpus(path) for path in seen)
        common["is_seen"] = seen_in_corpus(component.linker.kb, texts)
    if end_to_end:
        metrics = evaluate_end_to_end(
            nlp,
            component.linker,
            documents,
            spans=lambda doc: mention_spans(doc, component.spans_key),
            extension_prefix=component.extension_prefix,
            **common,
        )
    else:
        metrics = evaluate_linker(
            component.linker, documents, queries=query_maker(nlp, name=name), top_k=top_k, **common
        )
    plot_run(read_run(output))
    message(f"Wrote {output}")
    emit(metrics, as_json=as_json, text=table)


def table(metrics: dict[str, Any]) -> str:
    """The metrics with their intervals in percent, one per line."""
    lines = [
        f"{metrics['n']:,} mentions in {metrics['n_documents']:,} documents, {metrics['n_nil']:,} NIL "
        f"({100 * metrics['nil_share']:.1f}%)"
    ]
    for key, value in metrics.items():
        if value is None and key in _MAY_BE_NULL:
            lines.append(f"{key:<18} {'–':>6}")
        if not isinstance(value, float) or key.endswith(("_low", "_high")) or key in _NO_SHARES:
            continue
        interval = ""
        if f"{key}_low" in metrics:
            interval = f"  [{100 * metrics[f'{key}_low']:.1f}, {100 * metrics[f'{key}_high']:.1f}]"
        lines.append(f"{key:<18} {100 * value:6.2f}{interval}")
    for name, group in metrics.get("groups", {}).items():
        recall = f", recall@1 {100 * group['recall@1']:.2f}" if "recall@1" in group else ""
        lines.append(f"{name}: accuracy {100 * group['accuracy']:.2f}{recall} of {group['n']:,} mentions")
    lines.append(f"{metrics['mentions_per_second']:,.0f} mentions/s, {metrics['seconds']:,.1f} s")
    return "\n".join(lines)


_MAY_BE_NULL = ("accuracy_seen", "accuracy_unseen", "nil_ece", "nil_brier", "answer_ece", "answer_brier")
_NO_SHARES = {"seconds", "mentions_per_second", "threshold", "nil_share", "set_size"}
