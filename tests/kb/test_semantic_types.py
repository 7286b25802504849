"""The Semantic Network: types, their descendants, names and groups."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.semantic_types import (
    SEMANTIC_GROUPS,
    ST21PV_TYPES,
    semantic_types,
    type_group,
    type_label,
    type_name,
    with_descendants,
)


def test_semantic_network():
    assert len(semantic_types()) == 133 and len({t.tree_number for t in semantic_types().values()}) == 133
    assert {t.group for t in semantic_types().values()} == SEMANTIC_GROUPS.keys() and len(SEMANTIC_GROUPS) == 15
    assert with_descendants(["T047"]) == {"T047", "T048", "T191"}
    assert len(ST21PV_TYPES) == 21
    wide = with_descendants(ST21PV_TYPES)
    assert {"T116", "T191", "T061", "T023", "T016", "T195"} <= wide
    assert not {"T071", "T073", "T080", "T079", "T052", "T001", "T169"} & wide
    with pytest.raises(PelError, match="T999"):
        with_descendants(["T999"])


@pytest.mark.parametrize(
    ("kind", "name", "label"),
    [
        ("T047", "Disease or Syndrome", "Disease or Syndrome (T047, Disorders)"),
        ("T116", "Amino Acid, Peptide, or Protein", "Amino Acid, Peptide, or Protein (T116, Chemicals & Drugs)"),
        ("disease", "disease", "disease"),
        ("", "", ""),
    ],
)
def test_names(kind, name, label):
    assert (type_name(kind), type_label(kind)) == (name, label)


@pytest.mark.parametrize(
    ("types", "group"),
    [
        (["T047"], "DISO"),
        (["T033"], "DISO"),  # a finding; its neighbours in the network are concepts
        (["T201"], "PHYS"),
        (["T098"], "LIVB"),
        (["T034"], "PHEN"),
        (["T110"], "CHEM"),  # of releases before 2014
        (["T033", "T059", "T060"], "PROC"),
        (["T028", "T116"], "GENE"),
        (["disease", "T121"], "CHEM"),
        (["disease", "C04"], ""),
        ([], ""),
    ],
)
def test_groups(types, group):
    assert type_group(types) == group


def test_sizes_of_groups():
    """As published: 127 types, and the 6 chemical ones that were retired."""
    sizes = dict.fromkeys(SEMANTIC_GROUPS, 0)
    for kind in semantic_types():
        sizes[type_group([kind])] += 1
    assert list(sizes.values()) == [9, 11, 26, 12, 3, 12, 5, 1, 21, 5, 2, 4, 6, 9, 7]
