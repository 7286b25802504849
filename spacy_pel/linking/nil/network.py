"""P(NIL) by small neural networks."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import CandidateTable, Scores
from ...util.config import check_range
from ..track_record import TrackRecord
from .inputs import Floats, NilInputs, best_scores, logistic, rounded

_MIN_BATCH, _MAX_BATCH = 16, 256  # mentions
_BATCHES = 100  # per epoch, between these bounds
_ARRAYS = ("hidden_weights", "hidden_bias", "weights")


class _Network(NamedTuple):
    hidden_weights: Floats  # (c, h)
    hidden_bias: Floats  # (h,)
    weights: Floats  # (h,)
    bias: float

    def logits(self, values: Floats) -> Floats:
        """(n,), of P(NIL)."""
        hidden = np.maximum(values @ self.hidden_weights + self.hidden_bias, 0.0)
        return hidden @ self.weights + self.bias


@registry.pel_nil("spacy-pel.NetworkNil.v1")
class NetworkNil:
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

    def __init__(
        self,
        *,
        hidden: int = 64,
        members: int = 3,
        l2: float = 0.004,
        epochs: int = 10,
        directions: int = 16,
        track_record: bool = True,
        seed: int = 0,
    ):
        counts = (("hidden", hidden, 1), ("members", members, 1), ("epochs", epochs, 1), ("directions", directions, 0))
        for name, value, least in (*counts, ("seed", seed, 0), ("l2", l2, 0)):
            check_range(name, value, least=least)
        self.hidden = hidden
        self.members = members
        self.l2 = l2
        self.epochs = epochs
        self.directions = directions
        self.seed = seed
        self.record: TrackRecord | None = TrackRecord.empty() if track_record else None
        self._inputs: NilInputs | None = None
        self._networks: list[_Network] = []

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention.

        Raises:
            PelError: if it was fitted on vectors of another width, or there are none.
        """
        if self._inputs is None:
            return (1.0 - best_scores(table, scores)).astype(np.float32)
        values = self._inputs(table, scores)
        probability = logistic(np.stack([network.logits(values) for network in self._networks])).mean(axis=0)
        return np.where(table.has_candidates, probability, 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Learn from mentions that have candidates; the others are NIL by rule.

        Args:
            is_nil: (n,), True where the gold entity is not in the KB.

        Raises:
            PelError: if the mentions are not of both kinds.
        """
        inputs, values, truth = NilInputs.fit(table, scores, is_nil, directions=self.directions)
        self._networks = [self._trained(values, truth, self.seed + i) for i in range(self.members)]
        self._inputs = inputs

    def _trained(self, values: Floats, truth: NDArray[np.bool_], seed: int) -> _Network:
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
        return _Network(rounded(hidden_weights), rounded(hidden_bias), rounded(weights[:, 0]), float(rounded(bias)[0]))

    def state(self) -> dict[str, Any]:
        """What the networks read, and their weights; empty before ``fit``."""
        if self._inputs is None:
            return {}
        networks = [
            {**network._asdict(), **{name: getattr(network, name).tolist() for name in _ARRAYS}}
            for network in self._networks
        ]
        record = {} if self.record is None else {"record": self.record.state()}
        return {**self._inputs.state(), "networks": networks, **record}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another NetworkNil; an empty state gives one that is not fitted.

        Raises:
            PelError: if it was learned from other inputs.
        """
        self._inputs, self._networks = None, []
        if self.record is not None:
            self.record = TrackRecord.empty()
        if not state:
            return
        if "record" in state:
            self.record = TrackRecord.from_state(state["record"])
        inputs = NilInputs.from_state(state)
        self._networks = [
            _Network(**{name: np.asarray(saved[name], np.float64) for name in _ARRAYS}, bias=float(saved["bias"]))
            for saved in state["networks"]
        ]
        self._inputs = inputs
