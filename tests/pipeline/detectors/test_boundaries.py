"""Where mentions begin and end, whatever tagged them: the tokens of a text that are tagged as one mention."""

import time
from pathlib import Path

import pytest
import spacy

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


@pytest.mark.parametrize(
    "text, expected",
    [
        # articles
        ("the sputum", ["sputum"]),
        ("The Thelarche", ["Thelarche"]),
        ("A fib", ["A fib"]),
        *[("a", []), ("an", [])],
        # people
        ("Dr. Poe", []),
        ("Dr Smith", []),
        ("DR. POE", []),
        ("ms. Poe", []),
        ("Drs. Kumar and Lee", []),
        ("Mr. J. Lee", []),
        ("Dr. J.R. Öztürk", []),
        ("Dr. Jane Poe", []),
        ("MRS. POE", []),
        *[(f"Dr. {name}", []) for name in ("van der Berg", " Poe", "McKay", "O'Shea")],
        ("Sgt. Pepper", []),
        ("MS. POE HAS GOUT", ["HAS GOUT"]),
        ("MS. GERD AND GOUT", ["MS. GERD AND GOUT"]),
        ("HTN. MS. GERD.", ["HTN. MS. GERD."]),
        ("history of ms. Pain", ["history of ms. Pain"]),
        ("Hx: DR. GLAUCOMA", ["DR. GLAUCOMA"]),
        ("Mx Adenocarcinoma", ["Mx Adenocarcinoma"]),
        ("mr.\nHypertension", ["mr.", "Hypertension"]),
        ("DR screening", ["DR screening"]),
        ("MS. Pain", ["MS. Pain"]),
        ("dr is common", ["dr is common"]),
        # items of lists
        ("1.HTN 2.COPD 3.CKD", ["HTN", "COPD", "CKD"]),
        ("1. gout 2. anemia 3. asthma", ["gout", "anemia", "asthma"]),
        ("-HTN\n-COPD", ["HTN", "COPD"]),
        ("*gout\r\n*asthma", ["gout", "asthma"]),
        ("a) fever\nb) cough", ["fever", "cough"]),
        ("[ ] fever\n[x] cough\n#3 gout", ["fever", "cough", "gout"]),
        ("ii. gout\niii. E. coli", ["gout", "E. coli"]),
        ("|HTN|I10|", ["HTN", "I10"]),
        ("gout\tM10", ["gout", "M10"]),
        ("cough;fever; chills", ["cough", "fever", "chills"]),
        ("aspirin • warfarin", ["aspirin", "warfarin"]),
        ("MI+HTN", ["MI", "HTN"]),
        ("aspirin + warfarin", ["aspirin", "warfarin"]),
        ("fever/chills", ["fever", "chills"]),
        ("HTN/DM/CAD", ["HTN", "DM", "CAD"]),
        ("AST/ALT", ["AST", "ALT"]),
        ("AFib/Aflutter", ["AFib", "Aflutter"]),
        ("TNF/IL-6", ["TNF", "IL-6"]),
        *[(text, ["HTN", "DM"]) for text in ("HTN\\DM", "HTN//DM", "HTN&DM", "HTN/DM/")],
        ("asthma&COPD", ["asthma", "COPD"]),
        *[(name, [name]) for name in ("mg/dL", "losartan/HCTZ", "Na/K-ATPase", "HLA-A/B", "R&D", "SWI/SNF")],
        ("cough nor fever", ["cough", "fever"]),
        # names that only look like lists
        *[(name, [name]) for name in ("PET/CT", "ERK1/2", "LC-MS/MS", "piperacillin/tazobactam", "t(8;21)", "N/V")],
        *[(name, [name]) for name in ("CD4+ cells", "CD4+CD25+ cells", "HR+ cancer", "Ca2+ channel", "C. difficile")],
        *[(name, [name]) for name in ("and/or rule", "-10 levels")],
        # doses and values
        *[
            (f"heparin{dose}", ["heparin"])
            for dose in (" 1 g IV", " 75 mcg daily", "500mg", " 5,000 units SC", " (81 mg)")
        ],
        ("40 mg of prednisone", ["prednisone"]),
        ("glucose 212 mg/dL", ["glucose"]),
        ("platelets ≥ 100 x 10^9/L", ["platelets"]),
        ("serum potassium of 5.9 mmol/L", ["serum potassium"]),
        ("obesity (BMI (kg/m2) ≥ 40 kg/m2)", ["obesity"]),
        ("Cl 101", ["Cl"]),
        ("K 4.2", ["K"]),
        ("BP 142/88", ["BP"]),
        ("O2 sat 97%", ["O2 sat"]),
        ("38.9 °C fever", ["fever"]),
        ("500 mg", []),
        ("1 x 2 x 3 x 4 x 5 mg", []),
        ("1 - 2 - 3 - 4 - 5 - 6 - 7 mg", ["1 - 2"]),  # a row is read in bounded pieces, so in linear time
        # numbers of names
        *[(name, [name]) for name in ("type 2 diabetes", "grade 3 toxicity", "stage 3", "interleukin 6", "PCB 95")],
        *[(name, [name]) for name in ("CYP2D6", "vitamin B12", "16S rRNA", "T 98.6", "COVID-19", "5-FU", "CA 125")],
        *[(name, [name]) for name in ("HCT 116", "K 562", "compound 11g", "sCD40L", "EQ-5D-5L", "5% dextrose")],
        ("weight (<1000 g) infants", ["weight (<1000 g) infants"]),
        # negations
        *[(f"{no} gout", ["gout"]) for no in ("No evidence of", "denies any", "without signs of", "negative for")],
        *[(f"{no} edema", ["edema"]) for no in ("absence of", "w/o", "r/o", "No history of")],
        ("NO FEVER", ["FEVER"]),
        ("NO synthase", ["NO synthase"]),
        ("non-small cell cancer", ["non-small cell cancer"]),
        ("nodular goiter", ["nodular goiter"]),
        ("neither fever nor pain", ["fever", "pain"]),
        *[("No", []), ("Negative", ["Negative"])],
        # headings
        ("PMH: gout", ["gout"]),
        ("Allergies: penicillin", ["penicillin"]),
        ("CONTRAST: iohexol", ["iohexol"]),
        *[("REPORT\nno gout", ["gout"]), ("Drug\tRoute\niron\toral", ["iron", "oral"]), ("| Dose |", [])],
        *[("contrast agent", ["contrast agent"]), ("drug", ["drug"]), ("drug\u00a0", ["drug"])],
        # placeholders
        *[("[**Hospital1 18**]", []), ("Hospital1", []), ("___", []), ("XXXX", []), ("<NAME>", [])],
        *[("xxxx gout", ["gout"]), ("Name", ["Name"]), ("XX", ["XX"]), ("p<Q>", ["p<Q>"])],
        # codes of ICD-10
        *[("E11.9", []), ("E11.9 gout", ["gout"]), ("I10 gout, ICD", ["gout, ICD"]), ("I10", ["I10"])],
        *[("vitamin B12", ["vitamin B12"]), ("B12", ["B12"]), ("H1N1", ["H1N1"]), ("CD4.5", ["CD4.5"])],
    ],
)
def test_what_is_left_of_a_mention(nlp, text, expected):
    assert cut(nlp, text) == expected


