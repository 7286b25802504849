"""Union and reciprocal-rank fusion equal their literal definitions."""

import numpy as np
import pytest

from spacy_pel.candidates.alias_match import AliasMatch
from spacy_pel.candidates.evidence.evidence import FEATURES
from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.errors import PelError
from spacy_pel.linking.combiners import BestRow
from spacy_pel.training.generators.ensemble import EnsembleCandidates
from spacy_pel.types import FUSED, CandidateTable
from spacy_pel.util import read_json, write_json
from spacy_pel.util.saved_folder import write_manifest

from .conftest import mentions_of, values_of


class Fixed:
    """A generator that finds what it was given."""

    registered_name = "test.Fixed"
    needs_encoder = False
    settings = {}
    fingerprint = "x"

    def __init__(self, *rows, width=None):
        self.rows, self.width, self.asked = rows, width, []

    def find_candidates(self, kb, mentions, *, allowed=None, top_k=64):
        self.asked.append(top_k)
        rows = [own[:top_k] for own in self.rows]
        kb_rows = np.full((len(rows), max(1, *map(len, rows))), -1, dtype=np.int64)
        for of_mention, own in zip(kb_rows, rows, strict=True):
            of_mention[: len(own)] = own
        rng = np.random.default_rng(kb_rows.size)
        features = {name: rng.normal(size=kb_rows.shape).astype(np.float32) for name in FEATURES}
        vectors = None if self.width is None else np.ones((len(rows), self.width), dtype=np.float32)
        return CandidateTable(kb_rows, features, vectors)


@pytest.fixture
def members():
    rng = np.random.default_rng(0)
    return [Fixed(*(rng.permutation(25)[: rng.integers(0, 20)].tolist() for _ in range(12))) for _ in range(3)]


def fused(kb, members, top_k=64, **settings):
    generators = {f"g{i}": member for i, member in enumerate(members)}
    table = EnsembleCandidates(generators=generators, **settings).find_candidates(
        kb, mentions_of(*["x"] * len(members[0].rows)), top_k=top_k
    )
    return table, [list(own.items()) for own in values_of(table, "name")]


