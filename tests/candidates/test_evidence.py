"""The vectorised evidence against a literal one, and the counts of surfaces."""
# ruff: noqa: F811 (fixtures of another folder)

from collections import Counter

import numpy as np
import pytest
from index.conftest import documents, encoder, kb  # noqa: F401
from rapidfuzz import fuzz

from spacy_pel.candidates.evidence import FEATURES, find_candidates
from spacy_pel.index import AliasPriors, EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.types import UNRELATED, Entity, MentionInText
from spacy_pel.util import normalize_alias

pytestmark = pytest.mark.slow

ROUNDING = 5e-6  # of cosines


def count_surfaces(kb, documents):
    return Counter(
        (normalize_alias(document.text[m.start : m.end]), kb.row(id_))
        for document in documents
        for m in document.mentions
        for id_ in dict.fromkeys(m.ids)
        if id_ in kb
    )


def slow_evidence(kb, counts, index, vectors, surfaces, masks, row_k):
    """One mention and one row at a time, from the definitions in ``FEATURES``.

    Returns:
        For each mention its candidates, row -> (is it named, what it is ordered by, features); and the cosines of
        unrelated entities.
    """
    live, stored = set(kb.live_rows.tolist()), index.vectors.vectors(0, len(index))
    tables, unrelated = [], []
    for vector, surface, mask in zip(vectors, surfaces, masks, strict=True):
        usable = {row for row in live if mask is None or mask[row]}
        cosines = {"name": [], "mention": []}
        for row in range(len(index)):
            entity = int(index.rows.kb_rows[row])
            if index.rows.live[row] and entity in usable:
                kind = "mention" if index.rows.kinds[row] == 2 else "name"
                cosines[kind].append((float(vector @ stored[row]), entity))
        near = {kind: sorted(pairs, reverse=True)[:row_k] for kind, pairs in cosines.items()}
        best, lowest = {}, {}
        for kind, pairs in near.items():
            lowest[kind] = min([score for score, _ in pairs], default=0.0)
            best[kind] = {}
            for score, entity in pairs:
                best[kind][entity] = max(score, best[kind].get(entity, -9))
        weights = [np.exp((score - 1) / 0.05) for score, _ in near["mention"]]
        votes = Counter()
        for weight, (_, entity) in zip(weights, near["mention"], strict=True):
            votes[entity] += weight / sum(weights)
        key = normalize_alias(surface)
        exact = {row for row in usable if key in own_names(kb, row)}
        known = any(key in own_names(kb, row) for row in live)
        variant = {row for row in usable if not known and any(are_numbers(key, n) for n in own_names(kb, row))}
        total = sum(count for (name, _), count in counts.items() if name == key)
        prior = {row: count / total for (name, row), count in counts.items() if name == key and row in usable}
        rows = {}
        for row in {*best["name"], *best["mention"], *exact, *prior, *variant}:
            preferred = own_names(kb, row)[0]
            rows[row] = {
                "name": best["name"].get(row, lowest["name"]),
                "mention": best["mention"].get(row, lowest["mention"]),
                "vote": votes[row],
                "exact": float(row in exact),
                "prior": prior.get(row, 0.0),
                "seen": total / (total + 2),
                "popularity": np.log1p(sum(c for (_, entity), c in counts.items() if entity == row)),
                "edit": max(indel(key, name) for name in own_names(kb, row)),
                "partial": max(fuzz.partial_ratio(key, name) / 100 for name in own_names(kb, row)),
                "variant": float(row in variant),
                "preferred": float(row in exact | variant and (key == preferred or are_numbers(key, preferred))),
                # no name is one of a formula or has "of", no word has a derivation; abbreviations have their own tests
                **dict.fromkeys(("formula", "derivation", "extension", "abbreviation"), 0.0),
            }
        cosines = {row: max(rows[row]["name"], best["mention"].get(row, -9)) for row in rows}

        tables.append({})
        for row, features in rows.items():
            named = any(features[name] > 0 for name in ("exact", "prior", "variant"))
            key = cosines[row] + 0.2 * features["edit"] + 0.02 * features["popularity"]
            tables[-1][row] = (named, key, features)
        rank = min(max(len(rows) // 2, 8), 64)
        unrelated.append(sorted(cosines.values(), reverse=True)[rank] if rank < len(rows) else 0.0)
    return tables, unrelated


def are_numbers(one, other):
    """Is one the other with an s? The names of this knowledge base have no other variants."""
    return one + "s" == other or one == other + "s"


def own_names(kb, row):
    entity = kb.entity_at(row)
    return [normalize_alias(name) for name in (entity.canonical_name, *entity.aliases)]


def indel(left, right):
    """1 - (insertions and deletions) / (both lengths), by the longest common subsequence."""
    lengths = np.zeros((len(left) + 1, len(right) + 1), dtype=int)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            lengths[i + 1, j + 1] = lengths[i, j] + 1 if a == b else max(lengths[i, j + 1], lengths[i + 1, j])
    return 2 * lengths[-1, -1] / max(len(left) + len(right), 1)


def make_queries(kb, documents, encoder):
    mentions = [MentionInText(d.text, m.start, m.end) for d in documents[:4] for m in d.mentions]
    mentions += [
        MentionInText(text, 0, len(text))
        for text in ("cold", "COLD!", "Colds", "hepatogen", kb.name_at(3), kb.name_at(3) + "s")
    ]
    return encoder.encode_mentions(mentions), [mention.surface for mention in mentions]


@pytest.mark.parametrize("kinds", [("card", "alias"), ("card", "alias", "mention"), ("mention",)])
@pytest.mark.parametrize("row_k, top_k", [(128, 64), (9, 4)])
@pytest.mark.parametrize("filtered", [False, True])
def test_equals_the_literal_one(kinds, row_k, top_k, filtered, kb, encoder, documents):
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=kinds, documents=documents)
    counts = count_surfaces(kb, documents)
    changed = np.concatenate([kb.retire(["C4", "C91"]), kb.put([Entity("C6", "new words", types=("T1",))])])
    index.add_entities(kb, encoder, changed)
    # no two rows alike, so that no tie decides what is found
    stored = index.vectors.vectors(0, len(index))
    index.vectors.train(stored)
    index.vectors.add(stored + np.random.default_rng(2).normal(scale=0.01, size=stored.shape).astype(np.float32))
    vectors, surfaces = make_queries(kb, documents, encoder)
    masks = [None] * len(surfaces)
    if filtered:
        choices = [None, kb.rows_with_types(["T0"]), kb.rows_with_types(["T1"]), np.zeros(kb.n_rows, bool)]
        masks = [choices[i % 4] for i in range(len(surfaces))]
    table = find_candidates(kb, index, vectors, surfaces, allowed=masks if filtered else None, row_k=row_k, top_k=top_k)
    expected, unrelated = slow_evidence(kb, counts, index, vectors, surfaces, masks, row_k)
    assert len(table) == len(surfaces)
    assert tuple(table.features) == FEATURES
    np.testing.assert_allclose(table.of_mentions[UNRELATED], unrelated, atol=2 * ROUNDING)
    found = [rows[rows >= 0].tolist() for rows in table.kb_rows]
    for rows, of_mention in zip(found, expected, strict=True):
        assert len(set(rows)) == len(rows) == min(top_k, len(of_mention))
        named, key = min(of_mention[row][:2] for row in rows) if rows else (True, 0.0)
        left_out = [of_mention[row][:2] for row in of_mention if row not in rows]
        assert all(place <= (named, key + 2 * ROUNDING) for place in left_out)
    flat = [expected[i][row][2] for i, rows in enumerate(found) for row in rows]
    for name in FEATURES:
        values = table.features[name]
        assert values.dtype == np.float32
        rtol = 2 * ROUNDING / 0.05 if name == "vote" else 0  # it is a softmax of cosines over 0.05
        np.testing.assert_allclose(
            values[table.filled], [of[name] for of in flat], rtol=rtol, atol=2 * ROUNDING, err_msg=name
        )
        if name in ("name", "mention"):
            assert np.array_equal(values, values.astype(float).round(5).astype(np.float32))
    # the values are right to the last digits; by them, the order is exact
    keys = table.cosines + 0.2 * table.features["edit"] + 0.02 * table.features["popularity"]
    is_named = np.any([table.features[name] > 0 for name in ("exact", "prior", "variant")], axis=0)
    order = np.lexsort((table.kb_rows, -keys, ~is_named, ~table.filled))
    assert (order == np.arange(table.kb_rows.shape[1])).all()


def test_exact_and_annotated_entities_join_what_retrieval_misses(kb, encoder, documents):
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), documents=documents)
    far = -encoder.encode_names(["cold"])  # the nearest rows are of other entities
    table = find_candidates(kb, index, far, ["Cold"], row_k=2, top_k=64)
    rows = table.kb_rows[0].tolist()
    for id_ in ("C90", "C91", "C92"):
        place = rows.index(kb.row(id_))
        assert table.features["exact"][0, place] == 1.0
        assert table.features["name"][0, place] == table.features["name"].min()
    annotated = table.kb_rows[table.features["prior"] > 0]
    assert len(annotated) > 3
    assert table.features["prior"].sum() == pytest.approx(1.0, abs=1e-5)
    # even when few may stay, those that the surface names do
    few = find_candidates(kb, index, far, ["Cold"], row_k=9, top_k=3)
    assert ((few.features["exact"] > 0) | (few.features["prior"] > 0)).all()


