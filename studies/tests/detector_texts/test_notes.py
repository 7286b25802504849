"""Made-up notes: names are where the mentions say, and the templates hang together."""

import re

import pytest
from spacy_pel_studies.detector_texts.notes import NoteMaker, common_names, names_of, templates

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.types.semantic_types import ST21PV

ENTITIES = [
    Entity("C1", "Hypertension", aliases=("HTN",), types=("T047",)),
    Entity("C2", "HTN", types=("T121",)),  # the short form of a disease, but a drug
    Entity("C3", "Xylometazoline", aliases=("Otrivin",), types=("T121",), xrefs=("RXNORM:39841",)),
    Entity("C4", "Wide gait", aliases=("Gait",), types=("T033",)),
    Entity("C5", "Oxymel, oral", aliases=("a name that is far too long",), types=("T121",), xrefs=("RXNORM:1",)),
    Entity("C6", "Zebra", types=("T204",)),
    Entity("C7", "Untyped disease"),
]


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase(ENTITIES)


@pytest.fixture(scope="module")
def notes(kb):
    make = NoteMaker(kb)
    return [make(number) for number in range(300)]


def test_names_fit_by_their_type(kb):
    found = {slot: [(name.text, name.label, name.ids) for name in names] for slot, names in names_of(kb).items()}
    assert found == {
        "disease": [("Hypertension", "BIOLOGIC_FUNCTION", ("C1",)), ("HTN", "BIOLOGIC_FUNCTION", ("C1",))],
        "drug": [("Xylometazoline", "CHEMICAL", ("C3",)), ("Otrivin", "CHEMICAL", ("C3",))],
        "finding": [("Wide gait", "FINDING", ("C4",))],
    }
    common = {name.text: name for name in common_names(kb)["disease"]}
    assert common["HTN"].ids == ("C1",) and common["asthma"].ids == ()


def test_templates_hang_together(kb):
    slots = common_names(kb).keys()
    used = {"text"}
    for line in (line for lines in templates().values() for line in lines):
        assert line.count("{") == line.count("}"), line
        for slot in re.findall(r"\{([^{}]*)\}", line):
            rule = slot.removeprefix("list of ")
            used.add(rule)
            assert rule in templates() or rule in slots or "|" in slot or ".." in slot, f"{line!r} has {slot!r}"
    assert templates().keys() - used == {"list"} and set(slots) <= used
    assert all(2 <= style.count("ITEM") <= 3 for style in templates()["list"])


def test_mentions_are_names(notes, kb):
    known = {name.text.lower() for names in (common_names(kb), names_of(kb)) for of in names.values() for name in of}
    surfaces = {one.text[m.start : m.end] for one in notes for m in one.mentions}
    assert {surface.lower() for surface in surfaces} <= known and len(surfaces) > 200
    assert {m.label for one in notes for m in one.mentions} <= set(ST21PV.values())
    ids = {m.ids for one in notes for m in one.mentions}
    assert ids == {(), ("C1",), ("C3",), ("C4",)}
    for one in notes:
        assert not re.search("[{}]|ITEM", one.text)
        assert all(a.end <= b.start for a, b in zip(one.mentions, one.mentions[1:], strict=False))


@pytest.mark.parametrize(
    "shown",
    [
        r"\bNo [^,.]+, no ",
        r"Denies [^,]+, [^,]+, or ",
        r"\d ?mg ",
        r"\n- [^\n]+\n- ",
        r"\n1\. [^\n]+\n2\. ",
        r"PMH:",
        r"has anyone|does anyone",
    ],
)
def test_what_notes_show(notes, shown):
    assert 3 < sum(bool(re.search(shown, one.text)) for one in notes) < 250


def test_a_dose_or_negation_is_in_no_mention(notes):
    surfaces = [one.text[m.start : m.end] for one in notes for m in one.mentions]
    assert not [surface for surface in surfaces if re.search(r"\bno |denies| mg\b|\n", surface, re.IGNORECASE)]


def test_the_same_seed_makes_the_same_texts(notes, kb):
    assert NoteMaker(kb)(7) == notes[7] and NoteMaker(kb, seed=1)(7) != notes[7]


def test_a_knowledge_base_without_fitting_names():
    note = NoteMaker(KnowledgeBase([Entity("C1", "thing")]))(0)
    assert note.mentions and not any(m.ids for m in note.mentions)
