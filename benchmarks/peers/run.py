"""Run the peers on a corpus, and cache their predictions."""

import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from benchmarks.peers.frequency_prior import FrequencyPrior
from benchmarks.peers.scispacy_linker import Answer, ScispacyLinker
from benchmarks.peers.surfaces import surfaces
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document
from spacy_pel.util import atomic_path, fingerprint, logger

PEERS = ("frequency prior", "scispaCy, abbreviations expanded", "scispaCy")


class Peer(Protocol):
    """Ranks the entities of surface forms, without context."""

    def rank(self, surfaces: Sequence[str]) -> list[Answer]: ...


class PeerRun(NamedTuple):
    """The answers of one peer.

    Attributes:
        answers: one per gold mention.
        per_second: distinct surface forms looked up per second.
    """

    answers: list[Answer]
    per_second: float


def run_peers(
    kb: KnowledgeBase,
    train: Sequence[Document],
    test: Sequence[Document],
    *,
    key: str,
    cache: Path | None,
    top_k: int = 64,
) -> dict[str, PeerRun]:
    """Link the gold mentions with every peer.

    Args:
        kb: the entities.
        train: annotated text for the frequency prior.
        test: the documents whose mentions are linked.
        key: fingerprint of the three.
        cache: folder of the cached answers; None = no cache.

    Returns:
        By the names of ``PEERS``.
    """
    path = cache / f"{fingerprint(key, top_k, PEERS)}.json.gz" if cache else None
    if path and path.is_file():
        logger.info("Using cached predictions of the peers from %s", path)
        return _load(path)
    linker = ScispacyLinker(kb, top_k=top_k)
    plain, expanded = surfaces(test, expand=False), surfaces(test, expand=True)
    runs = {PEERS[2]: _timed(linker, plain), PEERS[1]: _timed(linker, expanded)}
    ids = [mention.ids for document in train for mention in document.mentions]
    # abbreviations of the training text are not expanded: that made the prior worse
    named: Sequence[tuple[str, Sequence[str]]] = list(zip(surfaces(train, expand=False), ids, strict=True))
    prior = FrequencyPrior(kb, named, top_k=top_k)
    answers = prior.rank(expanded, runs[PEERS[1]].answers)
    runs[PEERS[0]] = PeerRun(answers, runs[PEERS[1]].per_second)
    runs = {name: runs[name] for name in PEERS}
    if path:
        with atomic_path(path) as part, gzip.open(part, "wt", encoding="utf8") as file:
            json.dump(runs, file)
    return runs


def run_peer(peer: Peer, documents: Sequence[Document]) -> PeerRun:
    """Its answers for the gold mentions, with abbreviations expanded."""
    return _timed(peer, surfaces(documents, expand=True))


def _timed(linker: Peer, asked: Sequence[str]) -> PeerRun:
    started = time.perf_counter()
    answers = linker.rank(asked)
    return PeerRun(answers, len(set(asked)) / max(time.perf_counter() - started, 1e-9))


def _load(path: Path) -> dict[str, PeerRun]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        saved = json.load(file)
    return {
        name: PeerRun([Answer([(i, s) for i, s in found], nil) for found, nil in answers], per_second)
        for name, (answers, per_second) in saved.items()
    }
