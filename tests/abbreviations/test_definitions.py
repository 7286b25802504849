"""Definitions of abbreviations (Schwartz & Hearst 2003), and scispaCy's detector for comparison."""

import time

import pytest
import spacy
from cases import cases
from spacy.matcher import Matcher

from spacy_pel.abbreviations.definitions import find_abbreviations, normal_form

NLP = spacy.blank("en")


def definitions(text):
    return {one["short_text"]: one["long_text"] for one in find_abbreviations(NLP(text))}


@pytest.mark.parametrize(("text", "expected"), cases("abbreviations", "definitions"))
def test_definitions(text, expected):
    assert definitions(text) == expected


MM = {"MM": "Malignant melanoma"}


@pytest.mark.parametrize("text", cases("abbreviations", "short_forms_after_their_long_form"))
def test_short_forms_after_their_long_form(text):
    assert definitions(text) == MM


@pytest.mark.parametrize(("text", "expected"), cases("abbreviations", "lists_of_abbreviations"))
def test_lists_of_abbreviations(text, expected):
    long_forms = ("malignant melanoma", "basal cell carcinoma", "alanine aminotransferase")
    known = dict(zip(("MM", "BCC", "ALT"), long_forms, strict=True)) | {"IPL": "inner plexiform (synaptic) layer"}
    assert definitions(text) == {short: known[short] for short in expected.split()}


@pytest.mark.parametrize(
    "text",
    [
        *("as shown in cells (A) and [B]", "in melanoma cells (Fig. 1B)", "melanoma [MM1, 2] in (see MM)"),
        *("sodium chloride (NaCl) in water", "many sites [12], [Smith, 2003]", "by many (Smith, 2003)"),
        *("outcome rarely (OR 2.1)", "more often (OR, 2.1; CI, 1.2)", "patients (p < .05)", "numbers (n = 5)"),
        *("milligrams (5 mg)", "a dose in mg/kg [mg]", "gene (GO:0006915)", "gene ontology [GO: 0006915]"),
        *("free phosphate ions were initially low: [Pi]", "embryonic day [day] of number [number]"),
        *("apolipoproteins B, E, AI, or AII", "asthma or AS", "all cells, or IL-6, or mice"),
        *("members known as HMG CoA reductase inhibitors", "IgG [Invitrogen, http://www.invitrogen.com]"),
        *("the allele loxP [loxP257]", "heart failure (or not)", "hereafter heart failure"),
    ],
)
def test_what_defines_nothing(text):
    assert definitions(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Progressive encephalopathies (PEs) are rare. PE was severe.", "PE PEs"),
        ("A progressive encephalopathy (PE) is rare. PEs were severe.", "PE PEs"),
        ("Monoclonal antibodies (mAbs) help; one mAb does.", "mAb mAbs"),
        ("Proton pump inhibitors [PPIs] and a PPI, PPI's", "PPI PPIs"),
        ("A progressive encephalopathy (PE) is rare; it never is in P or Es.", "PE"),
        # the other number has a meaning of its own
        ("Positive effects (PEs) of a progressive encephalopathy (PE).", "PE PEs"),
        ("In mice, diet 20 (Diet 20) and Diets", ""),
    ],
)
def test_either_number(text, expected):
    found = definitions(text)
    assert sorted(found) == expected.split()
    assert len(set(found.values())) == (2 if "effects" in text else len(found) > 0)


def test_a_definition_without_a_remark_comes_first():
    assert definitions("heart rate (HR) and the hazard ratio (HR, as said)") == {"HR": "heart rate"}
    assert definitions("the heart rate (HR, as said) and hazard ratio (HR)") == {"HR": "hazard ratio"}
    assert definitions("the heart rate (HR, as said) and HR") == {"HR": "heart rate"}
    assert definitions("the heart rate, or HR, and hazard ratio (HR)") == {"HR": "hazard ratio"}
    assert definitions("hazard ratio (HR). Abbreviations: HR, heart rate") == {"HR": "hazard ratio"}


