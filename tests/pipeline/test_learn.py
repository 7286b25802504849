"""Corrections that count at once: learned, saved, sent to processes, undone; and explanations."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Learned, Memory
from spacy_pel.pipeline.gold import documents_of
from spacy_pel.pipeline.linker_data import saved_memory, update_linker_folder
from spacy_pel.types import NIL, Entity
from spacy_pel.util import logger

from .conftest import NAME, TEXTS, copies, found, links
from .test_reranker import RANKER
from .test_serialization import FITTED, dev_set

pytestmark = pytest.mark.slow

TEXT = "Aspirin for a cold, and zzyzx for Huntington disease."
RIGHT = {"Aspirin": NIL, "cold": "C05", "zzyzx": "C10"}  # all of them other than the linker says
GENERATORS = {
    "bi-encoder, fitted": FITTED,
    "bi-encoder, reranked": {**FITTED, "reranker": RANKER},
    "tf-idf": {"encoder": None, "index": None, "generator": {"@pel_candidates": "spacy-pel.TfIdf.v1"}},
    "names": {"encoder": None, "index": None, "generator": {"@pel_candidates": "spacy-pel.AliasMatch.v1"}},
}


def corrected(nlp, text=TEXT, right=None):
    """A document without links but for the right ids."""
    doc = nlp.get_pipe("entity_ruler")(nlp.make_doc(text))
    right = RIGHT if right is None else right
    doc.ents = [Span(doc, e.start, e.end, label=e.label, kb_id=right.get(e.text, "")) for e in doc.ents]
    return doc


def explicit(doc):
    """The same document, as if the linker had given other ids."""
    for ent in doc.ents:
        ent._.pel_id = "C99"
    return doc


def ids(nlp, text=TEXT):
    return {ent.text: ent.kb_id_ for ent in nlp(text).ents}


def whole(nlp, texts=(TEXT, *TEXTS)):
    """Everything that the linker says, to the last digit; not which entry decided."""
    linker = nlp.get_pipe(NAME)
    docs = [nlp.make_doc(text) for text in texts]
    for doc in docs:
        nlp.get_pipe("entity_ruler")(doc)
    return [[replace(link, learned=None) for link in found] for found in linker.predict(docs)]


@pytest.fixture(params=["bi-encoder, reranked", "tf-idf"])
def taught(request, make_nlp):
    nlp = make_nlp(**GENERATORS[request.param])
    nlp.get_pipe(NAME).learn([corrected(nlp)], by="Ann", always=request.param == "tf-idf")
    return nlp


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_correction_counts_at_once_and_is_undone_exactly(make_nlp, kind):
    nlp = make_nlp(**GENERATORS[kind])
    linker = nlp.get_pipe(NAME)
    before, fingerprints = whole(nlp), linker.linker.fingerprints
    assert all(ids(nlp)[text] != right for text, right in RIGHT.items())
    learned = linker.learn([corrected(nlp)], by="Ann")
    assert {one.text: one.after for one in learned} == RIGHT
    assert {text: ids(nlp)[text] for text in RIGHT} == RIGHT
    for ent in nlp(TEXT).ents:
        scores = [score for _, score in ent._.pel_candidates]
        assert scores == sorted(scores, reverse=True)
        if ent.text in RIGHT:
            assert ent._.pel_nil_score == (RIGHT[ent.text] == NIL)
            assert RIGHT[ent.text] in (NIL, ent._.pel_candidates[0][0])
    other = ids(nlp, "We saw zzyzx, Aspirin and a cold.")
    assert other == RIGHT  # another text, but nothing speaks against it
    assert ids(nlp)["Huntington disease"] == "C07"
    assert linker.linker.fingerprints != fingerprints
    assert linker.unlearn(one.id for one in learned) == learned
    assert whole(nlp) == before and linker.linker.fingerprints == fingerprints


def test_saved_and_sent(taught, tmp_path):
    texts = [TEXT, *TEXTS]
    expected, log = found(taught, texts), taught.get_pipe(NAME).linker.memory.log
    same = loaded, *_ = copies(taught, tmp_path / "nlp")
    for copy in same:
        assert found(copy, texts) == expected
        assert copy.get_pipe(NAME).linker.memory.log == log
        assert copy.get_pipe(NAME).learned == taught.get_pipe(NAME).learned
    assert [links(doc) for doc in loaded.pipe(texts, n_process=2)] == expected
    # what is learned and undone later is saved over it
    linker = loaded.get_pipe(NAME)
    linker.unlearn(1, by="Bob")
    linker.learn([corrected(loaded, "A headache", {"headache": NIL})])
    loaded.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp").get_pipe(NAME)
    assert [one.id for one in again.learned] == [2, 3, 5]
    assert [line["action"] for line in again.linker.memory.log] == ["learn"] * 3 + ["undo", "learn"]
    assert again.linker.memory.log[3]["by"] == "Bob" and again.linker.memory.log[3]["undoes"] == 1


def test_forgetting_leaves_nothing_behind(make_nlp, tmp_path):
    nlp = make_nlp(**FITTED)
    linker = nlp.get_pipe(NAME)
    linker.calibrate(nlp, dev_set())
    before = whole(nlp)
    linker.learn([corrected(nlp)])
    nlp.to_disk(tmp_path / "nlp")
    linker.forget()
    assert linker.learned == [] and linker.linker.memory.log == [] and whole(nlp) == before
    nlp.to_disk(tmp_path / "nlp")
    assert not (tmp_path / "nlp" / NAME / "memory").exists()
    assert whole(spacy.load(tmp_path / "nlp")) == before


def test_initialising_again(nlp, linker, kb_path, caplog):
    linker.learn([corrected(nlp)])
    linker.initialize(lambda: [])
    assert len(linker.learned) == 3 and ids(nlp)["zzyzx"] == "C10"
    assert "W509" not in caplog.text
    linker.initialize(lambda: [], kb_loader=lambda: KnowledgeBase.from_disk(kb_path))
    assert linker.learned == [] and "PEL-W509" in caplog.text and "3 learned corrections" in caplog.text


@pytest.mark.parametrize("successor", [{"C05": "C04"}, None])
def test_what_a_retired_entity_was_named_does_not_count_against_a_correction(nlp, linker, kb_path, successor):
    documents = [
        Example(nlp.make_doc(text), corrected(nlp, text, {"cold": "C05"}))
        for text in ("A cold here.", "A cold there.", "One more cold, and then it was over.")
    ]
    index = EntityIndex.build(linker.kb, linker.encoder, index=FaissIVF(), documents=documents_of(documents))
    linker.initialize(lambda: [], index_loader=lambda *_: index)
    linker.learn([explicit(corrected(nlp, "In the cold of winter.", {"cold": "C04"}))])
    assert not linker.linker.learned_mentions.settled.any(), "annotated text says otherwise"
    linker.retire(["C05"], successor)
    assert linker.linker.learned_mentions.settled.all()


def test_the_order_of_learning_does_not_matter(make_nlp):
    one, other, together = (make_nlp(**FITTED) for _ in range(3))
    given = [
        ("Aspirin for a cold.", {"Aspirin": "C10", "cold": "C05"}),
        ("zzyzx and headache", {"zzyzx": "C10", "headache": NIL}),
        ("HD", {"HD": "C07"}),
    ]
    docs = [corrected(one, *each) for each in given]
    for nlp, order in ((one, docs), (other, docs[::-1])):
        for doc in order:
            nlp.get_pipe(NAME).learn([doc])
    together.get_pipe(NAME).learn(docs)
    assert whole(one) == whole(other) == whole(together)
    assert one.get_pipe(NAME).linker.fingerprints == other.get_pipe(NAME).linker.fingerprints


def test_a_later_correction_of_the_same_mention_replaces_the_earlier_one(nlp, linker):
    linker.learn([corrected(nlp, TEXT, {"zzyzx": "C10"})])
    assert linker.learn([corrected(nlp, TEXT, {"zzyzx": "C10"})]) == []  # known already
    (second,) = linker.learn([corrected(nlp, TEXT, {"zzyzx": NIL})])
    assert (second.id, second.before, second.after) == (2, "C10", NIL)
    assert linker.learned == [second] and ids(nlp)["zzyzx"] == NIL
    linker.unlearn([2])
    assert [one.id for one in linker.learned] == [1] and ids(nlp)["zzyzx"] == "C10"


def test_entries_say_who_what_and_where(make_nlp, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    nlp = make_nlp()
    doc = corrected(nlp, "x" * 100 + " " + TEXT, {"cold": "C05"})
    doc.user_data["id"] = 7
    (entry,) = nlp.get_pipe(NAME).learn(doc, by="Ann")
    assert isinstance(entry, Learned)
    assert (entry.id, entry.at, entry.by, entry.doc) == (1, "1970-01-01T00:00:00Z", "Ann", "7")
    assert (entry.start, entry.end, entry.text, entry.form) == (115, 119, "cold", "cold")
    assert (entry.label, entry.before, entry.after) == ("DISEASE", "C04", "C05")
    assert entry.context == doc.text[101:179] and len(entry.sha256) == 64  # whole words


@pytest.mark.parametrize("keeps_user_data", [True, False])
def test_only_what_was_changed_counts_in_a_linked_document(make_nlp, keeps_user_data, caplog, monkeypatch):
    monkeypatch.setattr(logger, "propagate", True)
    nlp = make_nlp()
    linker = nlp.get_pipe(NAME)
    doc = nlp(TEXT) if keeps_user_data else without_user_data(nlp(TEXT))
    for given in (doc, Example(nlp.make_doc(TEXT), doc)):
        with pytest.raises(PelError, match="E532"):
            linker.learn([given])
    for token in doc.ents[2]:
        token.ent_kb_id_ = "C10"
    assert [one.text for one in linker.learn([doc])] == ["zzyzx"]
    said = f"W550] {len(doc.ents) - 1} of {len(doc.ents)} mentions" in caplog.text
    assert said != keeps_user_data


def without_user_data(doc):
    return next(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(doc.vocab))


@pytest.mark.parametrize("keeps_user_data", [True, False])
def test_labels_that_share_offsets(make_nlp, keeps_user_data):
    """With a label's types the linker answers something else, and spaCy keeps one answer for both."""
    nlp = make_nlp(ruler=False, spans_key="sc", entity_types={"DRUG": ["T121"]})
    linker = nlp.get_pipe(NAME)
    doc = nlp.make_doc("A cold here")
    for labels in (["DISEASE", "DRUG"], ["DRUG", "DISEASE"]):
        doc.spans["sc"] = [Span(doc, 1, 2, label=label) for label in labels]
        linked = linker(doc) if keeps_user_data else without_user_data(linker(doc))
        answers = {span.label_: span.kb_id_ for span in linked.spans["sc"]}
        assert answers["DISEASE"] == "C04" != answers["DRUG"]
        with pytest.raises(PelError, match="E532"):
            linker.learn([linked])
        # also to what the linker says of the other one
        right = {**answers, "DISEASE": answers["DRUG"]}
        linked.spans["sc"] = [Span(linked, 1, 2, label=one, kb_id=right[one]) for one in labels]
        (learned,) = linker.learn([linked])
        assert (learned.label, learned.before, learned.after) == ("DISEASE", "C04", answers["DRUG"])
        linker.unlearn(learned.id)


