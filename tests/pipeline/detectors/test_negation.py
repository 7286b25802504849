"""NegEx and ConText see the negation before a mention, as it is never part of one."""

import pytest
import spacy

from spacy_pel.pipeline.detectors.boundaries import breaks_of, trimmed

# a sentence, and what is tagged as a mention in it, as detectors that learned from abstracts do
SENTENCES = [
    ("No asthma.", ["No asthma"]),
    ("No diabetes.", ["No diabetes"]),
    ("Pt has no rash.", ["no rash"]),
    ("No headache, no fever.", ["No headache", "no fever"]),
    ("No seizures since 2019.", ["No seizures"]),
    ("Denies chest pain.", ["Denies chest pain"]),
    ("Patient denied any palpitations.", ["denied any palpitations"]),
    ("She denies fever or chills.", ["denies fever", "chills"]),
    ("Extremities without edema.", ["without edema"]),
    ("Negative for pneumonia.", ["Negative for pneumonia"]),
    ("No evidence of metastases.", ["No evidence of metastases"]),
    ("No history of stroke.", ["No history of stroke"]),
    ("No signs of infection.", ["No signs of infection"]),
    ("There is no pneumothorax.", ["no pneumothorax"]),
    ("Absence of lymphadenopathy.", ["Absence of lymphadenopathy"]),
    ("NO FEVER TODAY.", ["NO FEVER"]),
]
AFFIRMED = [("Pt has asthma.", ["asthma"]), ("NO synthase rises.", ["NO synthase"])]


def annotated(nlp, text, tagged):
    """A document with the mentions that the rules leave."""
    doc = nlp.make_doc(text)
    breaks = breaks_of(doc)
    runs = [[token.i for token in doc.char_span(text.index(one), text.index(one) + len(one))] for one in tagged]
    found = [offsets for pieces in trimmed(doc, runs, breaks.likely) for offsets in pieces]
    doc.ents = [doc.char_span(*offsets, label="FINDING") for offsets in found]
    return doc


@pytest.mark.parametrize("text, tagged", SENTENCES)
def test_the_negation_stands_before_the_mention(text, tagged):
    doc = annotated(spacy.blank("en"), text, tagged)
    for ent, one in zip(doc.ents, tagged, strict=True):
        start = text.index(one)
        assert ent.end_char == start + len(one)
        assert ent.start_char > start or one == "chills"


@pytest.mark.parametrize(
    "package, component, config, attribute",
    [("negspacy.negation", "negex", {}, "negex"), ("medspacy.context", "medspacy_context", {}, "is_negated")],
)
def test_the_mention_is_negated(package, component, config, attribute):
    pytest.importorskip(package)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(component, config=config)
    for expected, sentences in ((True, SENTENCES), (False, AFFIRMED)):
        for text, tagged in sentences:
            doc = nlp(annotated(nlp, text, tagged))
            assert [ent._.get(attribute) for ent in doc.ents] == [expected] * len(tagged), text
