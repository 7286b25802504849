"""A tiny pipeline on a server that runs: in a thread of this process, on a free port."""

import threading
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

import pytest
import spacy
from spacy.language import Language

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

if not all(map(find_spec, ("httpx", "fastapi", "uvicorn"))):
    collect_ignore_glob = ["test_*.py"]  # they need the extra serve
NAME = "proxy_entity_linker"
EVIL = '<img src=x onerror="document.title=1">'
ENTITIES = [
    Entity("C1", "aspirin", ("acetylsalicylic acid",), ("T109", "T121"), "Relieves pain.", ("RXNORM:1191", "own code")),
    Entity("C2", "heart attack", ("myocardial infarction", "heart attack of the left side"), ("T047",)),
    Entity("C3", "Headache", ("cephalalgia",), ("symptom",)),
    Entity("C4", f"cold {EVIL}", ("cold",), ("disease",)),
    Entity("MESH:D5/1", "kidney stone", ("renal calculus",), ("disease",)),
]
PHRASES = {
    "CHEMICAL": ["aspirin"],
    "DISEASE": ["heart attack", "headache", "cold", "zebra fish"],
    "COMPLAINT": ["kidney stone"],
}
TEXT = "We gave aspirin after a heart attack. A headache came, then a zebra fish, then more aspirin."
GATE, WAITS = threading.Event(), threading.Event()  # shut, a text with WAIT in it waits
SEEN = []  # texts


@Language.component("pel_test_gate")
def gate(doc):
    SEEN.append(doc.text)
    if "WAIT" in doc.text:
        WAITS.set()
        GATE.wait(60)
    return doc


@Language.component("pel_test_fails", assigns=["doc._.abbreviations"])
def fails(doc):
    """On terms, which it reads as it is said to find abbreviations."""
    if "quantum" in doc.text:
        raise RuntimeError("too quantum")
    return doc


@pytest.fixture
def shut_gate():
    GATE.clear()
    WAITS.clear()
    SEEN.clear()
    yield GATE
    GATE.set()


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """The folder of a pipeline."""
    nlp = spacy.blank("en")
    patterns = [
        {"label": label, "pattern": [{"LOWER": word} for word in phrase.split()]}
        for label, phrases in PHRASES.items()
        for phrase in phrases
    ]
    nlp.add_pipe("pel_test_gate")
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    linker = nlp.add_pipe(NAME, config={"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 64}})
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase(ENTITIES))
    path = tmp_path_factory.mktemp("serving") / "tiny"
    nlp.to_disk(path)
    return path


def review_of(nlp, terms, *, type_column=None):
    """A list that is decided on, with the columns that it usually has."""
    from spacy_pel.engines.corpus import Columns, Corpus
    from spacy_pel.engines.terms import TERM_COLUMNS, TermSettings
    from spacy_pel.pipeline.saved import LoadedPipeline
    from spacy_pel.serving import Review

    loaded = LoadedPipeline(nlp, NAME, nlp.get_pipe(NAME))
    return Review(loaded, Corpus(terms, columns=Columns(usual=TERM_COLUMNS)), TermSettings(type_column))


@contextmanager
def serving(pipeline, *, save=False, allowed_hosts=(), terms=None, **limits):
    """That answers; ``url`` and ``service`` are attributes."""
    from spacy_pel.serving import Limits, Service, listen, make_app, make_server

    nlp = spacy.load(pipeline)
    service = Service(nlp, NAME, title="tiny", folder=pipeline / NAME if save else None)
    chosen = Limits(**limits)
    with ExitStack() as stack:
        listening = stack.enter_context(listen("127.0.0.1", 0))
        review = None if terms is None else review_of(nlp, terms)
        app = make_app(service, limits=chosen, host="127.0.0.1", allowed_hosts=allowed_hosts, review=review)
        server, server_port = make_server(app, chosen), listening.getsockname()[1]
        server.service, server.port, server.url = service, server_port, f"http://127.0.0.1:{server_port}"
        thread = threading.Thread(target=server.run, args=[[listening]], daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield server
        finally:
            GATE.set()
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.fixture(scope="session")
def server(pipeline):
    """One for all tests that leave no trace."""
    with serving(pipeline, max_chars=300, max_texts=3, max_bytes=5000, timeout=20.0) as running:
        yield running


@pytest.fixture
def client(server):
    import httpx

    with httpx.Client(base_url=server.url, timeout=30) as one:
        yield one
