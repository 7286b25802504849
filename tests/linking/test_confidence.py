"""P(right) and conformal sets: they are what they claim to be."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.calibration import cross_fitted_answers
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.confidence import AnswerScores, Confidence
from spacy_pel.linking.decider import Decider
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.types import MENTION_TYPE, NIL, Entity

from .annotated import examples, fit_mentions, tfidf_linker
from .tables import NearestRow, laid_out, table_of

pytestmark = pytest.mark.slow


def made_up(n, seed, n_candidates=6):
    """Candidates of n mentions with shares, NIL scores, and right answers drawn from these probabilities."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_candidates, 0.3), size=n)
    nil_scores = rng.beta(0.5, 1.5, size=n)
    is_nil = rng.random(n) < nil_scores
    right = np.array([rng.choice(n_candidates, p=row) for row in shares])
    gold = [np.zeros(0, np.int64) if nil else np.array([one]) for nil, one in zip(is_nil, right, strict=True)]
    table = without_evidence([range(n_candidates)] * n)
    return table, AnswerScores(shares, nil_scores.astype(np.float32)), gold


def without_evidence(rows):
    table = table_of(rows)
    return table.plus({name: np.zeros(table.kb_rows.shape, np.float32) for name in FEATURES})


def queries_of(labels):
    return [MentionQuery("mention", 0, 7, label) for label in labels]


def make_certain(found, gold, n):
    """The right answers to the first n mentions are certain."""
    found.shares[:n] = np.eye(found.shares.shape[1])[0]
    found.nil_scores[:n] = 0.0
    gold[:n] = [np.array([0])] * n


def probabilities_of_right(found, gold):
    each = zip(found.shares, found.nil_scores, gold, strict=True)
    return np.array([nil if not len(rows) else row[rows[0]] * (1.0 - nil) for row, nil, rows in each])


@pytest.mark.parametrize("n", [150, 4000])
def test_sets_hold_the_right_answer_as_often_as_asked_for(n):
    rates = {coverage: [] for coverage in (0.5, 0.8, 0.95, 0.99)}
    for seed in range(12):
        table, found, gold = made_up(n, seed)
        confidence = Confidence()
        confidence.fit(table, found, gold, queries_of([""] * n))
        _, other, truth = made_up(4000, 100 + seed)
        probabilities = probabilities_of_right(other, truth)
        for coverage, rates_of in rates.items():
            rates_of.append(np.mean(probabilities >= confidence.minimum(coverage, "")))
    for coverage, rates_of in rates.items():
        assert coverage - 0.015 < np.mean(rates_of) < min(1.0, coverage + (0.03 if n == 150 else 0.015))


def test_too_few_mentions_or_candidates_for_a_coverage_give_all_answers():
    table, found, gold = made_up(50, 0)
    confidence = Confidence()
    confidence.fit(table, found, gold, queries_of([""] * 50))
    assert confidence.minimum(0.99, "") == 0.0 < confidence.minimum(0.9, "")
    gold[:10] = [np.array([77])] * 10  # the right entity is no candidate: 80 % can be covered at most
    confidence.fit(table, found, gold, queries_of([""] * 50))
    assert confidence.minimum(0.9, "") == 0.0 < confidence.minimum(0.7, "")


def test_other_labels_are_not_covered_by_an_easy_one():
    """Of 70 % of the mentions, one label, the right answer is certain; the rest has ten small labels."""
    rates = {"EASY": [], "small": []}
    labels = ["EASY"] * 1400 + [f"S{i % 10}" for i in range(600)]
    for seed in range(8):
        parts = [made_up(2000, part_seed) for part_seed in (seed, 50 + seed)]
        for _, found, gold in parts:
            make_certain(found, gold, 1400)
        confidence = Confidence()
        confidence.fit(*parts[0], queries_of(labels))
        least = np.array([confidence.minimum(0.9, label) for label in labels])
        held = probabilities_of_right(*parts[1][1:]) >= least
        rates["EASY"].append(held[:1400].mean())
        rates["small"].append(held[1400:].mean())
    assert np.mean(rates["EASY"]) == 1.0 and 0.88 < np.mean(rates["small"]) < 0.93


def test_composite_mentions_need_all_of_their_entities():
    table, found, gold = made_up(600, 0)
    gold = [np.array([0, 1])] * 600
    found.shares[:] = [0.5, 0.3, 0.2, 0.0, 0.0, 0.0]
    found.nil_scores[:] = 0.1
    one, both = Confidence(), Confidence()
    one.fit(table, found, gold, queries_of([""] * 600))
    both.fit(table, found, gold, queries_of([""] * 600), composite=np.ones(600, dtype=bool))
    of_both, of_one = (
        confidence.assess(table, found.shares, found.nil_scores, ["mention"] * 600).link[0]
        for confidence in (both, one)
    )
    assert of_both < 0.05 < 0.95 < of_one
    assert one.minimum(0.9, "") == pytest.approx(0.45) and both.minimum(0.9, "") == pytest.approx(0.27)
    gold = [np.array([0, 77])] * 600  # one of them is no candidate
    both.fit(table, found, gold, queries_of([""] * 600), composite=np.ones(600, dtype=bool))
    assert both.minimum(0.9, "") == 0.0


