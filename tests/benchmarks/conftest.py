"""What the benchmarks share: running a command, and a small annotated corpus with its pipeline."""

from itertools import islice

import pytest
import typer
from typer.testing import CliRunner

from benchmarks.speed import made_up_pipeline
from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Mention
from spacy_pel.util import logger


@pytest.fixture(scope="session")
def run():
    """Runs the ``main`` of a benchmark with these arguments."""

    def run_main(main, *args):
        app = typer.Typer()
        app.command()(main)
        logger.handlers = []  # that of a command before writes to a stream that is closed
        return CliRunner().invoke(app, [str(arg) for arg in args])

    return run_main


@pytest.fixture(scope="session")
def made_up(tmp_path_factory):
    """A folder with ``pipeline``, ``corpus.jsonl`` and ``empty.jsonl``, and 60 annotated documents."""
    folder = tmp_path_factory.mktemp("made_up")
    texts = made_up_pipeline(folder, 60)
    entities = islice(KnowledgeBase.from_disk(folder / "kb").entities(), len(texts))
    documents = []
    for number, (text, entity) in enumerate(zip(texts, entities, strict=True)):
        mention = Mention(len("Patients had "), len(text) - len(" in this study."), "X", ids=(entity.concept_id,))
        documents.append(Document(str(number), text, [mention]))
    write_corpus(folder / "corpus.jsonl", documents)
    write_corpus(folder / "empty.jsonl", [Document("d", "No mention.", [])])
    return folder, documents
