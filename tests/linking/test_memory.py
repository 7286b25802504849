"""The memory: an index with it answers like one built with the same mentions; what decides; the log."""

import json
from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Correction, Memory, MentionQuery
from spacy_pel.linking.corrections.matching import IndexWithMemory, Reach
from spacy_pel.types import NIL, TOPIC, Document, Entity, Mention
from spacy_pel.util.saved_folder import write_manifest

from .annotated import fit_documents, gold_queries, hashed_linker

NAMES = ["aspirin", "common cold", "cold temperature", "fever", "stroke", "asthma"]
KINDS = ("card", "alias", "mention")
GROUPS = (("card", "alias"), ("mention",))


@pytest.fixture
def kb():
    return KnowledgeBase([Entity(f"C{i}", name) for i, name in enumerate(NAMES)])


def documents(*sentences):
    """Sentences with the ids of their second words."""
    made = []
    for number, (text, kb_id) in enumerate(sentences):
        start = text.index(" ") + 1
        end = text.index(" ", start)
        made.append(Document(str(number), text, [Mention(start, end, "X", (kb_id,))]))
    return made


def pairs(given):
    """The queries and corrections of documents."""
    queries = gold_queries(given)
    answers = [(m.ids or (NIL,))[0] for one in given for m in one.mentions]
    return queries, [
        Correction(query.text, query.start, query.end, kb_id) for query, kb_id in zip(queries, answers, strict=True)
    ]


def make_linker(kb, annotated=(), **settings):
    return hashed_linker(kb, rows={"kinds": KINDS, "documents": annotated}, **settings)


SEEN = documents(("a asa helps", "C0"), ("the chills came", "C3"), ("a asa works", "C0"))
NEW = documents(("some asa now", "C0"), ("this wheeze stays", "C5"), ("with chills again", "C3"), ("a Wheeze is", "C5"))


def test_an_index_with_memory_answers_like_one_built_with_the_same_mentions(kb):
    linker, whole = make_linker(kb, SEEN), make_linker(kb, [*SEEN, *NEW])
    linker.learn(*pairs(NEW))
    view = linker.generator._bound[1]
    assert isinstance(view, IndexWithMemory)
    vectors = linker.encoder.encode_mentions([q.in_text for q in pairs([*SEEN, *NEW])[0]])
    for allowed in (None, np.array([True, False, True, False, True, True])):
        ours = view.search_groups(vectors, 9, allowed, GROUPS)
        theirs = whole.index.search_groups(vectors, 9, allowed, GROUPS)
        for (scores, rows), (their_scores, their_rows) in zip(ours, theirs, strict=True):
            assert scores == pytest.approx(their_scores, abs=1e-5)
            assert np.sort(rows, axis=1).tolist() == np.sort(their_rows, axis=1).tolist()
    for name, column in whole.index.priors.columns().items():
        assert view.priors.columns()[name].tolist() == column.tolist()
    assert view.fingerprint != linker.index.fingerprint
    features, theirs = (one.evidence(pairs(NEW)[0]).features for one in (linker, whole))
    assert features.keys() == theirs.keys()
    for name in theirs.keys() - {TOPIC}:  # learned texts are no annotated ones
        np.testing.assert_allclose(features[name], theirs[name], atol=1e-5, err_msg=name)


COLD = documents(("a cold winter", "C2"), ("the cold morning, cold, cold and cold", "C2"))  # most are not marked


def answer(linker, text, word="cold"):
    start = text.index(word)
    (link,) = linker.link([MentionQuery(text, start, start + len(word), "X")])
    return link.kb_id, link.learned


def test_annotated_text_outweighs_a_correction_but_in_its_own_text(kb):
    """Two annotated mentions against one, two, three corrections."""
    linker = make_linker(kb, COLD)
    elsewhere = "a cold and"
    before = answer(linker, elsewhere)
    assert before == ("C2", None)
    linker.learn(*pairs(documents(("a cold virus", "C1"))))
    assert answer(linker, "a cold virus") == ("C1", 1)
    assert answer(linker, elsewhere) == before
    linker.learn(*pairs(documents(("my cold nose", "C1"))))
    assert answer(linker, "my cold virus")[0] == "C1" and answer(linker, "a cold virus") == ("C1", 1)


def right(linker, text, word="cold"):
    """P(right)."""
    return linker.link([MentionQuery(text, text.index(word), text.index(word) + len(word), "X")])[0].probability


def always(*sentences):
    queries, corrections = pairs(documents(*sentences))
    return queries, [replace(correction, always=True) for correction in corrections]


