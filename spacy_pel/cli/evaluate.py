"""The commands ``evaluate``, ``compare`` and ``report``."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._options import Corpus, Files, KBForTypes, Pipeline, Seed, Share, argument, flag, option
from ._output import JSON, emit, message, text_table

_MAY_BE_NULL = (
    *("accuracy_seen", "accuracy_unseen", "nil_ece", "nil_brier", "answer_ece", "answer_brier"),
    *("coverage@95", "coverage@98", "aurc"),
)
_NO_SHARES = {"seconds", "mentions_per_second", "threshold", "nil_share", "set_size"}
_LARGE = 5_000_000  # bytes


@pel_cli.command("evaluate", rich_help_panel="Evaluate")
def evaluate(
    pipeline: Pipeline,
    corpus: Corpus,
    output: Annotated[Path, option("FOLDER", "Folder for metrics.json, predictions.jsonl and the plots.")],
    end_to_end: Annotated[bool, flag("--end-to-end", "Let the pipeline find the mentions, too.")] = False,
    top_k: Annotated[int, option("N", "Candidates per mention (gold mentions only).", min=1, max=100_000)] = 64,
    seen: Annotated[Files, option("FILE", "Training corpus (repeatable). Default: that of the index.")] = None,
    group_by: Annotated[str | None, option("KEY", "Also metrics by a key of the documents, e.g. meta.world.")] = None,
    new_share: Share = "corpus",
    seed: Seed = 0,
    as_json: bool = JSON,
) -> None:
    """Evaluate a pipeline on gold mentions, or end to end.

    Example: spacy-pel evaluate training/pipeline corpus/test.jsonl --output metrics/test
    """
    from ..corpora import read_corpus, read_gold
    from ..evaluation import evaluate as evaluate_linker
    from ..evaluation import evaluate_end_to_end, seen_in_corpus
    from ..evaluation.report.figures import plot_run
    from ..evaluation.run_folder import read_run
    from ..pipeline.gold import query_maker
    from ..pipeline.mentions import mention_spans
    from ..pipeline.new_share import sample_step, use_new_share
    from ..pipeline.saved import load_pipeline
    from ..util import fingerprint
    from ._settings import share_option

    nlp, name, component = loaded = load_pipeline(pipeline)
    documents, queries = list(read_gold(corpus)), query_maker(nlp, name=name)  # offsets are checked before linking
    sample = documents[:: sample_step(len(documents))]
    use_new_share(loaded, share_option(new_share), sample, queries=None if end_to_end else queries)
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


@pel_cli.command("compare", rich_help_panel="Evaluate")
def compare(
    dir_a: Annotated[Path, argument("FOLDER_A", "Folder of `evaluate` for one pipeline.")],
    dir_b: Annotated[Path, argument("FOLDER_B", "Folder of `evaluate` for another pipeline, on the same corpus.")],
    group_by: Annotated[
        Literal["label", "type", "form", "seen"],
        typer.Option(
            help="Groups of the last table: mention label, KB type of the gold entity, surface form known to annotated "
            "text, or entity seen in training."
        ),
    ] = "label",
    kb: KBForTypes = None,
    samples: Annotated[int, option("N", "Bootstrap samples.", min=1)] = 1000,
    seed: Seed = 0,
    as_json: bool = JSON,
) -> None:
    """Compare two evaluations of one corpus: is B better than A?

    Runs McNemar's test at the 0.05 level, and a paired bootstrap over documents for 95% intervals.

    Example: spacy-pel compare metrics/base metrics/new --group-by type
    """
    from ..evaluation.compare import compare_runs
    from ..evaluation.metrics.groups import GROUPINGS, NO_NAME, MentionGroups
    from ..evaluation.run_folder import read_run
    from ._kb import fill_types, open_kb

    groups = MentionGroups(GROUPINGS[group_by])
    watch = [fill_types(open_kb(kb))] if kb else []
    a = read_run(dir_a, watch=[*watch, groups.add])
    masks = groups.masks()
    if group_by == "type" and set(masks) == {NO_NAME} and not a.outcomes.is_nil.all():
        raise PelError(Errors.E684.format(path=dir_a))
    comparison = compare_runs(a, read_run(dir_b), groups=masks, n_samples=samples, seed=seed)
    emit({**comparison, "group_by": group_by}, as_json=as_json, text=_comparison_text)


def _comparison_text(comparison: dict[str, Any]) -> str:
    head = (
        f"A = {comparison['a']}\nB = {comparison['b']}\n{comparison['n']:,} mentions in "
        f"{comparison['n_documents']:,} documents, {comparison['n_nil']:,} NIL"
    )
    # of seen and of unseen entities recall@1: none of these mentions is NIL
    by_seen = {f"recall@1 {group['name']}": group["recall@1"] for group in comparison["seen"] if "recall@1" in group}
    differences = [[name, *_cells(row)] for name, row in {**comparison["differences"], **by_seen}.items()]
    tests = [
        [
            name,
            *(f"{test[key]:,}" for key in ("n_both", "n_only_a", "n_only_b", "n_neither")),
            test["test"],
            f"{test['p_value']:.4f}" if test["p_value"] >= 0.0001 else "<0.0001",
            "yes" if test["significant"] else "no",
        ]
        for name, test in {**comparison["tests"], **{name: row["test"] for name, row in by_seen.items()}}.items()
    ]
    rows: list[list[str]] = []
    for group in comparison["groups"]:
        cells = [f"{group[key]:,}" for key in ("n", "n_nil", "n_documents")]
        for metric in ("recall@1", "accuracy"):
            cells += _cells(group[metric]) if metric in group else ["–"] * 4
        rows.append([group["name"], *cells])
    by_group = [comparison["group_by"], "mentions", "NIL", "documents"]
    by_group += [*("r@1 A", "r@1 B", "B - A", "95%"), *("acc. A", "acc. B", "B - A", "95%")]
    tables = [
        text_table(["percent", "A", "B", "B - A", "95%"], differences),
        text_table(["McNemar", "both right", "only A", "only B", "neither", "test", "p", "p < 0.05"], tests),
        text_table(by_group, rows),
    ]
    return "\n\n".join([head, *tables, f"* = the interval excludes 0. {comparison['policy']}"])


def _cells(row: dict[str, Any]) -> list[str]:
    star = "*" if row["significant"] else " "
    interval = f"[{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]{star}"
    return [f"{100 * row['a']:.1f}", f"{100 * row['b']:.1f}", f"{100 * row['difference']:+.1f}", interval]


@pel_cli.command("report", rich_help_panel="Evaluate")
def report(
    dirs: Annotated[list[Path], argument("FOLDER", "Of `evaluate`; the first is compared with the others.")],
    output: Annotated[Path, option("FILE", "The page to write.")] = Path("report.html"),
    corpus: Annotated[Files, option("FILE", "The evaluated corpus, to show errors in context (repeatable).")] = None,
    training: Annotated[Files, option("FOLDER", "Of `train`, for its learning curve (repeatable).")] = None,
    kb: KBForTypes = None,
    title: Annotated[str, option("TEXT", "Title of the page.")] = "Entity linking",
    max_errors: Annotated[int, option("N", "Maximum number of errors shown of each kind, over all runs.", min=0)] = 200,
    seed: Seed = 0,
    as_json: bool = JSON,
) -> None:
    """Write one HTML page with tables, curves and an error browser. It works offline.

    Example: spacy-pel report metrics/base metrics/new --corpus corpus/test.jsonl --kb training/pipeline
    """
    from ..evaluation.report.report import make_report
    from ..util import atomic_path
    from ._kb import fill_types, open_kb

    opened = open_kb(kb) if kb else None
    watch = [] if opened is None else [fill_types(opened)]
    given: dict[str, Any] = {"corpora": corpus or [], "trainings": training or [], "kb": opened, "watch": watch}
    made = make_report(dirs, **given, title=title, max_errors=max_errors, seed=seed)
    data = made.html.encode("utf8")
    with atomic_path(output) as part:
        part.write_bytes(data)
    if len(data) > _LARGE:
        message(f"The page is {len(data) / 1e6:.1f} MB. Lower --max-errors to shrink it.")
    result = {"output": str(output), "bytes": len(data), "errors": made.errors, "errors_shown": made.n_shown}
    text = f"Wrote {output} ({len(data) / 1e6:.1f} MB, {made.n_shown:,} errors)"
    emit(result, as_json=as_json, text=lambda _: text)
