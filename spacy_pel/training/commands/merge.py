"""The command ``kb merge``: several ontologies become one knowledge base."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli._app import command_group
from ...cli._options import Files, NewKB, argument, option
from ...cli._output import emit, text_table
from ...errors import Errors, PelError
from ...util.config import load_config
from .train import CONFIG_CONTEXT, parse_overrides

merge_cli = command_group("merge", "Merge ontologies.", panel="Knowledge bases")


@merge_cli.command("merge", context_settings=CONFIG_CONTEXT)
def kb_merge(
    ctx: typer.Context,
    out: NewKB,
    config: Annotated[Path, argument("CONFIG", "A config with a [merge] section, e.g. configs/open_cui.cfg.")],
    data: Annotated[Path, option("FOLDER", "The folder of the source files.")] = Path("."),
    corpus: Annotated[Files, option("FILE", "Annotated text, the files of the source 'corpus' (repeatable).")] = None,
) -> None:
    """Merge ontologies into one knowledge base by their cross references.

    Each term goes to one id, preferred names go by vote, and twins become one entity; a retired id still resolves.
    To add names to a knowledge base with ids of its own, e.g. MeSH, make its reader the first source. Override
    settings with --merge.KEY VALUE.

    Example: spacy-pel kb merge corpus/kb configs/open_cui.cfg --data data --corpus corpus/train.jsonl
    """
    from ...kb import KnowledgeBase
    from ..merge import Merge
    from ..merge_config import parse_merge_config

    overrides = parse_overrides(ctx.args)
    if corpus:
        # paths on the command line start from the working folder, those of the config from --data
        overrides["merge.sources.corpus.files"] = [str(path.resolve()) for path in corpus]
    settings = load_config(config, overrides)
    if "merge" not in settings:
        raise PelError(Errors.E142.format(path=config, got="it has no [merge] section"))
    merge = Merge(parse_merge_config(settings["merge"], config), data)
    entities = list(merge())  # report and redirects are complete only now
    kb = KnowledgeBase.build(entities, out, source=merge.source, redirects=merge.redirects)
    counts = {"entities": len(kb), "redirects": len(merge.redirects), "fingerprint": kb.fingerprint}
    rules = {rule: vars(found) for rule, found in merge.rules.items()}
    emit({**counts, "sources": merge.report, "rules": rules}, _merge_text)


def _merge_text(result: dict[str, Any]) -> str:
    sources, lines = result["sources"], [f"{result['entities']:,} entities, {result['redirects']:,} redirects"]
    keys = [key for key in ("terms", "ids", "ids_new", "names_new") if any(one.get(key) for one in sources.values())]
    rows = [[name, *(f"{counts.get(key, 0):,}" for key in keys)] for name, counts in sources.items()]
    lines.append(text_table(["source", *(key.replace("_", " ") for key in keys)], rows))
    for rule, found in result["rules"].items():
        lines += [f"{rule}: {found['count']:,}", *(f"  {example}" for example in found["examples"])]
    return "\n".join([*lines, f"fingerprint {result['fingerprint']}"])