def test_an_answer_that_was_corrected_elsewhere_is_trusted_less(kb):
    linker = make_linker(kb, COLD)
    before, of_fever = right(linker, "a cold and"), right(linker, "a fever and", "fever")
    for n, text in enumerate(("a cold virus", "my cold nose"), start=1):
        linker.learn(*pairs(documents((text, "C1"))))
        if n == 1:
            assert linker.learned_mentions.reach(1) == Reach("here", 1, 1, "C2", 2)
            assert answer(linker, "a cold and") == ("C2", None), "annotated text outweighs it"
            assert right(linker, "a cold and") == pytest.approx(6 * before / 7)
            assert right(linker, "a cold virus") == 1.0, "a person's answer"
    assert right(linker, "a fever and", "fever") == of_fever
    linker.unlearn([1, 2])
    assert right(linker, "a cold and") == before


def test_a_form_that_always_has_an_answer(kb):
    """Whatever annotated text says, and in any case; trusted as far as other corrections of the form agree."""
    linker = make_linker(kb, COLD)
    linker.learn(*always(("a cold virus", "C1")))
    assert linker.learned_mentions.reach(1) == Reach("always", 1, 1, "C2", 2)
    for text, word in (("a cold and", "cold"), ("HE HAS A COLD", "COLD"), ("the Cold here", "Cold")):
        assert answer(linker, text, word) == ("C1", 1)
        assert right(linker, text, word) == pytest.approx(1 / 1.25)
    assert answer(linker, "a colder day", "colder")[1] is answer(linker, "his COLD is worse", "COLD")[1] is None
    assert right(linker, "a cold virus") == 1.0
    linker.learn(*pairs(documents(("my cold nose", "C1"))))
    assert answer(linker, "a cold and") == ("C1", 1)
    assert right(linker, "a cold and") == pytest.approx(2 / 2.25)
    linker.learn(*pairs(documents(("some cold rain", "C3"))))
    assert answer(linker, "a cold and") == ("C1", 1), "the others do not decide always"
    assert right(linker, "a cold and") == pytest.approx(2 / 3.25)
    linker.learn(*always(("the cold fog", NIL)))
    assert answer(linker, "a cold and") == (NIL, 4), "the last one"
    assert right(linker, "a cold and") == pytest.approx(1 / 4.25)
    assert [linker.learned_mentions.reach(n).n_agreeing for n in (1, 2, 3, 4)] == [2, 2, 1, 1]


def test_a_confirmed_answer_is_trusted_more(kb):
    linker = make_linker(kb, COLD)
    before = right(linker, "a cold and")
    linker.learn(*always(("a cold snap", "C2")))
    assert answer(linker, "a cold and") == ("C2", 1)
    assert before < (1 + before / 4) / 1.25 <= right(linker, "a cold and") < 1


def test_an_answer_does_not_confirm_itself(kb):
    """What is learned is evidence: the linker itself may give the answer now."""
    linker = make_linker(kb)
    linker.learn(*pairs(documents(("some zzyzx now", "C1"))))
    assert answer(linker, "a zzyzx and", "zzyzx") == ("C1", 1)
    assert right(linker, "a zzyzx and", "zzyzx") == pytest.approx(1 / 1.25)


def test_corrections_of_a_text_that_disagree(kb):
    linker, text = make_linker(kb), "cold cold cold"
    given = [(0, "C1"), (5, "C2")]
    queries = [MentionQuery(text, start, start + 4) for start, _ in given]
    linker.learn(queries, [Correction(text, start, start + 4, kb_id) for start, kb_id in given])
    links = linker.link([*queries, MentionQuery(text, 10, 14)])
    assert [one.kb_id for one in links] == ["C1", "C2", "C2"]
    assert [one.probability for one in links] == pytest.approx([1.0, 1.0, 1 / 2.25])


def test_the_same_correction_may_become_one_for_always(kb):
    linker = make_linker(kb, COLD)
    linker.learn(*pairs(documents(("a cold virus", "C1"))))
    assert [one.id for one in linker.learn(*always(("a cold virus", "C1")))] == [2]
    assert linker.learn(*always(("a cold virus", "C1"))) == []
    assert [(one.id, one.always) for one in linker.memory.learned] == [(2, True)]
    linker.unlearn([2])
    assert answer(linker, "a cold and") == ("C2", None)


