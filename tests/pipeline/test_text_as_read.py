"""Texts with tags, marks and hyphens at line ends through a pipeline: a table's, and the default one."""

import pickle
import time
from pathlib import Path

import pytest
import spacy

from spacy_pel.pipeline.detectors.sci_tokenizer import add_run_rules
from spacy_pel.pipeline.saved import load_spacy
from spacy_pel.types import Entity
from spacy_pel.util import read_jsonl

from .conftest import NAME

pytestmark = pytest.mark.slow

DEFAULT = Path(__file__).parents[2] / "assets" / "pel_medmentions"
NAMES = """asthma; pneumonia; fever; COPD; type 2 diabetes; rheumatoid arthritis; chronic kidney disease; pre-eclampsia;
non-small cell lung cancer; small cell lung cancer; hypotension; blood-brain barrier; IL-2; graft-versus-host disease"""
ROWS = list(read_jsonl(Path(__file__).parents[1] / "fixtures" / "text_as_read.jsonl"))


def rows(kind):
    """Texts and what is found in them, as it is written there."""
    return pytest.mark.parametrize("text, expected", [(row["text"], row[kind]) for row in ROWS if kind in row])


@pytest.fixture
def table(make_nlp):
    nlp = make_nlp(ruler=False)
    nlp.get_pipe(NAME).add_entities([Entity(f"N{i}", name.strip()) for i, name in enumerate(NAMES.split(";"))])
    nlp.add_pipe("pel_name_finder", first=True)
    add_run_rules(nlp.tokenizer)
    return nlp


@pytest.fixture(scope="module")
def default():
    if not DEFAULT.is_dir():
        pytest.skip("without the default pipeline")
    return spacy.load(DEFAULT)


def texts_of(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    assert all(ent.kb_id_ != "NIL" for ent in doc.ents)
    return [ent.text for ent in doc.ents]


@rows("names")
def test_names_are_found(table, text, expected):
    assert texts_of(table, text) == expected


@rows("detected")
def test_the_detector_finds_the_same(default, text, expected):
    assert texts_of(default, text) == expected


def test_a_narrow_column_is_read_on_but_a_list_is_not(default):
    column = (
        "He is an old man here with a very long\nhistory of severe chronic kidney\ndisease, gout and congestive heart\n"
    )
    found = texts_of(default, column + "failure who was seen with fever.")
    assert {"chronic kidney\ndisease", "gout", "congestive heart\nfailure", "fever"} <= set(found)
    assert texts_of(default, "asthma\ngout\nfever\nCOPD") == ["asthma", "gout", "fever", "COPD"]


def test_an_abbreviation_among_tags_is_known_everywhere(default):
    doc = default("Chronic obstructive pulmonary dis-\nease (<b>COPD</b>) was seen. COPD[1] was severe.")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents][1:] == [("COPD", "C0024117")] * 2
    found = doc._.pel_abbreviations  # scispaCy, in a test before, may have declared its own attribute
    assert [doc[one["short_start"] : one["short_end"]].text for one in found] == ["COPD", "COPD"]
    assert doc[found[0]["long_start"] : found[0]["long_end"]].text == "Chronic obstructive pulmonary dis-\nease"


def test_mentions_of_others_are_read_the_same_way(default):
    doc = default.make_doc("He had rheuma-\ntoid arthritis.")
    doc.ents = [doc.char_span(7, 30, label="X", alignment_mode="expand")]
    (ent,) = default.get_pipe("proxy_entity_linker")(doc).ents
    assert ent.kb_id_ == "C0003873"


@pytest.mark.parametrize("unit", ["$", "%", "(", "'", "$%", "US$", "\u2026", "://"])
@pytest.mark.parametrize("ends", ["", "abcd"])
def test_long_runs_of_signs_take_linear_time(table, unit, ends):
    text = f"{ends}{unit * (50_000 // len(unit))}{ends} asthma"
    tokenizers = [table.tokenizer, spacy.blank("en").tokenizer.from_bytes(table.tokenizer.to_bytes())]
    for tokenizer in (*tokenizers, pickle.loads(pickle.dumps(table.tokenizer))):
        started = time.perf_counter()
        assert tokenizer(text).text == text
        assert time.perf_counter() - started < 5  # of spaCy's own rules: minutes
    assert texts_of(table, text) == ["asthma"]


def test_any_saved_pipeline_gets_rules_for_long_runs(tmp_path):
    spacy.blank("de").to_disk(tmp_path / "own")
    doc = load_spacy(tmp_path / "own")("ja " + "$" * 20_000)
    assert len(doc) == 2
