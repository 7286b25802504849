"""Names that say a little more than the mention."""

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity

from .gathering import gather, marked

ENTITIES = [
    Entity("RETINA", "outer nuclear layer of retina", aliases=("retinal outer nuclear layer",)),
    Entity("EXPRESSION", "gene expression"),
    Entity("BIRTH", "parturition", aliases=("giving birth",)),
    Entity("CRYPT", "crypt of Lieberkuhn"),
    Entity("CILIUM", "assembly of cilium"),
    Entity("AXON", "assembly of axon"),
    Entity("VIRUS", "assembly of virus"),
    Entity("SPINDLE", "assembly of spindle"),
    Entity("CONE", "retinal cone cell"),
    Entity("SYSTEM", "immune system", aliases=("defence of self",)),
    Entity("DEFENCE", "defence"),
    Entity("WNT", "Wnt signaling pathway"),
    Entity("RECEPTOR", "photoreceptor cell"),
]


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("outer nuclear layer", "RETINA"),
        ("Outer nuclear layers", "RETINA"),  # a variant
        ("crypts", "CRYPT"),
        ("expressed", "EXPRESSION"),  # derived
        ("natal", "BIRTH"),
        ("immune", "SYSTEM"),  # without a word that texts leave out
        ("photoreceptors", "RECEPTOR"),
        ("wnt signaling", "WNT"),
        ("assembly", None),  # of four entities
        ("gene", None),  # other words only where a word is derived
        ("nuclear layer", None),
        ("defence", None),  # a name already
        ("layer of retina", None),
    ],
)
def test_names_that_say_a_little_more(surface, expected):
    kb = KnowledgeBase(ENTITIES)
    table = gather(kb, surface)
    assert marked(kb, table, ("extension",)) == [{"extension": [] if expected is None else [expected]}]
    added = LinearCombiner().contributions(table)["extension_unseen"]
    assert (added.max() > 0) == (expected is not None)