def test_a_memory_of_before_always(kb, tmp_path):
    linker = make_linker(kb, COLD)
    linker.learn(*always(("a cold virus", "C1")))
    linker.learn(*pairs(documents(("my fever nose", "C1"))))
    linker.memory.to_disk(tmp_path / "memory")
    loaded = Memory.from_disk(tmp_path / "memory")
    assert loaded.learned == linker.memory.learned and [one.always for one in loaded.learned] == [True, False]
    log = tmp_path / "memory" / "log.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line.pop("always") for line in lines] == [True, False]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    write_manifest(tmp_path / "memory", kind="memory", version=1)
    linker.memory = Memory.from_disk(tmp_path / "memory")
    linker.refresh()
    assert [one.always for one in linker.memory.learned] == [False, False]
    assert answer(linker, "a cold virus") == ("C1", 1) and answer(linker, "a cold and") == ("C2", None)


def test_plain_words_in_capitals_are_corrected_apart(kb):
    linker = make_linker(kb, documents(("with WAS here", "C3"), ("of WAS there", "C3")))
    linker.learn(*pairs(documents(("some WAS now", "C0"), ("a rat bites", "C5"))))
    # annotated text outweighs the first, and nothing was said of "was"
    assert answer(linker, "in WAS too", "WAS")[0] == "C3" and answer(linker, "a rat bites", "rat") == ("C5", 2)
    assert answer(linker, "he was well", "was")[1] is None


def test_an_annotated_mention_in_a_nearer_context_wins(kb):
    linker = make_linker(kb, documents(("very cold winter", "C2")), read_context="always")
    linker.learn(*pairs(documents(("viral cold infection", "C1"))))
    assert linker.learned_mentions.settled.all()
    assert answer(linker, "very cold winter")[1] is None
    assert answer(linker, "viral cold infections") == ("C1", 1)
    linker.learn(*always(("no cold at", "C0")))
    assert answer(linker, "very cold winter") == answer(linker, "viral cold infections") == ("C0", 2)


def test_the_nearest_of_several_corrections_decides(kb):
    linker = make_linker(kb, read_context="always")
    linker.learn(*pairs(documents(("viral cold infection", "C1"), ("arctic cold weather", "C2"))))
    linker.learn([MentionQuery("a cold shoulder", 2, 6)], [Correction("a cold shoulder", 2, 6, NIL)])
    assert answer(linker, "viral cold infections") == ("C1", 1)
    assert answer(linker, "arctic cold weathers") == ("C2", 2)
    assert answer(linker, "a cold shoulders") == (NIL, 3)


def test_by_the_form_alone_the_last_of_several_corrections_decides(kb):
    linker = make_linker(kb)
    linker.learn(*pairs(documents(("viral cold infection", "C1"), ("arctic cold weather", "C2"))))
    assert answer(linker, "viral cold infections") == ("C2", 2)
    assert answer(linker, "viral cold infection") == ("C1", 1), "in its own text"


def test_a_damaged_memory_is_refused(kb, tmp_path):
    linker = make_linker(kb)
    linker.learn(*pairs(NEW))
    linker.unlearn([2])
    linker.memory.to_disk(tmp_path / "memory")
    assert Memory.from_disk(tmp_path / "memory").log == linker.memory.log
    log = (tmp_path / "memory" / "log.jsonl").read_text().splitlines()
    first = json.loads(log[0])
    for lines in (
        [log[1]],  # a line is missing
        [json.dumps({**first, "end": "3"})],
        log[:1],  # more vectors than entries
        [*log[:4], json.dumps({"action": "undo", "id": 5, "at": "", "by": "", "undoes": 9})],
    ):
        (tmp_path / "memory" / "log.jsonl").write_text("\n".join(lines))
        with pytest.raises(PelError, match="E004"):
            Memory.from_disk(tmp_path / "memory")  # other content than the manifest says
        write_manifest(tmp_path / "memory", kind="memory", version=1)
        with pytest.raises(PelError, match="E004|E002"):
            Memory.from_disk(tmp_path / "memory")


def test_fitting_ignores_what_is_learned(kb):
    ours, theirs = make_linker(kb, SEEN), make_linker(kb, SEEN)
    ours.learn(*pairs(NEW))
    fitted_on = [*NEW, *documents(("no wheeze here", "C5"), ("a quux is", "C77"), ("some quux now", "C77"))]
    for linker in (ours, theirs):
        fit_documents(linker, fitted_on)
    assert ours.decider.combiner.weights == theirs.decider.combiner.weights
    assert ours.decider.calibrated_threshold == theirs.decider.calibrated_threshold
    assert [one.learned for one in ours.link(pairs(NEW)[0])] == [1, 2, 3, 4], "it still links by them"