def test_no_mentions_and_no_candidates(kb, encoder, documents):
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), documents=documents)
    table = find_candidates(kb, index, encoder.encode_names([]), [])
    assert len(table) == 0 and table.kb_rows.shape == (0, 1)
    nothing = np.zeros(kb.n_rows, dtype=bool)
    table = find_candidates(kb, index, encoder.encode_names(["cold", "x"]), ["cold", "x"], allowed=[nothing, nothing])
    assert table.kb_rows.tolist() == [[-1], [-1]]
    assert all(values.shape == (2, 1) and values.dtype == np.float32 for values in table.features.values())


def test_priors(tmp_path):
    empty = AliasPriors.build([], np.empty(0, np.int64))
    assert empty.counts(["cold"])[2].tolist() == [0, 0] and empty.total(np.array([3])).tolist() == [0]
    surfaces = ["Cold", "cold", "CoLD", "flu", "cold-"]
    priors = AliasPriors.build(surfaces, np.array([5, 5, 2, 5, 9]))
    priors.to_disk(tmp_path)
    for part in (priors, AliasPriors.from_disk(tmp_path)):
        kb_rows, counts, offsets = part.counts(["unknown", "cOLD", "flu", "cold"])
        assert offsets.tolist() == [0, 0, 3, 4, 7]
        assert dict(zip(kb_rows[:3].tolist(), counts[:3].tolist(), strict=True)) == {2: 1, 5: 2, 9: 1}
        assert (kb_rows[3], counts[3]) == (5, 1)
        assert part.total(np.array([2, 5, 7, 9, 100])).tolist() == [1, 3, 0, 1, 0]


def test_plain_words_in_capitals_have_counts_of_their_own():
    priors = AliasPriors.build(["HIT", "hit", "COPD", "rat"], np.array([1, 2, 3, 4]))
    # "RAT" was never counted: it is the word, in a text in capitals
    assert [priors.counts([form])[0].tolist() for form in ("HIT", "Hit", "copd", "RAT", "H.I.T.")] == [
        [1],
        [2],
        [3],
        [4],
        [],
    ]
