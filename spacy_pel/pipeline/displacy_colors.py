"""Colours of labels in displaCy, which finds them by itself."""

from spacy.util import registry as spacy_registry

from ..types.semantic_types import TYPE_LABELS, label_group

# the hues of page.css, light enough for black text; groups that share one differ in lightness
_COLOURS = {
    "DISO": "#e7b9dc",
    "PHEN": "#f4dfef",
    "ACTI": "#d38fc3",
    "CHEM": "#a5dccb",
    "GENE": "#d5f0e8",
    "OBJC": "#6fc2aa",
    "ANAT": "#b3d0fb",
    "PHYS": "#dbe9fe",
    "GEOG": "#86b3f7",
    "PROC": "#ddd4ae",
    "DEVI": "#efebd8",
    "OCCU": "#c5b778",
    "LIVB": "#cbb5dd",
    "CONC": "#e6dcef",
    "ORGA": "#ad8cc9",
}


@spacy_registry.displacy_colors("spacy-pel.label_colors.v1")
def label_colors() -> dict[str, str]:
    """Label of ST21pv, its id, or semantic group as a label -> colour of its group."""
    return {label: _COLOURS[label_group(label)] for label in TYPE_LABELS}
