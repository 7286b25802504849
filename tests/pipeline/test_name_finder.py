"""The factory ``pel_name_finder``: finds the names of the linker's knowledge base, as they are now."""

import pickle

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.types import Entity

from .conftest import NAME

TEXT = "A HEART ATTACK, mi or MI, then aspirin and velmoparin."


@pytest.fixture
def nlp(make_nlp):
    nlp = make_nlp(ruler=False)
    nlp.add_pipe("pel_name_finder", first=True)
    return nlp


def found(nlp, text=TEXT):
    return {ent.text: ent.kb_id_ for ent in nlp(text).ents}


def change(nlp):
    linker = nlp.get_pipe(NAME)
    linker.add_entities([Entity("NEW", "velmoparin")])
    linker.retire(["C01"])
    linker.rename({"C02": "acetosal"}, keep_old=False)


def test_names_in_any_case_but_acronyms(nlp):
    assert found(nlp) == {"HEART ATTACK": "C01", "MI": "C01", "aspirin": "C02"}
    (ent, *_) = nlp(TEXT).ents
    assert ent.label_ == "ENTITY"
    assert len(nlp.get_pipe("pel_name_finder")) == 18  # "cold" is a name of two


def test_it_follows_changes(nlp):
    found(nlp)
    linker = nlp.get_pipe(NAME)
    linker.add_entities([Entity("NEW", "velmoparin", aliases=("VP",))])
    assert found(nlp)["velmoparin"] == "NEW" and found(nlp, "VP, vp") == {"VP": "NEW"}
    linker.rename({"NEW": "velmoparin hydrate"})
    assert found(nlp, "Velmoparin hydrate or velmoparin") == {
        "Velmoparin hydrate": "NEW",
        "velmoparin": "NEW",
    }
    linker.retire(["NEW"])
    assert found(nlp, "velmoparin hydrate, VP and aspirin") == {"aspirin": "C02"}
    linker.retire(["C05"])  # a name of another entity stays
    assert found(nlp, "cold") == {"cold": "C04"}
    linker.rename({"C02": "acetosal"}, keep_old=False)
    assert found(nlp, "aspirin and acetosal") == {"acetosal": "C02"}


def test_longer_mentions_win_and_earlier_ones_stay(nlp):
    ruler = nlp.add_pipe("entity_ruler", first=True)
    patterns = ["heart", "aspirin overdose", "Headache"]
    ruler.add_patterns([{"label": "X", "pattern": pattern} for pattern in patterns])
    doc = nlp("A heart attack after an aspirin overdose. Headache and cephalalgia.")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("heart attack", "ENTITY"),
        ("aspirin overdose", "X"),
        ("Headache", "X"),
        ("cephalalgia", "ENTITY"),
    ]


@pytest.mark.parametrize("how", ["disk", "bytes", "pickle"])
@pytest.mark.parametrize("used", [False, True])
def test_round_trips_with_changes(nlp, make_nlp, how, used, tmp_path):
    if used:
        found(nlp)
    change(nlp)
    if how == "disk":
        nlp.to_disk(tmp_path / "pipeline")
        again = spacy.load(tmp_path / "pipeline")
    elif how == "bytes":
        again = make_nlp(ruler=False)
        again.add_pipe("pel_name_finder", first=True)
        found(again)
        again = again.from_bytes(nlp.to_bytes())
    else:
        again = pickle.loads(pickle.dumps(nlp))
    assert found(again) == found(nlp) == {"HEART": "C09", "velmoparin": "NEW"}
    again.get_pipe(NAME).retire(["NEW"])
    assert found(again) == {"HEART": "C09"} and "velmoparin" in found(nlp)


def test_two_processes(nlp):
    change(nlp)
    docs = list(nlp.pipe([TEXT] * 4, n_process=2, batch_size=1))
    assert [[ent.text for ent in doc.ents] for doc in docs] == [["HEART", "velmoparin"]] * 4


def test_a_linker_that_is_missing_or_disabled(nlp):
    with nlp.select_pipes(disable=[NAME]):
        assert found(nlp) == {"HEART ATTACK": "", "MI": "", "aspirin": ""}
    nlp.remove_pipe(NAME)
    with pytest.raises(PelError, match=f"PEL-E521.*'{NAME}'.*only: pel_name_finder"):
        nlp(TEXT)


def test_before_the_linker_has_data_nothing_is_found():
    nlp = spacy.blank("en")
    nlp.add_pipe("pel_name_finder")
    nlp.add_pipe("proxy_entity_linker")
    assert not nlp.make_doc(TEXT).ents and len(nlp.get_pipe("pel_name_finder")) == 0
    assert not nlp.get_pipe("pel_name_finder")(nlp.make_doc(TEXT)).ents


def test_names_outlive_the_memory_zone_in_which_they_are_read(nlp):
    nlp.get_pipe(NAME).add_entities([Entity("NEW", "velmoparin hydrate")])
    for _ in range(3):
        with nlp.memory_zone():
            assert found(nlp, "Velmoparin hydrate, aspirin.") == {
                "Velmoparin hydrate": "NEW",
                "aspirin": "C02",
            }
    with nlp.memory_zone():
        nlp.get_pipe(NAME).retire(["NEW"])
        assert found(nlp, "Velmoparin hydrate, aspirin.") == {"aspirin": "C02"}
