"""The command ``kb merge``: merges ontologies, and names from text, into one knowledge base."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import Errors, PelError
from ...util.config import load_config
from ...util.files import atomic_path
from .._app import CONFIG_CONTEXT, kb_cli
from .._config import parse_overrides
from .._output import JSON, emit


@kb_cli.command("merge", context_settings=CONFIG_CONTEXT)
def kb_merge(
    ctx: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The KB folder to write.")],
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A config with the section [merge], e.g. configs/open_cui.cfg.")
    ],
    data: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder with the source files.")] = Path("."),
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Corpus (JSON lines) whose gold mentions become names of their entities (repeatable)."
        ),
    ] = None,
    name_sources: Annotated[
        Path | None,
        typer.Option(
            "--names",
            metavar="FILE",
            help="Also write a table (TSV) of all names: id, name, source that gave it first.",
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Merge ontologies into one knowledge base by their cross references.

    Twins (ids with the same names from the same source term) become one entity; the retired
    id stays resolvable. To add names to a knowledge base that has its own ids, e.g. MeSH, let its
    reader be the first source. Settings can be overridden: --merge.name "my KB".

    Example: spacy-pel kb merge corpus/kb configs/open_cui.cfg --data data --corpus corpus/train.jsonl
    """
    from ...kb import KnowledgeBase
    from ...kb.merge.merge import Merge
    from ...kb.merge.merge_config import parse_merge_config

    overrides = parse_overrides(ctx.args)
    if corpus:
        # paths on the command line start from the working folder, those of the config from --data
        overrides["merge.sources.corpus.files"] = [str(path.resolve()) for path in corpus]
    settings = load_config(config, overrides)
    if "merge" not in settings:
        fault = "no such section"
        raise PelError(Errors.E142.format(config=f"merge config at {config}", where="[merge]", fault=fault))
    merge = Merge(parse_merge_config(settings["merge"], config), data)
    entities = list(merge())  # report and redirects are complete only now
    kb = KnowledgeBase.build(entities, out, source=merge.source, redirects=merge.redirects)
    if name_sources is not None:
        _write_names(merge.name_sources(), name_sources)
    emit(_summary(kb, merge), as_json=as_json, text=_text)


def _write_names(rows: Iterable[Sequence[str]], path: Path) -> None:
    with atomic_path(path) as part, part.open("w", encoding="utf8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(["id", "name", "source"])
        table.writerows(rows)


def _summary(kb: Any, merge: Any) -> dict[str, Any]:
    return {
        "entities": len(kb),
        "twins_merged": len(merge.twins),
        "fingerprint": kb.fingerprint,
        "sources": merge.report,
    }


def _text(result: dict[str, Any]) -> str:
    lines = [f"{result['entities']:,} entities, {result['twins_merged']:,} twins merged"]
    lines += [f"{'source':<16} {'terms':>8} {'ids':>8} {'ids new':>8} {'names new':>10}"]
    for name, counts in result["sources"].items():
        lines.append(
            f"{name:<16} {counts.get('terms', 0):>8,} {counts.get('ids', 0):>8,} "
            f"{counts.get('ids_new', 0):>8,} {counts.get('names_new', 0):>10,}"
        )
    return "\n".join([*lines, f"fingerprint {result['fingerprint']}"])
