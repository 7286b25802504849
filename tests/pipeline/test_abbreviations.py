"""The factory ``pel_abbreviation_detector``: in pipelines that load by themselves, without scispaCy."""

import pickle
import subprocess
import sys

import pytest
import spacy
from spacy.tokens import DocBin

from .conftest import copies

pytestmark = pytest.mark.slow

TEXT = (
    "Spinal and bulbar muscular atrophy (SBMA) is an inherited disease of the androgen receptor (AR). "
    "SBMA is slow; (see) the AR (AR) and SBMA (Spinal and bulbar muscular atrophy) too."
)


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("pel_abbreviation_detector")
    return nlp


def found(doc):
    return sorted((item["short_start"], item["short_text"], item["long_text"]) for item in doc._.pel_abbreviations)


@pytest.mark.parametrize("text", ["", "x", " ", "(", "( )", "a (b) c", "(AB) x"])
def test_unusual_texts(nlp, text):
    assert nlp(text)._.pel_abbreviations == []


def test_twice_over_the_same_doc(nlp):
    doc = nlp(TEXT)
    before = found(doc)
    assert found(nlp.get_pipe("pel_abbreviation_detector")(doc)) == before


def test_many_brackets_take_linear_time(nlp):
    # a pattern of any length would match every pair of brackets: here 16 million
    assert nlp("( x y " * 4000 + ") z " * 4000)._.pel_abbreviations == []


def test_round_trips(tmp_path):
    nlp = spacy.blank("en")
    pattern = [{"ORTH": word} for word in ("androgen", "receptor")]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": pattern}])
    nlp.add_pipe("pel_abbreviation_detector", config={"mentions": True})

    def read(doc):
        return found(doc), [ent.text for ent in doc.ents]

    expected = read(nlp(TEXT))
    assert expected[1] == ["androgen receptor", "AR", "AR", "AR"]
    for copy in copies(nlp, tmp_path / "nlp"):
        assert [read(doc) for doc in copy.pipe([TEXT, "none", TEXT], n_process=2)] == [expected, ([], []), expected]
    doc = nlp(TEXT)
    assert read(pickle.loads(pickle.dumps(doc))) == expected
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    [again] = DocBin(store_user_data=True).from_bytes(stored).get_docs(spacy.blank("de").vocab)
    assert read(again) == expected


SHARED = """
import spacy
from spacy_pel.abbreviations.documents import long_forms
nlp = spacy.blank("en")
for name in ("pel_abbreviation_detector", "abbreviation_detector"):
    nlp.add_pipe(name, config={"make_serializable": True} if name == "abbreviation_detector" else {})
text = "Huntington disease (HD) is rare. HD is inherited."
doc = nlp(text)
assert {long_form for _, long_form in long_forms(doc)["HD"]} == {"Huntington disease"}
assert {one["short_text"] for one in doc._.abbreviations} == {"HD"}
for again in (*nlp.pipe([text, text], n_process=2), spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())):
    assert long_forms(again) == long_forms(doc)
    assert again._.pel_abbreviations == doc._.pel_abbreviations and again._.pel_abbreviations
"""


def test_it_shares_a_pipeline_with_scispacy():
    """In a process of its own: the names are declared for the whole process."""
    pytest.importorskip("scispacy")
    code = "import scispacy.abbreviation\n" + SHARED
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_spans_as_code_for_scispacy_expects():
    code = """
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("pel_abbreviation_detector")
doc = nlp("Huntington disease (HD) is rare. HD is inherited.")
assert [(one.text, one.start, one._.long_form.text) for one in doc._.abbreviations] == [
    ("HD", 3, "Huntington disease"), ("HD", 8, "Huntington disease")]
assert doc[0:1]._.long_form is None
doc.to_bytes()
doc._.abbreviations = [doc[0:1]]
doc[0:1]._.long_form = "mine"
assert [one._.long_form for one in doc._.abbreviations] == ["mine"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ATROPHY = "Spinal and bulbar muscular atrophy"


@pytest.mark.parametrize(
    "text, mentions, expected",
    [
        # wherever the short form occurs; not that of what is no mention
        (TEXT, [ATROPHY], [ATROPHY, "SBMA", "SBMA", "SBMA", ATROPHY]),
        # one mention of both, with and without the second bracket
        (f"A mild {ATROPHY} (SBMA).", [f"mild {ATROPHY} (SBMA)"], [f"mild {ATROPHY}", "SBMA"]),
        (f"A mild {ATROPHY} (SBMA).", [f"{ATROPHY} (SBMA"], [ATROPHY, "SBMA"]),
        (f"A mild {ATROPHY} [SBMA].", [f"{ATROPHY} [SBMA]"], [ATROPHY, "SBMA"]),
        (f"A mild {ATROPHY} (“SBMA”).", [f"{ATROPHY} (“SBMA”)"], [ATROPHY, "SBMA"]),
        (f"A mild {ATROPHY}, or SBMA, too.", [f"{ATROPHY}, or SBMA"], [ATROPHY, "SBMA"]),
        (f"A {ATROPHY} (hereafter SBMA).", [f"{ATROPHY} (hereafter SBMA"], [ATROPHY, "SBMA"]),
        # in the other number
        ("Muscular atrophies (MAs). One MA.", ["Muscular atrophies"], ["Muscular atrophies", "MAs", "MA"]),
        (f"An SBMA ({ATROPHY}).", [f"SBMA ({ATROPHY})"], ["SBMA", ATROPHY]),
        # a mention that begins inside the long form
        (f"{ATROPHY} (SBMA). SBMA.", ["atrophy (SBMA)"], ["atrophy", "SBMA", "SBMA"]),
        # the head comes after the bracket: one mention
        (f"{ATROPHY} (SBMA) carriers; SBMA.", [f"{ATROPHY} (SBMA) carriers"], [f"{ATROPHY} (SBMA) carriers"]),
        # a longer mention with the short form, and one that ends elsewhere than the long form
        (f"{ATROPHY} (SBMA). SBMA type 2.", [ATROPHY, "SBMA type 2"], [ATROPHY, "SBMA", "SBMA type 2"]),
        (f"{ATROPHY} (SBMA). SBMA.", ["muscular atrophy"], ["muscular atrophy", "SBMA", "SBMA"]),
    ],
)
def test_short_forms_of_mentions_become_mentions(text, mentions, expected):
    def found(**config):
        nlp = spacy.blank("en")
        nlp.add_pipe("entity_ruler").add_patterns([{"label": "DISEASE", "pattern": name} for name in mentions])
        nlp.add_pipe("pel_abbreviation_detector", config=config)
        return [(ent.text, ent.label_) for ent in nlp(text).ents]

    assert found(mentions=True) == [(text, "DISEASE") for text in expected]
    assert {text for text, _ in found()} == set(mentions), "not unless it is asked to"


def test_mentions_with_an_id_stay_as_they_are(nlp):
    nlp.get_pipe("pel_abbreviation_detector").mentions = True
    doc = nlp.make_doc(f"{ATROPHY} (SBMA).")
    doc.ents = [doc.char_span(0, len(ATROPHY) + 7, label="DISEASE", kb_id="C1")]
    assert [(ent.text, ent.kb_id_) for ent in nlp(doc).ents] == [(f"{ATROPHY} (SBMA)", "C1")]
