"""NIL models: P(NIL) of a mention from what its candidates, its vector and earlier outcomes tell.

Before any calibration, LogisticNil has weights fitted on several ontologies. Their inputs are those of the first
candidate, by the combiner's score. They need no annotated text, and one set of weights serves several encoders
(``research default-nil`` fits and measures them):

input    | what it is                                        | why
---------|---------------------------------------------------|-----------------------------------------------
exact    | 1 if the mention is one of its names, its formula | a name is a name
         | or a variant of one, or derived from one, or else |
         | its share of the form's mentions in annotated     |
         | text                                              |
edit     | spelling: similarity to its nearest name          | variants, typing errors
partial  | the same for the best stretch                     | a name inside a longer mention, or around it
distance | (1 - its cosine) / (1 - the cosine of an          | synonyms; how similar unrelated texts are, and
         | unrelated entity)                                 | so the cosine itself, differs by encoder

The 65th nearest entity counts as unrelated, see ``evidence.unrelated_cosines``.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..candidates.evidence import NAMED
from ..errors import Errors, PelError
from ..registry import registry
from ..types import UNRELATED, CandidateTable, Flags, Floats, Scores, Vectors
from ..util.arrays import row_products, row_sums
from ..util.config import check_range
from .track_record import FEATURES as _RECORD
from .track_record import WORD_FEATURES as _OF_MENTIONS
from .track_record import TrackRecord

WITH_VECTORS = {"exact": -3.43, "edit": -1.13, "partial": -2.5, "distance": 4.87, "bias": -0.22}
# scores of other generators have no common scale
WITHOUT_VECTORS = {"exact": -4.02, "edit": -2.97, "partial": -2.73, "bias": 3.85}
_MIN_DISTANCE = 1e-3  # of an unrelated entity

# of the summary numbers
_MARGIN = ["score", "margin", "entropy"]
# of the best
_TOP = ["name", "mention", "vote", "exact", "prior", "popularity", "edit", "partial", "variant", "derivation"]
_BEST = ["name", "mention", "exact", "prior", "seen", "edit", "partial"]  # the highest of all candidates
SUMMARY = [*_MARGIN, *(f"top_{name}" for name in _TOP), "top_log_prior", *(f"best_{name}" for name in _BEST)]
_EPSILON = 1e-3
_DIGITS = 6  # significant ones that are kept of a weight: a pipeline is smaller, P(NIL) the same
# the record of all candidates together, weighted by their votes or by their scores
_AROUND = [f"{how}_{name}" for how in ("voted", "scored") for name in _RECORD]

_MIN_BATCH, _MAX_BATCH = 16, 256  # mentions
_BATCHES = 100  # per epoch, between these bounds


@dataclass(frozen=True)
class NilInputs:
    """Standardised inputs: the numbers of ``summarize``, the track record of the candidates and of the
    mention's words where there is one, and the mention's vector along principal directions.

    Attributes:
        mean: (c,), of the inputs that the model was fitted on.
        scale: (c,), their standard deviations.
        directions: (d, width); d may be 0.
        with_record: whether the track record is read, see ``TrackRecord`` and ``SurfaceRecord``.
    """

    mean: Floats
    scale: Floats
    directions: Vectors
    with_record: bool

    @classmethod
    def fit(cls, table: CandidateTable, scores: Scores, is_nil: Flags, *, directions: int) -> "NilInputs":
        """Learn from mentions that have candidates; the others are NIL by rule.

        Args:
            table: the candidates of n mentions.
            scores: (n, k), the combiner's.
            is_nil: (n,), True where the gold entity is not in the KB.
            directions: maximum number of directions; 0 = none.

        Raises:
            PelError: if these mentions are not of both kinds.
        """
        filled = table.has_candidates
        n_nil, n = int(is_nil[filled].sum()), int(filled.sum())
        if n_nil in (0, n):
            raise PelError(Errors.E610.format(n_nil=n_nil, n=n))
        principal = rounded(_principal(table.vectors, filled, directions)).astype(np.float32)
        raw = cls(np.zeros(1), np.ones(1), principal, set(_RECORD) <= set(table.features))
        values = raw._columns(table, scores)[filled]
        deviation = values.std(axis=0)
        scale = np.where(deviation > 1e-9, deviation, 1.0)
        return cls(values.mean(axis=0), scale, principal, raw.with_record)

    def __call__(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n, c), clipped at 5 standard deviations: what is farther off counts no more.

        Raises:
            PelError: if the vectors have another width, or there are none.
        """
        return np.clip((self._columns(table, scores) - self.mean) / self.scale, -5.0, 5.0)

    def _columns(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n, c)"""
        columns: list[NDArray[Any]] = [summarize(table, scores)]
        if self.with_record:
            firsts = np.stack([of_first(table.features[name], scores) for name in _RECORD], axis=1)
            of_mentions = np.stack([table.of_mentions[name] for name in _OF_MENTIONS], axis=1)
            # zeros where there is no candidate
            columns += [np.where(table.has_candidates[:, None], firsts, 0.0), _around(table, scores), of_mentions]
        if len(self.directions):
            width = self.directions.shape[1]
            if table.vectors is None or table.vectors.shape[1] != width:
                got = "none" if table.vectors is None else f"vectors of width {table.vectors.shape[1]}"
                raise PelError(Errors.E615.format(expected=width, got=got))
            columns.append(row_products(table.vectors, self.directions))
        return np.concatenate(columns, axis=1)

    @property
    def names(self) -> list[str]:
        """Of the c inputs."""
        record = [*(f"top_{name}" for name in _RECORD), *_AROUND, *_OF_MENTIONS] if self.with_record else []
        return [*SUMMARY, *record, *(f"direction_{i}" for i in range(len(self.directions)))]

    def state(self) -> dict[str, Any]:
        """Columns, mean, scale and directions, as JSON."""
        arrays = {"mean": self.mean, "scale": self.scale, "directions": rounded(self.directions)}
        return {"columns": self.names, **{name: values.tolist() for name, values in arrays.items()}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "NilInputs":
        """As saved by ``state``.

        Raises:
            PelError: if the saved inputs are others.
        """
        mean, scale, directions = (np.asarray(state.get(name, [])) for name in ("mean", "scale", "directions"))
        saved = state["columns"]
        inputs = cls(mean, scale, directions.astype(np.float32), f"top_{_RECORD[0]}" in saved)
        if saved != inputs.names:
            raise PelError(Errors.E611.format(got=saved, expected=inputs.names))
        return inputs


class _FittedNil(ABC):
    """What the NIL models share: their inputs, and that a mention without candidates is NIL."""

    directions: int

    def __init__(self) -> None:
        self._inputs: NilInputs | None = None

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention.

        Raises:
            PelError: if it was fitted on vectors of another width, or there are none.
        """
        if self._inputs is None:
            probability = self._default(table, scores)
        else:
            probability = logistic(self._logits(self._inputs(table, scores))).mean(axis=0)
        return np.where(table.has_candidates, probability, 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: Flags) -> None:
        """Learn from mentions that have candidates; the others are NIL by rule.

        Args:
            is_nil: (n,), True where the gold entity is not in the KB.

        Raises:
            PelError: if the mentions are not of both kinds.
        """
        inputs, filled = NilInputs.fit(table, scores, is_nil, directions=self.directions), table.has_candidates
        self._fit(inputs(table, scores)[filled], is_nil[filled])
        self._inputs = inputs

    @abstractmethod
    def _default(self, table: CandidateTable, scores: Scores) -> Floats:
        """(n,), before ``fit``."""

    @abstractmethod
    def _logits(self, values: Floats) -> Floats:
        """(m, n), of P(NIL) by each of m members."""

    @abstractmethod
    def _fit(self, values: Floats, truth: Flags) -> None:
        """Learn from (f, c) values."""


