"""Labels as evidence: which types their mentions name, counted in calibration."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.calibration import count_label_types
from spacy_pel.linking.corrections import Correction
from spacy_pel.linking.mention_types import LabelTypes
from spacy_pel.pipeline.linker_data import learned_state
from spacy_pel.types import LABEL_TYPE, Entity

from .annotated import examples, fit_mentions, tfidf_linker
from .tables import table_of

# each name is a drug's and a disease's
NAMES = [f"{one}{other}" for one in ("mor", "sal", "tef", "bel", "nur") for other in ("apin", "idox", "uvel", "onit")]
ENTITIES = [Entity(f"{kind[0]}{n}", name, (), (kind,)) for n, name in enumerate(NAMES) for kind in ("drug", "illness")]


def query(text, label):
    return MentionQuery(text, 0, len(text), label)


def annotated(labels=("Chemical", "Disease")):
    """Queries, gold ids and documents: each name twice, with both meanings, and NIL ones."""
    kinds = dict(zip("di", labels, strict=True))
    pairs = [(query(name, kinds[kind]), (f"{kind}{n}",)) for n, name in enumerate(NAMES) for kind in "di"]
    pairs += [(query(f"{NAMES[n]}ella", labels[0]), ("NONE",)) for n in range(4)]
    queries, gold = zip(*pairs, strict=True)
    return list(queries), list(gold), [f"doc{n // 2}" for n in range(len(pairs))]


def fitted(kb=None, labels=("Chemical", "Disease")):
    linker = tfidf_linker(KnowledgeBase(ENTITIES) if kb is None else kb)
    queries, gold, documents = annotated(labels)
    fit_mentions(linker, queries, gold, documents=documents)
    return linker


def test_counts_and_shares_by_hand():
    kb = KnowledgeBase([Entity("A", "a", (), ("x",)), Entity("B", "b", (), ("x", "y")), Entity("C", "c")])
    queries = [query("a", "Chem"), query("b", "CHEM"), query("c", "dis"), query("d", "dis")]
    known = LabelTypes.of(kb, queries, [np.array([0]), np.array([1]), np.array([2]), np.array([], np.int64)])
    assert known.counts == {"chem": {"x": 1.5, "y": 0.5}, "dis": {"": 1.0}}
    table = table_of([[0, 1, 2], [], [1, 2], [0]])
    asked = [query("a", "chem"), query("b", "chem"), query("c", "Dis"), query("d", "gene")]
    # each of three types and of one more has half a mention before any is counted
    of_chem = {"x": 2.0 / 4, "y": 1.0 / 4, "": 0.5 / 4}
    of_dis = {"": 1.5 / 3, "x": 0.5 / 3, "y": 0.5 / 3}
    expected = [of_chem["x"], of_chem["x"], of_chem[""], of_dis["x"], of_dis[""], 1.0]
    assert known.shares(kb, asked, table)[table.filled].tolist() == pytest.approx(expected)
    assert len(known.shares(kb, [], table_of([]))) == 0


@pytest.mark.parametrize(
    "labels, kb",
    [(("", ""), ENTITIES), (("Chemical", "Disease"), [Entity(e.concept_id, e.canonical_name) for e in ENTITIES])],
)
def test_one_label_or_one_type_says_nothing(labels, kb):
    linker = fitted(KnowledgeBase(kb), labels)
    assert not linker.decider.label_types.counts
    assert LABEL_TYPE not in linker.evidence([query(NAMES[0], "Chemical")]).features
    assert "label_types" not in learned_state(linker)
    assert linker.decider.combiner.weights["log_label_type"] == 0


def test_after_calibration_the_label_decides_between_entities_of_one_name():
    linker = tfidf_linker(KnowledgeBase(ENTITIES))
    one, other = query("salapin", "Chemical"), query("salapin", "Disease")
    assert len({link.ids[0] for link in linker.link([one, other])}) == 1
    linker = fitted()
    assert linker.decider.label_types.counts["chemical"] == {"drug": 20.0}
    number = NAMES.index("morapin")
    for label, expected in (("Chemical", "d"), ("CHEMICAL", "d"), ("disease", "i")):
        assert linker.link([query("morapin", label)])[0].ids[0] == f"{expected}{number}"
    # a label that nobody has annotated: as if there were none
    shares = linker.evidence([query("morapin", "GENE")]).features[LABEL_TYPE]
    assert (shares == 1.0).all()


def test_counts_are_computed_out_of_fold():
    kb = KnowledgeBase([Entity("A", "alphabet", (), ("x",)), Entity("B", "alphabets", (), ("y",))])
    linker = tfidf_linker(kb)
    labels = ["L", "L", "M", "M", "L"]
    queries = [query("alphabet", label) for label in labels]
    answers = [("A",), ("B",), ("A",), ("B",), ("A",)]  # B bears the label L in the second document alone
    part = examples(linker, queries, answers, documents=["1", "2", "3", "4", "5"])
    known, [read] = count_label_types([part])
    assert part.table.kb_rows.tolist() == [[0, 1]] * 5
    with_own = known.shares(kb, queries, part.table)
    in_folds = read.table.features[LABEL_TYPE]
    assert in_folds[1, 1] == pytest.approx(0.5 / 3.5) and with_own[1, 1] == pytest.approx(1.5 / 4.5)
    again = count_label_types([read])[1][0].table.features[LABEL_TYPE]
    np.testing.assert_array_equal(again, in_folds)


def test_the_types_of_a_changed_entity_count():
    linker = fitted()
    number = NAMES.index("morapin")
    linker.kb.put([Entity(f"d{number}", "morapin", (), ("illness",)), Entity(f"i{number}", "morapin", (), ("drug",))])
    linker.refresh()
    assert linker.link([query("morapin", "Chemical")])[0].ids[0] == f"i{number}"
    assert linker.kb.types_at([linker.kb.row(f"i{number}"), linker.kb.row("d3")]) == [["drug"], ["drug"]]


def test_a_fit_that_fails_changes_nothing():
    linker = fitted()
    before = learned_state(linker)
    queries = [query("zzz", "Chemical"), query("qqq", "Disease")]
    with pytest.raises(PelError, match="PEL-E420"):
        fit_mentions(linker, queries, [("i0",), ("d0",)], documents=["1", "2"])
    assert learned_state(linker) == before


def test_a_learned_mention_without_candidates_is_linked():
    linker = fitted()
    unknown = query("zzz", "Chemical")
    linker.learn([unknown], [Correction("zzz", 0, 3, "d0", "Chemical")])
    (link,) = linker.link([unknown])
    assert link.kb_id == "d0" and all(np.isfinite(link.scores))
