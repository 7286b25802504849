"""From the corpus format to spaCy's examples and DocBins."""

from collections import Counter

import pytest
import spacy
from spacy.scorer import get_ner_prf

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.corpora.formats.docbin import DocbinCorpus, MentionJsonl
from spacy_pel.training.commands.convert import to_docbin
from spacy_pel.types import Document, Mention

TEXT = "Breast and ovarian cancer, anti-inflammatory drugs and xyzitis."
MENTIONS = [
    Mention(0, 25, "D", ("C1", "C2"), composite=True),
    Mention(11, 25, "D", ("C2",)),  # inside the first
    Mention(32, 37, "D", ("C3",)),  # inside a token
    Mention(55, 62, "D"),
]


@pytest.fixture
def path(tmp_path):
    documents = [Document("a", TEXT, MENTIONS), Document("b", "No mention."), Document("c", "Rash", [])]
    write_corpus(tmp_path / "corpus.jsonl", documents)
    return tmp_path / "corpus.jsonl"


def test_gold_is_on_the_reference_only(path, caplog):
    nlp = spacy.blank("en")
    nlp.tokenizer.infix_finditer = None  # "anti-inflammatory" stays one token
    build = spacy.registry.readers.get("spacy-pel.MentionJsonl.v1")
    reader = build(path)
    examples = list(reader(nlp))
    list(reader(nlp))  # a second epoch says nothing
    assert len(examples) == 3
    gold = examples[0].reference.ents
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in gold] == [
        ("Breast and ovarian cancer", "D", "C1"),
        ("xyzitis", "D", "NIL"),
    ]
    for example in examples:
        assert not example.predicted.ents and list(example.predicted.user_data) == ["pel_doc_id"]
        assert all(token.ent_kb_id == 0 for token in example.predicted)
    assert reader.report == {"mentions": 4, "misaligned": 1, "overlapping": 1}
    assert [record.message.split("]")[0] for record in caplog.records] == ["[PEL-W201"]


def test_what_is_not_known_does_not_count(tmp_path):
    """A mention without a label, and one that the tokens cannot show: neither a mention nor the text around one."""
    text = "Fever, anti-inflammatory drugs and pain."
    mentions = [Mention(0, 5, "FINDING"), Mention(12, 17, "FINDING"), Mention(35, 39, "", ("C1",))]
    write_corpus(tmp_path / "corpus.jsonl", [Document("a", text, mentions)])
    nlp = spacy.blank("en")
    nlp.tokenizer.infix_finditer = None
    (example,) = MentionJsonl(tmp_path / "corpus.jsonl")(nlp)
    assert example.get_aligned_ner() == ["U-FINDING", "O", None, "O", "O", None, "O"]
    example.predicted.ents = [example.predicted.char_span(0, 5, "FINDING"), example.predicted.char_span(35, 39, "DRUG")]
    assert get_ner_prf([example])["ents_f"] == 1


def test_limit(path):
    assert len(list(MentionJsonl(path, limit=2)(spacy.blank("en")))) == 2


def test_docbin_and_back(path, tmp_path):
    report = Counter()
    nlp = spacy.blank("en")
    nlp.tokenizer.infix_finditer = None
    assert to_docbin(tmp_path / "corpus.spacy", read_corpus(path), nlp, report) == 3
    documents = list(DocbinCorpus()([tmp_path / "corpus.spacy"]))
    assert [document.id for document in documents] == ["a", "b", "c"]
    assert (documents[0].text, documents[0].mentions) == (TEXT, [Mention(0, 25, "D", ("C1",)), Mention(55, 62, "D")])
    assert report == {"mentions": 4, "misaligned": 1, "overlapping": 1}
