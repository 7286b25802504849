"""Dense candidates: names whose vectors are near that of the surface form; the context is not read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from ...candidates.name_generator import Found, NameGenerator, Search
from ...encoders.backend import Backend
from ...encoders.bi_encoder import BiEncoder
from ...encoders.templates import SynonymCard
from ...index import EntityIndex
from ...index.faiss_ivf import FaissIVF
from ...kb import KnowledgeBase
from ...registry import registry
from ...types import Mask, Rows, Vectors
from ...util import fingerprint

_ENCODER, _INDEX = "encoder", "index"
_KINDS = ("alias",)


class NameEncoder(BiEncoder):
    """One tower that reads lower-cased names."""

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """(n, width), of length 1."""
        return super().encode_names([name.lower() for name in names], show_progress=show_progress)


class _Names(NamedTuple):
    encoder: NameEncoder
    entities: EntityIndex

    @property
    def n_rows(self) -> int:
        return int(self.entities.kb_rows.max()) + 1 if len(self.entities) else 0


@registry.pel_candidates("spacy-pel.DenseSynonyms.v1")
class DenseSynonyms(NameGenerator[_Names]):
    """Names by the cosine of their vectors with that of the surface form (Le & Nguyen 2023, section
    "Candidate retrieval"): each lower-cased name of each entity is a vector of an exact FAISS index, and
    names are read, best first, until there are k distinct entities; equal cosines in the order of the
    knowledge base. The mention's context is not read.

    Args:
        name: the weights: folder, "package:NAME", hub id (the paper has
            "cambridgeltl/SapBERT-from-PubMedBERT-fulltext") or "random:SIZES".
        pooling: how the vectors of tokens become one. As the weights were trained.
        max_length: word pieces of a name, special tokens included; the end is cut.
        codes: how the index stores a number.
        backend: how inference runs, torch by default.
        batch_size: names in one inference batch.
    """

    registered_name = "spacy-pel.DenseSynonyms.v1"
    without_effect = ("backend", "batch_size")
    fold = staticmethod(str.lower)

    def __init__(
        self,
        *,
        name: str | None = None,
        pooling: Literal["cls", "mean"] = "cls",
        max_length: int = 50,
        codes: Literal["fp32", "fp16"] = "fp32",
        backend: Backend | None = None,
        batch_size: int = 256,
    ):
        self.name = name
        self.pooling: Literal["cls", "mean"] = pooling
        self.max_length = max_length
        self.codes: Literal["fp32", "fp16"] = codes
        self.backend = backend
        self.batch_size = batch_size
        self._template = SynonymCard(max_length=max_length, max_synonyms=1)  # checks the length
        FaissIVF(flat_below=None, codes=codes)  # checks the codes

    @property
    def fingerprint(self) -> str:
        """Changes with the settings, the weights and the knowledge base."""
        weights = self._built.encoder.fingerprint if self._built else ""
        return fingerprint(self.registered_name, self.settings, weights, self._kb_fingerprint)

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Load the weights, unless there are some, and embed the names of a knowledge base.

        Raises:
            PelError: if there are no such weights, or no names.
        """
        encoder = self._built.encoder if self._built else self._new_encoder()
        encoder.initialize()
        index = EntityIndex.build(
            kb, encoder, index=FaissIVF(flat_below=None, codes=self.codes), kinds=_KINDS, show_progress=show_progress
        )
        self._built, self._kb_fingerprint = _Names(encoder, index), kb.fingerprint

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Rank names by the cosines of their vectors."""
        encoder, index = self.built(kb)
        vectors: dict[str, Vectors] = {}

        def search(texts: Sequence[str], k: int, mask: Mask) -> list[Found]:
            new = [text for text in texts if text not in vectors]
            vectors.update(zip(new, encoder.encode_names(new), strict=True))
            k = min(k, len(index))
            nearest = index.search_entities(np.stack([vectors[text] for text in texts]), k, mask, _KINDS)
            found = []
            for cosines, rows in zip(*nearest, strict=True):
                # what FAISS leaves open: equal cosines (the same name of several entities) by row
                order = np.lexsort((rows, -cosines))[: (rows >= 0).sum()]
                found.append(Found(rows[order], cosines[order], k == len(order) < len(index)))
            return found

        return search

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Embed the names of rows that were added or updated; those of retired ones are masked."""
        encoder, index = self.built(kb)
        index.add_entities(kb, encoder, kb_rows)
        self._kb_fingerprint = kb.fingerprint

    def _write(self, path: Path) -> None:
        encoder, index = self.built()
        encoder.to_disk(path / _ENCODER)
        index.to_disk(path / _INDEX)

    def _read(self, path: Path) -> _Names:
        encoder = self._new_encoder()
        encoder.from_disk(path / _ENCODER)
        return _Names(encoder, EntityIndex.from_disk(path / _INDEX, encoder=encoder))

    def _new_encoder(self) -> NameEncoder:
        if self.backend is not None and not isinstance(self.backend, Backend):
            raise self._wrong("backend", "a part of the registry pel_backends", type(self.backend).__name__)
        return NameEncoder(
            name=self.name,
            tied=True,
            pooling=self.pooling,
            entity_template=self._template,
            backend=self.backend,
            batch_size=self.batch_size,
        )
