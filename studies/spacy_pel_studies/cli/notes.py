"""The command ``research notes``: made-up texts to train a detector on."""

from pathlib import Path
from typing import Annotated

from spacy_pel.cli._options import KBOrPipeline, Seed, argument, option
from spacy_pel.cli._output import emit

from ._app import research_cli


@research_cli.command("notes")
def notes(
    kb: KBOrPipeline,
    output: Annotated[Path, argument("OUT", "The .jsonl file to write.")],
    n_documents: Annotated[int, option("N", "Number of texts.", "--documents", min=1)] = 3000,
    seed: Seed = 0,
) -> None:
    """Make up texts like clinical notes, with typed mentions, to train a detector on.

    They are made of names in the KB and templates: headings, lists, doses, lab values, negated findings, patients'
    posts, trial criteria.

    Example: spacy-pel research notes corpus/kb corpus/notes.jsonl --documents 3000
    """
    from spacy_pel.cli._kb import open_kb
    from spacy_pel.corpora import write_corpus

    from ..detector_texts.notes import NoteMaker

    make = NoteMaker(open_kb(kb), seed=seed)
    documents = [make(number) for number in range(n_documents)]
    mentions = [mention for document in documents for mention in document.mentions]
    counts = {"mentions": len(mentions), "with_id": sum(bool(mention.ids) for mention in mentions)}
    result = {"output": str(output), "documents": write_corpus(output, documents), **counts}
    emit(result)