@registry.pel_nil("spacy-pel.LogisticNil.v1")
class LogisticNil(_FittedNil):
    """Logistic regression on standardised summary numbers: the score of the best candidate,
    its margin, cosines, exact match, prior, entropy (see ``summarize``), and on the mention's
    vector along its principal directions.

    A knowledge base lacks some kinds of concepts more than others (an open one has diseases, but
    few drugs), and the vector reveals the kind: on MedMentions' held-out documents 16 directions lift
    the average precision from 0.54 to 0.60.

    Before ``fit`` it gives P(NIL) by default weights, so that a pipeline without annotated text gives the more
    probable answer. They are those of a logistic regression over six ontologies, where a third of the mentions was
    NIL; docs/studies/default-nil.md says what they find and lose on ontologies left out. Candidates of generators
    without vectors are judged by exact match and spelling alone.

    A mention without candidates has P(NIL) = 1. Products and splines of the summary numbers fitted a
    development set better and ranked other text worse: a development set has few documents. With ten
    times the text, ``NetworkNil`` is better.

    Args:
        l2: strength of the L2 penalty on the fitted weights (1 / C in scikit-learn).
        directions: how many principal directions of the mentions' vectors are inputs of ``fit``; 0 = none.
    """

    is_probability = True

    def __init__(self, *, l2: float = 10.0, directions: int = 16):
        super().__init__()
        self.l2 = l2
        self.directions = directions
        self._weights: Floats = np.zeros(0)  # of the inputs
        self._bias = 0.0

    def _default(self, table: CandidateTable, scores: Scores) -> Floats:
        weights = WITHOUT_VECTORS if table.vectors is None else WITH_VECTORS
        return default_probability(default_inputs(table, scores), weights)

    def _logits(self, values: Floats) -> Floats:
        return row_products(self._weights[None], values) + self._bias

    def _fit(self, values: Floats, truth: Flags) -> None:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1.0 / self.l2, max_iter=2000).fit(values, truth)
        self._weights, self._bias = model.coef_[0].astype(np.float64), float(model.intercept_[0])

    def state(self) -> dict[str, Any]:
        """What it reads, and its weights; empty before ``fit``."""
        if self._inputs is None:
            return {}
        return {**self._inputs.state(), "weights": self._weights.tolist(), "bias": self._bias}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another model of this kind; an empty state gives one that is not fitted.

        Raises:
            PelError: if it was learned from other inputs.
        """
        self._inputs = NilInputs.from_state(state) if state else None
        self._weights, self._bias = np.asarray(state.get("weights", []), np.float64), float(state.get("bias", 0.0))


class _Network(NamedTuple):
    hidden_weights: Floats  # (c, h)
    hidden_bias: Floats  # (h,)
    weights: Floats  # (h,)
    bias: Floats  # ()

    def logits(self, values: Floats) -> Floats:
        """(n,), of P(NIL)."""
        hidden = np.maximum(row_products(values, self.hidden_weights.T) + self.hidden_bias, 0.0)
        return row_products(hidden, self.weights[None])[:, 0] + self.bias


@registry.pel_nil("spacy-pel.NetworkNil.v1")
@dataclass(kw_only=True, eq=False)
class NetworkNil(_FittedNil):
    """The mean P(NIL) of networks with one hidden layer, which differ by their random seeds. They read what
    LogisticNil reads (a summary of the candidates, and the mention's vector along its principal directions),
    and the track record of the candidates: how often each was first in the annotated text of the calibration,
    and how often that was right, or the mention NIL; and of the mention's words: how often a mention with the
    same first or last word, or the same ending, was NIL.

    What a good score is worth depends on the kind of concept, and a network learns such products. The more
    text, the more directions it can use: 16 with a development set, 64 with 120,000 mentions
    (docs/studies/nil-models.md).

    Before ``fit`` it gives 1 - best score; afterwards P(NIL). A mention without
    candidates has P(NIL) = 1. The same mentions and seed give the same networks.

    Args:
        hidden: units of the hidden layer.
        members: number of networks.
        l2: strength of the L2 penalty: half of it times the squared norm of the weights is added to the
            mean loss of a mention.
        epochs: passes over the mentions.
        directions: how many principal directions of the mentions' vectors are inputs; 0 = none.
        track_record: whether the track record is an input.
        seed: random seed of the first network; that of each other one is higher by 1.

    Raises:
        PelError: if a number is too small.
    """

    is_probability = False

    hidden: int = 64
    members: int = 3
    l2: float = 0.004
    epochs: int = 10
    directions: int = 16
    track_record: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        super().__init__()
        for name, least in {"hidden": 1, "members": 1, "epochs": 1, "directions": 0, "seed": 0, "l2": 0}.items():
            check_range(name, getattr(self, name), least=least)
        self.record: TrackRecord | None = TrackRecord.of(Counter()) if self.track_record else None
        self._networks: list[_Network] = []

    def _default(self, table: CandidateTable, scores: Scores) -> Floats:
        return 1.0 - scores.max(axis=1)

    def _logits(self, values: Floats) -> Floats:
        return np.stack([network.logits(values) for network in self._networks])

    def _fit(self, values: Floats, truth: Flags) -> None:
        self._networks = [self._trained(values, truth, self.seed + i) for i in range(self.members)]

    def _trained(self, values: Floats, truth: Flags, seed: int) -> _Network:
        from sklearn.neural_network import MLPClassifier

        batch = int(np.clip(len(values) // _BATCHES, _MIN_BATCH, _MAX_BATCH))
        model = MLPClassifier(
            (self.hidden,),
            alpha=self.l2 * batch,  # scikit-learn divides it by the mentions of a batch
            batch_size=min(batch, len(values)),
            random_state=seed,
        )
        for _ in range(self.epochs):
            model.partial_fit(values, truth, classes=[False, True])
        (hidden_weights, weights), (hidden_bias, bias) = model.coefs_, model.intercepts_
        return _Network(rounded(hidden_weights), rounded(hidden_bias), rounded(weights[:, 0]), rounded(bias)[0])

    def state(self) -> dict[str, Any]:
        """What the networks read, and their weights; empty before ``fit``."""
        if self._inputs is None:
            return {}
        networks = [{name: values.tolist() for name, values in one._asdict().items()} for one in self._networks]
        record = {} if self.record is None else {"record": self.record.state()}
        return {**self._inputs.state(), "networks": networks, **record}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another model of this kind; an empty state gives one that is not fitted.

        Raises:
            PelError: if it was learned from other inputs.
        """
        self._inputs = NilInputs.from_state(state) if state else None
        if "record" in state:
            self.record = TrackRecord.from_state(state["record"])
        elif self.record is not None:
            self.record = TrackRecord.of(Counter())
        self._networks = [
            _Network(**{name: np.asarray(saved[name], np.float64) for name in _Network._fields})
            for saved in state.get("networks", ())
        ]


# -- what they read ---------------------------------------------------------------------------------


def summarize(table: CandidateTable, scores: Scores) -> Floats:
    """Numbers that separate mentions whose entity is among the candidates from those whose entity is
    not: how good the best candidate is, and how far ahead of the others.

    Args:
        table: the candidates of n mentions; a feature that it lacks counts as 0.
        scores: (n, k), the combiner's.

    Returns:
        (n, len(SUMMARY)); zeros where there is no candidate.
    """
    n, filled = len(scores), table.filled
    ordered = np.sort(scores, axis=1)[:, ::-1][:, :2]
    best = ordered[:, 0]
    second = ordered[:, -1] if ordered.shape[1] > 1 else np.full(n, -np.inf)
    margin = best - np.where(np.isfinite(second), second, 0.0)
    absent = np.zeros(filled.shape, dtype=np.float32)
    # the name of a formula is a name as much as a variant is, and too rare for a weight of its own
    variant = np.maximum(table.features.get("variant", absent), table.features.get("formula", absent))
    features: dict[str, Scores] = {**table.features, "variant": variant}
    columns = [best, margin, _entropy(scores)]
    columns += [of_first(features.get(name, absent), scores) for name in _TOP]
    columns.append(np.log(of_first(features.get("prior", absent), scores) + _EPSILON))
    columns += [np.where(filled, features.get(name, absent), -np.inf).max(axis=1) for name in _BEST]
    return np.where(table.has_candidates[:, None], np.stack(columns, axis=1), 0.0).astype(np.float64)


def of_first(values: NDArray[Any], scores: Scores) -> NDArray[Any]:
    """(n,), of (n, k) values those of the candidates with the best scores; a tie goes to the earlier one."""
    first = scores.argmax(axis=1)
    return values[np.arange(len(first)), first]


def _around(table: CandidateTable, scores: Scores) -> Floats:
    """(n, len(_AROUND)), weighted means over the candidates; zeros where no weight is above 0."""
    weights = np.stack([table.features.get("vote", np.zeros_like(scores)), scores], axis=2)
    positive = np.where(table.filled[:, :, None], np.maximum(weights, 0.0), 0.0)  # scores may be cosines
    values = np.stack([np.ones_like(scores), *(table.features[name] for name in _RECORD)], axis=2)
    sums = row_sums(positive[:, :, :, None].astype(np.float64) * values[:, :, None])
    total, weighted = sums[:, :, :1], sums[:, :, 1:]
    means = np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)
    return means.reshape(len(means), len(_AROUND))  # type: ignore[no-any-return]


