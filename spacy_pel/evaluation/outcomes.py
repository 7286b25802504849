"""What became of each mention: its line in predictions.jsonl, all of them as arrays, and an evaluation's folder."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors, PelError
from ..types import NIL, Flags, Floats, Numbers
from ..util import atomic_path, read_json, read_jsonl


@dataclass
class Prediction:
    """A gold mention and the linker's answer.

    Attributes:
        doc: the document's id.
        start, end: character offsets.
        text, label: the mention and its NER label.
        gold: live ids of the KB; empty = NIL.
        kb_id: the id chosen, "NIL", or "" if the mention was not found (end to end).
        candidates: best first.
        nil_score: the number compared with the NIL threshold.
        composite: all of the gold ids are meant.
        seen: a gold entity occurs in the training corpus.
        known_form: annotated text in the index has the surface form.
        relation: of a wrong link to the gold entity, a key of ``RELATIONS``; "" = it is no wrong link.
        outside: gold ids that the KB lacks.
        types: the KB's types of the gold entities.
        probability: P(right) of ``kb_id``; None = not linked.
        id_set: holds the right answer at the rate ``coverage``; None = no sets.
    """

    doc: str
    start: int
    end: int
    text: str
    label: str
    gold: list[str]
    kb_id: str
    candidates: list[tuple[str, float]] = field(default_factory=list)
    nil_score: float = 0.0
    composite: bool = False
    seen: bool = False
    outside: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    probability: float | None = None
    id_set: list[str] | None = None
    known_form: bool = False
    relation: str = ""

    def set_link(self, link: Any) -> None:
        """Take over the answer of a linker, a ``Link``."""
        self.kb_id, self.nil_score = link.kb_id, link.nil_score
        self.candidates = [(candidate.entity_id, candidate.score) for candidate in link.candidates]
        self.probability, self.id_set = link.probability, link.id_set

    @property
    def rank(self) -> int:
        """RETURNS (int): rank of the gold entity among the candidates: 1 = first, 0 = not among them.

        With several gold ids the highest ranked one counts; in a composite mention the lowest ranked
        one, and all must be among the candidates.
        """
        gold = set(self.gold)
        ranks = [rank for rank, (found, _) in enumerate(self.candidates, start=1) if found in gold]
        if self.composite:
            return ranks[-1] if ranks and len(ranks) == len(gold) else 0
        return ranks[0] if ranks else 0

    @property
    def correct(self) -> bool:
        """The answer is right, an id or NIL. Any of several gold ids is right, but no single
        id is right for a composite mention."""
        if not self.gold:
            return self.kb_id == NIL
        single = not self.composite or len(set(self.gold)) == 1
        return single and self.kb_id in self.gold

    @property
    def covered(self) -> bool:
        """``id_set`` holds the right answer: NIL, one of the gold ids, or all of them if the
        mention is composite."""
        answers, right = set(self.id_set or ()), self.gold or [NIL]
        return answers.issuperset(right) if self.composite else not answers.isdisjoint(right)

    def to_json(self) -> dict[str, Any]:
        """As JSON data; without ``probability``, ``id_set`` and what is empty or
        False after ``seen`` where there is none."""
        keys = ("doc", "start", "end", "text", "label", "gold", "kb_id")
        record: dict[str, Any] = {key: getattr(self, key) for key in keys}
        record["candidates"] = [[entity_id, round(score, 6)] for entity_id, score in self.candidates]
        record.update(nil_score=round(self.nil_score, 6), seen=self.seen)
        if self.probability is not None:
            record["probability"] = round(self.probability, 6)
        if self.id_set is not None:
            record["id_set"] = self.id_set
        for key in ("known_form", "relation", "composite", "outside", "types"):
            if value := getattr(self, key):
                record[key] = value
        return record

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Prediction":
        """Args:
        record: from ``to_json``.
        """
        fields = dict(record, candidates=[(found, score) for found, score in record["candidates"]])
        return cls(**fields)


class Outcomes(NamedTuple):
    """One entry per gold mention.

    document: (n,) int64, number of its document (0, 1, ...).
    rank: (n,) int64, rank of the gold entity among the candidates; 0 = not among them.
    is_nil: (n,) bool, NIL in the corpus.
    called_nil: (n,) bool, NIL by the linker's decision.
    nil_score: (n,) float64.
    seen: (n,) bool, the gold entity occurs in the training corpus.
    correct: (n,) bool, the decision, an id or NIL, is right.
    probability: (n,) float64, P(right) of the decision; NaN = there is none.
    covered: (n,) bool, the set of answers holds a right one.
    set_size: (n,) int64, its size; 0 = there is no set.
    """

    document: Numbers
    rank: Numbers
    is_nil: Flags
    called_nil: Flags
    nil_score: Floats
    seen: Flags
    correct: Flags
    probability: Floats
    covered: Flags
    set_size: Numbers

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> "Outcomes":
        """Args:
        predictions: may be a generator; the predictions are not kept.
        """
        documents: dict[str, int] = {}
        rows: list[tuple[Any, ...]] = []
        for prediction in predictions:
            document = documents.setdefault(prediction.doc, len(documents))
            probability = np.nan if prediction.probability is None else prediction.probability
            decision = (prediction.kb_id == NIL, prediction.nil_score, prediction.seen, prediction.correct, probability)
            id_set = (prediction.covered, len(prediction.id_set or ()))
            rows.append((document, prediction.rank, not prediction.gold, *decision, *id_set))
        table = np.array(rows, dtype="i8, i8, ?, ?, f8, ?, ?, f8, ?, i8")
        columns: list[Any] = [np.ascontiguousarray(table[name]) for name in table.dtype.names or ()]
        return cls(*columns)


MentionKey = tuple[str, int, int, int]  # document, start, end, number of earlier ones with the same


class Run(NamedTuple):
    """An evaluation.

    Attributes:
        path: its folder.
        metrics: metrics.json.
        outcomes: of the mentions, in the order of the file.
        mentions: which mentions these are.
        gold: their gold ids, sorted; empty = NIL.
    """

    path: Path
    metrics: dict[str, Any]
    outcomes: Outcomes
    mentions: list[MentionKey]
    gold: list[tuple[str, ...]]


def read_run(path: Path, *, watch: Sequence[Callable[[Prediction], None]] = ()) -> Run:
    """Read the folder of an evaluation.

    Args:
        path: the folder.
        watch: called with each prediction, so that the file is read only once.

    Returns:
        Without the candidates, which would not fit in memory for a large corpus.

    Raises:
        PelError: if a file is missing, or is not one that ``evaluate`` wrote.
    """
    metrics = read_metrics(path)
    mentions: list[MentionKey] = []
    gold: list[tuple[str, ...]] = []
    counts: dict[tuple[str, int, int], int] = {}

    def add(prediction: Prediction) -> None:
        span = (prediction.doc, prediction.start, prediction.end)
        counts[span] = counts.get(span, -1) + 1
        mentions.append((*span, counts[span]))
        gold.append(tuple(sorted(prediction.gold)))

    outcomes = Outcomes.of(tapped(read_predictions(path / "predictions.jsonl"), [add, *watch]))
    if not mentions:
        raise PelError(Errors.E681.format(path=path / "predictions.jsonl", got="an empty file"))
    return Run(path, metrics, outcomes, mentions, gold)


def tapped(predictions: Iterable[Prediction], watch: Sequence[Callable[[Prediction], None]]) -> Iterator[Prediction]:
    """The same predictions; each is shown to the watchers as it passes."""
    for prediction in predictions:
        for call in watch:
            call(prediction)
        yield prediction


def recorded(predictions: Iterable[Prediction], output: str | Path | None) -> Iterator[Prediction]:
    """Write predictions to predictions.jsonl of a folder as they pass; None = write nothing.

    Yields:
        The same predictions.
    """
    if output is None:
        yield from predictions
        return
    with atomic_path(Path(output) / "predictions.jsonl") as part, part.open("w", encoding="utf8") as file:
        for prediction in predictions:
            file.write(json.dumps(prediction.to_json(), ensure_ascii=False) + "\n")
            yield prediction


def read_metrics(path: Path) -> dict[str, Any]:
    """metrics.json of the folder of an evaluation.

    Raises:
        PelError: if the folder lacks one of its files.
    """
    for name in ("metrics.json", "predictions.jsonl"):
        if not (path / name).is_file():
            raise PelError(Errors.E680.format(path=path, name=name))
    return dict(read_json(path / "metrics.json"))


def read_predictions(path: Path) -> Iterator[Prediction]:
    """The lines of a predictions.jsonl.

    Raises:
        PelError: at a line that is not a prediction.
    """
    for record in read_jsonl(path):
        try:
            yield Prediction.from_json(record)
        except (KeyError, TypeError, ValueError) as err:
            raise PelError(Errors.E681.format(path=path, got=f"{str(record)[:80]!r} ({err})")) from err