def test_placeholders_without_an_end_take_linear_time(nlp):
    started = time.perf_counter()
    assert trimmed(nlp.make_doc("gout" + " [**" * 30_000), [[0]], (), knows) == [[(0, 4)]]
    assert time.perf_counter() - started < 10  # quadratic: 25


@pytest.mark.parametrize(
    "text, tagged, expected",
    [
        ("fentanyl 25 mcg/hr patch", "fentanyl 25", ["fentanyl"]),  # the tags end within the dose
        ("Lipase: 850 U/L. Gout", "U/L. Gout", ["Gout"]),
        ("Negative for gout", "Negative", []),
        ("No history of gout", "history", []),
        ("NO PLEURAL EFFUSION", "NO", []),
        ("PAST MEDICAL HISTORY: gout", "MEDICAL HISTORY", []),
        ("gout history", "history", ["history"]),
        ("PMH: gout", "PMH", []),
        *[(f"{role}: DR POE", "DR POE", []) for role in ("CC", "Attending", "REFERRING")],
        *[(text, "DR. LEE", []) for text in ("DR. POE SAW HER AND DR. LEE TOO", "SEEN BY DR. J. POE / DR. LEE")],
        *[("ms. poe is well. dr. poe saw her.", name, []) for name in ("ms. poe", "dr. poe")],
        ("dm. ms. pain. dr.", "ms. pain", ["ms. pain"]),
        *[(f"Jane Poe, {degree}, saw him", degree, []) for degree in ("DO", "PA-C", "MD, PhD")],
        ("Muscular Dystrophy, MD", "MD", ["MD"]),
        ("Jane Poe, DM", "DM", ["DM"]),
        ("HTN /HLD", "/HLD", ["HLD"]),
    ],
)
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
