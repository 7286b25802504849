"""The command ``corpus info``: statistics of an annotated corpus."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import Errors, PelError
from .._app import corpus_cli
from .._output import JSON, emit, message

_SHOWN = 20  # types, and labels


@corpus_cli.command("info")
def corpus_info(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for corpus.json and mentions.png, .svg.")],
    kb: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="KB or pipeline, to count known ids and their types.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Count mentions, entities, NIL, ambiguous surface forms and types, and draw the mentions per entity.

    Example: spacy-pel corpus info corpus/train.jsonl --kb corpus/kb --output metrics/corpus
    """
    from ...corpora import read_corpus
    from ...evaluation.report.corpus_facts import corpus_facts, plot_spread
    from ...util import write_json
    from .._kb import open_kb

    opened = open_kb(kb) if kb else None
    facts = {"corpus": str(corpus), **corpus_facts(read_corpus(corpus), opened)}
    if not facts["mentions"]:
        raise PelError(Errors.E620)
    write_json(output / "corpus.json", facts)
    plot_spread(facts, output / "mentions.png", output / "mentions.svg")
    message(f"Wrote {output}")
    emit(facts, as_json=as_json, text=_text)


def _text(facts: dict[str, Any]) -> str:
    rows: dict[str, str] = {}
    for key, value in facts.items():
        if isinstance(value, int):
            rows[key.replace("_", " ")] = f"{value:,}"
        elif isinstance(value, float):
            rows[key.replace("_", " ")] = f"{100 * value:.1f}%"
    for key in ("mentions_per_entity_and_document", "mentions_per_entity"):
        total = sum(facts[key].values())
        if total:
            mean = sum(int(size) * count for size, count in facts[key].items()) / total
            once = 100 * facts[key].get("1", 0) / total
            rows[key.replace("_", " ")] = f"{mean:.2f} on average; exactly 1 in {once:.1f}%"
    for kind in ("label", "type"):
        named = list(facts.get(f"{kind}s", {}).items())
        rows.update({f"{kind}: {name}": f"{count:,}" for name, count in named[:_SHOWN]})
        if len(named) > _SHOWN:
            rows[f"more {kind}s"] = f"{len(named) - _SHOWN:,}"
    width = max(map(len, rows))
    return "\n".join(f"{key:<{width}}  {value}" for key, value in rows.items())
