"""displaCy colours mentions by their group."""

import re

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Span

from spacy_pel.pipeline.factory import label_colors
from spacy_pel.types.semantic_types import GROUP_LABELS, ST21PV


@pytest.mark.parametrize("style", ["ent", "span"])
def test_displacy_finds_the_colours(style):
    doc = spacy.blank("en")("a b c d e")
    labels = ["BIOLOGIC_FUNCTION", "DISORDER", "T103", "ENTITY", "PERSON"]
    doc.ents = doc.spans["sc"] = [Span(doc, number, number + 1, label) for number, label in enumerate(labels)]
    colours = re.findall(r"background: ?(#\w+);", displacy.render(doc, style=style, jupyter=False))
    assert list(dict.fromkeys(colours)) == ["#e7b9dc", "#a5dccb", "#ddd", "#aa9cfc"]


def test_each_group_has_its_own_colour():
    colours = label_colors()
    assert colours.keys() == {*ST21PV, *ST21PV.values(), *GROUP_LABELS.values()}
    assert len({colours[label] for label in GROUP_LABELS.values()}) == len(GROUP_LABELS)
    assert colours["BIOLOGIC_FUNCTION"] == colours["T033"] == colours["DISORDER"] != colours["PHENOMENON"]
