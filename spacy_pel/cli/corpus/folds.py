"""The command ``corpus folds``: parts of a corpus, and the corpus without each."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import corpus_cli
from .._output import JSON, emit, key_values


@corpus_cli.command("folds")
def corpus_folds(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS.jsonl", help="The annotated corpus (JSON lines).")],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder for the files; existing ones are replaced.")
    ],
    n: Annotated[int, typer.Option("--n", metavar="N", min=2, help="Number of folds.")] = 10,
    as_json: bool = JSON,
) -> None:
    """Split a corpus into folds by a hash of the ids.

    The first fold is OUT/fold_0.jsonl, and all others are in OUT/without_0.jsonl, and so on.

    Build a KB, an index and a pipeline from the second file of each pair. calibrate --fold takes that
    pipeline and the first file. With 10 folds, fold_0 is what convert --dev-share 0.1 takes out.

    Example: spacy-pel corpus folds corpus/train.jsonl corpus/folds --n 5
    """
    from ...corpora import read_corpus, write_corpus
    from ...corpora.preprocessing import original_id
    from ...corpora.split import folds

    documents = list(read_corpus(corpus))
    sizes = []
    for number, ids in enumerate(folds(documents, n)):
        parts = {"fold": True, "without": False}
        for name, inside in parts.items():
            part = (document for document in documents if (original_id(document) in ids) == inside)
            written = write_corpus(output / f"{name}_{number}.jsonl", part)
            if inside:
                sizes.append(written)
    result: dict[str, Any] = {"output": str(output), "folds": n, "documents": sizes}
    emit(result, as_json=as_json, text=key_values)
