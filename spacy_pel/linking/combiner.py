"""A weighted sum of the evidence for a candidate, with weights fitted on a dev set.

Its inputs are computed from the features of ``candidates/evidence.py``:

feature           | made of                                   | why
------------------|-------------------------------------------|----------------------------------------------
name              | best cosine with a card or name           |
name_unseen       | the same, for forms never annotated       | names say more where there are no counts
best_first        | 1 / (1 + rank by name or mention)         | the same cosine is a lot for one mention and
                  |                                           | little for another; homonyms share their rank
mention           | best cosine with an annotated mention     |
log_prior         | log(prior + 0.001); for annotated forms,  | counts are skewed; that an entity is called
                  | the preferred name is two annotations     | so says more than one annotation
edit              | spelling: similarity to its nearest name  | word pieces hide spelling
partial           | the same for the best stretch             | a name inside a longer mention, or around it
exact_unseen      | 1 if the mention is one of its names, for | as name_unseen
                  | forms never annotated                     |
formula_unseen    | 1 if one of its names spells it out, and  | "CaCl2" is "calcium chloride"
                  | the form is no name                       |
derivation_unseen | 1 if a noun that it may stand for is one  | "nuclear" is "nucleus"
                  | of its names, and no variant is a name    |
preferred         | 1 if the form or a variant is its         | synonyms are shared with other entities more
                  | preferred name                            | often
preferred_unseen  | the same, for forms never annotated       | as name_unseen
extension_unseen  | 1 if the form names nothing, but one of   | texts leave out what their subject tells:
                  | its names says a little more              | "layer of retina", "gene expression"
abbreviation      | log(1 + 1000 abbreviation)                | as log_prior; what other texts define it as
log_label_type    | log(min(label_type, 0.05) + 0.001)        | no mention of the label names such a type; how
                  |                                           | frequent the others are differs between texts
log_mention_type  | log(mention_type + 0.01)                  | what the detector takes the mention for
log_topic         | log(topic + 0.001)                        | annotated texts on the same subject name it

Thirteen inputs more ranked no better (docs/studies/evidence.md). A feature with the same value for all candidates
of a mention, such as "seen", cannot change their order; it only modifies the weights of other features.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..registry import registry
from ..types import LABEL_TYPE, MENTION_TYPE, TOPIC, CandidateTable, Flags, Floats, Rows, Scores
from ..util.arrays import ranks, softmax
from ..util.config import check_range

_EPSILON = 1e-3
_LEAST_TYPE = 0.01  # a detector is wrong about the type at least so often
_USUAL = 0.05  # a type with this share of a label's mentions is as good as one with more
_OF_UNSEEN = ("exact", "formula", "derivation", "preferred", "extension")  # they count for forms never annotated
_MIN_FORMULAS = 10  # mentions that a fit of their weight takes

# Fitted on tasks of seven knowledge bases, ten of them without annotated text: ``research default-weights``. All but
# the weights of abbreviations, preferred names and extensions, chosen on dev sets, and of formulas and derivations:
# the latter two are right in 98 and 96 of 100 cases, but so rare that the penalty holds the weight of derivations
# down, at 5.87, where "hepatic" is a hepatic lymph node. From 8 to 14 tasks without annotated text rank as well or
# better; for formulas 10 to 30 are the same, for preferred names 0.7 to 4, for extensions 2 to 3. "name_unseen",
# "mention", "edit", "partial" and "exact_unseen" were given the weights of inputs that resembled them and are gone.
DEFAULT_WEIGHTS = {
    "name": 3.11,
    "name_unseen": 11.52,
    "best_first": 0.95,
    "mention": 7.2,
    "log_prior": 0.3,
    "edit": 6.03,
    "partial": 1.9,
    "preferred": 0.6,
    "exact_unseen": 2.0,
    "formula_unseen": 12.0,
    "derivation_unseen": 10.0,
    "preferred_unseen": 1.4,
    "extension_unseen": 2.0,
    "abbreviation": 1.5,
    "log_label_type": 0.0,  # nothing is known of labels before calibration
    "log_mention_type": 0.5,
    "log_topic": 0.28,
}


@registry.pel_combiners("spacy-pel.LinearCombiner.v1")
class LinearCombiner:
    """score = softmax over the candidates of a mention of the weighted sum of ``linear_features``.

    The weights are those of a conditional logit: they maximise the probability of the gold
    entities among the candidates. Before ``fit`` they are DEFAULT_WEIGHTS.

    Args:
        l2: strength of the L2 penalty on the weights of standardised features.
        max_mentions: fit on at most this many mentions, evenly spaced; None = on all. So few
            weights need no more: on MedMentions a tenth of this many rank as well.
        weights: by feature, chosen by hand, e.g. on text of several kinds: with them none is fitted, and the others
            are the default ones. None = fit all.

    Raises:
        PelError: if a number is too small, or a feature is unknown.
    """

    is_probability = True

    def __init__(self, *, l2: float = 1e-4, max_mentions: int | None = 20_000, weights: dict[str, float] | None = None):
        check_range("l2", l2, least=0)
        check_range("max_mentions", max_mentions, least=1)
        self.l2 = l2
        self.max_mentions = max_mentions
        self.are_given = weights is not None
        self.weights: dict[str, float] = dict(DEFAULT_WEIGHTS)
        self.load_state({"weights": DEFAULT_WEIGHTS | (weights or {})})

    def __call__(self, table: CandidateTable) -> Scores:
        """(n, k) probabilities; those of a mention's candidates sum to 1. -inf where there is none."""
        logits = np.zeros(table.kb_rows.shape)
        for values in self.contributions(table).values():
            logits += values
        shares = softmax(np.where(table.filled, logits, -np.inf))
        return np.where(table.filled, shares, -np.inf).astype(np.float32)

    def contributions(self, table: CandidateTable) -> dict[str, Floats]:
        """(n, k) each, what a feature adds to the logits: weight times value."""
        return {name: self.weights[name] * values for name, values in linear_features(table).items()}

    def fit(self, table: CandidateTable, gold: Sequence[Rows]) -> None:
        """Learn the weights. Mentions without a gold entity among their candidates are left out.

        Evidence that no mention has keeps its default weight. So do formulas in a few mentions: one that is
        annotated as something else would turn all of them away.

        Args:
            table: the candidates of n mentions.
            gold: for each mention the KB rows of its entity; any of them
                is right.

        Raises:
            PelError: if no mention is left.
        """
        from scipy.optimize import minimize

        if self.are_given:
            return
        used = np.flatnonzero(is_gold(table.kb_rows, gold).any(axis=1))
        if not len(used):
            raise PelError(Errors.E420.format(n=len(table)))
        if self.max_mentions is not None and len(used) > self.max_mentions:
            used = used[np.arange(self.max_mentions) * len(used) // self.max_mentions]
        table, gold = table.take(used), [gold[i] for i in used]
        named = linear_features(table)
        if (named["formula_unseen"].max(axis=1) > 0).sum() < _MIN_FORMULAS:
            named["formula_unseen"] = np.zeros_like(named["formula_unseen"])
        matrix = np.stack(list(named.values()), axis=2)
        scale = matrix[table.filled].std(axis=0)
        matrix = np.divide(matrix, scale, out=np.zeros_like(matrix), where=scale > 1e-9)
        problem = (matrix, table.filled, is_gold(table.kb_rows, gold), self.l2)
        start = np.array([self.weights[name] for name in named]) * scale
        result = minimize(conditional_logit, start, problem, "L-BFGS-B", jac=True, options={"maxiter": 500})
        default = np.array([DEFAULT_WEIGHTS[name] for name in named])  # of evidence that is not there
        raw = np.divide(result.x, scale, out=default, where=scale > 1e-9)
        self.weights = dict(zip(named, raw.tolist(), strict=True))

    def state(self) -> dict[str, Any]:
        """The weights by feature."""
        return {"weights": dict(self.weights)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the weights of another LinearCombiner; an empty state gives the defaults.

        Raises:
            PelError: if they are those of other features.
        """
        weights = state.get("weights", DEFAULT_WEIGHTS)
        if set(weights) != set(DEFAULT_WEIGHTS):
            raise PelError(Errors.E421.format(expected=list(DEFAULT_WEIGHTS), got=list(weights)))
        self.weights = {name: float(weights[name]) for name in DEFAULT_WEIGHTS}


def linear_features(table: CandidateTable) -> dict[str, Floats]:
    """(n, k) each, by name; those of DEFAULT_WEIGHTS in their order; 0 where there is no candidate."""
    filled = table.filled
    values = {name: np.where(filled, array, 0.0).astype(np.float64) for name, array in table.features.items()}
    unseen, absent = (values["seen"] == 0).astype(np.float64), np.zeros(filled.shape)
    called = values.get("preferred", absent)
    inputs = {
        "name": values["name"],
        "name_unseen": values["name"] * unseen,
        "best_first": 1.0 / (1.0 + ranks(np.where(filled, table.cosines, np.float32(-np.inf)))),
        "mention": values["mention"],
        "log_prior": np.log(_with_names(values["prior"], values["seen"], called) + _EPSILON),
        "edit": values["edit"],
        "partial": values["partial"],
        "preferred": called,
        **{f"{name}_unseen": values.get(name, absent) * unseen for name in _OF_UNSEEN},
        "abbreviation": np.log1p(values.get("abbreviation", absent) / _EPSILON),
        "log_label_type": np.log(np.minimum(values[LABEL_TYPE], _USUAL) + _EPSILON) if LABEL_TYPE in values else absent,
        "log_mention_type": np.log(values[MENTION_TYPE] + _LEAST_TYPE) if MENTION_TYPE in values else absent,
        "log_topic": np.log(values[TOPIC] + _EPSILON) if TOPIC in values else absent,
    }
    return {name: np.where(filled, array, 0.0) for name, array in inputs.items()}


def _with_names(prior: Floats, seen: Floats, called: Floats) -> Floats:
    """(n, k) P(entity | form) by counts and preferred names, as a Dirichlet prior: entities that share the name share
    its weight. As counted where the form is no preferred name, or was never counted."""
    n_called = called.sum(axis=1, keepdims=True)
    weight = np.where((seen > 0) & (n_called > 0), seen, 1.0)
    return weight * prior + (1.0 - weight) * called / np.maximum(n_called, 1.0)


def conditional_logit(weights: Floats, matrix: Floats, filled: Flags, right: Flags, l2: float) -> tuple[float, Floats]:
    """Mean of -log P(gold) over mentions, plus l2 / 2 |w|²; with its gradient.

    Args:
        weights: (features,).
        matrix: (n, k, features), 0 where there is no candidate.
        filled: (n, k), where there is one.
        right: (n, k), which candidates are gold.
        l2: strength of the penalty.
    """
    logits = np.where(filled, matrix @ weights, -np.inf)
    share = softmax(logits)
    gold_share = softmax(np.where(right, logits, -np.inf))  # among the right candidates only
    n = len(share)
    probability = np.where(right, share, 0.0).sum(axis=1)
    loss = -np.log(np.maximum(probability, 1e-300)).sum() / n
    gradient = np.tensordot(share - gold_share, matrix, axes=2) / n
    return loss + 0.5 * l2 * weights @ weights, gradient + l2 * weights


def is_gold(kb_rows: Rows, gold: Sequence[Rows]) -> Flags:
    """(n, k) is the candidate one of the gold entities of its mention?"""
    most = max(1, max(map(len, gold), default=1))
    wanted = np.full((len(gold), most), -2, dtype=np.int64)  # no candidate has this row
    for number, rows in enumerate(gold):
        wanted[number, : len(rows)] = rows
    # one after the other: a composite mention may have hundreds
    return reduce(np.logical_or, (kb_rows == column[:, None] for column in wanted.T))


def right_first(table: CandidateTable, scores: Scores, gold: Sequence[Rows]) -> Flags:
    """(n,) is the candidate with the best score one of the mention's gold entities?
    A tie goes to the earlier candidate; False without candidates."""
    first = scores.argmax(axis=1)[:, None]
    return np.take_along_axis(is_gold(table.kb_rows, gold), first, axis=1)[:, 0]
