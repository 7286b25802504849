"""Words without blanks between them."""

import pytest
import spacy

from spacy_pel.pipeline.detectors.sci_tokenizer import add_note_rules, set_sci_tokenizer


@pytest.fixture(scope="module")
def tokenizers():
    """scispaCy's tokenizer, and the one with rules for notes."""
    custom = pytest.importorskip("scispacy.custom_tokenizer")
    nlp = spacy.blank("en")
    set_sci_tokenizer(nlp)
    return custom.combined_rule_tokenizer(spacy.blank("en")), nlp.tokenizer


@pytest.mark.parametrize(
    "text, words",
    [
        ("hypertension(HTN) and asthma(mild)", "hypertension ( HTN ) and asthma ( mild )"),
        ("1.HTN 2.COPD 3)CKD", "1. HTN 2. COPD 3) CKD"),
        ("|HTN|I10|", "| HTN | I10 |"),
        ("MI+HTN cough;fever", "MI + HTN cough ; fever"),
        ("pain(resolved),cough", "pain ( resolved ) , cough"),
        ("metformin500mg BP:120/80", "metformin 500 mg BP : 120/80"),
        ("•gout anemia[chronic]", "• gout anemia [ chronic ]"),
    ],
)
def test_words_of_notes_are_split(tokenizers, text, words):
    assert [token.text for token in tokenizers[1](text)] == words.split()


def test_words_of_abstracts_are_not(tokenizers):
    text = (
        "CD4+CD25+ T-cells of patient(s) with poly(ethylene glycol) 2000, iron(II), copper(ii) and Ca(2+) (IL-6, "
        "TNF-alpha/IL-1), t(8;21), CYP2D6, 5-FU, and/or PI3K/Akt; 12(S)-HETE in 2010.5 (p<0.05)."
    )
    before, after = ([token.text for token in tokenizer(text)] for tokenizer in tokenizers)
    assert before == after


def test_rules_are_saved(tokenizers):
    nlp = spacy.blank("en")
    nlp.tokenizer.from_bytes(tokenizers[1].to_bytes())
    assert [token.text for token in nlp("1.HTN")] == ["1.", "HTN"]
    add_note_rules(nlp.tokenizer)  # twice is as good as once
    assert [token.text for token in nlp("1.HTN")] == ["1.", "HTN"]