@pytest.mark.parametrize(
    ("combiner", "expected"),
    [
        (LinearCombiner(), [[0.8, 0.2], [0.8, 0.0], [0.0, 0.0]]),
        (NearestRow(), [[0.6457, 0.3543], [1.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_a_combiner_says_whether_its_scores_are_shares(combiner, expected):
    """The numbers of a mention do not: those of one candidate, a cosine of 0.8, look like a share."""
    scores = [[0.8, 0.2], [0.8], []]
    shares = Decider(combiner, LogisticNil()).shares(table_of([range(len(own)) for own in scores]), laid_out(scores))
    assert shares == pytest.approx(np.array(expected), abs=1e-4)
    reranked = Decider(combiner, LogisticNil(), object()).shares(table_of([[0]]), laid_out([[0.8]]))
    assert reranked == pytest.approx(np.array([[0.8]])), "a reranker gives shares, whatever the combiner does"


def test_p_right_is_calibrated_on_other_mentions():
    """The scores are far too sure: their logits are three times as large as they should be."""

    def too_sure(p):
        p = p.astype(np.float64)
        odds = (p / (1 - p)) ** 3
        return odds / (1 + odds)

    def largest_error(confidence):
        table, found, gold = made_up(5000, 1)
        shares = found.shares.astype(np.float64)
        of_link, of_nil, _ = confidence.assess(table, shares, too_sure(found.nil_scores), ["mention"] * 5000)
        is_nil = np.array([len(rows) == 0 for rows in gold])
        right = np.array([first in rows for first, rows in zip(shares.argmax(axis=1), gold, strict=True)])
        errors = []
        for p, truth in ((of_link, right), (of_nil, is_nil)):
            for chosen in (p < 0.3, (p >= 0.3) & (p < 0.7), p >= 0.7):
                errors.append(abs(np.mean(p[chosen]) - np.mean(truth[chosen])))
        return max(errors)

    table, found, gold = made_up(5000, 0)
    confidence = Confidence()
    assert largest_error(confidence) > 0.06
    confidence.fit(table, AnswerScores(found.shares, too_sure(found.nil_scores)), gold, queries_of([""] * 5000))
    assert largest_error(confidence) < 0.06


def test_a_share_of_nil_mentions_shifts_p_nil():
    """Where fewer mentions are NIL than in the calibration, P(right) is right again once it is told so."""
    confidence = Confidence()
    table, found, gold = made_up(8000, 0)
    confidence.fit(table, found, gold, queries_of([""] * 8000))
    table, found, gold = made_up(8000, 1)
    is_nil = np.array([len(rows) == 0 for rows in gold])
    kept = np.flatnonzero(~is_nil | (np.arange(8000) % 5 == 0))
    shares, nil_scores = found.shares[kept].astype(np.float64), found.nil_scores[kept].astype(np.float64)
    right = np.array([shares[i].argmax() in gold[row] for i, row in enumerate(kept)])
    trust = confidence.assess(table.take(kept), shares, nil_scores, ["mention"] * len(kept))
    told, _ = confidence.shifted(trust, nil_scores, float(is_nil[kept].mean()))
    for p, truth in ((told.link, right), (told.nil, is_nil[kept])):
        assert p.mean() == pytest.approx(truth.mean(), abs=0.03)
    assert trust.link.mean() < right.mean() - 0.05 and trust.nil.mean() > is_nil[kept].mean() + 0.1
    same, scores = confidence.shifted(trust, nil_scores, confidence.nil_share)
    assert scores == pytest.approx(nil_scores, abs=1e-5) and same.link == pytest.approx(trust.link, abs=1e-5)
    none, scores = confidence.shifted(trust, np.ones(len(kept)), 0.0)
    assert not scores.any() and not none.nil.any() and (none.link >= trust.link).all()


def test_p_right_does_not_fall_without_types():
    """Detectors of others give mentions no types, which says nothing against an answer."""
    table, found, gold = made_up(4000, 0)
    types = np.random.default_rng(0).random(table.kb_rows.shape).astype(np.float32)
    first = found.shares.argmax(axis=1)
    right = np.array([one in rows for one, rows in zip(first, gold, strict=True)])
    types[right, first[right]] = 1.0
    confidence, typed = Confidence(), table.plus({MENTION_TYPE: types})
    confidence.fit(typed, found, gold, queries_of([""] * 4000))
    asked = found.shares.astype(np.float64), found.nil_scores.astype(np.float64), ["mention"] * 4000
    neutral = confidence.assess(table.plus({MENTION_TYPE: np.ones_like(types)}), *asked)
    assert confidence.assess(table, *asked).link == pytest.approx(neutral.link)
    assert confidence.assess(typed, *asked).link.mean() < neutral.link.mean()


def test_before_fit_p_right_is_a_product():
    table, shares = table_of([range(2), ()]), np.array([[0.8, 0.2], [0.0, 0.0]])
    of_link, of_nil, _ = Confidence().assess(table, shares, np.array([0.25, 1.0]), ["one", "two"])
    assert of_link.tolist() == pytest.approx([0.6, 0.0]) and of_nil.tolist() == [0.25, 1.0]
    with pytest.raises(PelError, match="E519.*calibrate"):
        Confidence().minimum(0.9, "")


# -- cross-fitting and the linker ------------------------------------------------------------------


NAMES = [f"{a}{b}" for a in ("mel", "cor", "tan", "vir") for b in ("osis", "itis", "emia", "oma", "algia")]
UNKNOWN = ["zzyzx", "qwrtp", "xyloph", "vbnmk", "plokij"]


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase([Entity(f"D{i}", name) for i, name in enumerate(NAMES)])


def queries_and_gold():
    queries, gold, documents = [], [], []
    for number in range(10):
        pairs = [(name if i % 2 else name[:-1], f"D{NAMES.index(name)}") for i, name in enumerate(NAMES[number::5])]
        pairs += [(UNKNOWN[number % 5], "X"), (UNKNOWN[(number + 2) % 5] + "osis", "X")]
        queries += [MentionQuery(f"about {surface}", 6, 6 + len(surface), "") for surface, _ in pairs]
        gold += [(one,) for _, one in pairs]
        documents += [f"doc{number}"] * len(pairs)
    return queries, gold, documents


def test_no_fold_is_scored_by_parts_that_saw_it(kb):
    """Other labels in one document do not change how that document is scored."""
    linker = tfidf_linker(kb)
    part = examples(linker, *queries_and_gold())

    def cross_fit_after(part):
        """Of a linker that is fitted on all documents."""
        decider = Decider(*linker.decider.unfitted_parts())
        decider.combiner.fit(part.linkable.table, part.linkable.gold)
        decider.nil_model.fit(part.table, decider.combiner(part.table), part.is_nil)
        return cross_fitted_answers(decider, part, n_ranked=len(part))

    answers = cross_fit_after(part)
    own = np.array(part.documents) == "doc3"
    turned = [
        np.array([(rows[0] + 1) % len(NAMES)]) if is_own and len(rows) else rows
        for rows, is_own in zip(part.gold, own, strict=True)
    ]
    again = cross_fit_after(replace(part, gold=turned))
    assert np.array_equal(answers.nil_scores[own], again.nil_scores[own])
    assert not np.array_equal(answers.nil_scores[~own], again.nil_scores[~own])
    assert cross_fit_after(replace(part, documents=["one"] * len(part))) is None


def test_calibrated_linker_gives_probabilities_and_sets(kb):
    linker = tfidf_linker(kb, coverage=0.9)
    queries, gold, documents = queries_and_gold()
    before = linker.link(queries)
    assert all(link.id_set is None for link in before)
    assert before[0].probability == pytest.approx(before[0].scores[0] * (1 - before[0].nil_score))
    links = fit_mentions(linker, queries, gold, documents=documents)
    assert linker.decider.confidence.is_fitted and all(0.0 <= link.probability <= 1.0 for link in links)
    truth = [ids[0] if ids[0] in kb else NIL for ids in gold]
    assert np.mean([one in link.id_set for one, link in zip(truth, links, strict=True)]) >= 0.9
    assert all(len(set(link.id_set)) == len(link.id_set) >= 1 for link in links)
    linker.top_k = 1  # what is returned does not change the sets
    assert [link.id_set for link in linker.link(queries)] == [link.id_set for link in links]
    linker.top_k = 64
    linker.coverage = 0.99  # more than so few mentions can promise: all answers
    larger = linker.link(queries)
    assert all(set(a.id_set) <= set(b.id_set) == {NIL, *b.ids} for a, b in zip(links, larger, strict=True))
    assert sum(len(a.id_set) for a in links) < sum(len(b.id_set) for b in larger)
    linker.coverage = None
    assert linker.link(queries[:1])[0].id_set is None


def test_a_refit_without_nil_keeps_what_needs_nil(kb, caplog):
    linker = tfidf_linker(kb)
    queries, gold, documents = queries_and_gold()
    fit_mentions(linker, queries, gold, documents=documents)
    before, threshold = linker.decider.confidence.state(), linker.decider.calibrated_threshold
    weights = linker.decider.combiner.state()
    linker.decider.combiner.load_state({})
    linkable = [i for i, ids in enumerate(gold) if ids[0] in kb]
    fit_mentions(linker, [queries[i] for i in linkable], [gold[i] for i in linkable])
    assert before and threshold is not None
    assert (linker.decider.confidence.state(), linker.decider.calibrated_threshold) == (before, threshold)
    assert linker.decider.combiner.state() == weights and "PEL-W500" in caplog.text, "the combiner is fitted"


def test_a_refit_on_few_mentions_corrects_p_right():
    """P(right) is far too low, and two numbers mend that; what the answers rest on keeps its weight."""
    table, found, gold = made_up(4000, 0)
    confidence, few = Confidence(), 150
    confidence.fit(table, found, gold, queries_of([""] * 4000))
    bias, *weights = confidence.link_weights
    confidence.link_weights = (bias - 2.0, *weights)
    table, found, gold = made_up(few, 1)
    confidence.fit(table, found, gold, queries_of([""] * few), rescale=True)
    ratios = [after / before for before, after in zip(weights, confidence.link_weights[1:], strict=True) if before]
    assert ratios == pytest.approx([ratios[0]] * len(ratios)) and 0.5 < ratios[0] < 2.0
    table, found, gold = made_up(4000, 2)
    shares = found.shares.astype(np.float64)
    of_link, *_ = confidence.assess(table, shares, found.nil_scores.astype(np.float64), ["mention"] * 4000)
    right = np.array([first in rows for first, rows in zip(shares.argmax(axis=1), gold, strict=True)])
    assert of_link.mean() == pytest.approx(right.mean(), abs=0.06)


def test_a_handful_of_mentions_changes_p_right_a_little():
    """Even if all of them are wrong; the sets stay, and the NIL score of a given P(right) is found again."""
    table, found, gold = made_up(4000, 0)
    confidence = Confidence()
    confidence.fit(table, found, gold, queries_of([""] * 4000))
    few, before = copy.copy(confidence), found.nil_scores.astype(np.float64)
    first = AnswerScores(found.shares[:8], found.nil_scores[:8])
    few.fit(table.take(np.arange(8)), first, [np.array([-2])] * 8, queries_of([""] * 8), rescale=True)
    old, new = (one.assess(table, found.shares, before, ["mention"] * 4000) for one in (confidence, few))
    assert 0.01 < (old.link - new.link).mean() < 0.2 and (old.nil - new.nil).mean() > 0.0
    assert few.smallest == confidence.smallest and few.nil_share == pytest.approx(new.nil[:8].mean())
    moved = few.nil_score_of(confidence, 0.4)
    scores = (confidence, 0.4), (few, moved)
    trust = [one.assess(table, found.shares, np.full(4000, at), ["mention"] * 4000) for one, at in scores]
    assert moved > 0.4 and trust[0].nil[0] == pytest.approx(trust[1].nil[0], abs=1e-6)


def test_too_few_documents_are_said(kb, caplog):
    linker = tfidf_linker(kb)
    queries, gold, _ = queries_and_gold()
    fit_mentions(linker, queries, gold, documents=[0] * len(queries))
    assert "PEL-W507" in caplog.text and not linker.decider.confidence.is_fitted


def test_p_right_without_a_detector_is_that_of_mentions_without_types():
    table, answers, gold = made_up(400, 0)
    types = np.random.default_rng(1).random(table.kb_rows.shape).astype(np.float32)
    confidence, queries = Confidence(), queries_of([""] * 400)
    confidence.fit(table.plus({MENTION_TYPE: types}), answers, gold, queries)
    forms = [query.form for query in queries]
    beside = table.plus({MENTION_TYPE: np.ones_like(types)})  # as where another mention of the batch has types
    alone, among = (confidence.assess(one, answers.shares, answers.nil_scores, forms).link for one in (table, beside))
    assert alone.tolist() == among.tolist()


def test_each_corpus_counts_as_much_for_links_however_long():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(200, 2))
    certain, chance = inputs[:, 0] > 0, rng.random(200) < 0.5
    once, tenfold, alone = Confidence(), Confidence(), Confidence()
    once.fit_links([(inputs, certain), (inputs, chance)])
    tenfold.fit_links([(inputs, certain), (np.tile(inputs, (10, 1)), np.tile(chance, 10))])
    alone.fit_links([(inputs, certain)])
    assert once.link_weights == pytest.approx(tenfold.link_weights, abs=0.05)
    assert alone.link_weights[1] > 2 * once.link_weights[1] > 0
