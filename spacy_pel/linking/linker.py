"""The linker: mentions in, entities or NIL out. Used by component, evaluation and commands.

CandidateFinder -> Decider (combiner, reranker, NIL model) -> links
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..candidates.bi_encoder import BiEncoderCandidates
from ..candidates.form_cache import FormCache
from ..candidates.form_reader import FormReader
from ..errors import Errors, PelError, Warnings
from ..kb import KnowledgeBase
from ..types import LABEL_TYPE, CandidateGenerator, CandidateTable, Combiner, Encoder, NilModel, Rows, Vectors
from ..util import logger
from .corrections import Correction, Learned, Memory
from .corrections.matching import IndexWithMemory, LearnedMentions, add_listed, insert_answers, match_memory
from .corrections.memory import check_by, make_entries
from .decider import Decider, Ranked, Threshold
from .finder import CandidateFinder, check_entity_types
from .query import Link, Queries
from .reranker import Reranker

if TYPE_CHECKING:  # the index imports faiss, which the linker itself does not need
    from ..index import EntityIndex

ReadContext = Literal["always", "never"]


class Linker:
    """Candidate generator -> combiner -> (reranker) -> NIL model -> threshold.

    Args:
        kb: the entities.
        encoder: reads the mentions, for a generator that works on vectors.
        index: built from ``kb`` with ``encoder``.
        combiner: scores candidates from their evidence.
        nil_model: gives the number that is compared with the threshold.
        threshold: a mention is NIL if its nil_score is higher, and always if it
            has no candidates. May be a map, label -> threshold. None, or a label that is not in the map =
            the one found by ``calibration.fit``; without one, NIL where that is more probable than the first
            candidate, if the NIL model can say (``is_probability``); if it cannot, NIL only for lack of candidates.
        top_k: candidates returned for each mention. Above 64, more are retrieved.
        entity_types: label -> the KB types its mentions may have, or ids of entities that they may have along with
            all narrower ones (is-a); mentions with other labels are not filtered. Applied before ranking.
        batch_size: mentions linked together.
        coverage: how often ``Link.id_set`` has to hold the right answer, between 0 and 1;
            None = no sets.
        nil_share: of the mentions to be linked, from 0 = the knowledge base has all of them; shifts P(NIL). None = as
            in the calibration.
        read_context: whether the encoder reads mentions in their context: "never" = the surface form alone, each
            one once, or "always". A calibration is made for one of them.
        form_cache: megabytes for what was found for surface forms.
        reranker: reorders the best candidates. With one, mentions are always read in their context.
        generator: finds the candidates; built from ``kb``. None = those near
            the mention's vector, see ``BiEncoderCandidates``.
        memory: corrected mentions; None = there are none yet.

    Raises:
        PelError: if ``entity_types`` names what is neither a type nor an id of the KB, or the generator needs an
            encoder and an index that are not there.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        encoder: Encoder | None,
        index: "EntityIndex | None",
        combiner: Combiner,
        nil_model: NilModel,
        *,
        threshold: Threshold = None,
        top_k: int = 64,
        entity_types: Mapping[str, Sequence[str]] | None = None,
        batch_size: int = 64,
        coverage: float | None = None,
        nil_share: float | None = None,
        read_context: ReadContext = "never",
        form_cache: float = 64,
        reranker: Reranker | None = None,
        generator: CandidateGenerator | None = None,
        memory: Memory | None = None,
    ):
        self.kb = kb
        self.encoder = encoder
        self.memory = Memory() if memory is None else memory
        self.generator: CandidateGenerator = BiEncoderCandidates() if generator is None else generator
        self._is_default = generator is None
        self.decider = Decider(combiner, nil_model, reranker)
        self.threshold = threshold
        self.top_k = top_k
        self.entity_types = check_entity_types(kb, entity_types or {})
        self.form_cache = form_cache
        self._bind(index)
        self.batch_size = batch_size
        self.coverage = coverage
        self.nil_share = nil_share
        self.read_context: ReadContext = read_context
        similarity = getattr(encoder, "similarity", None)
        if getattr(similarity, "token_level", False) and reranker is None:
            logger.warning(Warnings.W504.format(similarity=similarity.registered_name))  # type: ignore[union-attr]

    def _bind(self, index: "EntityIndex | None") -> None:
        if self.generator.needs_encoder and (self.encoder is None or index is None):
            missing = "encoder" if self.encoder is None else "index"
            raise PelError(Errors.E457.format(generator=self.generator.registered_name, missing=missing))
        self.index = index
        learned = self.learned_mentions
        self._has_learned = bool(len(self.memory))
        # without learned mentions nothing is different, not even the last digit of a score
        source = index if index is None or learned.vectors is None else IndexWithMemory(index, learned)
        self.generator.bind(self.encoder, source)
        topics = getattr(index, "topics", None)  # a part of an index has those of its texts
        reader = FormReader(self.kb, None if source is None else source.priors)
        cache = FormCache(self.form_cache)
        self.finder = CandidateFinder(self.kb, self.generator, topics, self.entity_types, cache, reader)

    @property
    def reranker(self) -> Reranker | None:
        """Reorders the best candidates."""
        return self.decider.reranker

    @property
    def reads_context(self) -> bool:
        """Whether mentions are read in their context, and not by their surface form alone."""
        is_asked_for = self.read_context == "always" or self.reranker is not None
        return is_asked_for and self.generator.reads_context

    @property
    def learned_mentions(self) -> LearnedMentions:
        """The learned mentions in effect."""
        return self.memory.learned_mentions(self.kb, None if self.index is None else self.index.priors)

    def without_memory(self) -> "Linker":
        """A linker with the same parts that has learned nothing; this one, if that is so already."""
        if not self.memory:
            return self
        linker = copy.copy(self)
        linker.generator, linker.memory = copy.copy(self.generator), Memory()
        linker._bind(self.index)
        return linker

    @property
    def fingerprints(self) -> dict[str, str]:
        """Fingerprints of what the candidates depend on: the KB and, if present,
        the index, the encoder, a generator other than the default, and the learned mentions."""
        generator = None if self._is_default else self.generator
        memory = self.learned_mentions if len(self.memory) else None
        parts = {"kb": self.kb, "index": self.index, "encoder": self.encoder, "generator": generator, "memory": memory}
        return {name: part.fingerprint for name, part in parts.items() if part is not None}

    @property
    def nil_threshold(self) -> float | None:
        """The threshold in use: the setting, or else the calibrated one. A label
        may have its own, see ``Decider.threshold_of``. None = there is none: each mention has its own, see
        ``Link.threshold``, or is NIL only for lack of candidates."""
        if isinstance(self.threshold, (float, int)):
            return self.threshold
        return self.decider.calibrated_threshold

    @property
    def label_thresholds(self) -> dict[str, float]:
        """Label -> threshold, of the labels that have their own."""
        return dict(self.threshold) if isinstance(self.threshold, Mapping) else {}

    # -- linking -----------------------------------------------------------------------------

    def link(self, queries: Queries, *, top_k: int | None = None) -> list[Link]:
        """Link mentions, ``batch_size`` at a time.

        Args:
            queries: the mentions.
            top_k: candidates returned for each mention; None = the linker's own.

        Returns:
            One for each.
        """
        top_k = self.top_k if top_k is None else top_k
        batches = (queries[start : start + self.batch_size] for start in range(0, len(queries), self.batch_size))
        return [link for batch in batches for link in self.decide(self.rank(batch, top_k), top_k)]

    def evidence(self, queries: Queries, *, in_context: bool | None = None) -> CandidateTable:
        """Find candidates and the evidence for each.

        Args:
            queries: the mentions.
            in_context: read them in their context; None = if the linker does.

        Returns:
            One mention for each query; a mention of white space only has no candidates.
        """
        in_context = self.reads_context if in_context is None else in_context
        queries, _ = self.finder.read(queries)
        parts = [queries[i : i + self.batch_size] for i in range(0, max(1, len(queries)), self.batch_size)]
        return CandidateTable.concatenate([self._evidence(part, self.top_k, in_context) for part in parts])

    def _evidence(self, queries: Queries, top_k: int, in_context: bool) -> CandidateTable:
        table = self.finder(queries, top_k, in_context=in_context)
        label_types = self.decider.label_types
        return table.plus({LABEL_TYPE: label_types.shares(self.kb, queries, table)}) if label_types.counts else table

    def rank(self, queries: Queries, top_k: int) -> Ranked:
        """Find and rank the candidates of one batch, and find what was learned of its mentions or lists decide."""
        read, is_broader = self.finder.read(queries)
        table, matches = self._evidence(read, top_k, self.reads_context), None
        has_senses = any(query.sense for query in queries)
        masks = self.finder.masks(queries) if self._has_learned or has_senses else None
        if self._has_learned:
            matches = match_memory(self.learned_mentions, queries, table, masks, in_context=self.reads_context)
        if has_senses:
            priors = None if self.index is None else self.index.priors
            matches = add_listed(self.kb, queries, table, masks, self.decider.combiner(table), matches, priors)
        if matches is not None:
            table = insert_answers(self.kb, [query.in_text for query in queries], table, matches)
            is_broader &= ~matches.decided
        return Ranked(read, table, *self.decider.score(self.kb, read, table), matches, is_broader)

    def decide(self, ranked: Ranked, top_k: int) -> list[Link]:
        """Decide between the best candidates and NIL; ``top_k`` candidates are returned for each mention."""
        return self.decider.decide(self, ranked, top_k)

    # -- memory -----------------------------------------------------------------------------

    def learn(self, queries: Queries, corrections: Sequence[Correction], *, by: str = "") -> list[Learned]:
        """Make corrections count from now on, without training: see ``corrections/matching.py``.

        Args:
            queries: the mentions, prepared as at inference.
            corrections: the same mentions as written, with their right answers.
            by: who corrected them.

        Returns:
            The new entries of the memory; a correction that it has already adds none.

        Raises:
            PelError: if an answer is neither the id of a live entity nor "NIL", or ``entity_types``
                excludes it for the mention; nothing is learned then.
        """
        check_by(by)
        before, masks = [link.kb_id for link in self.link(queries)], self.finder.masks(queries)
        entries, new = make_entries(self.kb, self.memory, queries, corrections, masks, before, by=by)
        if not entries:
            return []
        vectors: Vectors | None = None
        if self.encoder is not None and self.index is not None:
            vectors = self.encoder.encode_mention_rows([queries[i].in_text for i in new])
            self.memory.encoder_fingerprint = self.index.encoder_fingerprint
        self.memory.add(entries, vectors)
        self.refresh()
        return entries

    def unlearn(self, ids: Iterable[int], *, by: str = "") -> list[Learned]:
        """Undo what was learned: links are again what they were without it.

        Args:
            ids: of entries.
            by: who undoes them.

        Returns:
            These entries.

        Raises:
            PelError: if one is unknown or undone; nothing is undone then.
        """
        undone = self.memory.undo(ids, by=by)
        self.refresh()
        return undone

    def refresh(self) -> None:
        """Bring the generator up to date after a change of the memory or of the knowledge base."""
        self._bind(self.index)

    def gold_rows(self, ids: Sequence[str]) -> Rows:
        """Distinct KB rows of gold ids, redirects followed; unknown have none."""
        rows = np.unique(self.kb.rows(list(ids))) if ids else np.zeros(0, dtype=np.int64)
        return rows[rows >= 0]
