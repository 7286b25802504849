import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery
from spacy_pel.linking.calibration import collect, fit
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.nil import LogisticNil, NetworkNil
from spacy_pel.types import NIL, Document, Entity, Mention

from .annotated import fit_documents, gold_queries, hashed_linker
from .tables import NearestRow, laid_out, table_of

DISEASES = ["measles", "asthma", "gout", "scabies", "malaria", "cholera", "leprosy", "tetanus"]
DRUGS = ["aspirin", "heparin", "codeine", "insulin"]
UNKNOWN = ["zzyzx", "qwrtp", "xyloph", "vbnmk", "plokij"]


@pytest.fixture(scope="module")
def kb():
    entities = [Entity(f"D{i}", name, (f"{name} disease",), ("T047",)) for i, name in enumerate(DISEASES)]
    entities += [Entity(f"M{i}", name, (), ("T121",)) for i, name in enumerate(DRUGS)]
    return KnowledgeBase(entities, redirects={"OLD": "D2"})


@pytest.fixture
def make_linker(kb):
    def make(combiner=None, nil_model=None, **settings):
        return hashed_linker(kb, combiner or NearestRow(), nil_model or NetworkNil(), **settings)

    return make


def ask(*surfaces, label=""):
    return [MentionQuery(f"about {s} and more", 6, 6 + len(s), label) for s in surfaces]


def documents(names, prefix):
    """One document a name; D and M are in the KB."""
    return [
        Document(f"{prefix}{i}", f"about {name} and more", [Mention(6, 6 + len(name), "X", (f"{prefix}{i}",))])
        for i, name in enumerate(names)
    ]


def mixed_documents():
    return documents(DISEASES, "D") + documents(DRUGS, "M") + documents(UNKNOWN, "U")


def test_links_of_a_batch_are_those_of_single_queries(make_linker):
    queries = ask("gout", "asthma disease", "malria", "zzyzx", "  ")
    whole = make_linker().link(queries)
    assert [link.kb_id for link in whole[:3]] == ["D2", "D1", "D4"]
    assert (whole[4].kb_id, whole[4].candidates, whole[4].nil_score) == (NIL, [], 1.0)
    for batch_size in (1, 2, 64):
        for one, two in zip(whole, make_linker(batch_size=batch_size).link(queries), strict=True):
            assert one.kb_id == two.kb_id
            assert [c.entity_id for c in one.candidates] == [c.entity_id for c in two.candidates]
            assert one.nil_score == pytest.approx(two.nil_score, abs=1e-5)
    assert make_linker().link([]) == []
    assert make_linker(batch_size=2).evidence(queries).has_candidates.tolist() == [True] * 4 + [False]


def test_one_encoding_for_two_labels(make_linker, monkeypatch):
    linker = make_linker(entity_types={"DRUG": ["T121"]})
    asked = []
    encode = linker.encoder.encode_mentions
    monkeypatch.setattr(linker.encoder, "encode_mentions", lambda m: asked.append(len(m)) or encode(m))
    links = linker.link(ask("gout", "gout") + ask("gout", label="DRUG"))
    assert asked == [1], "the form once"
    assert links[0] == links[1] and links[2].kb_id.startswith("M")


@pytest.mark.parametrize(
    "text, is_candidate",
    [
        ("She felt sad.", [False, True]),
        ("she felt sad.", [False, True]),  # prose without capitals
        ("copd, sad, htn", [True, True]),  # shorthand
        ("SAD is treated.", [True, True]),
        ("HE FEELS SAD TODAY.", [False, True]),  # a text in capitals
        ("Sad today.", [False, True]),
        ("sad", [True, True]),  # a term, not a text
    ],
)
@pytest.mark.parametrize("annotated", ["", "sad", "SAD"])
def test_a_lower_case_word_is_no_acronym_where_there_are_capitals(text, is_candidate, annotated):
    kb = KnowledgeBase([Entity("D1", "seasonal affective disorder", ("SAD",)), Entity("D2", "sadness", ("Sad",))])
    documents = [Document("d", annotated, [Mention(0, len(annotated), ids=("D1",))])] if annotated else []
    linker = hashed_linker(kb, NearestRow(), NetworkNil(), rows={"documents": documents})
    start = text.lower().index("sad")
    query = MentionQuery(text, start, start + 3)
    (link,) = linker.link([query])
    assert [key in link.ids for key in ("D1", "D2")] == [is_candidate[0] or annotated == "sad", True]
    filled = linker.evidence([query]).filled[0]
    assert filled.tolist() == sorted(filled, reverse=True)  # no hole where a candidate was left out


