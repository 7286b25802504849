"""Changes of a component's knowledge base, made by either: they count at once, and survive saving."""

import gc

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.types import NIL, Entity

from .conftest import NAME, TEXTS
from .test_serialization import FITTED, dev_set

pytestmark = pytest.mark.slow

RASH = Entity("N1", "Cold rash", ("zzyzx",), ("T047",))
CHANGES = {
    "add": lambda kb: kb.add([RASH]),
    "update": lambda kb: kb.update([Entity("C02", "Salicylic acid", ("zzyzx",))]),
    "retire": lambda kb: kb.retire(["C02"]),
    "retire for another": lambda kb: kb.retire(["C02"], {"C02": "C09"}),
    "put": lambda kb: kb.put([RASH, Entity("C02", "Salicylic acid")]),
    "rename": lambda kb: kb.rename({"C02": "zzyzx", "C05": "Rhinitis"}),
    "rename without the old name": lambda kb: kb.rename({"C02": "zzyzx"}, keep_old=False),
    "retire and add again": lambda kb: (kb.retire(["C02"]), kb.add([Entity("C02", "Aspirin")])),
}


def ids(nlp):
    return [[ent.kb_id_ for ent in doc.ents] for doc in nlp.pipe([*TEXTS, "zzyzx", "Aspirin"])]


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_of_the_knowledge_base_survives_saving(make_nlp, tmp_path, change):
    nlp = make_nlp(threshold=0.6)
    before = ids(nlp)
    change(nlp.get_pipe(NAME).kb)
    after = ids(nlp)
    nlp.to_disk(tmp_path / "nlp")
    assert ids(spacy.load(tmp_path / "nlp")) == after
    assert ids(nlp.from_bytes(nlp.to_bytes())) == after
    assert (after == before) == (change is CHANGES["retire and add again"])


def test_a_retired_entity_is_linked_no_more(make_nlp):
    nlp = make_nlp()
    linker = nlp.get_pipe(NAME)
    assert nlp("Aspirin").ents[0].kb_id_ == "C02"
    linker.retire(["C02"])
    assert "C02" not in dict(nlp("Aspirin").ents[0]._.pel_candidates)
    linker.add_entities([Entity("C02", "Aspirin")])
    assert nlp("Aspirin").ents[0].kb_id_ == "C02"


def test_a_renamed_entity_has_both_names_after_saving(make_nlp, tmp_path):
    nlp = make_nlp()
    nlp.get_pipe(NAME).rename({"C02": "zzyzx", "C06": "Diabetes mellitus"})
    nlp.to_disk(tmp_path / "nlp")
    for pipeline in (nlp, spacy.load(tmp_path / "nlp")):
        linker = pipeline.get_pipe(NAME)
        assert linker.kb["C02"] == Entity("C02", "zzyzx", ("Aspirin", "acetylsalicylic acid"), ("T121",))
        assert linker.kb["C06"].aliases == ()
        assert linker.kb.ids("zzyzx") == linker.kb.ids("aspirin") == ["C02"]
        assert [ent.kb_id_ for doc in pipeline.pipe(["zzyzx", "Aspirin"]) for ent in doc.ents] == ["C02"] * 2


def test_a_rename_can_drop_the_old_name(make_nlp):
    kb = make_nlp().get_pipe(NAME).kb
    assert kb.rename({"C01": "heart attack", "C03": "Headache"}, keep_old=False).tolist() == [0]
    assert kb["C01"] == Entity("C01", "heart attack", ("MI",), ("T047",))
    assert kb.ids("myocardial infarction") == [] and kb.ids("headache") == ["C03"]


