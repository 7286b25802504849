"""The errors of a run: their kinds and reasons, a sample of each kind, and what the report shows of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
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

_CONTEXT = 160  # characters of context on each side
_CANDIDATES = 5  # shown of each error
Case = tuple[str, Prediction]  # with its kind
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


class ErrorSample:
    """Takes a run's predictions one by one and keeps a random sample of the errors of each kind
    (reservoir sampling: Vitter 1985, algorithm R).

    Args:
        n_per_kind: errors to keep of each kind.
        seed: random seed of the sample.
    """

    def __init__(self, n_per_kind: int, *, seed: int = 0):
        self.n_per_kind = n_per_kind
        self.counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._sample: dict[str, dict[int, Prediction]] = {kind: {} for kind in KINDS}  # slot -> error
        # one generator per kind, so that more errors of one kind do not change the sample of another
        self._rng = {kind: np.random.default_rng([seed, number]) for number, kind in enumerate(KINDS)}

    def add(self, prediction: Prediction) -> None:
        kind = error_kind(prediction)
        if kind is None:
            return
        slot = self.counts[kind]
        self.counts[kind] += 1
        if slot >= self.n_per_kind:
            slot = int(self._rng[kind].integers(self.counts[kind]))
        if slot < self.n_per_kind:
            self._sample[kind][slot] = prediction

    def cases(self) -> list[Case]:
        """Sorted by kind, document and offset."""
        return [
            (kind, prediction)
            for kind, sample in self._sample.items()
            for prediction in sorted(sample.values(), key=lambda prediction: (prediction.doc, prediction.start))
        ]


class ShownEntity(NamedTuple):
    """An entity in the error browser.

    Attributes:
        id, name: of the KB; the name may be "".
        rank: among the candidates, or why there is none.
        score: None if it is not a candidate.
        is_gold, is_chosen: it is the corpus' or the linker's answer.
    """

    id: str
    name: str
    rank: str
    score: float | None
    is_gold: bool
    is_chosen: bool


class ShownError(NamedTuple):
    """An error in the error browser.

    Attributes:
        run, kind: keys of the page's ``runs`` and ``kinds``.
        types: the mention's label and the KB types of its gold entities, semantic types by name.
        before, mention, after: the mention in its context.
        style: of the mention, a class of page.css: the semantic group of the answer, "nil", or "" = neither.
        where: document and offsets.
        answer: the id chosen, "NIL", or "" if the mention was not found.
        why: a sentence.
        entities: gold entities that were not found, then candidates by rank.
    """

    run: str
    kind: str
    types: Sequence[str]
    before: str
    mention: str
    after: str
    style: str
    where: str
    answer: str
    why: str
    entities: Sequence[ShownEntity]


def texts_of(paths: Iterable[Path], documents: Collection[str]) -> Texts:
    """The texts of documents.

    Args:
        paths: corpora.
        documents: their ids.
    """
    texts: Texts = {}
    with without_warnings("W202", "W203"):  # of the ids, which do not matter here
        for document in chain.from_iterable(map(read_corpus, paths)):
            if document.id in documents:
                texts.setdefault(document.id, []).append(document.text)
    return texts


def shown_error(
    run: str, case: Case, *, threshold: float | None = None, texts: Texts | None, kb: KnowledgeBase | None
) -> ShownError:
    """An error as the page shows it.

    Args:
        run: the run's name.
        case: the error.
        threshold: of NIL; None if there was none or it is unknown.
        texts: for the mention's context; None = show the mention alone.
        kb: for the names; None = show ids alone.

    Raises:
        PelError: if the texts are not those that were evaluated.
    """
    kind, prediction = case
    before, after = ("", "") if texts is None else _context(run, prediction, texts)
    types = list(dict.fromkeys([prediction.label, *map(type_name, prediction.types)]))
    where = f"{prediction.doc}, {prediction.start}–{prediction.end}"
    in_text, reason = (before, prediction.text, after), why(kind, prediction, threshold)
    is_nil = prediction.kb_id == NIL
    group = mention_group(prediction.label, () if is_nil else _entity(kb, prediction.kb_id).types)
    style = f"nil {group}".rstrip() if is_nil else group
    return ShownError(run, kind, types, *in_text, style, where, prediction.kb_id, reason, _entities(prediction, kb))


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


def _entities(prediction: Prediction, kb: KnowledgeBase | None) -> list[ShownEntity]:
    """Gold entities that are not among the candidates, the first candidates, and gold entities further down."""
    right = {*prediction.gold, *prediction.outside}
    ranked = {key: (rank, score) for rank, (key, score) in enumerate(prediction.candidates, start=1)}
    ranks: dict[str, tuple[str, float | None]] = dict.fromkeys(prediction.outside, ("not in KB", None))
    ranks |= {key: ("not found", None) for key in prediction.gold if key not in ranked}
    ranks |= {key: (str(rank), s) for key, (rank, s) in ranked.items() if rank <= _CANDIDATES or key in right}
    return [
        ShownEntity(shown, _entity(kb, shown).canonical_name, rank, score, shown in right, shown == prediction.kb_id)
        for shown, (rank, score) in ranks.items()
    ]


def _entity(kb: KnowledgeBase | None, entity_id: str) -> Entity:
    """Without a name and types if it is unknown."""
    return kb[entity_id] if kb is not None and entity_id in kb else Entity(entity_id, "")