def literal_rrf(lists, constant):
    scores = {}
    for own in lists:
        for rank, row in enumerate(own, start=1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (constant + rank)
    return scores


@pytest.mark.parametrize("constant", [60.0, 0.0, 3.5])
def test_reciprocal_rank_fusion(kb, members, constant):
    _, got = fused(kb, members, how="rrf", rrf_constant=constant)
    for number, own in enumerate(got):
        expected = literal_rrf([member.rows[number] for member in members], constant)
        assert dict(own) == pytest.approx(expected, rel=1e-5)
        assert [expected[row] for row, _ in own] == pytest.approx(sorted(expected.values(), reverse=True))


def test_union_takes_turns(kb, members):
    _, got = fused(kb, members, how="union")
    for number, own in enumerate(got):
        expected, lists = [], [member.rows[number] for member in members]
        for rank in range(25):
            for one in lists:
                if rank < len(one) and one[rank] not in expected:
                    expected.append(one[rank])
        assert [row for row, _ in own] == expected
        assert (np.diff([score for _, score in own]) <= 0).all()


@pytest.mark.parametrize("how", ["rrf", "union"])
def test_the_best_ones_are_kept(kb, members, how):
    _, whole = fused(kb, [Fixed(*(own[:4] for own in member.rows)) for member in members], how=how)
    _, cut = fused(kb, members, how=how, top_k=4)
    assert cut == [own[:4] for own in whole] and members[0].asked[-1] == 4


def test_equal_scores_by_best_rank_then_by_generator(kb):
    _, got = fused(kb, [Fixed([5, 3]), Fixed([3, 5]), Fixed([8])], how="rrf")
    assert [row for row, _ in got[0]] == [5, 3, 8]
    _, got = fused(kb, [Fixed([1, 2, 9]), Fixed([9, 2, 1])], how="union")
    assert [row for row, _ in got[0]] == [1, 9, 2]


def test_features_are_the_largest(kb, members):
    table, _ = fused(kb, members, how="rrf")
    alone = [member.find_candidates(kb, [""] * 12) for member in members]
    for feature in set(FEATURES) - {"name", "seen", "mention"}:
        for mention, own in enumerate(values_of(table, feature)):
            found = [values_of(one, feature)[mention] for one in alone]
            assert own == {row: max(values[row] for values in found if row in values) for row in own}
    assert all(len(set(own.values())) <= 1 for own in values_of(table, "seen"))


class Scored(Fixed):
    """Its candidates are as near to annotated mentions as it was given."""

    def __init__(self, *nearness, vectors):
        super().__init__(*map(list, nearness), width=2 if vectors else None)
        self.nearness = nearness

    def find_candidates(self, kb, mentions, *, allowed=None, top_k=64):
        table = super().find_candidates(kb, mentions, allowed=allowed, top_k=top_k)
        table.features["mention"][table.filled] = [value for own in self.nearness for value in own.values()]
        return table


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_who_has_no_vectors_does_not_know_the_nearest_mention(kb, order):
    names = Scored({1: 0.0, 2: 0.0, 5: 0.0}, {4: 0.0}, {7: 0.0}, vectors=False)
    distances = Scored({1: -3.0, 3: -2.0, 9: -9.0}, {}, {7: 0.5, 8: 0.25}, vectors=True)
    others = Scored({3: -1.0, 1: -4.0}, {}, {}, vectors=True)
    members = [(names, distances, others)[place] for place in order]
    table, _ = fused(kb, members)
    a, b, c = values_of(table, "mention")
    # 2 and 5 have names only: the lowest value that was found for the mention, not the 0 of "unknown"
    assert a == {1: -3.0, 2: -9.0, 5: -9.0, 3: -1.0, 9: -9.0}
    assert b == {4: 0.0} and c == {7: 0.5, 8: 0.25}
    assert not fused(kb, [names])[0].features["mention"].any()


def test_only_vectors_say_how_near_a_name_is(kb):
    letters, near = Fixed([4, 1, 5]), Fixed([1, 2], width=2)
    table, _ = fused(kb, [letters, near])
    alone = near.find_candidates(kb, [""])
    (cosines,) = values_of(alone, "name")
    lowest = min(cosines.values())
    assert values_of(table, "name") == [{1: cosines[1], 2: cosines[2], 4: lowest, 5: lowest}]
    assert values_of(table, FUSED)[0] == pytest.approx(literal_rrf([[4, 1, 5], [1, 2]], 60.0), rel=1e-5)
    assert BestRow()(table) == pytest.approx(table.features[FUSED])
    nothing_near = fused(kb, [Fixed([4, 1]), Fixed([], width=2)])[0]
    assert not nothing_near.features["name"].any()  # of a generator that has vectors, but none near
    assert table.vectors.shape == (1, 2)
    without = fused(kb, [letters])[0]
    assert without.vectors is None
    assert (without.features["name"] == without.features[FUSED]).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"generators": {}},
        {"generators": {"a": object()}},
        {"generators": {"a/b": AliasMatch()}},
        {"generators": {"a": AliasMatch()}, "how": "sum"},
    ],
)
def test_wrong_settings(settings):
    with pytest.raises(PelError, match="E447"):
        EnsembleCandidates(**settings)


def test_other_members_are_refused(kb, tmp_path):
    one = EnsembleCandidates(generators={"a": AliasMatch(), "b": TfIdf()})
    one.build(kb)
    one.to_disk(tmp_path / "ensemble")
    for generators in ({"a": AliasMatch()}, {"a": TfIdf(), "b": AliasMatch()}):
        with pytest.raises(PelError, match="E010"):
            EnsembleCandidates(generators=generators).from_disk(tmp_path / "ensemble")


MEMBERS = {"generators": {"a": {"@pel_candidates": "spacy-pel.AliasMatch.v1"}}}


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({}, "E004"),
        ({"generators": {"a": {}}, "how": "rrf", "rrf_constant": 60.0}, "E004"),
        ({**MEMBERS, "how": "rrf"}, "E004"),
        ({**MEMBERS, "how": "sum", "rrf_constant": 60.0}, "E447"),
    ],
)
def test_damaged_settings(kb, tmp_path, settings, code):
    one = EnsembleCandidates(generators={"a": AliasMatch()})
    one.build(kb)
    one.to_disk(tmp_path)
    meta = read_json(tmp_path / "generator.json")
    EnsembleCandidates(generators={"a": AliasMatch()}).from_disk(tmp_path)
    write_json(tmp_path / "generator.json", {**meta, "settings": settings})
    write_manifest(tmp_path, kind="generator", version=1)
    with pytest.raises(PelError, match=code):
        EnsembleCandidates(generators={"a": AliasMatch()}).from_disk(tmp_path)
