"""The linker: mentions in, entities or NIL out. Used by component, evaluation and commands."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from logging import INFO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..candidates.bi_encoder import BiEncoderCandidates
from ..corpora.preprocessing import original_id
from ..errors import Errors, PelError, Warnings
from ..index.annotated_text import TopicReader
from ..kb import KnowledgeBase
from ..kb.id_coverage import prefix_hint, warn_of_other_ids
from ..types import (
    LABEL_TYPE,
    NIL,
    TOPIC,
    Candidate,
    CandidateGenerator,
    CandidateTable,
    Combiner,
    Document,
    EncodedMention,
    Encoder,
    NilModel,
    Scores,
)
from ..util import logger
from ..util.ragged import owners, places_in_pieces, segment_max, segment_order
from .confidence import DEPTH, N_FOLDS, Confidence, cross_fitted, id_set, shares_of
from .corrections import Correction, Learned, Memory
from .corrections.known import IndexWithMemory, Known
from .corrections.memory import check_by
from .corrections.recall import Recalled, insert_answers, put_first, recall
from .corrections.teach import make_entries
from .examples import Examples, join_examples
from .label_types import LabelTypes, label_types
from .nil import best_f1_threshold
from .query import MentionQuery, read_batch
from .reranker import Reranker
from .tables import insert_empty, join_tables, with_features
from .thresholds import ChooseThreshold, Threshold, even_threshold, fit_by_label
from .track_record import join_reads, track_record
from .type_filter import allowed_rows, read_entity_types

if TYPE_CHECKING:  # the index imports faiss, which the linker itself does not need
    from ..index import EntityIndex

Masks = Sequence[NDArray[np.bool_] | None]  # of each mention, over the rows of the KB; None = all rows

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
            the one found by ``fit``; without one, NIL where that is more probable than the first candidate, if
            the NIL model can say (``is_probability``); if it cannot, NIL only for lack of candidates.
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
        self.entity_types = read_entity_types(kb, entity_types)
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
        self.generator.bind(self.encoder, self._with_memory(index))

    @property
    def known(self) -> Known:
        """The learned mentions in effect."""
        return self.memory.known(self.kb, None if self.index is None else self.index.priors)

    def _with_memory(self, index: "EntityIndex | None") -> Any:
        known = self.known
        # without learned mentions nothing is different, not even the last digit of a score
        return index if index is None or known.vectors is None else IndexWithMemory(index, known)

    def with_index(self, index: "EntityIndex") -> "Linker":
        """A linker with the same parts that finds candidates in another index; this one is not changed.

        Args:
            index: built from the same KB with the same encoder, or a part of such an index.

        Returns:
            With a shallow copy of the generator.
        """
        return self._copy(index, self.memory)

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
        memory = self.known if len(self.memory) else None
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
        """Whether a NIL threshold was fitted; see ``fit``."""
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
            batch = queries[start : start + self.batch_size]
            table, recalled = self.gather(batch, top_k)
            scores, nil_scores = self.score(batch, table)
            links.extend(self._links(batch, table, scores, nil_scores, top_k, recalled))
        return links

    def evidence(self, queries: Sequence[MentionQuery]) -> CandidateTable:
        """Find candidates and gather the evidence for each.

        Args:
            queries: the mentions.

        Returns:
            One mention for each query; a mention of white space only has no
            candidates.
        """
        starts = range(0, max(1, len(queries)), self.batch_size)
        return join_tables([self.gather(queries[i : i + self.batch_size], self.top_k)[0] for i in starts])

    def score(self, queries: Sequence[MentionQuery], table: CandidateTable) -> tuple[Scores, Scores]:
        """Turn evidence into scores.

        Args:
            queries: the mentions.
            table: their evidence.

        Returns:
            Of the m candidates, and the n nil_scores.
        """
        scores = self._candidate_scores(queries, table)
        record = getattr(self.nil_model, "record", None)
        if record is not None:
            table = with_features(table, *record.read(table, self.kb, [query.surface for query in queries]))
        return scores, self._nil_scores(table, scores)

    def _nil_scores(self, table: CandidateTable, scores: Scores) -> Scores:
        nil_scores = self.nil_model(table, scores).copy()
        nil_scores[np.diff(table.offsets) == 0] = 1.0
        return nil_scores

    def _candidate_scores(self, queries: Sequence[MentionQuery], table: CandidateTable) -> Scores:
        scores = self.combiner(table)
        return scores if self.reranker is None else self.reranker(self.kb, queries, table, scores)

    def _batch_evidence(self, queries: Sequence[MentionQuery], allowed: Masks | None, top_k: int) -> CandidateTable:
        mentions, present = read_batch(queries)
        if allowed is not None:
            allowed = [mask for mask, keep in zip(allowed, present, strict=True) if keep]
        table = self.generator.find_candidates(self.kb, mentions, allowed=allowed, top_k=max(top_k, DEPTH))
        own = [query for query, keep in zip(queries, present, strict=True) if keep]
        if self._topics is not None:
            texts = [query.around for query in own]
            shares = self._topics.shares(texts, table.kb_rows, owners(table.offsets))
            table = with_features(table, {TOPIC: shares})
        if self.label_types:
            table = with_features(table, {LABEL_TYPE: self.label_types.shares(self.kb, own, table)})
        return table if present.all() else insert_empty(table, present)

    def gather(
        self, queries: Sequence[MentionQuery], top_k: int | None = None
    ) -> tuple[CandidateTable, Recalled | None]:
        """Find candidates of one batch, gather the evidence, and see which learned mentions decide.

        Args:
            queries: the mentions.
            top_k: candidates returned for each mention; None = the linker's own.

        Returns:
            None = nothing is learned.
        """
        allowed = self._allowed(queries)
        table = self._batch_evidence(queries, allowed, self.top_k if top_k is None else top_k)
        if not len(self.memory):
            return table, None
        recalled = recall(self.known, queries, table, allowed)
        return insert_answers(self.kb, [query.in_text for query in queries], table, recalled), recalled

    def _allowed(self, queries: Sequence[MentionQuery]) -> Masks | None:
        """For each mention a mask over the rows of the KB; None = all rows."""
        return allowed_rows(self.kb, self.entity_types, queries)

    def _links(
        self,
        queries: Sequence[MentionQuery],
        table: CandidateTable,
        scores: Scores,
        nil_scores: Scores,
        top_k: int,
        recalled: Recalled | None = None,
    ) -> list[Link]:
        # best first within each mention; ties keep the table's order; only what is returned becomes objects
        answers = None
        known = self.known
        if recalled is not None:
            scores, answers = put_first(table, scores, recalled)
            nil_scores = np.where(recalled.decided, ~recalled.linked, nil_scores).astype(np.float32)
        labels = {query.label for query in queries}
        thresholds = {label: self.threshold_of(label) for label in labels}
        with_sets = self.coverage is not None and self.confidence.is_fitted
        most = max(top_k, DEPTH) if with_sets else top_k
        order = segment_order(scores, table.offsets, first=answers)[places_in_pieces(table.offsets) < most]
        rows, which = np.unique(table.kb_rows[order], return_inverse=True)
        ids = np.array(self.kb.ids_at(rows), dtype=object)[which].tolist()
        values, shares = scores[order].tolist(), shares_of(table, scores)
        best, nil = segment_max(shares, table.offsets, empty=0.0), np.clip(nil_scores, 0.0, 1.0)
        of_links, of_nils = (p.tolist() for p in self.confidence.probabilities(best, nil.astype(np.float64)))
        limits = self._limits(best)
        ends = np.cumsum(np.minimum(np.diff(table.offsets), most)).tolist()
        sets: list[list[str] | None] = [None] * len(queries)
        if with_sets:
            sets = self._sets(queries, ids, shares[order].tolist(), nil.tolist(), ends)
        links, start = [], 0
        for number, (query, end, nil_score) in enumerate(zip(queries, ends, nil_scores.tolist(), strict=True)):
            threshold, stop = thresholds[query.label], min(end, start + top_k)
            if threshold is None and limits is not None:
                threshold = limits[number]
            is_nil = start == end or (threshold is not None and nil_score > threshold)
            learned = None
            if recalled is not None and recalled.decided[number]:
                is_nil = not recalled.linked[number]
                learned = int(known.numbers[recalled.which[number]])
            links.append(
                Link(
                    NIL if is_nil else ids[start],
                    nil_score,
                    ids[start:stop],
                    values[start:stop],
                    of_nils[number] if is_nil else of_links[number],
                    sets[number],
                    learned,
                    threshold,
                )
            )
            start = end
        return links

    def _limits(self, best: NDArray[np.float64]) -> list[float] | None:
        """The threshold of each mention where there is no other.

        Args:
            best: (n,), the best candidate's share.

        Returns:
            (n,), see ``even_threshold``; 0.5 if the combiner's scores are no
            probabilities. None = the NIL model cannot say.
        """
        if not self.decides_without_threshold:
            return None
        if not getattr(self.combiner, "is_probability", False):
            return [0.5] * len(best)
        return even_threshold(best).tolist()  # type: ignore[no-any-return]

    def _sets(
        self,
        queries: Sequence[MentionQuery],
        ids: list[str],
        shares: list[float],
        nil_scores: list[float],
        ends: list[int],
    ) -> list[list[str] | None]:
        """The set of each mention; its candidates end at ``ends``."""
        assert self.coverage is not None
        least = {label: self.confidence.least(self.coverage, label) for label in {q.label for q in queries}}
        sets: list[list[str] | None] = []
        start = 0
        for query, end, nil_score in zip(queries, ends, nil_scores, strict=True):
            stop = min(end, start + DEPTH)
            sets.append(id_set(ids[start:stop], shares[start:stop], nil_score, least[query.label]))
            start = end
        return sets

    # -- memory -----------------------------------------------------------------------------

    def learn(
        self, queries: Sequence[MentionQuery], corrections: Sequence[Correction], *, by: str = ""
    ) -> list[Learned]:
        """Make corrections count from now on, without training: see ``memory/recall.py``.

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
        entries, new = make_entries(self, queries, corrections, self._allowed(queries), by=by)
        if not entries:
            return []
        vectors = None
        if self.encoder is not None and self.index is not None:
            mentions = [queries[i].in_text for i in new]
            given = [i for i, one in enumerate(mentions) if not isinstance(one, EncodedMention)]
            vectors = np.stack([getattr(one, "vector", np.zeros(self.encoder.width)) for one in mentions])
            if given:
                vectors[given] = self.encoder.encode_mention_rows([mentions[i] for i in given])
            self.memory.encoder_fingerprint = self.index.encoder_fingerprint
        self.memory.add(entries, vectors)
        self._bind(self.index)
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
        self._bind(self.index)
        return undone

    def refresh(self) -> None:
        """Bring the memory up to date after a change of the knowledge base."""
        self._bind(self.index)

    # -- fitting ----------------------------------------------------------------------------

    def fit(self, documents: Iterable[Document]) -> None:
        """Fit combiner, NIL model and threshold on the gold mentions of documents.

        Args:
            documents: a development set, not used for training or the index.

        Raises:
            PelError: if no mention's entity is in the KB.
        """
        documents = list(documents)
        queries = [MentionQuery(one.text, m.start, m.end, m.label) for one in documents for m in one.mentions]
        self.fit_documents(queries, documents)

    def fit_documents(
        self, queries: Sequence[MentionQuery], documents: Sequence[Document], **settings: Any
    ) -> list[Link]:
        """Fit on the gold mentions of documents, see ``fit_mentions``.

        Args:
            queries: one for each mention, in order.
            documents: annotated.
                settings: of ``fit_examples``.

        Returns:
            As ``fit_mentions``.
        """
        return self.fit_examples([self.examples_of(queries, documents)], **settings)

    def fit_mentions(
        self,
        queries: Sequence[MentionQuery],
        gold: Sequence[Sequence[str]],
        *,
        documents: Sequence[Any] | None = None,
        composite: Sequence[bool] | None = None,
        choose: ChooseThreshold = best_f1_threshold,
        label_least: int | None = None,
    ) -> list[Link]:
        """Fit the linker on annotated mentions, see ``fit_examples``.

        queries, gold, documents, composite: see ``examples``.
        choose, label_least: see ``fit_examples``.

        Returns:
            The links of these mentions with the fitted parts.

        Raises:
            PelError: if no mention's entity is in the KB.
        """
        examples = self.examples(queries, gold, documents=documents, composite=composite)
        return self.fit_examples([examples], choose=choose, label_least=label_least)

    def examples_of(self, queries: Sequence[MentionQuery], documents: Sequence[Document]) -> Examples:
        """Of the gold mentions of documents; as ``examples``, with a query for each."""
        mentions = [(original_id(document), m) for document in documents for m in document.mentions]
        return self.examples(
            queries,
            [mention.ids for _, mention in mentions],
            documents=[original for original, _ in mentions],
            composite=[mention.composite for _, mention in mentions],
        )

    def examples(
        self,
        queries: Sequence[MentionQuery],
        gold: Sequence[Sequence[str]],
        *,
        documents: Sequence[Any] | None = None,
        composite: Sequence[bool] | None = None,
    ) -> Examples:
        """Gather the evidence for annotated mentions. Learned mentions do not count: the documents that they
        were corrected in may be among these.

        Args:
            queries: mentions.
            gold: their entity ids; none of them in the KB = NIL.
            documents: which document each is in; None = each text is a document.
            composite: which mean all of their entities; None = none does.

        Returns:
            To fit this linker, or another one, on.

        Raises:
            PelError: if no mention's entity is in the KB.
        """
        rows = [self.gold_rows(ids) for ids in gold]
        outside = [ids[0] for ids, found in zip(gold, rows, strict=True) if len(ids) and not len(found)]
        example = next(iter(outside), "")
        if not any(map(len, rows)):
            raise PelError(Errors.E501.format(n=len(gold), hint=prefix_hint(self.kb, example)))
        n_with_ids = sum(len(ids) > 0 for ids in gold)
        warn_of_other_ids(self.kb, n_outside=len(outside), n=n_with_ids, example=example)
        table = (self._copy(self.index, Memory()) if self.memory else self).evidence(queries)
        owners = [query.text for query in queries] if documents is None else list(documents)
        whole = np.zeros(len(gold), np.bool_) if composite is None else np.array(composite, dtype=np.bool_)
        return Examples(self.kb, list(queries), table, rows, owners, whole)

    def fit_examples(
        self, parts: Sequence[Examples], *, choose: ChooseThreshold = best_f1_threshold, label_least: int | None = None
    ) -> list[Link]:
        """Count which types the labels of the first part stand for, fit the combiner on its mentions whose
        entity is in the KB, then the reranker's weights, then the NIL model on the mentions of all parts,
        choose the threshold with the best F1 of the NIL class, and calibrate P(right) and the sets by
        cross-fitting over documents.

        As a rule the encoder was trained on the other parts: its cosines are better there than elsewhere, and
        weights fitted there would trust them too much. What a KB lacks shows there all the same.

        Without NIL mentions only the combiner is fitted; that is logged as a warning.

        Args:
            parts: of this linker, and of linkers with other knowledge bases, if any.
            choose: takes nil_scores and which are NIL, gives the threshold.
            label_least: labels with at least this many NIL mentions, and as many others,
                get their own threshold. None = one for all.

        Returns:
            The links of the first part's mentions with the fitted parts.
        """
        known, parts = label_types(parts)
        every = join_examples(parts)
        table, is_nil = every.table, every.is_nil
        own = parts[0]
        linkable = own.linkable
        self.combiner.fit(linkable.table, linkable.gold)
        self.label_types = known
        scores, read = self._fitted_scores(parts, every)
        self.confidence = Confidence()
        record = getattr(self.nil_model, "record", None)
        if record is not None:
            if is_nil.any():
                ends = np.cumsum([len(part.table.kb_rows) for part in parts])[:-1]
                self.nil_model.record, of_record = track_record(parts, np.split(scores, ends))  # type: ignore[attr-defined]
            else:
                of_record = join_reads([record.read(part.table, part.kb, part.surfaces) for part in parts])
            table = with_features(table, *of_record)
        if is_nil.any():
            self.nil_model.fit(table, scores, is_nil)
        else:
            logger.warning(Warnings.W500.format(n=len(every)))
        nil_scores = self._nil_scores(table, scores)
        if is_nil.any():
            labels = [query.label for query in every.queries]
            self.calibrated_threshold = choose(nil_scores, is_nil)
            self.calibrated_by_label = {}
            if label_least is not None:
                self.calibrated_by_label = fit_by_label(choose, labels, nil_scores, is_nil, least=label_least)
            found = cross_fitted(
                table,
                every.gold,
                every.document_numbers,
                self.combiner,
                self.nil_model,
                n_ranked=len(own),
                reranker=self.reranker,
                read=read,
            )
            if found is None:
                logger.warning(Warnings.W507.format(n=N_FOLDS))
            else:
                self.confidence.fit(table, found, every.gold, labels, composite=every.composite)
        n, m = len(own), len(own.table.kb_rows)
        return self._links(own.queries, own.table, scores[:m], nil_scores[:n], self.top_k)

    def _fitted_scores(self, parts: Sequence[Examples], every: Examples) -> tuple[Scores, Scores | None]:
        """Scores of the fitted combiner and reranker, and what the reranker read, once, as it is slow."""
        scores = self.combiner(every.table)
        if self.reranker is None:
            return scores, None
        show, read, start = logger.isEnabledFor(INFO), [], 0
        for part in parts:
            end = start + len(part.table.kb_rows)
            read.append(self.reranker.read(part.kb, part.queries, part.table, scores[start:end], show_progress=show))
            start = end
        joined, own = np.concatenate(read), parts[0]
        self.reranker.fit(own.table, scores[: len(read[0])], read[0], own.gold)
        return self.reranker.combine(every.table, scores, joined), joined

    def gold_rows(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Distinct KB rows of gold ids, redirects followed; unknown have none."""
        rows = np.unique(self.kb.rows(list(ids))) if ids else np.zeros(0, dtype=np.int64)
        return rows[rows >= 0]
