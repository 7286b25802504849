"""Candidates near a mention's vector, and those that its surface form names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateTable, Encoder, Masks, MentionInText, Rows
from ..util import fingerprint
from ..util.arrays import numbered
from .evidence import find_candidates
from .generator_base import GeneratorBase

if TYPE_CHECKING:  # imports faiss
    from ..index import EntityIndex


@registry.pel_candidates("spacy-pel.BiEncoderCandidates.v1")
class BiEncoderCandidates(GeneratorBase):
    """The nearest rows of the component's index by the vectors of its encoder, the entities that have the
    surface form as a name, and those that it refers to in annotated text; see ``candidates/evidence.py``.

    It has no data of its own: encoder and index are set by ``bind``, and the index follows changes of the
    knowledge base. It searches at least six times as many rows as candidates are requested.

    Args:
        row_k: minimum number of index rows to search per mention; an entity may have several.
    """

    registered_name = "spacy-pel.BiEncoderCandidates.v1"
    needs_encoder = True
    reads_context = True
    _bound: "tuple[Encoder, EntityIndex] | None" = None

    def __init__(self, *, row_k: int = 384):
        self.row_k = row_k

    @property
    def fingerprint(self) -> str:
        """Changes with the settings, and with encoder and index where they are bound."""
        parts = [] if self._bound is None else [part.fingerprint for part in self._bound]
        return fingerprint(self.registered_name, self.settings, parts)

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Nothing to build: the index is built separately."""

    def bind(self, encoder: Encoder, index: "EntityIndex") -> None:
        """Set the encoder and index to search with.

        Args:
            encoder: reads the mentions.
            index: made with it, from the knowledge base that ``find_candidates`` is given.
        """
        self._bound = (encoder, index)

    def find_candidates(
        self, kb: KnowledgeBase, mentions: Sequence[MentionInText], *, allowed: Masks = None, top_k: int = 64
    ) -> CandidateTable:
        """Find candidates; equal mentions are encoded once.

        Returns:
            With the mentions' vectors.

        Raises:
            PelError: if no encoder and index are set.
        """
        if self._bound is None:
            raise PelError(Errors.E456.format(generator=self.registered_name))
        encoder, index = self._bound
        distinct, which = numbered(mentions)
        vectors = encoder.encode_mentions(distinct)[which]
        surfaces = [mention.surface for mention in mentions]
        row_k = max(self.row_k, 6 * top_k)
        return find_candidates(kb, index, vectors, surfaces, allowed=allowed, row_k=row_k, top_k=top_k)

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Nothing to update: the index follows the change."""

    def __getstate__(self) -> dict[str, Any]:
        # the owner of encoder and index sends them to the other process, and binds them there
        return {**self.__dict__, "_bound": None}