def test_the_generator_follows(make_nlp):
    nlp = make_nlp(encoder=None, index=None, generator={"@pel_candidates": "spacy-pel.TfIdf.v1"}, **FITTED)
    linker = nlp.get_pipe(NAME)
    linker.calibrate(nlp, dev_set())
    assert nlp("Aspirin").ents[0]._.pel_candidates[0][0] == "C02"
    linker.kb.retire(["C02"])
    assert "C02" not in dict(nlp("Aspirin").ents[0]._.pel_candidates)
    linker.kb.add([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    assert "N1" in dict(nlp("cold").ents[0]._.pel_candidates)


def test_two_components_over_one_knowledge_base(make_nlp):
    one, other = make_nlp(), make_nlp()
    kb = one.get_pipe(NAME).kb
    other.get_pipe(NAME).initialize(lambda: [], kb_loader=lambda: kb)
    kb.add([RASH])
    assert one("zzyzx").ents[0].kb_id_ == other("zzyzx").ents[0].kb_id_ == "N1"
    one.get_pipe(NAME).initialize(lambda: [], kb_loader=lambda: kb)  # follows it already
    rows = len(one.get_pipe(NAME).index)
    kb.add([Entity("N2", "Rain")])
    assert len(one.get_pipe(NAME).index) == rows + 2  # a card and a name


def test_a_knowledge_base_does_not_keep_its_component(make_nlp):
    kb = make_nlp().get_pipe(NAME).kb
    gc.collect()
    assert kb.add([RASH]).tolist() == [10]
    assert all(listener() is None for listener in kb._listeners)


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda linker: linker.add_entities(RASH), r"E115.*list of entities"),
        (lambda linker: linker.add_entities([RASH.to_json()]), r"E116.*spacy_pel\.Entity"),
        (lambda linker: linker.add_entities([RASH, RASH]), r"E113.*'N1' twice"),
        (lambda linker: linker.add_entities([Entity("C02", "A"), RASH, RASH]), r"E113.*'N1' twice"),
        (lambda linker: linker.add_entities([RASH, Entity(NIL, "None of them")]), r"E117.*other than 'NIL'"),
        (lambda linker: linker.retire("C02"), r"E115.*list of ids.*\['C02'\]"),
        (lambda linker: linker.retire(["C02", "C77"]), r"E100.*'C77'"),
        (lambda linker: linker.rename({"C02": "A", "C77": "B"}), r"E100.*'C77'"),
        (lambda linker: linker.rename({"C02": "A", "C03": " "}), r"E119.*'C03', got an empty one"),
        (lambda linker: linker.rename({"C02": "\x00"}), r"E119.*'C02'"),
        (lambda linker: linker.rename({"C02": None}), r"E118.*got 'C02': None"),
        (lambda linker: linker.rename(["C02", "A"]), r"E118.*dictionary from ids to names"),
        (lambda linker: linker.kb.ids(None), r"E116.*a name, got None"),
    ],
)
def test_wrong_input_changes_nothing(make_nlp, change, match):
    nlp = make_nlp()
    linker = nlp.get_pipe(NAME)
    before = linker.kb.fingerprint, linker.index.fingerprint
    with pytest.raises(PelError, match=match) as raised:
        change(linker)
    assert "--strict" not in str(raised.value)
    assert (linker.kb.fingerprint, linker.index.fingerprint) == before


def test_a_retired_id_is_named_as_such(make_nlp):
    linker = make_nlp().get_pipe(NAME)
    linker.retire(["C02", "C03"], {"C02": "C01"})
    with pytest.raises(PelError, match=r"E114.*'C02' is retired \(its successor is 'C01'\)"):
        linker.retire(["C02"])
    with pytest.raises(PelError, match=r"E114.*'C03' is retired \(without a successor\)"):
        linker.kb.update([Entity("C03", "Headache")])
    with pytest.raises(PelError, match=r"E114.*'C02' is retired \(its successor is 'C01'\)"):
        linker.rename({"C02": "Acetylsalicylate"})


def test_one_string_is_no_list_of_names():
    with pytest.raises(PelError, match=r"E115.*list of aliases, got 'bar'. Write \['bar'\]"):
        Entity("N1", "foo", aliases="bar")
    with pytest.raises(PelError, match=r"E115.*list of types"):
        Entity("N1", "foo", types="T047")
