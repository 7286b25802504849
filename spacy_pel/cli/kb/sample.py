"""The command ``kb sample``: a random sample of a knowledge base."""

from pathlib import Path
from typing import Annotated

import typer

from .._app import kb_cli
from .._output import JSON, emit, key_values


@kb_cli.command("sample")
def kb_sample(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The KB folder.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The KB folder to write.")],
    share: Annotated[
        float, typer.Option(metavar="NUMBER", min=0.0, max=1.0, help="Share of the entities to draw.")
    ] = 0.1,
    keep: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Corpus (JSON lines) whose entities are always kept (repeatable)."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Draw a random sample of a knowledge base for small experiments. Recall is higher on a smaller KB.

    Example: spacy-pel kb sample corpus/kb corpus/kb_small --share 0.1 --keep corpus/dev.jsonl
    """
    from itertools import chain

    from ...corpora import read_corpus
    from ...kb import KnowledgeBase
    from ...kb.sample import sample_entities

    whole = KnowledgeBase.from_disk(kb)
    documents = chain.from_iterable(read_corpus(path) for path in keep or ())
    drawn = sample_entities(whole, share=share, seed=seed, documents=documents)
    source = {**whole.source, "sample": {"of": whole.fingerprint, "share": share, "seed": seed}}
    part = KnowledgeBase.build(drawn, out, source=source, redirects=whole.redirects())
    result = {"entities": len(part), "of": len(whole), "fingerprint": part.fingerprint}
    emit(result, as_json=as_json, text=key_values)
