"""The command ``research study``."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Tuple

import typer

from ...cli._app import CONFIG_CONTEXT
from ...cli._config import parse_overrides
from ...cli._output import JSON, emit, message
from ...errors import Errors
from ._app import research_cli

Report = Tuple[str, Dict[str, Any]]  # Markdown, and the same as JSON data


@research_cli.command("study", context_settings=CONFIG_CONTEXT)
def study(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(help="A config with [pel] or [ranker], and a [study] section.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all runs and the tables.")],
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="CUDA device; -1 = CPU.")] = -1,
    as_json: bool = JSON,
) -> None:
    """Train and evaluate a matrix of settings; a killed study goes on where it was.

    Writes OUTPUT/RUN/seedN with model and evaluation for each run, and OUTPUT/study.md and
    study.json: the tables beside the paper's figures, and what the runs say of its claims. A config with
    a [ranker] section instead of [pel] trains rankers on the candidates of one pipeline.

    Example: spacy-pel research study configs/study.cfg --output training/study --pel.training.max_steps 100
    """
    from ...util import atomic_path, write_json
    from ..study import plan_study

    settings, runs = plan_study(config, parse_overrides(ctx.args))
    message(f"{len(runs)} runs")
    text, report = (_rankers if runs[0].of_ranker else _encoders)(settings, runs, output, config, gpu_id)
    with atomic_path(output / "study.md") as part:
        part.write_text(text + "\n", encoding="utf8")
    write_json(output / "study.json", report)
    emit(report, as_json=as_json, text=lambda _: text)


def _encoders(settings: Any, runs: List[Any], output: Path, config: Path, gpu_id: int) -> Report:
    from ..study import run_study
    from ..study.claims import check_claims
    from ..study.table import HEAD, claim_rows, markdown, study_rows

    results = run_study(settings, runs, output, config=config, gpu_id=gpu_id)
    cells = _outcomes(output, [run.name for run in runs], results)
    claims = check_claims(cells, settings.claims.values())
    heads = {"runs": HEAD, "claims": ["claim", "without", "with", "difference", "on these data"]}
    tables = {"runs": study_rows(results, settings.paper.values()), "claims": claim_rows(claims)}
    text = "\n\n".join(markdown(heads[name], rows) for name, rows in tables.items())
    said = [{"claim": one.text, **one.difference._asdict(), "verdict": one.verdict} for one in claims]
    return text, {"results": results, "claims": said}


def _rankers(settings: Any, runs: List[Any], output: Path, config: Path, gpu_id: int) -> Report:
    from ...cli._pipeline import load_pipeline
    from ...pipeline.gold import gold_queries
    from ...training.ranker.settings import RankPaths
    from ...training.settings import explained
    from ..study.rank_run import RETRIEVER, run_rank_study
    from ..study.rank_table import HEAD, NOTE, PAIR_HEAD, compare_all, pair_rows, rank_rows
    from ..study.table import markdown

    with explained(Errors.E390, config):
        paths = RankPaths(**runs[0].config.get("paths", {}))
    nlp, name, component = load_pipeline(paths.required("pipeline"))
    results = run_rank_study(
        settings,
        runs,
        output,
        config=config,
        linker=component.linker,
        queries=gold_queries(nlp, name=name),
        gpu_id=gpu_id,
    )
    names = [RETRIEVER, *(run.name for run in runs)]
    comparisons = compare_all(_outcomes(output, names, results))
    text = "\n\n".join(
        [markdown(HEAD, rank_rows(results)), markdown(PAIR_HEAD, pair_rows(comparisons)), NOTE]
    )
    said = [
        {
            "without": one.a,
            "with": one.b,
            "accuracy@1": one.difference._asdict(),
            "mcnemar": one.test._asdict(),
        }
        for one in comparisons
    ]
    return text, {"results": results, "comparisons": said}


def _outcomes(output: Path, names: List[str], results: List[Dict[str, Any]]) -> Dict[str, List[Any]]:
    from ...evaluation.run_folder import read_run
    from ..study.run import EVALUATION

    cells: Dict[str, List[Any]] = {}
    for name, result in zip(names, results, strict=True):
        cells.setdefault(result["label"], []).append(read_run(output / name / EVALUATION).outcomes)
    return cells
