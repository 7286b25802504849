"""The memory: an index with it answers like one built with the same mentions; what decides; the log."""

import json

import numpy as np
import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Correction, Linker, Memory, MentionQuery
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.corrections.matching import IndexWithMemory
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.types import NIL, TOPIC, Document, Entity, Mention
from spacy_pel.util.saved_folder import write_manifest

from .annotated import fit_documents, gold_queries

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
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=KINDS, documents=annotated)
    return Linker(kb, encoder, index, LinearCombiner(), LogisticNil(), **settings)


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
