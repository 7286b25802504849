"""The command ``corpus restore``: from a preprocessed corpus back to the original texts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import corpus_cli
from .._output import JSON, emit, key_values


@corpus_cli.command("restore")
def corpus_restore(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="The preprocessed corpus, or what was made from it: a folder of `evaluate`, or a .jsonl "
            "or .parquet file of `link`.",
        ),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder or .jsonl file to write.")],
    corpus: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="For a folder: the preprocessed corpus that was evaluated. For a file: the corpus as it was "
            "before preprocessing.",
        ),
    ],
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap, for a folder.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Map the mentions of a preprocessed corpus back to the original texts.

    Example: spacy-pel corpus restore metrics/expanded metrics/restored
    --corpus corpus/dev_expanded.jsonl
    """
    from ...corpora import read_corpus, read_links
    from ...corpora.preprocessing import restored
    from ...evaluation.restore import restore_run
    from ...util import write_jsonl

    result: dict[str, Any] = {"output": str(output)}
    if source.is_dir():
        metrics = restore_run(source, read_corpus(corpus), output, corpus=corpus, seed=seed)
        result["mentions"] = metrics["n"]
        result["documents"] = metrics["n_documents"]
    else:
        originals = {document.id: document for document in read_corpus(corpus)}
        result["documents"] = write_jsonl(output, restored(read_links(source), originals, corpus))
    emit(result, as_json=as_json, text=key_values)