def test_fit_learns_combiner_nil_model_and_threshold(make_linker):
    linker = make_linker(LinearCombiner(), LogisticNil())
    corpus = mixed_documents()
    fit_documents(linker, corpus)
    assert 0.0 < linker.decider.calibrated_threshold < 1.0
    assert linker.decider.combiner.state() and linker.decider.nil_model.state()
    ids = [document.mentions[0].ids[0] for document in corpus]
    found = linker.link(gold_queries(corpus))
    assert [link.kb_id for link in found] == [NIL if one[0] == "U" else one for one in ids]


def test_examples_of_linkers_with_other_knowledge_bases(kb, make_linker):
    """Rows differ, and what is NIL; P(NIL) learns from all as if one linker had found them, the ranking from
    the first."""
    linker = make_linker(LinearCombiner(), LogisticNil())
    other = hashed_linker(KnowledgeBase(list(kb.entities())[::-1]), NearestRow(), NetworkNil())
    corpus = mixed_documents()
    queries = gold_queries(corpus)
    first = collect(linker, queries[::2], corpus[::2])
    links = fit(linker, [first, collect(other, queries[1::2], corpus[1::2])])
    assert len(links) == len(first) and links == linker.link(queries[::2])
    assert linker.decider.confidence.state()
    alone = make_linker(LinearCombiner(), LogisticNil())
    fit(alone, [first])
    assert linker.decider.combiner.state() == alone.decider.combiner.state()
    assert linker.decider.nil_model.state() != alone.decider.nil_model.state()
    together = make_linker(LinearCombiner(), LogisticNil())
    fit(together, [first, collect(linker, queries[1::2], corpus[1::2])])
    assert linker.decider.calibrated_threshold == pytest.approx(together.decider.calibrated_threshold, abs=1e-4)
    weights = [each.decider.nil_model.state()["weights"] for each in (linker, together)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-3)


def test_fit_gives_the_combiner_linkable_mentions_only(make_linker):
    seen = {}

    class Recorder(NearestRow):
        def fit(self, table, gold):
            seen["n"] = len(table)
            seen["gold"] = [rows.tolist() for rows in gold]

    linker = make_linker(Recorder())
    corpus = documents(["zzyzx"], "U") + documents(["gout"], "D")
    corpus[1].mentions = [Mention(6, 10, "", ("gone", "OLD", "D2", "D1"))]
    fit_documents(linker, corpus)
    assert seen == {"n": 1, "gold": [[1, 2]]}  # redirected, distinct, known


def test_fit_warns_where_most_ids_are_not_of_the_kb(make_linker, caplog):
    corpus = documents(DISEASES[:1], "D") + documents(UNKNOWN[:1], "U")
    fit_documents(make_linker(), corpus)
    assert "PEL-W103" not in caplog.text, "half of them"
    fit_documents(make_linker(), corpus + documents(UNKNOWN[:1], "U"))
    assert "PEL-W103" in caplog.text and "2 of 3 annotated mentions" in caplog.text


def test_fit_needs_linkable_mentions(make_linker):
    for corpus in ([], documents(UNKNOWN, "U")):
        with pytest.raises(PelError, match="PEL-E501"):
            fit_documents(make_linker(), corpus)


def test_candidates_are_ranked_within_their_mention_and_ties_keep_their_order():
    class Fixed:
        """A generator that finds rows 0 1 | none | 2 3 4."""

        registered_name, fingerprint = "test.Fixed.v1", ""
        needs_encoder = reads_context = False

        def bind(self, encoder, index):
            pass

        def find_candidates(self, kb, mentions, *, allowed=None, top_k=64):
            rows = [[0, 1], [], [2, 3, 4]]
            return table_of([rows["abc".index(mention.surface)] for mention in mentions])

    kb = KnowledgeBase([Entity(f"D{number}", f"name {number}") for number in range(5)])
    scores = laid_out([[0.5, 0.9], [], [0.3, 0.7, 0.7]])

    class Part:
        """Gives these numbers."""

        is_probability = False

        def __init__(self, numbers):
            self.numbers = numbers

        def __call__(self, *tables):
            return self.numbers

    parts = (Part(scores), Part(np.zeros(3, dtype=np.float32)))
    for top_k, expected in ((10, [["D1", "D0"], [], ["D3", "D4", "D2"]]), (1, [["D1"], [], ["D3"]])):
        linker = Linker(kb, None, None, *parts, generator=Fixed(), top_k=top_k)
        queries = [MentionQuery("abc", i, i + 1) for i in range(3)]
        links = linker.link(queries)
        assert [[candidate.entity_id for candidate in link.candidates] for link in links] == expected
        assert [link.kb_id for link in links] == [names[0] if names else NIL for names in expected]
        assert [len(link.candidates) for link in linker.link(queries, top_k=2)] == [2, 0, 2]
