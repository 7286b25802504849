"""The linker: mentions in, entities or NIL out. Used by component, evaluation and commands.

All that a surface form says is found once and kept. Context is read where it may change the answer:

    form stage -> links -> context stage for what would be NIL -> links
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..abbreviations.undefined import trust_in_short_forms
from ..candidates.bi_encoder import BiEncoderCandidates
from ..candidates.form_cache import FormCache
from ..errors import Errors, PelError, Warnings
from ..index.annotated_text import TopicReader
from ..kb import KnowledgeBase
from ..kb.compare import did_you_mean_id
from ..types import (
    LABEL_TYPE,
    MENTION_TYPE,
    NIL,
    TOPIC,
    Candidate,
    CandidateGenerator,
    CandidateTable,
    Combiner,
    Encoder,
    Floats,
    Mask,
    MentionInText,
    NilModel,
    Scores,
    Vectors,
)
from ..types.known_values import did_you_mean_value, listed_values
from ..util import logger, normalize_alias
from ..util.arrays import best_first
from .answer_evidence import is_unambiguous
from .confidence import DEPTH, prediction_set, shares_of
from .corrections import Correction, Learned, Memory
from .corrections.entries import make_entries
from .corrections.learned_mentions import IndexWithMemory, LearnedMentions
from .corrections.matching import MemoryMatches, insert_answers, match_memory, put_first
from .corrections.memory import check_by
from .decider import Decider
from .label_types import LabelTypes
from .mention_types import labels_after_linking, type_shares
from .new_entities import estimate_share, forms_by_document, log_odds, share_of_new, shares_by_document, shift
from .nil.thresholds import Threshold
from .query import MentionQuery
from .reranker import Reranker

if TYPE_CHECKING:  # the index imports faiss, which the linker itself does not need
    from ..index import EntityIndex

ReadContext = Literal["when_it_may_matter", "always", "never"]
NewShare = float | Literal["document"] | None
Stage = Literal["form", "context"]

_CANDIDATE: Any = partial(tuple.__new__, Candidate)  # from a pair, without a Python call for each
_FORM_CACHE = 64  # megabytes


@dataclass(frozen=True)
class Link:
    """The linker's answer for one mention.

    Attributes:
        kb_id: an entity id, or "NIL".
        nil_score: the number compared with the NIL threshold.
        ids: ids of the candidates, best first, distinct, at most top_k.
        scores: their scores.
        probability: P(right) of ``kb_id``; calibrated if the linker is, see ``Confidence``, and bounded for
            undefined abbreviations, see ``trust_in_short_forms``.
        id_set: the answers, ids or "NIL", most probable first, among which the right one is
            at the rate ``coverage``. None without that setting, or before calibration.
        learned: the entry of the memory that decided, see ``Linker.learn``; None = none did.
        threshold: a higher nil_score is NIL, unless ``learned`` decides; None = NIL only for
            lack of candidates.
        label: the mention's type by its detector and its candidates together, as a label of ST21PV; None = the
            detector gave no types.
        stage: what decided: the surface "form" alone, or the mention read in its "context".
        new_share: the share of new entities that its text is taken to have, see ``Linker``; None = that of the
            calibration's text.
    """

    kb_id: str
    nil_score: float
    ids: list[str]
    scores: list[float]
    probability: float
    id_set: list[str] | None = None
    learned: int | None = None
    threshold: float | None = None
    stage: Stage = "context"
    label: str | None = None
    new_share: float | None = None

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates as pairs, made when asked for: dozens of objects for each
        mention would keep Python's garbage collector busy."""
        return list(map(_CANDIDATE, zip(self.ids, self.scores, strict=True)))


@dataclass(kw_only=True)
class Scored:
    """Mentions and their candidates by one stage, without regard to the text they are in.

    Attributes:
        stage: which.
        queries: (n,).
        table: their candidates.
        scores: (n, k).
        matches: learned mentions that decide; None = nothing is learned.
    """

    stage: Stage
    queries: Sequence[MentionQuery]
    table: CandidateTable
    scores: Scores
    matches: MemoryMatches | None = None


