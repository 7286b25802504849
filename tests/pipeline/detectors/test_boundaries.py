"""Where mentions begin and end, whatever tagged them: the tokens of a text that are tagged as one mention."""

import time
from pathlib import Path

import pytest
import spacy
from cases import cases
from spacy.tokens import Doc

from benchmarks.notes import judge, read_notes
from spacy_pel.pipeline.detectors.boundaries import breaks_of, split_tokens, trimmed
from spacy_pel.pipeline.detectors.sci_tokenizer import add_note_rules

TOKENIZER = Path(__file__).parents[3] / "assets" / "pel_medmentions" / "tokenizer"


@pytest.fixture(scope="module")
def nlp():
    """The tokenizer of the default pipeline, or spaCy's where that is not shipped."""
    nlp = spacy.blank("en")
    if TOKENIZER.is_file():
        nlp.tokenizer.from_disk(TOKENIZER)
    add_note_rules(nlp.tokenizer)
    return nlp


KNOWN = set("AST ALT AFib IL-6 TNF PET CT PET/CT HTN DM asthma COPD mg losartan HCTZ Na HLA-A R&D".split())


def knows(names):
    return not KNOWN.isdisjoint(names)


def mentions_of(doc, stretches=None):
    """What is left of mentions that cover these characters; None = all."""
    breaks = breaks_of(doc)
    runs = []
    for start, end in stretches or [(0, len(doc.text))]:
        runs.append([])
        for token in doc.char_span(start, end, alignment_mode="expand"):
            if token.i in breaks.certain:
                runs.append([])
            elif not token.is_space:
                runs[-1].append(token.i)
    return [offsets for pieces in trimmed(doc, list(filter(None, runs)), breaks.likely, knows) for offsets in pieces]


def cut(nlp, text):
    return [text[start:end] for start, end in mentions_of(nlp(text))]


@pytest.mark.parametrize("text, expected", cases("boundaries", "what_is_left_of_a_mention"))
def test_what_is_left_of_a_mention(nlp, text, expected):
    assert cut(nlp, text) == expected


def test_placeholders_without_an_end_take_linear_time(nlp):
    started = time.perf_counter()
    assert trimmed(nlp.make_doc("gout" + " [**" * 30_000), [[0]], (), knows) == [[(0, 4)]]
    assert time.perf_counter() - started < 10  # quadratic: 25


@pytest.mark.parametrize("text, tagged, expected", cases("boundaries", "what_stands_around_a_mention_counts"))
def test_what_stands_around_a_mention_counts(nlp, text, tagged, expected):
    start = text.index(tagged)
    assert [text[slice(*one)] for one in mentions_of(nlp(text), [(start, start + len(tagged))])] == expected


def test_the_mentions_of_notes_stay_as_they_are(nlp):
    """Each as its marks give it, without the optional words and with them; and tokens begin and end there."""
    for note in read_notes():
        for form in (0, 1):
            stretches = [mention[form] for mention in note.mentions]
            doc = nlp(note.text)
            found = set(mentions_of(doc, stretches))  # two mentions may share a token
            outcome = judge(note, found)
            assert not outcome.wrong and not outcome.missed, note.text
            split_tokens(doc, found)
            assert all(doc.char_span(*offsets) is not None for offsets in found)


# a sentence, and what is tagged as a mention in it, as detectors that learned from abstracts do
SENTENCES = [
    ("No asthma.", ["No asthma"]),
    ("No headache, no fever.", ["No headache", "no fever"]),
    ("Patient denied any palpitations.", ["denied any palpitations"]),
    ("She denies fever or chills.", ["denies fever", "chills"]),
    ("Extremities without edema.", ["without edema"]),
    ("Negative for pneumonia.", ["Negative for pneumonia"]),
    ("No evidence of metastases.", ["No evidence of metastases"]),
    ("Absence of lymphadenopathy.", ["Absence of lymphadenopathy"]),
    ("NO FEVER TODAY.", ["NO FEVER"]),
]
AFFIRMED = [("Pt has asthma.", ["asthma"]), ("NO synthase rises.", ["NO synthase"])]


def annotated(nlp, text, tagged):
    """A document with what the rules leave of mentions of these words."""
    doc = nlp.make_doc(text)
    stretches = [(text.index(words), text.index(words) + len(words)) for words in tagged]
    doc.ents = [doc.char_span(*offsets, label="FINDING") for offsets in mentions_of(doc, stretches)]
    return doc


@pytest.mark.parametrize(
    "package, component, config, attribute",
    [("negspacy.negation", "negex", {}, "negex"), ("medspacy.context", "medspacy_context", {}, "is_negated")],
)
def test_negations_stand_before_the_mention(package, component, config, attribute):
    """NegEx and ConText see them, as they are never part of one."""
    pytest.importorskip(package)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(component, config=config)
    for expected, sentences in ((True, SENTENCES), (False, AFFIRMED)):
        for text, tagged in sentences:
            doc = nlp(annotated(nlp, text, tagged))
            assert [ent._.get(attribute) for ent in doc.ents] == [expected] * len(tagged), text


@pytest.mark.parametrize("begins, heads", [([True, False, False, True, False], None), (None, [0, 0, 0, 3, 3])])
def test_tokens_that_are_split_keep_what_was_set_on_them(begins, heads):
    """And nothing of the tokens after them: spaCy's retokenizer leaves that in place."""
    pos, deps = ["DET", "PROPN", "PUNCT", "ADV", "PUNCT"], heads and ["dep"] * 5
    words, vocab = ["No", "PTSD/MDD", ".", "Well", "."], spacy.blank("en").vocab
    doc = Doc(vocab, words, pos=pos, morphs=["", "Number=Sing", "", "", ""], sent_starts=begins, heads=heads, deps=deps)
    split_tokens(doc, [(3, 7), (8, 11)])
    assert [sent.text for sent in doc.sents] == ["No PTSD/MDD .", "Well ."]
    assert [token.pos_ for token in doc] == ["DET", "PROPN", "PROPN", *pos[1:]]
    assert [str(token.morph) for token in doc[1:4]] == ["Number=Sing"] * 3
