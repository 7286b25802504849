"""The tiny pipeline of the commands, and one with a transformer, whose tokenizer threads cannot share."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import spacy
from cli.conftest import ENTITIES, NAMES, UNKNOWN, folder  # noqa: F401

from spacy_pel import KnowledgeBase
from spacy_pel.util import read_jsonl, write_jsonl
from spacy_pel.util.config import import_code


@pytest.fixture(scope="session")
def bert_pipeline(tiny_bert, tmp_path_factory):
    """The folder of a pipeline with a random bi-encoder."""
    path = tmp_path_factory.mktemp("engines") / "pipeline"
    nlp = spacy.blank("en")
    patterns = [{"label": "ENTITY", "pattern": name} for name in NAMES + UNKNOWN]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)}
    linker = nlp.add_pipe("proxy_entity_linker", config={"encoder": encoder})
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase(ENTITIES))
    nlp.to_disk(path)
    return path


@pytest.fixture
def own_part(folder, tmp_path):  # noqa: F811
    """The folder of a pipeline with a component of a file, and this file."""
    code = tmp_path / "own.py"
    code.write_text("from spacy.language import Language\n\nLanguage.component('test_own', func=lambda doc: doc)\n")
    import_code([str(code)])
    nlp = spacy.load(folder / "pipeline")
    nlp.add_pipe("test_own")
    nlp.to_disk(tmp_path / "own")
    return tmp_path / "own", code


@pytest.fixture
def many_texts(folder, tmp_path):  # noqa: F811
    """A file of 400 different texts."""
    texts = [one["text"] for one in read_jsonl(folder / "dev.jsonl")] * 10
    write_jsonl(tmp_path / "in.jsonl", [{"id": f"{n}", "text": f"{text} {n}"} for n, text in enumerate(texts)])
    return tmp_path / "in.jsonl"


@contextmanager
def one_killed(is_worker, when):
    """Kill a process whose folder in /proc is that of a worker, as soon as ``when()``."""
    killed = []

    def kill():
        end = time.monotonic() + 240
        while time.monotonic() < end and not when():
            time.sleep(0.02)
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if not killed and is_worker(path):
                    os.kill(int(path.name), signal.SIGKILL)
                    killed.append(path)
            except OSError:
                continue

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    yield
    killer.join()
    assert killed
