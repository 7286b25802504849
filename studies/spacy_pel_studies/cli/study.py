"""The command ``research study``: trains and evaluates a matrix of settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from spacy_pel.cli._output import emit, message
from spacy_pel.errors import Errors
from spacy_pel.training.commands.train import CONFIG_CONTEXT, parse_overrides

from ..markdown import markdown_table
from ._app import research_cli

Cells = dict[str, list[Any]]  # label -> the outcomes of each seed


class Report(NamedTuple):
    """What is said of a study.

    tables: heads and rows.
    notes: below the tables.
    data: JSON.
    """

    tables: list[tuple[list[str], list[list[str]]]]
    notes: list[str]
    data: dict[str, Any]


@research_cli.command("study", context_settings=CONFIG_CONTEXT)
def study(
    ctx: typer.Context,
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A config with [pel] or [ranker], and a [study] section.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for all runs and the tables.")
    ],
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="LABEL", help="Only these runs, e.g. 'Pb mixed*'. Repeat it for more."),
    ] = None,
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", metavar="N", help="CUDA device; -1 = CPU.")] = -1,
) -> None:
    """Train and evaluate a matrix of settings; an interrupted study resumes exactly.

    Writes FOLDER/RUN/seedN with model and evaluation for each run, and FOLDER/study.md and
    study.json: tables with the paper's results, and tests of its claims. A config with
    a [ranker] section instead of [pel] trains rankers on the candidates of one pipeline. With
    [study.worlds] encoders are trained on some ontologies or wikis and measured on others. With
    [study.corpora] the matrix is trained on each corpus, in FOLDER/CORPUS, and one table has them all.
    With --only the tables have the chosen runs alone, and the claims about them.

    Example: spacy-pel research study configs/study.cfg --output training/study --pel.training.max_steps 100
    """
    from spacy_pel.util import atomic_path, write_json

    from ..study import plan_corpora, select_runs
    from ..study.run import check_runs

    plans = plan_corpora(config, parse_overrides(ctx.args))
    chosen = {corpus: select_runs(runs, only or ["*"], config) for corpus, (_, runs) in plans.items()}
    message(f"{sum(map(len, chosen.values()))} runs")
    tasks: dict[str, Any] = {}
    for corpus, runs in chosen.items():  # a mistake in the second is found before hours of training on the first
        tasks[corpus] = (_ranker_task if runs[0].of_ranker else _encoder_task)(plans[corpus][0], runs, config, gpu_id)
        check_runs(tasks[corpus], runs, output / corpus)
    reports = {corpus: _report(task, chosen[corpus], output / corpus) for corpus, task in tasks.items()}
    report = reports[""] if "" in reports else _joined(reports)
    text = "\n\n".join([*(markdown_table(*table) for table in report.tables), *report.notes])
    with atomic_path(output / "study.md") as part:
        part.write_text(text + "\n", encoding="utf8")
    write_json(output / "study.json", report.data)
    emit(report.data, lambda _: text)


def _report(task: Any, runs: list[Any], output: Path) -> Report:
    """Train and evaluate the runs on one corpus."""
    from spacy_pel.evaluation.outcomes import read_run

    from ..study import run_study
    from ..study.run import EVALUATION

    results = run_study(task, runs, output)
    cells: Cells = {}
    folders = [*(one["label"] for one in results[: -len(runs)]), *(run.name for run in runs)]
    for name, result in zip(folders, results, strict=True):
        cells.setdefault(result["label"], []).append(read_run(output / name / EVALUATION).outcomes)
    return _ranker_report(results, cells) if runs[0].of_ranker else _encoder_report(task.study, results, cells)


def _joined(reports: Mapping[str, Report]) -> Report:
    """One report on all corpora: their names come first in each row and note."""
    tables = []
    for tables_of_all in zip(*(report.tables for report in reports.values()), strict=True):
        rows = [[name, *row] for name, (_, own) in zip(reports, tables_of_all, strict=True) for row in own]
        tables.append((["corpus", *tables_of_all[0][0]], rows))
    notes = [f"{name}. {note}" for name, report in reports.items() for note in report.notes]
    return Report(tables, notes, {"corpora": {name: report.data for name, report in reports.items()}})


def _encoder_task(settings: Any, runs: list[Any], config: Path, gpu_id: int) -> Any:
    from ..study.encoder_task import EncoderTask
    from ..study.worlds_task import WorldsTask

    if settings.worlds is not None:
        return WorldsTask(settings, settings.worlds, config, gpu_id=gpu_id)
    return EncoderTask(settings, config, gpu_id=gpu_id)


def _ranker_task(settings: Any, runs: list[Any], config: Path, gpu_id: int) -> Any:
    from spacy_pel.pipeline.gold import query_maker
    from spacy_pel.pipeline.saved import load_pipeline
    from spacy_pel.training.ranker.settings import RankPaths
    from spacy_pel.training.settings import explained

    from ..study.ranker_task import RankerTask

    with explained(Errors.E390, config):
        paths = RankPaths(**runs[0].config.get("paths", {}))
    nlp, name, component = load_pipeline(paths.required("pipeline"))
    queries = query_maker(nlp, name=name)
    return RankerTask(settings, config, linker=component.linker, queries=queries, gpu_id=gpu_id)


def _encoder_report(settings: Any, results: list[Any], cells: Cells) -> Report:
    from ..study.claims import check_claims
    from ..study.table import CLAIM_HEAD, WORLDS_NOTE, claim_rows, encoder_columns, run_rows, size_note

    # gold entities of an unseen world are in its knowledge base: there is no NIL
    claims = [one for one in settings.claims.values() if not (settings.worlds and one.metric == "nil_aupr")]
    claims = check_claims(cells, claims)
    paper = settings.paper.values()
    parts = [encoder_columns(paper)] if settings.worlds is None else _world_tables(settings.worlds, paper)
    tables = [([head for head, _ in own], run_rows(results, own)) for own in parts]
    tables.append((CLAIM_HEAD, claim_rows(claims)))
    notes = [] if settings.worlds is None else [WORLDS_NOTE]
    if settings.paper_size:
        notes.append(f"Ours: {size_note(results)}. Paper: {settings.paper_size}.")
    said = [{"claim": one.text, **one.difference._asdict(), "verdict": one.verdict} for one in claims]
    return Report(tables, notes, {"results": results, "claims": said})


def _world_tables(worlds: Any, paper: Any) -> list[Any]:
    from ..study.table import by_world_columns, depth_columns, world_columns
    from ..worlds.tables import KS

    names = {kind: own for kind, own in (("val", worlds.val), ("test", worlds.test)) if own}
    return [world_columns(paper, list(names)), depth_columns("test", KS[1:]), by_world_columns(names)]


def _ranker_report(results: list[Any], cells: Cells) -> Report:
    from ..study.claims import compare_all
    from ..study.table import PAIR_HEAD, RANKER_NOTE, pair_rows, ranker_columns, run_rows

    comparisons = compare_all(cells)
    columns = ranker_columns()
    tables = [([head for head, _ in columns], run_rows(results, columns)), (PAIR_HEAD, pair_rows(comparisons))]
    said = [
        {"without": a, "with": b, "accuracy@1": difference._asdict(), "mcnemar": test}
        for a, b, difference, test in comparisons
    ]
    return Report(tables, [RANKER_NOTE], {"results": results, "comparisons": said})
