"""The command ``candidates eval``: compares the recall@k of candidate generators."""

from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import Errors, PelError
from .._app import candidates_cli
from .._output import JSON, emit, message
from .._table import markdown_table, text_table
from .build import BUILD

if TYPE_CHECKING:
    from ...kb import KnowledgeBase
    from ...types import CandidateGenerator


@candidates_cli.command("eval")
def candidates_eval(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder, or a pipeline (its KB is used).")],
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    generators: Annotated[
        list[str] | None,
        typer.Argument(metavar="FOLDER...", help="Folders from `candidates build`; LABEL=FOLDER sets a label."),
    ] = None,
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for candidates.json, candidates.md and recall.png.")
    ] = Path("metrics/candidates"),
    pipeline: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A pipeline with this KB; adds a row for its own retrieval.")
    ] = None,
    ensemble: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Also combine all of them: rrf or union (repeatable).")
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Training corpus, to tell seen from unseen entities (repeatable)."),
    ] = None,
    limit_documents: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Read only the first N documents.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Measure what candidate generators find: recall@k of the gold mentions whose entity is in the KB.

    Example: spacy-pel candidates eval corpus/kb corpus/test.jsonl training/tfidf training/bm25
    --train corpus/train.jsonl --output metrics/candidates
    """
    from ...corpora import read_corpus, read_gold
    from ...evaluation import seen_in_corpus
    from ...evaluation.candidates import POLICY, LinkableMentions, measure_generator
    from ...evaluation.report.figure import save_figure
    from ...evaluation.report.plots import recall_figure
    from ...util import atomic_path, fingerprint, write_json
    from .._kb import open_kb

    entities = open_kb(kb)
    found = _load(entities, generators or [], pipeline)
    _add_ensembles(found, ensemble or [])
    texts = chain.from_iterable(read_corpus(path) for path in train or [])
    gold = LinkableMentions.read(entities, islice(read_gold(corpus), limit_documents), seen_in_corpus(entities, texts))
    rows: dict[str, dict[str, Any]] = {}
    for label, (generator, seconds) in found.items():
        measured = measure_generator(entities, generator, gold, split=bool(train), seed=seed, show_progress=True)
        about = {"generator": generator.registered_name, "settings": generator.settings}
        rows[label] = {**measured, "build_seconds": seconds, **about, "fingerprint": generator.fingerprint}
    result = {
        "n": len(gold.mentions),
        "n_nil": gold.n_nil,
        "n_documents": len({prediction.doc for prediction in gold.predictions}),
        "generators": rows,
        "kb_fingerprint": entities.fingerprint,
        "corpus_fingerprint": fingerprint(Path(corpus)),
        "limit_documents": limit_documents,
        "bootstrap": {"unit": "document", "samples": 1000, "seed": seed},
        "policy": POLICY,
    }
    write_json(output / "candidates.json", result)
    save_figure(*recall_figure(rows), output / "recall.png")
    with atomic_path(output / "candidates.md") as part:
        part.write_text(_markdown(rows), encoding="utf8")
    message(f"Wrote {output}")
    emit(result, as_json=as_json, text=_text)


def _load(kb: "KnowledgeBase", named: list[str], pipeline: Path | None) -> dict[str, Any]:
    """Generator and seconds of its build, by label."""
    from ...candidates.loading import load_generator
    from ...evaluation.run_folder import run_names
    from ...util import read_json

    labels = [label if equals else "" for label, equals, _ in map(_parted, named)]
    folders = [folder for _, _, folder in map(_parted, named)]
    labels = [label or name for label, name in zip(labels, run_names(folders), strict=True)]
    if len(set(labels)) < len(labels) or not (named or pipeline):
        raise PelError(Errors.E450.format(got=", ".join(named) or "none"))
    found: dict[str, Any] = {}
    for label, folder in zip(labels, folders, strict=True):
        generator: CandidateGenerator = load_generator(folder, kb=kb)
        if generator.needs_encoder and pipeline is None:
            raise PelError(Errors.E449.format(generator=generator.registered_name))
        seconds = read_json(folder / BUILD)["seconds"] if (folder / BUILD).is_file() else None
        found[label] = (generator, seconds)
    if pipeline is not None:
        _add_pipeline(found, kb, pipeline)
    return found


def _parted(named: str) -> tuple[str, str, Path]:
    label, equals, folder = named.partition("=")
    if not equals or Path(named).is_dir():
        return "", "", Path(named)
    return label, equals, Path(folder)


def _add_pipeline(found: dict[str, Any], kb: "KnowledgeBase", path: Path) -> None:
    from ...pipeline.saved import load_pipeline

    linker = load_pipeline(path).component.linker
    if linker.kb.fingerprint != kb.fingerprint:
        raise PelError(Errors.E443.format(path=path, theirs=linker.kb.fingerprint, ours=kb.fingerprint))
    for generator, _ in found.values():
        if generator.needs_encoder:
            generator.bind(linker.encoder, linker.index)
    label = path.name if path.name not in found else str(path)
    found[label] = (linker.generator, None)


def _add_ensembles(found: dict[str, Any], ways: list[str]) -> None:
    from ...candidates.ensemble import EnsembleCandidates

    parts = {f"part{number}": generator for number, (generator, _) in enumerate(found.values())}
    for way in dict.fromkeys(ways):
        made: Any = EnsembleCandidates(generators=parts, how=way)  # type: ignore[arg-type]
        found[f"{way} of all"] = (made, None)


def _lines(rows: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Label, recall and facts of each line: all, and seen and unseen apart."""
    lines = []
    for label, row in rows.items():
        lines.append((label, row, row))
        lines += [(f"{label}, {name}", row[name], {}) for name in ("seen", "unseen") if row.get(name)]
    return lines


def _facts(row: dict[str, Any]) -> list[str]:
    if not row:
        return ["", ""]
    seconds = row["build_seconds"]
    return [f"{row['mentions_per_second']:,.0f}", "–" if seconds is None else f"{seconds:,.1f}"]


def _text(result: dict[str, Any]) -> str:
    from ...evaluation.candidates import RECALL_AT

    header = ["recall", *(f"@{k}" for k in RECALL_AT), "n", "mentions/s", "build s"]
    cells = [
        [label, *(f"{100 * recall[f'recall@{k}']:.1f}" for k in RECALL_AT), f"{recall['n']:,}", *_facts(facts)]
        for label, recall, facts in _lines(result["generators"])
    ]
    counts = f"{result['n']:,} mentions of {result['n_documents']:,} documents, {result['n_nil']:,} NIL left out"
    return f"{counts}\n{text_table(header, cells)}"


def _markdown(rows: dict[str, dict[str, Any]]) -> str:
    from ...evaluation.candidates import RECALL_AT

    header = ["recall", *(f"@{k}" for k in RECALL_AT), "n", "mentions/s", "build s"]
    lines = []
    for label, recall, facts in _lines(rows):
        shares = [[100 * recall[f"recall@{k}{end}"] for end in ("", "_low", "_high")] for k in RECALL_AT]
        cells = [f"{share:.1f} [{low:.1f}, {high:.1f}]" for share, low, high in shares]
        lines.append([label, *cells, f"{recall['n']:,}", *_facts(facts)])
    return markdown_table(header, lines, numbers=True) + "\n"
