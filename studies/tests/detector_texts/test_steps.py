"""Steps that change a corpus for the detector: rough copies, and short forms for expanded ones."""

import pytest

from spacy_pel.training.offset_map import Original
from spacy_pel.types import Document, Mention

from ..test_preprocessing import document, make, surfaces

NOTE = 'HPI: The patient denies fever, chills, or rash: "no long-term pain". She doesn\'t take aspirin, and has '
NOTE = Document("n", (NOTE + "chronic kidney disease. ") * 3, [Mention(24, 29, "F", ("C1",)), Mention(103, 125, "D")])


@pytest.fixture(scope="module")
def rough():
    """Many variants of one note, and what was counted."""
    steps = [make("roughtext", seed=seed) for seed in range(200)]
    made = [step(NOTE)[0] for step in steps]
    return made, {kind: [step.report[kind] for step in steps] for kind in steps[0].report}


def test_rough_text_has_the_same_mentions(rough):
    made, counts = rough
    assert all(len(one.mentions) == 2 and len(one.mentions[1].ids) == 0 for one in made)
    assert all(
        Original.of(one).offsets.original_span(m.start, m.end) == (n.start, n.end)
        for one in made
        for m, n in zip(one.mentions, NOTE.mentions, strict=True)
    )
    words = [surface.split() for one in made for surface in surfaces(one)]
    assert {len(one) for one in words} == {1, 3}, "no blank is removed inside of a mention"
    assert sum("fever" in surfaces(one)[0].lower() for one in made) > 150
    assert all(0 < sum(map(bool, of_texts)) < 120 for of_texts in counts.values()), "each in some texts"


@pytest.mark.parametrize(
    "sign", ["fever,chills", "DENIES FEVER", "hpi: the", "doesn\u2019t", "\u201cno", "pain\u201d", "\n"]
)
def test_rough_text_is_how_people_type(rough, sign):
    made, _ = rough
    assert sign not in NOTE.text
    assert 5 < sum(sign in one.text for one in made) < 170


def test_rough_text_wraps_at_a_width(rough):
    made, counts = rough
    lines = [one.text.split("\n") for one, n in zip(made, counts["lines_wrapped"], strict=True) if n]
    assert {len(line) for of_text in lines for line in of_text[:-1]} <= {*range(50, 100)}, "letters go, too"


REPEATED = (
    "Mast cell (Mast cell) numbers. Toll-like receptors (toll-like receptors) and toll-like receptors "
    "(toll-like receptors); a Mast cell, toll-like receptors and Mast cells"
)


def test_long_forms_in_brackets_become_short_forms():
    step = make("abbreviate")
    source = document(REPEATED, ["Mast cell", "toll-like receptors", "numbers"])
    [made] = step(source)
    assert made.text == (
        "Mast cell (MC) numbers. Toll-like receptors (toll-like receptors) and toll-like receptors (TLRs); "
        "a MC, TLRs and Mast cells"
    )
    assert surfaces(made) == [
        *("Mast cell", "MC", "numbers", "toll-like receptors", "toll-like receptors", "TLRs", "MC", "TLRs"),
        "Mast cell",
    ]
    assert [(*Original.of(made).offsets.original_span(m.start, m.end), m.ids) for m in made.mentions] == [
        (m.start, m.end, m.ids) for m in source.mentions
    ]
    assert step.report == {"abbreviations": 2, "abbreviations_made": 4, "abbreviations_cut": 0}


def test_what_is_not_abbreviated():
    step = make("abbreviate")
    for text in (
        "Mast cell (mast cells) and mast cell",  # not the same
        "MC is no Mast cell (Mast cell)",  # the short form means something else
        "2-3 and of (of)",
        "a (a) b",
    ):
        assert step(Document("d", text))[0] == Document("d", text)
    # a mention ends inside the long form: there it stays, and nothing is made where it is defined
    text = "Mast cell (Mast cell), Mast cell"
    cut = Document("d", text, [Mention(23, 27, "X", ("C1",))])
    assert step(cut)[0].text == "Mast cell (MC), Mast cell"
    assert step(Document("d", text, [Mention(11, 15, "X")]))[0].text == text
    assert step.report["abbreviations_cut"] == 2


@pytest.mark.parametrize(
    ("long_form", "short_form"),
    [
        ("tumor necrosis factors", "TNFs"),
        ("Fibroblast growth factor-1", "FGF1"),
        ("isoproterenol", "ISP"),
        ("17 beta", None),  # no letter first
        ("one two three four five six seven eight nine ten", None),
    ],
)
def test_short_forms_are_made_of_initials(long_form, short_form):
    from spacy_pel_studies.detector_texts.abbreviate import short_form_of

    assert short_form_of(long_form) == short_form
