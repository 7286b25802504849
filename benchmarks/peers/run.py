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


class Peers:
    """scispaCy's look-up and the frequency prior, which are built once, and only if an answer is not cached.

    Args:
        kb: the entities.
        train: annotated text for the frequency prior.
        key: fingerprint of it.
        cache: folder of the cached answers; None = no cache.
        top_k: candidates kept.
    """

    def __init__(
        self, kb: KnowledgeBase, train: Sequence[Document], *, key: str, cache: Path | None, top_k: int = 64
    ) -> None:
        self._kb, self._train, self._cache, self._top_k = kb, train, cache, top_k
        self._key = fingerprint(kb.fingerprint, key, top_k, PEERS)
        self._built: tuple[ScispacyLinker, FrequencyPrior] | None = None

    def run(self, test: Sequence[Document], key: str) -> dict[str, PeerRun]:
        """Link the gold mentions with every peer.

        Args:
            test: the documents whose mentions are linked.
            key: fingerprint of them.

        Returns:
            By the names of ``PEERS``.
        """
        path = self._cache / f"{fingerprint(self._key, key)}.json.gz" if self._cache else None
        if path and path.is_file():
            logger.info("Using cached predictions of the peers from %s", path)
            return _load(path)
        linker, prior = self._built = self._built or self._build()
        expanded = surfaces(test, expand=True)
        by_expanded = _timed(linker, expanded)
        by_prior = PeerRun(prior.rank(expanded, by_expanded.answers), by_expanded.per_second)
        plain = _timed(linker, surfaces(test, expand=False))
        runs = dict(zip(PEERS, (by_prior, by_expanded, plain), strict=True))
        if path:
            with atomic_path(path) as part, gzip.open(part, "wt", encoding="utf8") as file:
                json.dump(runs, file)
        return runs

    def _build(self) -> tuple[ScispacyLinker, FrequencyPrior]:
        ids = [mention.ids for document in self._train for mention in document.mentions]
        # abbreviations of the training text are not expanded: that made the prior worse
        named: Sequence[tuple[str, Sequence[str]]] = list(zip(surfaces(self._train, expand=False), ids, strict=True))
        prior = FrequencyPrior(self._kb, named, top_k=self._top_k)
        return ScispacyLinker(self._kb, top_k=self._top_k), prior


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