def test_examples_and_span_groups(make_nlp):
    nlp = make_nlp()
    example = Example(nlp.make_doc(TEXT), corrected(nlp))
    assert len(nlp.get_pipe(NAME).learn([example])) == 3
    grouped = make_nlp(ruler=False, spans_key="sc")
    doc = grouped.make_doc("A zzyzx here")
    doc.spans["sc"] = [Span(doc, 1, 2, label="X", kb_id="C10")]
    assert len(grouped.get_pipe(NAME).learn([doc])) == 1
    fresh = grouped.make_doc("A zzyzx there")
    fresh.spans["sc"] = [Span(fresh, 1, 2, label="X")]
    assert grouped(fresh).spans["sc"][0].kb_id_ == "C10"


def test_a_type_filter_is_stronger(make_nlp):
    nlp = make_nlp(entity_types={"DISEASE": ["T047"]})
    linker = nlp.get_pipe(NAME)
    with pytest.raises(PelError, match="E533.*'C04'.*'DISEASE'.*'cold'"):
        linker.learn([corrected(nlp, TEXT, {"cold": "C04"})])
    linker.learn([corrected(nlp, TEXT, {"zzyzx": "C10"})])  # of the label OTHER
    doc = nlp.make_doc("A zzyzx")
    doc.ents = [Span(doc, 1, 2, label="DISEASE")]
    assert linker(doc).ents[0].kb_id_ != "C10"