def _principal(vectors: Vectors | None, used: Flags, n: int) -> Vectors:
    """(d, width), the directions in which the vectors differ most, with d <= n."""
    if vectors is None or not n:
        return np.zeros((0, 0), dtype=np.float32)
    centred = vectors[used].astype(np.float64) - vectors[used].mean(axis=0)
    variances, directions = np.linalg.eigh(centred.T @ centred)  # ascending
    best = directions[:, ::-1][:, :n].T
    # the sign is arbitrary; fixed, so that the same text gives the same state everywhere
    best *= np.sign(best[np.arange(len(best)), np.abs(best).argmax(axis=1)])[:, None]
    return best[variances[::-1][: len(best)] > 1e-9].astype(np.float32)


def _entropy(scores: Scores) -> Floats:
    values = np.maximum(scores.astype(np.float64), 0.0)
    total, logs = row_sums(np.stack([values, values * np.log(np.maximum(values, 1e-12))], axis=2)).T
    safe = np.maximum(total, 1e-12)
    return np.where(total > 0, np.log(safe) - logs / safe, 0.0)


def default_inputs(table: CandidateTable, scores: Scores) -> dict[str, Floats]:
    """The inputs of the default weights.

    Args:
        table: the candidates of n mentions.
        scores: (n, k), the combiner's.

    Returns:
        (n,) each, by name; zeros where there is no candidate.
    """
    absent = np.zeros(table.kb_rows.shape, dtype=np.float32)
    unrelated = table.of_mentions.get(UNRELATED, np.zeros(len(table), dtype=np.float32))
    cosine = of_first(np.clip(table.cosines, -1.0, 1.0), scores).astype(np.float64)
    named = np.max([table.features.get(name, absent) for name in (*NAMED, "prior")], axis=0)
    inputs = {
        "exact": of_first(named, scores),
        "edit": of_first(table.features.get("edit", absent), scores),
        "partial": of_first(table.features.get("partial", absent), scores),
        "distance": (1.0 - cosine) / np.maximum(1.0 - unrelated, _MIN_DISTANCE),
    }
    return {name: np.where(table.has_candidates, values, 0.0).astype(np.float64) for name, values in inputs.items()}


def default_probability(inputs: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """(n,), P(NIL) of mentions that have candidates.

    Args:
        inputs: (n,) each; those without a weight are not used.
        weights: of inputs, and "bias".
    """
    logits = weights["bias"] + sum(weights[name] * inputs[name] for name in weights if name != "bias")
    return logistic(np.asarray(logits))


def logistic(logits: Floats) -> Floats:
    """The logistic function, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * logits))  # type: ignore[no-any-return]


def rounded(values: NDArray[Any]) -> Floats:
    """Fitted numbers with as many digits as they are saved with, so that a loaded model gives the same answers."""
    flat = [float(f"{value:.{_DIGITS}g}") for value in values.ravel().tolist()]
    return np.array(flat).reshape(values.shape)
