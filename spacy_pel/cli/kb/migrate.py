"""The command ``kb migrate``: the ids of a later knowledge base in old results."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import kb_cli
from .._output import JSON, counted, emit, key_values


@kb_cli.command("migrate")
def kb_migrate(
    links: Annotated[
        Path, typer.Argument(metavar="LINKS", help="What `link` wrote (.jsonl, .jsonl.gz, .parquet), or a corpus.")
    ],
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The KB of its ids, or a pipeline with it.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The KB to use now, or a pipeline with it.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write. [default: LINKS with .migrated in its name]")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Replace retired ids in old results by their successors.

    An id without a successor stays as it is and is listed: retired, or unknown to both KBs. A mention whose
    kb_id changes gets the name of the new entity. All else stays.

    Example: spacy-pel kb migrate linked.jsonl kb_2023 kb_2024 --output linked_2024.jsonl
    """
    from ...corpora import read_links
    from ...engines.formats import output_format, write_links
    from ...kb.migrate import Migration
    from ...util.files import guarded
    from .._kb import open_kb

    target = output or links.with_name(links.name.replace(".", ".migrated.", 1))
    to = output_format("auto", target)
    migration = Migration(open_kb(old), open_kb(new))
    write_links(target, guarded(migration(read_links(links)), "kb migrate", [links]), to)
    result = {
        "documents": migration.n_documents,
        "mentions": migration.n_mentions,
        "changed": migration.n_changed,
        "replaced": migration.replaced,
        "retired": dict(migration.retired.most_common()),
        "unknown": dict(migration.unknown.most_common()),
        "output": str(target),
    }
    emit(result, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    replaced = [f"{old} -> {new}" for old, new in result["replaced"].items()]
    left = {
        key: counted(len(result[key]), (f"{one} ({n:,} mention{'s' * (n > 1)})" for one, n in result[key].items()))
        for key in ("retired", "unknown")
    }
    return key_values({**result, "replaced": counted(len(replaced), replaced), **left})
