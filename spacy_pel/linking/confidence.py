"""How far an answer can be trusted: P(right), and sets of answers that hold the right one at a given rate.

Both are fitted by cross-fitting: combiner and NIL model, fitted without a fold of documents, score that
fold, so that the scores to learn from are as uncertain as those of new text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..abbreviations.definitions import looks_short
from ..errors import Errors, PelError
from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types import MENTION_TYPE, NIL, CandidateTable, Flags, Floats, Numbers, Rows, Scores
from ..util import normalize_alias
from ..util.arrays import ranks, segment_sum
from .combiner import is_gold
from .nil import logistic, rounded
from .query import Queries

# Scores and nil_scores are relative to a mention's candidates, so the linker always retrieves this many, and
# a smaller top_k only shortens what is returned: it must not turn a mention NIL, nor shrink a set.
DEPTH = 64
_N_STATISTICS = 1000  # order statistics kept of the calibration scores; enough for any coverage of three digits
_MIN_MENTIONS = 200  # mentions of a label that has order statistics of its own
_SMALLEST_DEVIATION = 1e-9
_CLOSE = 1e-6  # probabilities have finite logits
# of bias and slope on other text; wider ones make P(right) of abstracts worse with 20 to 100 judged mentions
_SAME, _DEVIATIONS, _LEAST_SLOPE = np.array([0.0, 1.0]), np.array([0.5, 0.25]), 0.05
_LEAST_SHARE = 0.01  # of NIL, or of others: a calibration without any still knows little of how seldom they are


class AnswerScores(NamedTuple):
    """Scores of the answers to n mentions.

    Attributes:
        shares: (n, k), of the candidates, see ``Decider.shares``.
        nil_scores: (n,).
    """

    shares: Floats
    nil_scores: Scores


class Trust(NamedTuple):
    """How far the answers to n mentions can be trusted.

    Attributes:
        link: (n,), P(right) of the best candidate.
        nil: (n,), P(right) of NIL.
        unambiguous: (n,), whether the form can hardly mean anything else, see ``is_unambiguous``; False before ``fit``.
    """

    link: Floats
    nil: Floats
    unambiguous: Flags


@dataclass
class Confidence:
    """P(right) of an answer, and conformal sets.

    P(right) of a link is a logistic regression on ``answer_features``, that of NIL on the logit of the NIL score
    (Platt 1999). Before ``fit`` they are share x (1 - NIL score) and the NIL score.

    A set holds the answers, candidates or NIL, of at least a given probability: share x (1 - NIL score), or
    the NIL score. That probability is an order statistic of what the right answers had in the calibration
    text, so a set of a new mention drawn like those holds the right answer about as often as asked for
    (conformal prediction with the least ambiguous sets, Sadinle et al. 2019, Eq. 7; cross-fitted, so without
    the exact guarantee of a split). The mentions of a document resemble each other: with five documents the
    rate can be several points below what was asked for, with forty it is close. Labels with 200 mentions have
    their own order statistics, and the other labels together.

    Attributes:
        link_weights: of 1 and of ``answer_features``.
        nil_weights: of 1 and the logit of the NIL score.
        n_mentions: label -> calibration mentions; "" = those of all other labels.
        smallest: label -> evenly spaced order statistics, ascending, of the
            probabilities of their right answers; 0 where it is no candidate.
        nil_share: of the calibration mentions; by default, of those that the default weights were fitted on.
    """

    link_weights: tuple[float, ...] = ()
    nil_weights: tuple[float, ...] = ()
    n_mentions: dict[str, int] = field(default_factory=dict)
    smallest: dict[str, list[float]] = field(default_factory=dict)
    nil_share: float = 1 / 3

    @property
    def is_fitted(self) -> bool:
        """Whether ``fit`` or ``from_state`` gave it weights."""
        return bool(self.link_weights)

    def assess(self, table: CandidateTable, shares: Floats, nil_scores: Floats, forms: Sequence[str]) -> "Trust":
        """How far both possible answers can be trusted.

        Args:
            table: the candidates of n mentions.
            shares: (n, k), see ``Decider.shares``.
            nil_scores: (n,), between 0 and 1.
            forms: (n,), their surface forms.

        Returns:
            Of the best candidate and of NIL.
        """
        best = shares.max(axis=1)
        if not self.link_weights:
            return Trust(best * (1.0 - nil_scores), nil_scores, np.zeros(len(best), dtype=np.bool_))
        (bias, *weights), (nil_bias, of_nil) = self.link_weights, self.nil_weights
        of_link = bias + (answer_features(table, shares, nil_scores) * weights).cumsum(axis=1)[:, -1]
        link, nil = logistic(np.stack([of_link, nil_bias + of_nil * logit(nil_scores)]))
        return Trust(np.where(best > 0, link, 0.0), nil, is_unambiguous(table, shares.argmax(axis=1), forms))

    def shifted(self, trust: Trust, nil_scores: Floats, nil_share: float) -> tuple[Trust, Floats]:
        """What is known of mentions of which another share is NIL than of the calibration's: the odds of NIL change as
        its prior odds do (Saerens et al. 2002), and P(right) of what is not NIL stays.

        Args:
            trust: as for the calibration's share.
            nil_scores: (n,), likewise.
            nil_share: of the mentions; 0 = none is NIL.

        Returns:
            The same for that share.
        """
        ratio = _odds(nil_share) / _odds(min(max(self.nil_share, _LEAST_SHARE), 1.0 - _LEAST_SHARE))
        # 0 where NIL was certain, and none is
        by_trust, by_scores = (np.maximum(1.0 - given * (1.0 - ratio), _CLOSE) for given in (trust.nil, nil_scores))
        link, nil = np.minimum(trust.link / by_trust, 1.0), trust.nil * ratio / by_trust
        scores = nil_scores * ratio / by_scores
        return Trust(link, nil, trust.unambiguous), scores

    def nil_score_of(self, other: "Confidence", nil_score: float) -> float:
        """The NIL score whose P(right) is here what that of another NIL score is there."""
        (bias, slope), (other_bias, other_slope) = self.nil_weights, other.nil_weights
        logits = other_bias + other_slope * logit(np.array([nil_score]))
        return float(np.float32(logistic((logits - bias) / slope)[0]))

    def minimum(self, coverage: float, label: str) -> float:
        """The minimum probability of an answer in a set; 0 = all answers belong to it, since
        too few right answers are among the candidates.

        Args:
            coverage: how often a set has to hold the right answer, between 0 and 1.
            label: of the mention.

        Raises:
            PelError: if this was not fitted.
        """
        if not self.is_fitted:
            raise PelError(Errors.E519)
        label = label if label in self.smallest else ""
        labels = [label] if label in self.smallest else list(self.smallest)  # too few of the other labels
        return min(self._minimum_of_label(coverage, label) for label in labels)

    def _minimum_of_label(self, coverage: float, label: str) -> float:
        n, statistics = self.n_mentions[label], self.smallest[label]
        rank = min(n, int(np.floor((n + 1) * (1.0 - coverage) + 1e-9)))  # from 1; 0 = n is too small
        position = int(np.floor(rank * len(statistics) / n + 1e-9))  # the statistic at this rank or before it
        return statistics[position - 1] if position > 0 else 0.0

    def fit(
        self,
        table: CandidateTable,
        answers: AnswerScores,
        gold: Sequence[Rows],
        queries: Queries,
        *,
        composite: Flags | None = None,
        rescale: bool = False,
    ) -> None:
        """Learn from the answers to annotated mentions.

        Args:
            table: the candidates of n mentions.
            answers: their scores, by parts that were not fitted on them, e.g. by cross-fitting.
            gold: for each mention the KB rows of its entity, any of them right;
                empty = NIL.
            queries: (n,), the mentions.
            composite: (n,), mentions that mean all of their entities, so that no single
                one is right and a set has to hold all. None = there is none.
            rescale: P(right), if it was fitted before, becomes a logistic function of what it was: for mentions that
                are too few for all weights. Below 200 mentions, the sets stay as they were.
        """
        n_gold = np.array([len(rows) for rows in gold])
        is_nil = n_gold == 0
        whole = (n_gold > 1) & (np.zeros(len(gold), np.bool_) if composite is None else composite)
        shares = answers.shares
        nil_scores = np.clip(answers.nil_scores.astype(np.float64), 0.0, 1.0)
        right, filled = is_gold(table.kb_rows, gold), table.has_candidates
        is_right = right[np.arange(len(right)), shares.argmax(axis=1)] & ~whole
        forms = [query.form for query in queries]
        if rescale and self.is_fitted:
            trust = self.assess(table, shares, nil_scores, forms)
            self.link_weights = _rescaled(self.link_weights, trust.link[filled], is_right[filled])
            self.nil_weights = _rescaled(self.nil_weights, trust.nil, is_nil)
            if len(gold) < _MIN_MENTIONS:
                trust = self.assess(table, shares, nil_scores, forms)
                self.nil_share = float(trust.nil.mean())
                return
        else:
            inputs = answer_features(table, shares, nil_scores)
            self.link_weights = _logistic_regression(inputs[filled], is_right[filled])
            self.nil_weights = _logistic_regression(logit(nil_scores)[:, None], is_nil)

        held = right & (ranks(shares) < DEPTH)
        highest = np.where(held, shares, 0.0).max(axis=1)
        # 0: one of them is not held
        lowest = np.where(held.sum(axis=1) < n_gold, 0.0, np.where(held, shares, 1.0).min(axis=1))
        of_gold = np.where(whole, lowest, highest) * (1.0 - nil_scores)
        of_right = np.where(is_nil, nil_scores, of_gold)
        labels = [query.label for query in queries]
        counts = Counter(labels)
        large = sorted(label for label in counts if label and counts[label] >= _MIN_MENTIONS)
        groups = {label: np.array(labels, dtype=object) == label for label in large}
        others = np.array([label not in groups for label in labels])
        if others.sum() >= _MIN_MENTIONS or not groups:
            groups[""] = others
        self.nil_share = float(is_nil.mean())
        self.n_mentions = {label: int(members.sum()) for label, members in groups.items()}
        self.smallest = {label: _order_statistics(of_right[members]) for label, members in groups.items()}

    def fit_links(self, parts: Sequence[tuple[Floats, Flags]]) -> None:
        """Learn P(right) of links again, from several corpora that count alike, whatever their size.

        Args:
            parts: by corpus, ``answer_features`` of its links and which are right.
        """
        inputs, truth = (np.concatenate(column) for column in zip(*parts, strict=True))
        sizes = np.array([len(own) for own, _ in parts])
        self.link_weights = _logistic_regression(inputs, truth, np.repeat(sizes.mean() / sizes, sizes))

    def state(self) -> dict[str, Any]:
        """What ``fit`` learned, as JSON; empty before."""
        if not self.is_fitted:
            return {}
        return {
            "link": list(self.link_weights),
            "nil": list(self.nil_weights),
            "n_mentions": dict(self.n_mentions),
            "smallest": dict(self.smallest),
            "nil_share": self.nil_share,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Confidence":
        """As saved by ``state``; an empty state gives one that is not fitted."""
        if not state:
            return cls()
        weights = tuple(state["link"]), tuple(state["nil"])
        return cls(*weights, dict(state["n_mentions"]), dict(state["smallest"]), float(state["nil_share"]))


def prediction_set(ids: Sequence[str], shares: Sequence[float], nil_score: float, minimum: float) -> list[str]:
    """The answers of at least a given probability, or else the most probable one.

    Args:
        ids: of the candidates, best first.
        shares: theirs.
        nil_score: between 0 and 1.
        minimum: from ``Confidence.minimum``.

    Returns:
        Ids and NIL, most probable first.
    """
    answers = [(share * (1.0 - nil_score), entity_id) for entity_id, share in zip(ids, shares, strict=True)]
    answers.append((nil_score, NIL))
    answers.sort(key=lambda answer: -answer[0])  # stable
    return [answer for probability, answer in answers if probability >= minimum] or [answers[0][1]]


def _rescaled(weights: tuple[float, ...], probability: Floats, truth: Flags) -> tuple[float, ...]:
    """Weights whose probabilities are a logistic function of those that they gave. Few mentions change little: bias and
    slope are the most probable ones if they are normally distributed around 0 and 1."""
    from scipy.optimize import minimize

    logits = logit(probability)

    def loss(line: Floats) -> float:
        new = line[0] + line[1] * logits
        away = (line - _SAME) / _DEVIATIONS
        return float(np.logaddexp(0.0, new).sum() - new[truth].sum() + away @ away / 2)

    bias, slope = minimize(loss, _SAME, bounds=[(None, None), (_LEAST_SLOPE, None)]).x.tolist()
    return (bias + slope * weights[0], *(slope * weight for weight in weights[1:]))


def _logistic_regression(inputs: Floats, truth: Flags, weights: Floats | None = None) -> tuple[float, ...]:
    """The bias and the weights of a logistic regression; of a single class,
    the bias that gives its share with one more mention of each class. weights: of the rows; None = 1."""
    from sklearn.linear_model import LogisticRegression

    if truth.all() or not truth.any():
        share = (truth.sum() + 1.0) / (len(truth) + 2.0)
        return (float(np.log(share / (1.0 - share))), *([0.0] * inputs.shape[1]))
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale = np.where(scale > _SMALLEST_DEVIATION, scale, np.inf)  # what never differs has no weight
    model = LogisticRegression(C=1.0, max_iter=1000).fit((inputs - mean) / scale, truth, sample_weight=weights)
    slopes = rounded(model.coef_[0] / scale)
    return (float(model.intercept_[0] - mean @ slopes), *slopes.tolist())


def _order_statistics(values: Floats) -> list[float]:
    """Of n values those at the ranks n/k, 2n/k, … rounded down, with k at most 1,000:
    each stands for its rank and those after it, so that coverage errs upwards."""
    ordered = np.sort(values)
    k = min(len(ordered), _N_STATISTICS)
    ranks = np.floor(np.arange(1, k + 1) * len(ordered) / k + 1e-9).astype(np.int64)
    return (np.floor(ordered[ranks - 1] * 1e8) / 1e8).tolist()  # type: ignore[no-any-return]


# -- what tells whether the best candidate is right, in any text ---------------------------


def answer_features(table: CandidateTable, shares: Floats, nil_scores: Floats) -> Floats:
    """What tells of the best candidates: their share and P(NIL) say it best in text like that of the calibration.
    Elsewhere their scale differs, and it helps to know what they rest on.

    Args:
        table: the candidates of n mentions.
        shares: (n, k), see ``Decider.shares``.
        nil_scores: (n,), between 0 and 1.

    Returns:
        (n, features); of no meaning where there is no candidate.
    """
    filled, features = table.filled, table.features
    rows, first = np.arange(len(shares)), shares.argmax(axis=1)

    def column(name: str, default: float = 0.0) -> Floats:
        return np.where(filled, features.get(name, default), 0.0).astype(np.float64)

    def of_first(name: str, default: float = 0.0) -> Floats:
        return column(name, default)[rows, first]

    values = [
        logit(shares.max(axis=1)),
        logit(nil_scores),
        column("seen").max(axis=1),  # how much does annotated text say of the form?
        of_first("exact"),  # is the form one of its names?
        names_alone(table, first),  # and a name of no other candidate?
        of_first("name"),  # cosine with its nearest name
        of_first("edit"),  # similarity to the spelling of its nearest name
        np.log(of_first(MENTION_TYPE, 1.0) + 1e-2),  # as the detector reads the mention; 1 where none does
    ]
    return np.stack(values, axis=1)


def names_alone(table: CandidateTable, first: Numbers) -> Flags:
    """(n,), whether the form is a name of the candidate at this column, and of no other one."""
    exact = table.filled & (table.features["exact"] > 0)
    return exact[np.arange(len(first)), first] & (exact.sum(axis=1) == 1)


def is_unambiguous(table: CandidateTable, first: Numbers, forms: Sequence[str]) -> Flags:
    """(n,), whether the form is unseen and the name of the candidate at this column alone, and no abbreviation,
    which may stand for anything else."""
    seen = (table.filled & (table.features["seen"] > 0)).any(axis=1)
    return names_alone(table, first) & ~seen & ~_may_be_short(forms)


def _odds(share: float) -> float:
    return share / (1.0 - share)


def logit(probability: Floats) -> Floats:
    """Its log odds, finite."""
    inside = np.clip(probability, _CLOSE, 1.0 - _CLOSE)
    return np.log(inside / (1.0 - inside))  # type: ignore[no-any-return]


# -- abbreviations that their document does not define ----------------------------------------------


_UNDEFINED = range(2, 7)  # characters of a form that may be short without a definition
_IN_ADVANCE = 0.5  # uses of each entity: of 0 to 2 the best on MedMentions dev


def trust_in_short_forms(kb: KnowledgeBase, priors: AliasPriors, forms: Sequence[str], kb_rows: Rows) -> Floats:
    """Bound P(right) of the answers to abbreviations that their document does not define, by the entity's share of
    the uses of the short form. Annotated text says how often it stood for the entity and how often for others, and
    the knowledge base how many entities have it as a name. In advance, each of these has half a use, and meanings
    that the knowledge base lacks have as many.

    Args:
        kb: the knowledge base.
        priors: counts of annotated mentions.
        forms: of n mentions; those whose abbreviation is defined have its long form.
        kb_rows: (n,), the answers; -1 = none.

    Returns:
        (n,), 1 where the mention is no short form.
    """
    bounds = np.ones(len(forms))
    short = np.flatnonzero((kb_rows >= 0) & _may_be_short(forms)).tolist()
    if not short or not len(priors):
        return bounds
    names = [normalize_alias(forms[i]) for i in short]
    annotated, counts, offsets = priors.counts([forms[i] for i in short], of_entities=True)
    of_answer = segment_sum(np.where(annotated == np.repeat(kb_rows[short], np.diff(offsets)), counts, 0), offsets)
    uses = segment_sum(counts, offsets)
    n_named = np.array([len(rows) for rows in kb.rows_of_aliases(names, normalized=True)])
    n_senses = np.maximum(np.maximum(n_named, np.diff(offsets)), 1)
    shares = np.minimum((of_answer + _IN_ADVANCE) / (uses + n_senses), 1.0)
    for i, share, n_uses in zip(short, shares.tolist(), uses.tolist(), strict=True):
        # a word that text was annotated with is no abbreviation
        if looks_short(forms[i]) or (n_uses == 0 and _is_read_as_short(forms[i], kb.names_at([kb_rows[i]])[0])):
            bounds[i] = share
    return bounds


def _may_be_short(forms: Sequence[str]) -> Flags:
    """(n,), whether each is as short as abbreviations are, capitals or not."""
    return np.array([len(form) in _UNDEFINED and " " not in form for form in forms], dtype=np.bool_)


def _is_read_as_short(form: str, names: Sequence[str]) -> bool:
    """Whether an entity has a word as an abbreviation only: "Meds" as "MED"."""
    written = {form.lower(), form.lower().removesuffix("s")}
    alike = [name for name in names if name.lower() in written]
    return bool(alike) and all(map(looks_short, alike))