@pytest.mark.parametrize(
    "right, match",
    [
        ({"cold": "C05\r\n"}, r"E530.*'C05\\r\\n', which the knowledge base lacks"),
        ({"cold": "C05", "zzyzx": "C02"}, "E530.*'zzyzx'.*'C02', which is retired without a successor"),
        ({"cold": "nil"}, "E530.*or 'NIL'.*'nil', which"),
        ({}, "E532"),
    ],
)
def test_wrong_answers_teach_nothing(nlp, linker, right, match):
    linker.retire(["C02"])
    before = whole(nlp)
    with pytest.raises(PelError, match=match):
        linker.learn([corrected(nlp, TEXT, right)])
    assert linker.learned == [] and whole(nlp) == before


def test_wrong_input(nlp, linker):
    for use in (linker.learn, linker.explain):
        with pytest.raises(PelError, match="E011.*got str"):
            use(TEXT)
    blank = Doc(nlp.vocab, words=["A", " ", "b"])
    blank.ents = [Span(blank, 1, 2, label="X", kb_id="C01")]
    with pytest.raises(PelError, match="E531.*white space"):
        linker.learn([blank])
    for by in (None, "\ud800", "Ann\r\nBob"):
        with pytest.raises(PelError, match="E011.*as text"):
            linker.learn([corrected(nlp)], by=by)
    assert linker.learned == []
    linker.learn([corrected(nlp)])
    for wrong in (9, [1, 9], ["1"]):
        with pytest.raises(PelError, match="E534"):
            linker.unlearn(wrong)
    assert [one.id for one in linker.unlearn(np.array([2]))] == [2]
    with pytest.raises(PelError, match="E534.*2, which is undone.*Known: 1, 3"):
        linker.unlearn([2])
    assert len(linker.learned) == 2


