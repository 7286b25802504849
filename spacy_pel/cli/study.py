"""The command ``study``."""

from pathlib import Path
from typing import Annotated, Any, Dict, List

import typer

from ._app import CONFIG_CONTEXT, pel_cli
from ._config import parse_overrides
from ._output import JSON, emit, message


@pel_cli.command("study", context_settings=CONFIG_CONTEXT)
def study(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(help="A training config with a [study] section.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for all runs and the tables.")],
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="CUDA device; -1 = CPU.")] = -1,
    as_json: bool = JSON,
) -> None:
    """Train and evaluate a matrix of settings; a killed study goes on where it was.

    Writes OUTPUT/RUN/seedN with model and evaluation for each run, and OUTPUT/study.md and
    study.json: the tables beside the paper's figures, and its claims tested on these runs.

    Example: spacy-pel study configs/study.cfg --output training/study --pel.training.max_steps 100
    """
    from ..study import plan_study, run_study
    from ..study.claims import check_claims
    from ..study.table import HEAD, claim_rows, markdown, study_rows
    from ..util import atomic_path, write_json

    settings, runs = plan_study(config, parse_overrides(ctx.args))
    message(f"{len(runs)} runs")
    results = run_study(settings, runs, output, config=config, gpu_id=gpu_id)
    cells = _outcomes(output, [run.name for run in runs], results)
    claims = check_claims(cells, _margins(results))
    heads = {"runs": HEAD, "claims": ["claim", "without", "with", "difference", "on these data"]}
    tables = {"runs": study_rows(results), "claims": claim_rows(claims)}
    text = "\n\n".join(markdown(heads[name], rows) for name, rows in tables.items())
    with atomic_path(output / "study.md") as part:
        part.write_text(text + "\n", encoding="utf8")
    report = {
        "results": results,
        "claims": [{"claim": one.text, **one.difference._asdict(), "verdict": one.verdict} for one in claims],
    }
    write_json(output / "study.json", report)
    emit(report, as_json=as_json, text=lambda _: text)


def _outcomes(output: Path, names: List[str], results: List[Dict[str, Any]]) -> Dict[str, List[Any]]:
    from ..evaluation.run_folder import read_run
    from ..study.run import EVALUATION

    cells: Dict[str, List[Any]] = {}
    for name, result in zip(names, results, strict=True):
        cells.setdefault(result["label"], []).append(read_run(output / name / EVALUATION).outcomes)
    return cells


def _margins(results: List[Dict[str, Any]]) -> List[str]:
    """RETURNS (List[str]): labels "Pb 0.01" ... by growing margin, after the one without a margin."""
    found = {result["label"] for result in results if result["label"].startswith("Pb 0.")}
    return ["Pb random plain", *sorted(found, key=lambda label: float(label.split()[1]))] if found else []
