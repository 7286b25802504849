"""The linker: mentions in, entities or NIL out. Used by component, evaluation and commands."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..candidates.bi_encoder import BiEncoderCandidates
from ..errors import Errors, PelError, Warnings
from ..index.annotated_text import TopicReader
from ..kb import KnowledgeBase
from ..types import (
    LABEL_TYPE,
    NIL,
    TOPIC,
    Candidate,
    CandidateGenerator,
    CandidateTable,
    Combiner,
    Encoder,
    NilModel,
    Scores,
    Vectors,
)
from ..util import logger
from ..util.ragged import owners, places_in_pieces, segment_max, segment_order
from .confidence import DEPTH, Confidence, prediction_set, shares_of
from .corrections import Correction, Learned, Memory
from .corrections.entries import make_entries
from .corrections.learned_mentions import IndexWithMemory, LearnedMentions
from .corrections.matching import MemoryMatches, insert_answers, match_memory, put_first
from .corrections.memory import check_by
from .label_types import LabelTypes
from .nil.thresholds import Threshold, break_even_threshold
from .query import MentionQuery, QueryBatch, read_batch
from .reranker import Reranker
from .tables import insert_empty, join_tables, with_features

if TYPE_CHECKING:  # the index imports faiss, which the linker itself does not need
    from ..index import EntityIndex

Masks = list[NDArray[np.bool_] | None]  # of each mention, over the rows of the KB; None = all rows

_CANDIDATE: Any = partial(tuple.__new__, Candidate)  # from a pair, without a Python call for each


@dataclass(frozen=True)
class Link:
    """The linker's answer for one mention.

    Attributes:
        kb_id: an entity id, or "NIL".
        nil_score: the number compared with the NIL threshold.
        ids: ids of the candidates, best first, distinct, at most top_k.
        scores: their scores.
        probability: P(right) of ``kb_id``; calibrated if the linker is, see ``Confidence``.
        id_set: the answers, ids or "NIL", most probable first, among which the right one is
            at the rate ``coverage``. None without that setting, or before calibration.
        learned: the entry of the memory that decided, see ``Linker.learn``; None = none did.
        threshold: a higher nil_score is NIL, unless ``learned`` decides; None = NIL only for
            lack of candidates.
    """

    kb_id: str
    nil_score: float
    ids: list[str]
    scores: list[float]
    probability: float
    id_set: list[str] | None = None
    learned: int | None = None
    threshold: float | None = None

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates as pairs, made when asked for: dozens of objects for each
        mention would keep Python's garbage collector busy."""
        return list(map(_CANDIDATE, zip(self.ids, self.scores, strict=True)))


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
        top_k: candidates returned for each mention. Above 128, more are retrieved.
        entity_types: label -> the KB types its mentions may have; mentions with other
            labels are not filtered. Applied before ranking.
        batch_size: mentions linked together.
        coverage: how often ``Link.id_set`` has to hold the right answer, between 0 and 1;
            None = no sets.
        reranker: reorders the best candidates.
        generator: finds the candidates; built from ``kb``. None = those near
            the mention's vector, see ``BiEncoderCandidates``.
        memory: corrected mentions; None = there are none yet.

    Raises:
        PelError: if ``entity_types`` names a type that no entity has, or the generator needs an
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
        reranker: Reranker | None = None,
        generator: CandidateGenerator | None = None,
        memory: Memory | None = None,
    ):
        self.kb = kb
        self.encoder = encoder
        self.memory = Memory() if memory is None else memory
        self.generator: CandidateGenerator = BiEncoderCandidates() if generator is None else generator
        self._is_default = generator is None
        self._bind(index)
        self.combiner = combiner
        self.nil_model = nil_model
        self.threshold = threshold
        self.top_k = top_k
        self.entity_types = {label: frozenset(types) for label, types in (entity_types or {}).items()}
        for label, types in self.entity_types.items():
            if unknown := sorted(types.difference(kb.types())):
                known = sorted(kb.types())
                listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
                raise PelError(Errors.E500.format(label=label, types=", ".join(unknown), known=listed))
        self.batch_size = batch_size
        self.coverage = coverage
        self.confidence = Confidence()
        self.label_types = LabelTypes()
        self.reranker = reranker
        self.calibrated_threshold: float | None = None
        self.calibrated_by_label: dict[str, float] = {}
        similarity = getattr(encoder, "similarity", None)
        if getattr(similarity, "token_level", False) and reranker is None:
            logger.warning(Warnings.W504.format(similarity=similarity.registered_name))  # type: ignore[union-attr]

    def _bind(self, index: "EntityIndex | None") -> None:
        if self.generator.needs_encoder and (self.encoder is None or index is None):
            missing = "encoder" if self.encoder is None else "index"
            raise PelError(Errors.E457.format(generator=self.generator.registered_name, missing=missing))
        self.index = index
        topics = getattr(index, "topics", None)  # a part of an index has those of its texts
        self._topics = None if topics is None else TopicReader(self.encoder, topics)
        learned = self.learned_mentions
        # without learned mentions nothing is different, not even the last digit of a score
        source = index if index is None or learned.vectors is None else IndexWithMemory(index, learned)
        self.generator.bind(self.encoder, source)

    @property
    def learned_mentions(self) -> LearnedMentions:
        """The learned mentions in effect."""
        return self.memory.learned_mentions(self.kb, None if self.index is None else self.index.priors)

    def with_index(self, index: "EntityIndex") -> "Linker":
        """A linker with the same parts that finds candidates in another index; this one is not changed.

        Args:
            index: built from the same KB with the same encoder, or a part of such an index.

        Returns:
            With a shallow copy of the generator.
        """
        return self._copy(index, self.memory)

    def without_memory(self) -> "Linker":
        """A linker with the same parts that has learned nothing; this one, if that is so already."""
        return self._copy(self.index, Memory()) if self.memory else self

    def _copy(self, index: "EntityIndex | None", memory: Memory) -> "Linker":
        other = copy.copy(self)
        other.generator, other.memory = copy.copy(self.generator), memory
        other._bind(index)
        return other

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
        may have its own, see ``threshold_of``. None = there is none: each mention has its own, see
        ``Link.threshold``, or is NIL only for lack of candidates."""
        return self.threshold if isinstance(self.threshold, (float, int)) else self.calibrated_threshold

    @property
    def is_calibrated(self) -> bool:
        """Whether a NIL threshold was fitted; see ``calibration.fit``."""
        return self.calibrated_threshold is not None or bool(self.calibrated_by_label)

    @property
    def decides_without_threshold(self) -> bool:
        """Whether NIL is decided where there is no threshold, too, as the NIL model gives
        P(NIL) before it is fitted."""
        return bool(getattr(self.nil_model, "is_probability", False))

    @property
    def label_thresholds(self) -> dict[str, float]:
        """Label -> threshold, of the labels that have their own."""
        if isinstance(self.threshold, Mapping):
            return {**self.calibrated_by_label, **self.threshold}
        return {} if self.threshold is not None else dict(self.calibrated_by_label)

    def threshold_of(self, label: str) -> float | None:
        """The threshold in use for the mentions of a label. A setting takes precedence over the calibration,
        and a label's own threshold over the common one.

        Args:
            label: the mention's NER label.

        Returns:
            A higher nil_score is NIL; None = there is none: each mention has its own,
            see ``Link.threshold``, or is NIL only for lack of candidates.
        """
        if isinstance(self.threshold, Mapping):
            if label in self.threshold:
                return self.threshold[label]
        elif self.threshold is not None:
            return self.threshold
        return self.calibrated_by_label.get(label, self.calibrated_threshold)

    # -- linking -----------------------------------------------------------------------------

    def link(self, queries: Sequence[MentionQuery], *, top_k: int | None = None) -> list[Link]:
        """Link mentions, ``batch_size`` at a time.

        Args:
            queries: the mentions.
            top_k: candidates returned for each mention; None = the linker's own.

        Returns:
            One for each.
        """
        top_k = self.top_k if top_k is None else top_k
        links: list[Link] = []
        for start in range(0, len(queries), self.batch_size):
            part = queries[start : start + self.batch_size]
            batch = read_batch(part)
            table, matches = self.find_candidates(part, batch, top_k)
            scores, nil_scores = self._scores(part, batch, table)
            links.extend(self.links(part, table, scores, nil_scores, top_k, matches))
        return links

    def evidence(self, queries: Sequence[MentionQuery]) -> CandidateTable:
        """Find candidates and gather the evidence for each.

        Args:
            queries: the mentions.

        Returns:
            One mention for each query; a mention of white space only has no
            candidates.
        """
        parts = [queries[i : i + self.batch_size] for i in range(0, max(1, len(queries)), self.batch_size)]
        return join_tables([self.find_candidates(part, read_batch(part), self.top_k)[0] for part in parts])

    def find_candidates(
        self, queries: Sequence[MentionQuery], batch: QueryBatch, top_k: int
    ) -> tuple[CandidateTable, MemoryMatches | None]:
        """Find candidates of one batch, gather the evidence, and see which learned mentions decide.

        Args:
            queries: the mentions.
            batch: the same, read.
            top_k: candidates returned for each mention.

        Returns:
            The evidence, and the matches; None = nothing is learned.
        """
        present, masks = ~batch.is_blank, self._allowed(queries)
        allowed = masks
        if masks is not None and not present.all():
            allowed = [masks[i] for i in np.flatnonzero(present)]
        table = self.generator.find_candidates(self.kb, batch.mentions, allowed=allowed, top_k=max(top_k, DEPTH))
        features = {}
        if self._topics is not None:
            features[TOPIC] = self._topics.shares(batch.contexts, table.kb_rows, owners(table.offsets))
        if self.label_types:
            labelled = [queries[i] for i in np.flatnonzero(present)]
            features[LABEL_TYPE] = self.label_types.shares(self.kb, labelled, table)
        table = with_features(table, features)
        if not present.all():
            table = insert_empty(table, present)
        if not len(self.memory):
            return table, None
        matches = match_memory(self.learned_mentions, queries, table, masks)
        return insert_answers(self.kb, [query.in_text for query in queries], table, matches), matches

    def _allowed(self, queries: Sequence[MentionQuery]) -> Masks | None:
        """For each mention a mask over the rows of the KB, or None where its label is not filtered. Mentions of one
        label share a mask. None = nothing is filtered."""
        if not self.entity_types:
            return None
        masks = {label: self.kb.rows_with_types(types) for label, types in self.entity_types.items()}
        return [masks.get(query.label) for query in queries]

    def _scores(
        self, queries: Sequence[MentionQuery], batch: QueryBatch, table: CandidateTable
    ) -> tuple[Scores, Scores]:
        """Of the m candidates, and the n nil_scores."""
        scores = self.combiner(table)
        if self.reranker is not None:
            scores = self.reranker(self.kb, queries, table, scores)
        record = getattr(self.nil_model, "record", None)
        if record is not None:
            table = with_features(table, *record.features(table, self.kb, batch.surfaces))
        return scores, self.nil_scores(table, scores)

    def nil_scores(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), of the NIL model; 1 without candidates."""
        nil_scores = self.nil_model(table, scores).copy()
        nil_scores[np.diff(table.offsets) == 0] = 1.0
        return nil_scores

    def links(
        self,
        queries: Sequence[MentionQuery],
        table: CandidateTable,
        scores: Scores,
        nil_scores: Scores,
        top_k: int,
        matches: MemoryMatches | None = None,
    ) -> list[Link]:
        """Decide.

        Args:
            queries: the n mentions.
            table: their m candidates.
            scores: (m,).
            nil_scores: (n,).
            top_k: candidates returned for each mention.
            matches: the learned mentions that decide; None = nothing is learned.

        Returns:
            One for each mention.
        """
        # best first within each mention; ties keep the table's order; only what is returned becomes objects
        answers = None
        if matches is not None:
            scores, answers = put_first(table, scores, matches)
            nil_scores = np.where(matches.decided, ~matches.linked, nil_scores).astype(np.float32)
        labels = {query.label for query in queries}
        thresholds = {label: self.threshold_of(label) for label in labels}
        minimum: dict[str, float] = {}  # label -> probability of an answer in a set
        if self.coverage is not None and self.confidence.is_fitted:
            minimum = {label: self.confidence.minimum(self.coverage, label) for label in labels}
        n_read = max(top_k, DEPTH) if minimum else top_k
        order = segment_order(scores, table.offsets, first=answers)[places_in_pieces(table.offsets) < n_read]
        rows, which = np.unique(table.kb_rows[order], return_inverse=True)
        ids = np.array(self.kb.ids_at(rows), dtype=object)[which].tolist()
        shares = shares_of(table, scores)
        best, nil = segment_max(shares, table.offsets, empty=0.0), np.clip(nil_scores, 0.0, 1.0)
        of_links, of_nils = (p.tolist() for p in self.confidence.probabilities(best, nil.astype(np.float64)))
        default_thresholds = self._default_thresholds(best)
        ordered_scores, ordered_shares, nil = scores[order].tolist(), shares[order].tolist(), nil.tolist()
        ends = np.cumsum(np.minimum(np.diff(table.offsets), n_read)).tolist()
        links, start = [], 0
        for number, (query, end, nil_score) in enumerate(zip(queries, ends, nil_scores.tolist(), strict=True)):
            threshold, stop = thresholds[query.label], min(end, start + top_k)
            if threshold is None and default_thresholds is not None:
                threshold = default_thresholds[number]
            is_nil = start == end or (threshold is not None and nil_score > threshold)
            entry = None
            if matches is not None and matches.decided[number]:
                is_nil = not matches.linked[number]
                entry = int(self.learned_mentions.numbers[matches.which[number]])
            id_set = None
            if minimum:
                deep = slice(start, min(end, start + DEPTH))
                id_set = prediction_set(ids[deep], ordered_shares[deep], nil[number], minimum[query.label])
            links.append(
                Link(
                    NIL if is_nil else ids[start],
                    nil_score,
                    ids[start:stop],
                    ordered_scores[start:stop],
                    of_nils[number] if is_nil else of_links[number],
                    id_set,
                    entry,
                    threshold,
                )
            )
            start = end
        return links

    def _default_thresholds(self, best: NDArray[np.float64]) -> list[float] | None:
        """The threshold of each mention where there is no other.

        Args:
            best: (n,), the best candidate's share.

        Returns:
            (n,), see ``break_even_threshold``; 0.5 if the combiner's scores are no
            probabilities. None = the NIL model cannot say.
        """
        if not self.decides_without_threshold:
            return None
        if not getattr(self.combiner, "is_probability", False):
            return [0.5] * len(best)
        return break_even_threshold(best).tolist()  # type: ignore[no-any-return]

    # -- memory -----------------------------------------------------------------------------

    def learn(
        self, queries: Sequence[MentionQuery], corrections: Sequence[Correction], *, by: str = ""
    ) -> list[Learned]:
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
        before = [link.kb_id for link in self.link(queries)]
        entries, new = make_entries(self.kb, self.memory, queries, corrections, self._allowed(queries), before, by=by)
        if not entries:
            return []
        vectors: Vectors | None = None
        if self.encoder is not None and self.index is not None:
            taught = [queries[i] for i in new]
            unread = [i for i, query in enumerate(taught) if query.vector is None]
            vectors = np.zeros((len(taught), self.encoder.width), dtype=np.float32)
            for vector, query in zip(vectors, taught, strict=True):
                vector[:] = 0.0 if query.vector is None else query.vector
            if unread:
                vectors[unread] = self.encoder.encode_mention_rows([taught[i].in_text for i in unread])
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

    def gold_rows(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Distinct KB rows of gold ids, redirects followed; unknown have none."""
        rows = np.unique(self.kb.rows(list(ids))) if ids else np.zeros(0, dtype=np.int64)
        return rows[rows >= 0]
