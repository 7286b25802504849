"""Two linkers with a knowledge base each in one pipeline: both answers are kept."""

import pickle
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_pel.errors import PelError
from spacy_pel.evaluation import evaluate_end_to_end
from spacy_pel.kb import KnowledgeBase
from spacy_pel.pipeline.mentions import mention_record, mention_spans
from spacy_pel.types import NIL, Document, Entity, Mention

from .conftest import NAME, PLAIN, TEXTS

pytestmark = pytest.mark.slow

XREFS = ("SNOMEDCT:25064002",)
HPO = [
    Entity("HP:1", "Pain in the head", ("headache",), xrefs=XREFS),
    Entity("HP:2", "Chorea", ("Huntington disease",)),
]
TEXT = "A headache and a heart attack."


@pytest.fixture
def both(make_nlp, tmp_path):
    """The first one knows headache and heart attack, the other one only headache."""
    KnowledgeBase.build(HPO, tmp_path / "hpo")
    settings = {"nil_model": {"@pel_nil": "spacy-pel.LogisticNil.v1"}, "threshold": 0.5}
    nlp = make_nlp(extension_prefix="umls", **settings)
    nlp.rename_pipe(NAME, "umls_linker")
    other = nlp.add_pipe(NAME, name="hpo", config={**PLAIN, **settings, "extension_prefix": "hpo"})
    other.initialize(lambda: [], kb_loader=lambda: KnowledgeBase.from_disk(tmp_path / "hpo"))
    return nlp


def answers(doc):
    return [
        [
            [ent._.get(f"{prefix}_{name}") for name in ("id", "name", "types", "xrefs")]
            + [[key for key, _ in ent._.get(f"{prefix}_candidates")], round(ent._.get(f"{prefix}_nil_score"), 4)]
            for prefix in ("umls", "hpo")
        ]
        for ent in doc.ents
    ]


def test_both_answers_are_kept(both):
    head, heart = both(TEXT).ents
    assert (head._.umls_id, head._.umls_name, head._.umls_candidates[0][0]) == ("C03", "Headache", "C03")
    assert (head._.hpo_id, head._.hpo_name, head._.hpo_candidates[0][0]) == ("HP:1", "Pain in the head", "HP:1")
    assert (heart._.umls_id, heart._.umls_name) == ("C01", "Myocardial infarction")
    assert (heart._.hpo_id, heart._.hpo_name) == (NIL, None)
    assert (head._.umls_types, head._.umls_xrefs) == (["T184"], []) and head._.hpo_xrefs == list(XREFS)
    assert heart._.umls_xrefs == ["MESH:D009203", "ICD10:I21"] and heart._.hpo_xrefs == heart._.hpo_types == []
    assert len(heart._.umls_candidates) > len(heart._.hpo_candidates) == 2
    assert heart._.umls_nil_score < 0.5 < heart._.hpo_nil_score
    assert [head.kb_id_, heart.kb_id_] == ["HP:1", NIL]  # the last one counts


def test_each_learns_only_what_neither_of_them_said(both):
    doc = both(TEXT)
    for linker in ("umls_linker", "hpo"):
        with pytest.raises(PelError, match="E532"):
            both.get_pipe(linker).learn([doc])
    for token in doc.ents[1]:
        token.ent_kb_id_ = "C09"
    (learned,) = both.get_pipe("umls_linker").learn([doc])
    assert (learned.text, learned.before, learned.after) == ("heart attack", "C01", "C09")


def test_they_survive_saving_bytes_and_a_docbin(both, tmp_path):
    expected = [answers(doc) for doc in both.pipe(TEXTS)]
    both.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert [answers(doc) for doc in loaded.pipe(TEXTS)] == expected
    assert loaded.get_pipe("hpo").extension_prefix == "hpo"
    assert [answers(doc) for doc in both.from_bytes(both.to_bytes()).pipe(TEXTS)] == expected
    kept = DocBin(store_user_data=True, docs=list(both.pipe(TEXTS))).to_bytes()
    assert [answers(doc) for doc in DocBin().from_bytes(kept).get_docs(loaded.vocab)] == expected


def test_a_pickle_in_a_new_process(both, tmp_path):
    (tmp_path / "nlp.pickle").write_bytes(pickle.dumps(both))
    script = "import pickle, sys; e, = pickle.load(open(sys.argv[1], 'rb'))('headache').ents; print(e._.hpo_id)"
    command = [sys.executable, "-c", script, str(tmp_path / "nlp.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.stdout == "HP:1\n", done.stderr


def test_commands_and_metrics_read_their_own_linker(both):
    linker, other = both.get_pipe("umls_linker"), both.get_pipe("hpo")
    head, heart = both(TEXT).ents
    assert mention_record(linker, head, 1)["name"] == "Headache"
    assert mention_record(other, head, 1)["candidates"][0][0] == mention_record(other, head, 1)["kb_id"] == "HP:1"
    assert mention_record(linker, heart, 1)["ids"] == ["C01"] and mention_record(other, heart, 1)["ids"] == []
    gold = [Document("d", TEXT, [Mention(2, 10, "", ("C03",)), Mention(17, 29, "", ("C01",))])]
    metrics = evaluate_end_to_end(
        both, linker.linker, gold, spans=lambda doc: mention_spans(doc, None), extension_prefix=linker.extension_prefix
    )
    assert metrics["accuracy"] == metrics["link_f1"] == metrics["recall@1"] == 1.0


def test_the_default_prefix(nlp):
    doc = nlp("Aspirin after a heart attack, and zzyzx.")
    assert [ent._.pel_id for ent in doc.ents] == [ent.kb_id_ for ent in doc.ents]
    assert doc.ents[0]._.pel_name == "Aspirin"
    assert (doc.ents[1]._.pel_types, doc.ents[1]._.pel_xrefs) == (["T047"], ["MESH:D009203", "ICD10:I21"])
    assert doc[2:4]._.pel_types == doc[2:4]._.pel_xrefs == []
    assert (doc[2:4]._.pel_id, doc[2:4]._.pel_name, doc[2:4]._.pel_candidates) == ("", None, [])
    nlp.get_pipe(NAME).rename({"C02": "Acetylsalicylate"})
    assert nlp("Aspirin").ents[0]._.pel_name == "Acetylsalicylate"
