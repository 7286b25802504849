"""The Semantic Network: types, their descendants, names and groups."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.types.semantic_types import (
    SEMANTIC_GROUPS,
    ST21PV,
    label_group,
    labels_named,
    mention_group,
    semantic_types,
    st21pv_type,
    type_group,
    type_label,
    type_name,
    with_descendants,
)


def test_semantic_network():
    assert len(semantic_types()) == 133 and len({t.tree_number for t in semantic_types().values()}) == 133
    assert {t.group for t in semantic_types().values()} == SEMANTIC_GROUPS.keys() and len(SEMANTIC_GROUPS) == 15
    assert with_descendants(["T047"]) == {"T047", "T048", "T191"}
    wide = with_descendants(ST21PV)
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


@pytest.mark.parametrize(
    ("kind", "tui"),
    [
        ("T047", "T038"),
        ("T110", "T103"),  # of releases before 2014
        ("T034", "T033"),
        ("T022", "T022"),  # its parent, Functional Concept, is outside
        ("T200", None),  # Clinical Drug is no Chemical
        ("BIOLOGIC_FUNCTION", "T038"),
        ("DISORDER", None),
        ("ENTITY", None),  # not T071
        ("", None),
    ],
)
def test_types_of_st21pv(kind, tui):
    assert st21pv_type(kind) == tui


def test_types_of_st21pv_are_its_roots():
    by_type = {root: {kind for kind in semantic_types() if st21pv_type(kind) == root} for root in ST21PV}
    assert by_type == {root: with_descendants([root]) for root in ST21PV}


@pytest.mark.parametrize(
    ("label", "types", "group"),
    [
        ("BIOLOGIC_FUNCTION", [], "DISO"),
        ("T038", [], "DISO"),
        ("BIOLOGIC_FUNCTION", ["T043"], "PHYS"),  # the entity's types come first
        ("BIOLOGIC_FUNCTION", ["T038"], "PHEN"),
        ("CHEMICAL", ["C04"], "CHEM"),
        ("DISORDER", [], "DISO"),
        ("ENTITY", ["T047"], "DISO"),
        ("ENTITY", [], ""),
        ("", [], ""),
    ],
)
def test_groups_of_mentions(label, types, group):
    assert mention_group(label, types) == group
    if not types:
        assert label_group(label) == group


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["CHEMICAL"], {"CHEMICAL"}),
        (["DISORDER"], {"BIOLOGIC_FUNCTION", "FINDING", "INJURY_OR_POISONING"}),
        (["T033", "DEVICE"], {"FINDING", "MEDICAL_DEVICE"}),
        (["ANATOMY", "BODY_SYSTEM"], {"ANATOMICAL_STRUCTURE", "BODY_SYSTEM", "BODY_SUBSTANCE"}),
        ([], set()),
        (ST21PV.values(), set(ST21PV.values())),
    ],
)
def test_labels_by_name(names, labels):
    assert labels_named(names, ST21PV.values(), where="x") == labels


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("disorder", "did you mean 'DISORDER'"),
        ("Chemical", "did you mean 'CHEMICAL'"),
        ("T047", "a part of 'BIOLOGIC_FUNCTION'"),
        ("T169", "Labels: VIRUS"),
        ("zzz", "Labels: VIRUS, BACTERIUM,"),
    ],
)
def test_names_of_no_label(name, hint):
    with pytest.raises(PelError, match=f"E526.*Expected labels_keep to name .*'{name}'.*{hint}"):
        labels_named(["VIRUS", name], ST21PV.values(), where="labels_keep")


def test_sizes_of_groups():
    """As published: 127 types, and the 6 chemical ones that were retired."""
    sizes = dict.fromkeys(SEMANTIC_GROUPS, 0)
    for kind in semantic_types():
        sizes[type_group([kind])] += 1
    assert list(sizes.values()) == [9, 11, 26, 12, 3, 12, 5, 1, 21, 5, 2, 4, 6, 9, 7]