def test_another_encoder_is_refused(make_nlp, tmp_path):
    nlp = make_nlp()
    nlp.get_pipe(NAME).learn([corrected(nlp)])
    nlp.get_pipe(NAME).to_disk(tmp_path / "linker")
    other = make_nlp(encoder={"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 32}).get_pipe(NAME)
    other.to_disk(tmp_path / "other")
    with update_linker_folder(tmp_path / "other", rewritten={"memory"}) as part:
        shutil.copytree(tmp_path / "linker" / "memory", part / "memory")
    with pytest.raises(PelError, match="E535"):
        other.from_disk(tmp_path / "other")


# -- explanations ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bi-encoder, reranked", "names"])
def test_every_generator_can_be_explained(make_nlp, kind):
    nlp = make_nlp(**{**FITTED, **GENERATORS[kind]})
    linker = nlp.get_pipe(NAME)
    for taught in (False, True):
        if taught:
            linker.learn([corrected(nlp)])
        for ent, link in zip(nlp(TEXT).ents, whole(nlp, [TEXT])[0], strict=True):
            found = linker.explain(ent)
            assert found.kb_id == ent.kb_id_ and found.name == ent._.pel_name
            assert found.nil_score == pytest.approx(ent._.pel_nil_score, abs=1e-5)
            assert found.probability == pytest.approx(ent._.pel_probability, abs=1e-5)
            scores = [[one.id, pytest.approx(one.score, abs=1e-5)] for one in found.candidates]
            assert ent._.pel_candidates == scores
            assert found.threshold == pytest.approx(link.threshold, abs=1e-5)
            assert (found.learned is not None) == (taught and ent.text in RIGHT)
            assert ent.text in str(found) and all(one.id in str(found) for one in found.candidates[:5])


def test_the_evidence_of_a_candidate(make_nlp):
    nlp = make_nlp(**FITTED, coverage=0.8)
    linker = nlp.get_pipe(NAME)
    linker.calibrate(nlp, dev_set())
    linker.learn([explicit(corrected(nlp, "A heart attack", {"heart attack": "C01"}))], by="Ann")
    ent = nlp(TEXTS[0]).ents[1]
    found = linker.explain(ent)
    first = found.candidates[0]
    assert (first.id, first.name, first.nearest_name) == ("C01", "Myocardial infarction", "heart attack")
    assert (first.types, first.definition, first.xrefs) == (("T047",), None, ("MESH:D009203", "ICD10:I21"))
    assert first.forms is not None
    assert {"C01: Disease or Syndrome", "  codes: MESH:D009203 · ICD10:I21"} <= {*str(found).splitlines()}
    (sugar,) = (one for one in found.candidates if one.id == "C06")
    assert sugar.definition == "A disorder of blood sugar."
    assert "C06: Disease or Syndrome; A disorder of blood sugar." in found.to_text(len(found.candidates)).splitlines()
    assert first.features["exact"] == first.features["prior"] == 1.0
    assert first.name_cosine == first.features["name"] > 0.9
    assert first.mention_cosine == first.features["mention"] > 0.9
    assert (first.learned, first.nearest_mention) == (1, "A heart attack")
    assert found.id_set == list(ent._.pel_set)
    assert first.contributions["best_first"] == pytest.approx(linker.combiner.weights["best_first"])
    second, text = found.candidates[1], str(found)
    total = sum(first.contributions.values()) - sum(second.contributions.values())
    assert sum(found.difference.values()) == pytest.approx(total, abs=0.2)
    assert f"evidence for C01 over {second.id}: {total:+.2f} (" in text
    assert "decided by what was learned: 1: heart attack = C01" in text and "by Ann" in text


def test_a_reranker_is_explained(make_nlp):
    nlp = make_nlp(**FITTED, reranker=RANKER)
    found = nlp.get_pipe(NAME).explain(nlp(TEXT).ents[1])
    read = [one.ranker_score for one in found.candidates]
    assert sum(score is not None for score in read) == 3 and read[0] is not None
    assert "ranker" in str(found)


def test_what_was_not_linked_can_be_explained(make_nlp):
    nlp = make_nlp()
    doc = nlp.make_doc(TEXT)
    found = nlp.get_pipe(NAME).explain(doc[3:4])
    assert (found.kb_id, found.context, found.context_start) == ("C04", TEXT, TEXT.index("cold"))
    kb = KnowledgeBase([Entity("C1", "one")])
    alone = make_nlp(**GENERATORS["names"])
    alone.get_pipe(NAME).initialize(lambda: [], kb_loader=lambda: kb)
    found = alone.get_pipe(NAME).explain(doc[3:4])
    assert found.kb_id == NIL and found.candidates == [] and "no candidates" in str(found)


def test_a_memory_that_is_replaced_while_it_is_read(make_nlp, tmp_path, monkeypatch):
    nlp = make_nlp()
    linker, read, overtaken = nlp.get_pipe(NAME), Memory.from_disk, iter([True])
    linker.learn([corrected(nlp)])
    linker.to_disk(tmp_path / "linker")

    def be_overtaken(path):
        if next(overtaken, False):
            linker.unlearn(1)
            linker.to_disk(tmp_path / "linker")
            raise PelError("half of each")
        return read(path)

    monkeypatch.setattr(Memory, "from_disk", be_overtaken)
    assert len(saved_memory(tmp_path / "linker").learned) == 2 and not list(overtaken)
