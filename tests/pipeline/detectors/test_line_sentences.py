import pytest
import spacy
from spacy.tokens import Doc

from spacy_pel.pipeline.detectors.boundaries import set_line_sentences

NOTE = "Barrett without esophagitis\nF41.1 Generalized anxiety disorder\nasthma"
WRAPPED = "The patient was seen for a cough that had been going on for\nthree weeks and got worse at night"
SENTENCES = [
    (NOTE, NOTE.splitlines()),
    (NOTE.replace("\n", "\r\n"), NOTE.splitlines()),
    ("No fever\n\nasthma", ["No fever", "asthma"]),
    ("PMH:\n- no asthma\n- COPD", ["PMH:", "- no asthma", "- COPD"]),
    ("1) No asthma 2) COPD", ["1) No asthma", "2) COPD"]),
    ("HTN denied\n  ALLERGIES: none\n", ["HTN denied", "ALLERGIES: none"]),
    (WRAPPED, [WRAPPED]),
    ("no fever|cough\tHTN", ["no fever|cough\tHTN"]),
    ("one line", ["one line"]),
    (
        "K21.9 Reflux disease without esophagitis\nJ45 Asthma",
        ["K21.9 Reflux disease without esophagitis", "J45 Asthma"],
    ),
    ("\n", [""]),
    ("Denies:\n- fever\n- chills\nPMH: asthma", ["Denies:\n- fever\n- chills", "PMH: asthma"]),
    ("Negative for:\n1. fever\n2. rash\n\nHTN", ["Negative for:\n1. fever\n2. rash", "HTN"]),
    ("No:\nfever\nchills\nHas asthma.", ["No:\nfever\nchills", "Has asthma."]),
    ("Denies: 1) fever 2) rash\nHTN", ["Denies: 1) fever 2) rash", "HTN"]),
    ("Denies:\n\nPMH: asthma", ["Denies:", "PMH: asthma"]),
    ("No fever, chills\nor cough", ["No fever, chills\nor cough"]),
]


@pytest.mark.parametrize("pipes", [["pel_line_sentences", "sentencizer"], ["sentencizer", "pel_line_sentences"]])
@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentences_end_where_lines_and_items_do(pipes, text, expected):
    nlp = spacy.blank("en")
    for pipe in pipes:
        nlp.add_pipe(pipe)
    assert [sent.text.strip() for sent in nlp(text).sents] == expected


def test_a_parsed_document():
    words = ["No", "fever", "\n", "HTN", "and", "COPD", "."]
    heads = [1, 1, 1, 1, 5, 1, 1]
    deps = ["det", "ROOT", "", "conj", "cc", "conj", "punct"]
    doc = set_line_sentences(Doc(spacy.blank("en").vocab, words=words, heads=heads, deps=deps))
    assert [[token.text for token in sent if not token.is_space] for sent in doc.sents] == [words[:2], words[3:]]
    assert [token.head.i for token in doc] == [1, 1, 1, 3, 5, 3, 3]
    assert [token.dep_ for token in doc] == ["det", "ROOT", "dep", "ROOT", "cc", "dep", "dep"]


@pytest.mark.parametrize(
    ("has_lines", "text", "expected"),
    [
        (False, NOTE, [True, True, True]),
        (True, NOTE, [True, False, False]),
        (True, "Denies:\n- rash\n- anxiety\nPMH: asthma", [True, True, False]),
        (True, "Negative for:\n1. rash\n2. anxiety\n\nasthma", [True, True, False]),
    ],
)
def test_a_negation_ends_with_its_line_or_with_what_a_heading_denies(has_lines, text, expected):
    pytest.importorskip("negspacy.negation")
    nlp = spacy.blank("en")
    if has_lines:
        nlp.add_pipe("pel_line_sentences")
    nlp.add_pipe("sentencizer")
    names = ("esophagitis", "anxiety", "asthma", "rash")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": name} for name in names])
    nlp.add_pipe("negex")
    assert [ent._.negex for ent in nlp(text).ents] == expected
