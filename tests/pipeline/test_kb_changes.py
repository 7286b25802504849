"""Changes of a component's knowledge base, made by either: they count at once, and survive saving."""

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.types import NIL, Entity

from .conftest import NAME, TEXTS

pytestmark = pytest.mark.slow

RASH = Entity("N1", "Cold rash", ("zzyzx",), ("T047",))
CHANGES = {
    "update": lambda kb: kb.put([Entity("C02", "Salicylic acid", ("zzyzx",))]),
    "retire for another": lambda kb: kb.retire(["C02"], {"C02": "C09"}),
    "put": lambda kb: kb.put([RASH, Entity("C02", "Salicylic acid")]),
    "rename without the old name": lambda kb: kb.rename({"C02": "zzyzx"}, keep_old=False),
    "retire and add again": lambda kb: (kb.retire(["C02"]), kb.put([Entity("C02", "Aspirin")])),
}


def ids(nlp):
    return [[ent.kb_id_ for ent in doc.ents] for doc in nlp.pipe([*TEXTS, "zzyzx", "Aspirin"])]


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_of_the_knowledge_base_survives_saving(make_nlp, tmp_path, change):
    nlp = make_nlp(threshold=0.55)
    before = ids(nlp)
    change(nlp.get_pipe(NAME).kb)
    after = ids(nlp)
    nlp.to_disk(tmp_path / "nlp")
    assert ids(spacy.load(tmp_path / "nlp")) == after
    assert ids(nlp.from_bytes(nlp.to_bytes())) == after
    assert (after == before) == (change is CHANGES["retire and add again"])


@pytest.mark.parametrize("generator", [None, "spacy-pel.TfIdf.v1"])
def test_a_retired_entity_is_linked_no_more(make_nlp, generator):
    own = {"encoder": None, "index": None, "generator": {"@pel_candidates": generator}}
    nlp = make_nlp(**(own if generator else {}))
    linker = nlp.get_pipe(NAME)
    assert nlp("Aspirin").ents[0].kb_id_ == "C02"
    linker.retire(["C02"])
    assert "C02" not in dict(nlp("Aspirin").ents[0]._.pel_candidates)
    linker.add_entities([Entity("C02", "Aspirin")])
    assert nlp("Aspirin").ents[0].kb_id_ == "C02"


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda linker: linker.add_entities([RASH.to_json()]), r"E011.*spacy_pel\.Entity"),
        (lambda linker: linker.add_entities([Entity("C02", "A"), RASH, RASH]), r"E113.*'N1' twice"),
        (lambda linker: linker.add_entities([RASH, Entity(NIL, "None of them")]), r"E117.*other than 'NIL'"),
        (lambda linker: linker.retire("C02"), r"E115.*list of ids.*\['C02'\]"),
        (lambda linker: linker.rename({"C02": "A", "C03": " "}), r"E119.*'C03', got an empty one"),
        (lambda linker: linker.rename(["C02", "A"]), r"E118.*dictionary from ids to names"),
    ],
)
def test_wrong_input_changes_nothing(nlp, linker, change, match):
    before = linker.kb.fingerprint, linker.index.fingerprint
    with pytest.raises(PelError, match=match):
        change(linker)
    assert (linker.kb.fingerprint, linker.index.fingerprint) == before


def test_one_string_is_no_list_of_names():
    with pytest.raises(PelError, match=r"E115.*list of aliases, got 'bar'. Write \['bar'\]"):
        Entity("N1", "foo", aliases="bar")
