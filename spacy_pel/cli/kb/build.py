"""The commands ``kb build`` and ``kb merge``, which write a KB folder."""

import csv
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import Errors, PelError
from ...util.config import load_config
from ...util.files import atomic_path
from .._app import CONFIG_CONTEXT, kb_cli
from .._config import parse_overrides
from .._kb import reader_of_all
from .._options import Below, Files, NewKB, Settings, argument, option
from .._output import JSON, emit, key_values
from .source import IdPrefix, Languages, Reader, Sources, Strict, Types, kb_source


@kb_cli.command("build")
def kb_build(
    out: NewKB,
    files: Annotated[list[Path], argument("FILE", "The source files; for umls the META folder.")],
    reader: Reader = None,
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    below: Below = None,
    settings: Settings = None,
    strict: Strict = False,
    as_json: bool = JSON,
) -> None:
    """Build a knowledge base from source files.

    Example: spacy-pel kb build corpus/umls --reader umls 2024AA/META --types st21pv --languages ENG
    """
    from ...kb import KnowledgeBase

    lists = {"types": types, "sources": sources, "languages": languages}
    values = {"id_prefix": id_prefix, "strict": strict}
    made, source = kb_source(reader or reader_of_all(files), settings, lists, values)
    kb = KnowledgeBase.read(made, files, out, about=source, below=below or (), strict=strict, show_progress=True)
    repairs = {**kb.source["repairs"], **kb.meta["report"]}
    result = {**kb.meta["counts"], "repairs": repairs, "fingerprint": kb.fingerprint}
    emit(result, as_json=as_json, text=key_values)


@kb_cli.command("merge", context_settings=CONFIG_CONTEXT)
def kb_merge(
    ctx: typer.Context,
    out: NewKB,
    config: Annotated[Path, argument("CONFIG", "A config with a [merge] section, e.g. configs/open_cui.cfg.")],
    data: Annotated[Path, option("FOLDER", "The folder of the source files.")] = Path("."),
    corpus: Annotated[Files, option("FILE", "A corpus whose gold mentions become names (repeatable).")] = None,
    name_sources: Annotated[Path | None, option("FILE", "Also write a TSV: id, name, first source.", "--names")] = None,
    as_json: bool = JSON,
) -> None:
    """Merge ontologies into one knowledge base by their cross references.

    Twins (ids with the same names from the same source term) become one entity; the retired id still resolves.
    To add names to a knowledge base with ids of its own, e.g. MeSH, make its reader the first source. Override
    settings with --merge.KEY VALUE.

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
        with atomic_path(name_sources) as part, part.open("w", encoding="utf8", newline="") as file:
            rows = chain([("id", "name", "source")], merge.name_sources())
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows)
    counts = {"entities": len(kb), "twins_merged": len(merge.twins), "fingerprint": kb.fingerprint}
    emit({**counts, "sources": merge.report}, as_json=as_json, text=_merge_text)


def _merge_text(result: dict[str, Any]) -> str:
    lines = [f"{result['entities']:,} entities, {result['twins_merged']:,} twins merged"]
    lines += [f"{'source':<16} {'terms':>8} {'ids':>8} {'ids new':>8} {'names new':>10}"]
    for name, counts in result["sources"].items():
        terms, ids, new_ids, names = (counts.get(key, 0) for key in ("terms", "ids", "ids_new", "names_new"))
        lines.append(f"{name:<16} {terms:>8,} {ids:>8,} {new_ids:>8,} {names:>10,}")
    return "\n".join([*lines, f"fingerprint {result['fingerprint']}"])
