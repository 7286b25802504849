"""The errors of a run: their kinds and reasons, a sample of each kind, and what the report shows of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...corpora import read_corpus
from ...errors import Errors, PelError
from ...evaluation.outcomes import Prediction
from ...kb import KnowledgeBase
from ...types import NIL, Entity
from ...types.semantic_types import mention_group, type_name
from ...util.console import without_warnings, words_around
from .page import ShownEntity, ShownError

_CONTEXT = 160  # characters of context on each side
Texts = dict[str, list[str]]  # document id -> its texts; corpora may share an id

# kind -> what it means, in the order of the report
KINDS: Mapping[str, str] = {
    "wrong_first": "wrong entity first, the right one further down",
    "not_retrieved": "right entity not among the candidates",
    "nil_wrongly": "predicted as NIL, but the entity is in the KB",
    "linked_though_nil": "linked, but the corpus gives no entity",
    "not_in_kb": "linked, but the KB lacks the gold entity",
    "composite": "means several entities, so no single one is right",
    "not_found": "mention not found by the pipeline",
}


def error_kind(prediction: Prediction) -> str | None:
    """A key of ``KINDS``; None if the prediction is right."""
    if prediction.correct:
        return None
    if prediction.kb_id == "":
        return "not_found"
    if not prediction.gold:
        return "not_in_kb" if prediction.outside else "linked_though_nil"
    if prediction.kb_id == NIL:
        return "nil_wrongly"
    if prediction.composite and len(set(prediction.gold)) > 1:
        return "composite"
    return "wrong_first" if prediction.rank else "not_retrieved"


def why(kind: str, prediction: Prediction, threshold: float | None) -> str:
    """The reason of an error as a sentence.

    Args:
        kind: of the prediction's error.
        prediction: with all of its candidates.
        threshold: of NIL; None if there was none or it is unknown.

    Returns:
        Gives ranks and scores, and how a wrong link is related to the gold entity.
    """
    n, rank, gold = len(prediction.candidates), prediction.rank, set(prediction.gold)
    where = f"at rank {rank} of {n}" if rank else f"not among the {n} candidates"
    limit = "" if threshold is None else f", NIL threshold {threshold:.3f}"
    score = f"NIL score {prediction.nil_score:.3f}{limit}"
    if kind == "not_found":
        return "The pipeline found no mention with these exact offsets."
    if kind == "not_in_kb":
        return f"The KB lacks {', '.join(prediction.outside)}, so NIL would be right. {score}."
    if kind == "linked_though_nil":
        return f"NIL would be right. {score}."
    if kind == "nil_wrongly":
        return f"{score}. The gold entity is {where}."
    if kind == "composite":
        ranks = f"all of them by rank {rank} of {n}" if rank else f"not all of them among the {n} candidates"
        return f"The mention means {len(gold)} entities: {ranks}."
    if kind == "wrong_first":
        best = max(score for entity_id, score in prediction.candidates if entity_id in gold)
        where += f", {prediction.candidates[0][1] - best:.3f} below the first"
    is_related = prediction.relation not in ("", "other", "unknown")
    return f"The gold entity is {where}.{f' The link is its {prediction.relation}.' if is_related else ''}"


class ErrorCase(NamedTuple):
    """An error to be shown.

    Attributes:
        kind: a key of ``KINDS``.
        why: a sentence.
        prediction: with its best candidates only.
        gold_found: rank and score of each gold id among all candidates.
    """

    kind: str
    why: str
    prediction: Prediction
    gold_found: dict[str, tuple[int, float]]


@dataclass(kw_only=True)
class ErrorSample:
    """Takes a run's predictions one by one and keeps a random sample of the errors of each kind
    (reservoir sampling: Vitter 1985, algorithm R).

    Args:
        n_per_kind: errors to keep of each kind.
        n_candidates: candidates to keep of each error.
        thresholds: NIL thresholds by mention label; "" for all other labels.
        seed: random seed of the sample.
    """

    n_per_kind: int
    n_candidates: int = 5
    thresholds: dict[str, float | None] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        self.counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._sample: dict[str, dict[int, ErrorCase]] = {kind: {} for kind in KINDS}  # slot -> case
        # one generator per kind, so that more errors of one kind do not change the sample of another
        self._rng = {kind: np.random.default_rng([self.seed, number]) for number, kind in enumerate(KINDS)}

    def add(self, prediction: Prediction) -> None:
        kind = error_kind(prediction)
        if kind is None:
            return
        slot = self.counts[kind]
        self.counts[kind] += 1
        if slot >= self.n_per_kind:
            slot = int(self._rng[kind].integers(self.counts[kind]))
        if slot < self.n_per_kind:
            self._sample[kind][slot] = self._case(kind, prediction)

    def cases(self) -> list[ErrorCase]:
        """Sorted by kind, document and offset."""
        return [
            case
            for sample in self._sample.values()
            for case in sorted(sample.values(), key=lambda case: (case.prediction.doc, case.prediction.start))
        ]

    def _case(self, kind: str, prediction: Prediction) -> ErrorCase:
        threshold = self.thresholds.get(prediction.label, self.thresholds.get(""))
        ranked = enumerate(prediction.candidates, start=1)
        gold = {entity_id: (rank, score) for rank, (entity_id, score) in ranked if entity_id in prediction.gold}
        short = replace(prediction, candidates=prediction.candidates[: self.n_candidates])
        return ErrorCase(kind, why(kind, prediction, threshold), short, gold)


def texts_of(paths: Iterable[Path], cases: Iterable[ErrorCase]) -> Texts:
    """The texts of the documents with these errors.

    Args:
        paths: corpora.
        cases: the errors.
    """
    wanted = {case.prediction.doc for case in cases}
    texts: Texts = {}
    with without_warnings("W202", "W203"):  # of the ids, which do not matter here
        for document in chain.from_iterable(map(read_corpus, paths)):
            if document.id in wanted:
                texts.setdefault(document.id, []).append(document.text)
    return texts


def shown_error(run: str, case: ErrorCase, *, texts: Texts | None, kb: KnowledgeBase | None) -> ShownError:
    """An error as the page shows it.

    Args:
        run: the run's name.
        case: the error.
        texts: for the mention's context; None = show the mention alone.
        kb: for the names; None = show ids alone.

    Raises:
        PelError: if the texts are not those that were evaluated.
    """
    prediction = case.prediction
    before, after = ("", "") if texts is None else _context(run, prediction, texts)
    types = list(dict.fromkeys([prediction.label, *map(type_name, prediction.types)]))
    where = f"{prediction.doc}, {prediction.start}–{prediction.end}"
    in_text, entities = (before, prediction.text, after), _entities(case, kb)
    is_nil = prediction.kb_id == NIL
    group = mention_group(prediction.label, () if is_nil else _entity(kb, prediction.kb_id).types)
    style = f"nil {group}".rstrip() if is_nil else group
    return ShownError(run, case.kind, types, *in_text, style, where, prediction.kb_id, case.why, entities)


def _context(run: str, prediction: Prediction, texts: Texts) -> tuple[str, str]:
    doc, start, end = prediction.doc, prediction.start, prediction.end
    if doc not in texts:
        raise PelError(Errors.E685.format(run=run, got=f"it has no document '{doc}'"))
    for text in texts[doc]:
        if text[start:end] == prediction.text:
            left, right = words_around(text, start, end, _CONTEXT)
            return f"{'… ' * (left > 0)}{text[left:start]}", f"{text[end:right]}{' …' * (right < len(text))}"
    got = f"the text at {start} of '{doc}' is {texts[doc][0][start:end]!r}, not {prediction.text!r}"
    raise PelError(Errors.E685.format(run=run, got=got))


def _entities(case: ErrorCase, kb: KnowledgeBase | None) -> list[ShownEntity]:
    """Gold entities that are not among the candidates, the first candidates, and gold entities further down."""
    prediction, gold = case.prediction, set(case.prediction.gold)
    ranks: dict[str, tuple[str, float | None]] = {entity_id: ("not in KB", None) for entity_id in prediction.outside}
    ranks.update({entity_id: ("not found", None) for entity_id in prediction.gold if entity_id not in case.gold_found})
    for rank, (entity_id, score) in enumerate(prediction.candidates, start=1):
        ranks[entity_id] = (str(rank), score)
    for entity_id, (rank, score) in case.gold_found.items():
        ranks[entity_id] = (str(rank), score)
    right = gold.union(prediction.outside)
    return [
        ShownEntity(shown, _entity(kb, shown).canonical_name, rank, score, shown in right, shown == prediction.kb_id)
        for shown, (rank, score) in ranks.items()
    ]


def _entity(kb: KnowledgeBase | None, entity_id: str) -> Entity:
    """Without a name and types if it is unknown."""
    return kb[entity_id] if kb is not None and entity_id in kb else Entity(entity_id, "")
