"""P(right) of abbreviations that nothing defines is bounded by what is known of their uses."""

import numpy as np
import pytest

from spacy_pel.index.annotated_text import AliasPriors
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery, replace_mention
from spacy_pel.linking.confidence import trust_in_short_forms
from spacy_pel.types import Entity

KB = KnowledgeBase(
    [
        Entity("LD", "leukodystrophy", ("HLD",)),
        Entity("RA", "rheumatoid arthritis", ("RA",)),
        Entity("AN", "refractory anemia", ("RA",)),
        Entity("ED", "multiple epiphyseal dysplasia", ("MED",)),
        Entity("CO", "colon", ("Colon",)),
        Entity("AI", "acquired immunodeficiency syndrome", ("AIDS",)),
    ]
)
NAMED = KB.rows(["RA"] * 7 + ["AN"] + ["AI"] * 30)
PRIORS = AliasPriors.build(  # -1: not marked
    ["RA"] * 8 + ["aids"] * 30 + ["RA"] * 20 + ["was"] * 90 + ["WAS"] * 9,
    np.concatenate([NAMED, [-1] * 110, KB.rows(["LD"] * 9)]),
)


def trust(surface, entity_id, *, priors=PRIORS, long_form=None):
    text = f"Patient with {surface}, stable."
    query = MentionQuery(text, 13, 13 + len(surface))
    query = query if long_form is None else replace_mention(query, long_form)
    (bound,) = trust_in_short_forms(KB, priors, [query.form], KB.rows([entity_id]))
    return bound


@pytest.mark.parametrize(
    ("surface", "entity_id", "expected"),
    [
        ("HLD", "LD", 0.5),  # a name of one entity, never annotated
        ("RA", "RA", 7.5 / 10),
        ("RA", "AN", 1.5 / 10),
        ("WAS", "LD", 9.5 / 10),
        ("RA", "LD", 0.5 / 10),  # found by its vector alone
        ("XY", "LD", 0.5),  # a name of none
        ("Meds", "ED", 0.5),
        ("AIDS", "AI", 30.5 / 31),
        # no short forms
        *[("colon", "CO", 1.0), ("Colon", "CO", 1.0), ("aids", "AI", 1.0), ("Medial", "ED", 1.0)],
        *[("HLD type 2", "LD", 1.0), ("leukodystrophy", "LD", 1.0), ("HLD", "unknown", 1.0)],
    ],
)
def test_bound(surface, entity_id, expected):
    assert trust(surface, entity_id) == pytest.approx(expected)


def test_a_defined_short_form_has_no_bound():
    assert trust("HLD", "LD", long_form="hypomyelinating leukodystrophy") == 1.0


def test_each_mention_has_its_own():
    forms = ["RA", "", "HLD", "colon", "RA"]
    bounds = trust_in_short_forms(KB, PRIORS, forms, np.append(KB.rows(["RA", "RA", "LD", "CO"]), -1))
    assert bounds.tolist() == pytest.approx([0.75, 1.0, 0.5, 1.0, 1.0])