@dataclass(kw_only=True)
class Ranked(Scored):
    """The same, with final scores.

    Attributes:
        nil_scores: (n,).
        new_shares: (n,), the share of new entities that their text is taken to have; None = that at home.
    """

    nil_scores: Scores
    new_shares: Floats | None = None


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
        new_share: how often a form that annotated text lacks names an entity that it never named, see
            ``new_entities.py``: a number between 0 and 1; "document" = as estimated in the document of the mention;
            None = as in the calibration's text. Without calibration it has no effect.
        read_context: whether the encoder reads mentions in their context: "always", "never", or
            "when_it_may_matter": those that would be NIL by their surface form, and those of a corrected form.
        form_cache: megabytes for what was found for surface forms.
        reranker: reorders the best candidates. As it reads context, it is always read then.
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
        new_share: NewShare = "document",
        read_context: ReadContext = "when_it_may_matter",
        form_cache: float = _FORM_CACHE,
        reranker: Reranker | None = None,
        generator: CandidateGenerator | None = None,
        memory: Memory | None = None,
    ):
        self.kb = kb
        self.encoder = encoder
        self.memory = Memory() if memory is None else memory
        self.generator: CandidateGenerator = BiEncoderCandidates() if generator is None else generator
        self._is_default = generator is None
        self._forms = FormCache(form_cache)
        self._bind(index)
        self.in_context = Decider(combiner, nil_model, reranker)
        # one for both, unless evidence of forms is something else and has weights of its own
        self.by_form = self.in_context
        self.label_types = LabelTypes()
        self.threshold = threshold
        self.top_k = top_k
        self.entity_types = {label: frozenset(types) for label, types in (entity_types or {}).items()}
        for label, types in self.entity_types.items():
            known = kb.types()
            if unknown := sorted(name for name in types.difference(known) if name not in kb):
                hints = (did_you_mean_value(name, known) or did_you_mean_id(kb, name) for name in unknown)
                named = ", ".join(map(str.__add__, unknown, hints))
                raise PelError(Errors.E500.format(label=label, types=named, known=listed_values(known) or "none"))
        self.batch_size = batch_size
        self.coverage = coverage
        self.new_share: NewShare = new_share
        self.read_context: ReadContext = read_context
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
        self.form_cache = self.form_cache  # nothing of before is left in it

    @property
    def form_cache(self) -> float:
        """Megabytes for what was found for surface forms; setting it empties the cache."""
        return self._forms.megabytes

    @form_cache.setter
    def form_cache(self, megabytes: float) -> None:
        self._forms = FormCache(megabytes)

    @property
    def reranker(self) -> Reranker | None:
        """Reorders the best candidates."""
        return self.in_context.reranker

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
        may have its own, see ``Decider.threshold_of``. None = there is none: each mention has its own, see
        ``Link.threshold``, or is NIL only for lack of candidates."""
        if isinstance(self.threshold, (float, int)):
            return self.threshold
        return self.in_context.calibrated_threshold

    @property
    def label_thresholds(self) -> dict[str, float]:
        """Label -> threshold, of the labels that have their own."""
        if isinstance(self.threshold, Mapping):
            return {**self.in_context.calibrated_by_label, **self.threshold}
        return {} if self.threshold is not None else dict(self.in_context.calibrated_by_label)

    # -- linking -----------------------------------------------------------------------------

    def link(self, queries: Sequence[MentionQuery], *, top_k: int | None = None) -> list[Link]:
        """Link mentions, ``batch_size`` at a time.

        Args:
            queries: the mentions; those of a document together, as one of them may be read for others.
            top_k: candidates returned for each mention; None = the linker's own.

        Returns:
            One for each.
        """
        return self.links_and_readers(queries, top_k=top_k)[0]

    def links_and_readers(
        self, queries: Sequence[MentionQuery], *, top_k: int | None = None
    ) -> tuple[list[Link], dict[int, int]]:
        """The same, and which mention was read in its context for which, see ``readers``."""
        top_k = self.top_k if top_k is None else top_k
        stage = self.first_stage
        scored = self._score(stage, queries, top_k)
        shares = self.new_shares(queries, scored)
        links = self._decided(scored, shares, top_k)
        readers = {} if stage == "context" else self.readers(queries, links)
        read = sorted(set(readers.values()))
        scored = self._score("context", [queries[i] for i in read], top_k)
        again = dict(zip(read, self._decided(scored, None if shares is None else shares[read], top_k), strict=True))
        for number, reader in readers.items():
            links[number] = again[reader]
        return links, readers

    def _score(self, stage: Stage, queries: Sequence[MentionQuery], top_k: int) -> list[Scored]:
        batches = (queries[start : start + self.batch_size] for start in range(0, len(queries), self.batch_size))
        return [self.score(stage, batch, top_k) for batch in batches]

    def _decided(self, scored: Sequence[Scored], shares: Floats | None, top_k: int) -> list[Link]:
        links: list[Link] = []
        for batch in scored:
            start = len(links)
            own = None if shares is None else shares[start : start + len(batch.queries)]
            links += self.links(self.ranked(batch, own), top_k)
        return links

    def new_shares(self, queries: Sequence[MentionQuery], scored: Sequence[Scored]) -> Floats | None:
        """(n,), the share of new entities in the text of each mention; None = that at home."""
        home = self.home_share
        if home is None or self.new_share is None or not queries:
            return None
        if self.new_share != "document":
            return np.full(len(queries), self.new_share)
        of_mentions = np.concatenate([share_of_new(batch.table, batch.scores) for batch in scored])
        return shares_by_document(queries, of_mentions, home)

    def estimate_new_share(self, queries: Sequence[MentionQuery]) -> float | None:
        """Estimate the share of new entities in a text, for the setting ``new_share``. What was learned has no say.

        Args:
            queries: its mentions.

        Returns:
            None if the calibration does not know the share at home.
        """
        linker, stage, home = self.without_memory(), self.first_stage, self.home_share
        if home is None:
            return None
        firsts = [first for forms in forms_by_document(queries) for first, *_ in forms.values()]
        scored = linker._score(stage, [queries[i] for i in firsts], linker.top_k)
        shares = [share_of_new(batch.table, batch.scores) for batch in scored]
        # the last digits depend on the number of threads; a run is resumed only with the same share
        return round(estimate_share(np.concatenate([np.empty(0), *shares]), home), 4)

    @property
    def first_stage(self) -> Stage:
        """What mentions are ranked by first, or alone."""
        if not self.generator.reads_context:
            return "form"
        if self.reranker is not None or self.read_context == "always":
            return "context"
        is_one_sided = self.by_form is self.in_context and self.in_context.confidence.is_fitted
        return "context" if is_one_sided and self.read_context != "never" else "form"

    @property
    def home_share(self) -> float | None:
        """The share of new entities in the calibration's text; None = not known."""
        return self.decider(self.first_stage).new_share

    def readers(self, queries: Sequence[MentionQuery], links: Sequence[Link]) -> dict[int, int]:
        """Which mentions to read in their context after their forms were linked: those that would be NIL, since what
        context tells is the kind of a mention, and those of a form that was corrected in some context.

        Args:
            queries: (n,), all mentions of their documents.
            links: (n,), by their forms.

        Returns:
            Mention -> the mention that is read for it: the first one of the same form and label in the document,
            which means the same there; of a corrected form each itself.
        """
        if not self.generator.reads_context or self.read_context == "never":
            return {}
        corrected = self.learned_mentions.of_form if len(self.memory) else {}
        readers: dict[int, int] = {}
        first: dict[tuple[str, str, str], int] = {}
        for number, (query, link) in enumerate(zip(queries, links, strict=True)):
            if corrected and query.context and normalize_alias(query.surface) in corrected:
                readers[number] = number
            elif query.context and link.kb_id == NIL:
                readers[number] = first.setdefault((query.context, query.form, query.label), number)
        return readers

    def evidence(self, queries: Sequence[MentionQuery], stage: Stage = "context") -> CandidateTable:
        """Find candidates and the evidence for each.

        Args:
            queries: the mentions.
            stage: by their surface forms alone, or read in their context.

        Returns:
            One mention for each query; a mention of white space only has no candidates.
        """
        parts = [queries[i : i + self.batch_size] for i in range(0, max(1, len(queries)), self.batch_size)]
        return CandidateTable.concatenate([self.find_candidates(part, stage, self.top_k) for part in parts])

    def find_candidates(self, queries: Sequence[MentionQuery], stage: Stage, top_k: int) -> CandidateTable:
        """The same of one batch, with at least ``top_k`` candidates of each mention, if there are so many."""
        depth, masks = max(top_k, DEPTH), self._allowed(queries)

        def find(mentions: Sequence[MentionInText], numbers: Sequence[int]) -> CandidateTable:
            allowed = None if masks is None else [masks[i] for i in numbers]
            return self.generator.find_candidates(self.kb, mentions, allowed=allowed, top_k=depth)

        def find_forms(numbers: list[int]) -> CandidateTable:
            return find([MentionInText(forms[i], 0, len(forms[i])) for i in numbers], numbers)

        if not queries or stage == "context":
            table = find([query.in_text for query in queries], range(len(queries)))
        else:
            forms = [query.form for query in queries]
            filters = [self.entity_types.get(query.label) for query in queries]
            table = self._forms([(depth, *key) for key in zip(filters, forms, strict=True)], find_forms)
        table = table.widened(1)
        is_blank = np.array([not query.form for query in queries], dtype=np.bool_)
        table = replace(table, kb_rows=np.where(is_blank[:, None], -1, table.kb_rows))
        return table.plus(self._document_features(queries, table))

    def _document_features(self, queries: Sequence[MentionQuery], table: CandidateTable) -> dict[str, Scores]:
        """Evidence that the form alone does not give: topics, and types by label and by context."""
        features = {}
        if self._topics is not None:
            features[TOPIC] = self._topics.shares([query.context for query in queries], table.kb_rows)
        if self.label_types:
            features[LABEL_TYPE] = self.label_types.shares(self.kb, queries, table)
        if (shares := type_shares(self.kb, queries, table)) is not None:
            features[MENTION_TYPE] = shares
        return features

    def _allowed(self, queries: Sequence[MentionQuery]) -> list[Mask] | None:
        """For each mention a mask over the rows of the KB, or None where its label is not filtered. Mentions of one
        label share a mask. None = nothing is filtered."""
        if not self.entity_types:
            return None
        masks = {label: self._mask(allowed) for label, allowed in self.entity_types.items()}
        return [masks.get(query.label) for query in queries]

    def _mask(self, allowed: frozenset[str]) -> Mask:
        masks = self.kb.memo.setdefault("entity_types", {})
        if allowed not in masks:
            masks[allowed] = self.kb.rows_with_types(allowed) | self.kb.rows_below(allowed)
        return masks[allowed]  # type: ignore[no-any-return]

    def decider(self, stage: Stage) -> Decider:
        """What decides by the evidence of a stage."""
        return self.by_form if stage == "form" else self.in_context

    def score(self, stage: Stage, queries: Sequence[MentionQuery], top_k: int) -> Scored:
        """Find and score the candidates of one batch, with the answers that were learned."""
        table, matches = self.find_candidates(queries, stage, top_k), None
        if len(self.memory):
            matches = match_memory(self.learned_mentions, queries, table, self._allowed(queries))
            table = insert_answers(self.kb, [query.in_text for query in queries], table, matches)
        scores = self.decider(stage).rank(self.kb, queries, table)
        return Scored(stage=stage, queries=queries, table=table, scores=scores, matches=matches)

    def rank(self, stage: Stage, queries: Sequence[MentionQuery], top_k: int) -> Ranked:
        """Find and rank the candidates of one batch, in a text as at home."""
        return self.ranked(self.score(stage, queries, top_k), None)

    def ranked(self, scored: Scored, shares: Floats | None) -> Ranked:
        """Mentions in a text with these shares of new entities; what was learned comes first."""
        decider, queries, table, matches = self.decider(scored.stage), scored.queries, scored.table, scored.matches
        scores, home = scored.scores, self.home_share
        if shares is not None and home is not None:
            scores = shift(table, scores, log_odds(shares, home))
        nil_scores = decider.nil_scores(self.kb, queries, table, scores)
        if matches is not None:
            scores = put_first(table, scores, matches)
            nil_scores = np.where(matches.decided, ~matches.linked, nil_scores).astype(np.float32)
        return Ranked(**{**vars(scored), "scores": scores}, nil_scores=nil_scores, new_shares=shares)

    def links(self, ranked: Ranked, top_k: int) -> list[Link]:
        """Decide.

        Args:
            ranked: n mentions with their candidates.
            top_k: candidates returned for each mention.

        Returns:
            One for each mention.
        """
        decider, matches = self.decider(ranked.stage), ranked.matches
        shares = shares_of(ranked.table, ranked.scores)
        forms = [query.form for query in ranked.queries]
        thresholds = decider.thresholds(ranked.queries, shares.max(axis=1), self.threshold)
        if self.threshold is None and decider.confidence.is_fitted:
            thresholds[is_unambiguous(ranked.table, shares.argmax(axis=1), forms)] = np.inf
        is_nil = (ranked.nil_scores > thresholds) | ~ranked.table.has_candidates
        if matches is not None:
            is_nil = np.where(matches.decided, ~matches.linked, is_nil)
        of_link, of_nil = decider.confidence.probabilities(
            ranked.table, shares, np.clip(ranked.nil_scores, 0.0, 1.0), forms
        )
        of_link = np.minimum(of_link, self._bounds(ranked))
        probabilities = np.where(is_nil, of_nil, of_link).tolist()
        # best first; ties keep the table's order; only what is returned becomes objects
        order = best_first(ranked.scores)
        ids, scores = self._ids_and_scores(ranked, order[:, :top_k])
        sets = self._sets(ranked, shares, order[:, :DEPTH])
        labels = labels_after_linking(self.kb, ranked.queries, ranked.table.kb_rows, shares)
        entries = self._entries(matches)
        return [
            Link(
                NIL if nil else ids[i][0],
                nil_score,
                ids[i],
                scores[i],
                probability,
                None if sets is None else sets[i],
                None if entries is None else entries[i],
                None if np.isinf(threshold) else threshold,
                ranked.stage,
                labels[i],
                None if ranked.new_shares is None else float(ranked.new_shares[i]),
            )
            for i, (nil, nil_score, probability, threshold) in enumerate(
                zip(is_nil.tolist(), ranked.nil_scores.tolist(), probabilities, thresholds.tolist(), strict=True)
            )
        ]

    def _bounds(self, ranked: Ranked) -> NDArray[np.float64]:
        """Of P(right) of a link, by annotated uses of its short form; 1 where there is nothing to go by."""
        priors = None if self.index is None else self.index.priors
        if not priors or not self.decider(ranked.stage).confidence.is_fitted:
            return np.ones(len(ranked.queries))
        first = ranked.table.kb_rows[np.arange(len(ranked.queries)), ranked.scores.argmax(axis=1)]
        bounds = trust_in_short_forms(self.kb, priors, [query.form for query in ranked.queries], first)
        return bounds if ranked.matches is None else np.where(ranked.matches.decided, 1.0, bounds)

    def _ids_and_scores(self, ranked: Ranked, order: NDArray[np.int64]) -> tuple[list[list[str]], list[list[float]]]:
        """For each mention the ids of its candidates at the columns ``order``, and their scores."""
        kb_rows = np.take_along_axis(ranked.table.kb_rows, order, axis=1)
        rows, which = np.unique(kb_rows[kb_rows >= 0], return_inverse=True)
        ids = np.array(self.kb.ids_at(rows), dtype=object)[which].tolist()
        scores = np.take_along_axis(ranked.scores, order, axis=1).tolist()
        ends = np.cumsum((kb_rows >= 0).sum(axis=1)).tolist()
        pieces = list(zip([0, *ends[:-1]], ends, strict=True))
        return (
            [ids[start:end] for start, end in pieces],
            [row[: end - start] for row, (start, end) in zip(scores, pieces, strict=True)],
        )

    def _sets(self, ranked: Ranked, shares: NDArray[np.float64], order: NDArray[np.int64]) -> list[list[str]] | None:
        """The prediction set of each mention; None without ``coverage`` or calibration."""
        confidence = self.decider(ranked.stage).confidence
        if self.coverage is None or not confidence.is_fitted:
            return None
        minimum = {
            label: confidence.minimum(self.coverage, label) for label in {query.label for query in ranked.queries}
        }
        ids, _ = self._ids_and_scores(ranked, order)
        ordered = np.take_along_axis(shares, order, axis=1).tolist()
        nil = np.clip(ranked.nil_scores, 0.0, 1.0).tolist()
        return [
            prediction_set(ids[i], ordered[i][: len(ids[i])], nil[i], minimum[query.label])
            for i, query in enumerate(ranked.queries)
        ]

    def _entries(self, matches: MemoryMatches | None) -> list[int | None] | None:
        """The entry of the memory that decides each mention."""
        if matches is None:
            return None
        numbers = self.learned_mentions.numbers
        return [None if number < 0 else int(numbers[number]) for number in matches.which.tolist()]

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