def test_a_short_form_with_two_definitions_stands_for_the_last_one_before_it():
    doc = NLP("HR is heart rate (HR). HR of 80. The hazard ratio (HR) and heart rate (HR) differ. An HR of 2.")
    found = [(one["short_start"], one["long_text"]) for one in find_abbreviations(doc)]
    places = [token.i for token in doc if token.text == "HR"]
    expected = ["heart rate"] * 3 + ["hazard ratio"] * 3
    assert found == list(zip(places, expected, strict=True))


def test_places():
    doc = NLP("Heart failure (HF) is HF. chronic HF, hf, HFpEF and HF-like")
    found = find_abbreviations(doc)
    assert [(one["short_start"], one["short_end"]) for one in found] == [
        (token.i, token.i + 1) for token in doc if token.text == "HF"
    ]
    for one in found:
        assert doc[one["short_start"] : one["short_end"]].text == one["short_text"] == "HF"
        assert doc[one["long_start"] : one["long_end"]].text == one["long_text"] == "Heart failure"


def several(n, text):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(text.format("".join(letters[i // 26**place % 26] for place in range(4))) for i in range(n))


@pytest.mark.parametrize(
    "text",
    [
        lambda n: "a" * 10 * n + " b (AB)" * n,
        lambda n: several(n, "a{0} b{0} (AB). "),
        lambda n: several(n, "nuclear factor {0} (NF-{0}). "),
        lambda n: several(n, "AB, a{0} b{0}; "),
        lambda n: "a (AB) " * n,
        lambda n: "( [ : " * n,
    ],
)
def test_time_is_linear(text):
    seconds = []
    for n in (250, 4000):
        doc = NLP.make_doc(text(n))
        start = time.process_time()
        found = find_abbreviations(doc)
        seconds.append(time.process_time() - start)
        assert len({id(one["long_text"]) for one in found}) <= n
        assert all(len(one["long_text"]) <= 300 for one in found)
    assert seconds[1] < 100 * max(seconds[0], 0.005)  # quadratic: 256 times


def test_as_scispacys():
    """Where tokens are separated by blanks, and no long form contains its short form."""
    AbbreviationDetector = pytest.importorskip("scispacy.abbreviation").AbbreviationDetector
    detector = AbbreviationDetector(NLP, make_serializable=True)
    detector.matcher = Matcher(NLP.vocab)
    detector.matcher.add("parenthesis", [[{"ORTH": "("}, {"OP": "{1,8}"}, {"ORTH": ")"}]])
    text = (
        "Spinal and bulbar muscular atrophy (SBMA) is a disease of the androgen receptor (AR). The AR gene "
        "encodes AR. Coronary artery disease (CAD) and CAD of the left anterior descending artery (LAD) in "
        "men (n = 12) after percutaneous coronary intervention (PCI). PCI (percutaneous intervention at the "
        "coronary artery) and ICU (a unit for intensive care of the ill) stay. Magnetic resonance imaging "
        "(MRI) (or MRI), body mass index ( BMI ) and quality of life (QoL). QoL, BMI."
    )
    doc = NLP(text)
    doc._.abbreviations = []
    theirs = detector(doc)._.abbreviations
    ours = find_abbreviations(doc)
    keys = ("short_start", "short_end", "long_start", "long_end", "short_text", "long_text")
    assert sorted([one[key] for key in keys] for one in ours) == sorted([one[key] for key in keys] for one in theirs)
    assert len({one["short_text"] for one in ours}) >= 8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(form, form) for form in ("ATP", "CsA", "T3", "G6Pase", "DAS")],
        *[(text, "") for text in ("TNF alpha", "aspirin", "Aspirin", "A", "13", "", "CONSERVATIVELYTREATED")],
        ("PGs", "PG"),
        ("IL-2s", "IL2"),
        ("TNF-α", "TNFalpha"),
        ("NF-κB", "NFkappaB"),
        ("5-FU", "5FU"),
    ],
)
def test_normal_form_of_a_short_form(text, expected):
    assert normal_form(text) == expected
