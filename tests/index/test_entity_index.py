import pickle

import numpy as np
import pyarrow as pa
import pytest

from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.annotated_text import AliasPriors, FormsInText, unmarked
from spacy_pel.index.entity_index import VERSION
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.index.faiss_rows import KIND
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.types import Document, Entity, Mention, MentionInText
from spacy_pel.util.arrow_files import read_arrays, write_arrays
from spacy_pel.util.saved_folder import write_manifest

ALL = ("card", "alias", "mention", "form")


def mention(text):
    return MentionInText(text, 0, len(text))


@pytest.fixture
def index(kb, encoder, documents):
    return EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=ALL, documents=documents)


def best_ids(index, kb, encoder, surface, **kwargs):
    table = find_candidates(kb, index, encoder.encode_mentions([mention(surface)]), [surface], **kwargs)
    return kb.ids_at(table.kb_rows[table.filled])


@pytest.mark.parametrize("name", sorted(registry.parts("pel_indexes").values()))
def test_every_entity_is_found_by_each_of_its_names(name, kb, encoder):
    index = EntityIndex.build(kb, encoder, index=registry.pel_indexes.get(name)())
    for row, entity in zip(kb.live_rows, kb.entities(), strict=True):
        names = [entity.canonical_name, *entity.aliases]
        _, found = index.search_entities(encoder.encode_names(names), 8)
        assert all(row in of_name for of_name in found)


def test_rows_of_each_kind(index, kb, documents):
    by_kind = {kind: index.rows.kb_rows[index.rows.kinds == code].tolist() for code, kind in enumerate(ALL)}
    assert by_kind["card"] == kb.live_rows.tolist()
    # names that are the same in normal form are one row ("cold" and "Cold")
    assert by_kind["alias"].count(kb.row("C90")) == 2
    gold = [kb.row(id_) for d in documents for m in d.mentions for id_ in dict.fromkeys(m.ids) if id_ in kb]
    assert by_kind["mention"] == gold
    # each other name that a text gives an entity, once
    mentions = [
        (kb.row(one), d.text[m.start : m.end]) for d in documents for m in d.mentions for one in m.ids if one in kb
    ]
    others = {
        (row, form.lower()) for row, form in mentions if form.lower() not in map(str.lower, kb.names_at([row])[0])
    }
    assert by_kind["form"] == sorted(row for row, _ in others) and len(others) > 5
    assert index.priors.columns()["count"].sum() == len(gold)
    assert index.meta["live_rows"] == {kind: len(rows) for kind, rows in by_kind.items()}


def test_places_that_are_not_marked_count_for_no_entity(kb, encoder, tmp_path):
    text = "Cold or cold. A common cold; COLD, colds."
    mentions = [Mention(0, 4, ids=("C90", "C91")), Mention(16, 27, ids=("C90",))]
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), documents=[Document("d", text, mentions)])
    index.to_disk(tmp_path / "index")
    for one in (index, EntityIndex.from_disk(tmp_path / "index", kb=kb)):
        rows, counts, offsets = one.priors.counts(["cold", "common cold", "colds"])
        # "cold" is marked in one place, for two entities, and not in two; "common cold" is a place of its own
        assert (rows.tolist(), counts.tolist()) == ([-1, *sorted(kb.rows(["C90", "C91"])), kb.row("C90")], [2, 1, 1, 1])
        assert offsets.tolist() == [0, 3, 4, 4] and one.priors.total(np.array([-1, kb.row("C90")])).tolist() == [0, 2]
        table = find_candidates(kb, one, encoder.encode_mentions([mention("cold")]), ["cold"])
        prior = dict(zip(kb.ids_at(table.kb_rows[0]), table.features["prior"][0].tolist(), strict=True))
        assert prior["C90"] == pytest.approx(1 / 4) and prior["C92"] == 0


def test_rows_hold_the_vectors_of_what_they_stand_for(kb, encoder, documents):
    index = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=ALL, documents=documents)
    stored = index.vectors.vectors(0, len(index))
    entities = list(kb.entities())
    np.testing.assert_array_equal(stored[: len(entities)], encoder.encode_entities(entities))
    last = documents[-1]
    named = [m for m in last.mentions if "C1" in m.ids or any(id_ in kb for id_ in m.ids)][-1]
    expected = encoder.encode_mentions([MentionInText(last.text, named.start, named.end)])
    np.testing.assert_array_equal(stored[-1:], expected)


def test_chunks_and_repeats_change_nothing(kb, encoder, documents, monkeypatch):
    whole = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=ALL, documents=documents)
    monkeypatch.setattr("spacy_pel.index.embed._CHUNK", 7)
    parts = EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=ALL, documents=documents)
    np.testing.assert_array_equal(*(index.vectors.vectors(0, len(index)) for index in (whole, parts)))
    assert whole.fingerprint == parts.fingerprint


def test_cap_of_mentions_is_kept_and_repeatable(kb, encoder, documents):
    def build(cap):
        return EntityIndex.build(
            kb, encoder, index=FaissIVF(), kinds=["mention"], documents=documents, max_mentions_per_entity=cap
        )

    counts = np.bincount(build(None).kb_rows, minlength=kb.n_rows)
    capped = build(2)
    assert counts.max() > 2
    np.testing.assert_array_equal(np.bincount(capped.kb_rows, minlength=kb.n_rows), np.minimum(counts, 2))
    assert capped.fingerprint == build(2).fingerprint
    assert len(capped.priors) == len(build(None).priors)  # the counts are those of all mentions


def test_add_update_retire(index, kb, encoder):
    new = Entity("N1", "zzyzx fever", ("quux disease",))
    index.add_entities(kb, encoder, kb.put([new]))
    assert best_ids(index, kb, encoder, "quux disease")[0] == "N1"
    old_name = kb["C2"].canonical_name
    index.add_entities(kb, encoder, kb.put([Entity("C2", "wholly other words", types=("T0",))]))
    assert best_ids(index, kb, encoder, "wholly other words")[0] == "C2"
    _, rows = index.search_entities(encoder.encode_names([old_name]), 80, kinds=("card", "alias"))
    assert (rows == kb.row("C2")).sum() == 2  # its new card and name, nothing of the old
    retired = kb.retire(["C90"], {"C90": "C91"})
    index.add_entities(kb, encoder, retired)
    assert "C90" not in best_ids(index, kb, encoder, "cold")
    assert index.kb_fingerprint == kb.fingerprint


def assert_same(one, other, kb, encoder):
    assert one is not other
    assert (one.fingerprint, one.meta) == (other.fingerprint, other.meta)
    vectors = encoder.encode_mentions([mention("cold"), mention(kb.name_at(7))])
    tables = [find_candidates(kb, part, vectors, ["cold", kb.name_at(7)]) for part in (one, other)]
    np.testing.assert_array_equal(tables[0].kb_rows, tables[1].kb_rows)
    for name, values in tables[0].features.items():
        np.testing.assert_array_equal(values, tables[1].features[name])


def test_what_texts_say_of_a_retired_entity_counts_for_its_successor(index, kb, encoder, tmp_path):
    old, new = rows = kb.rows(["C90", "C92"])
    named = index.priors.total(rows).sum()
    mentions = np.isin(index.kb_rows, rows) & (index.rows.kinds >= ALL.index("mention"))  # and forms
    index.add_abbreviations(AliasPriors.build(["cc", "cc"], np.array([old, -1])))
    assert named > index.priors.total(rows)[1] and mentions.sum() > 1
    kb.retire(["C90"], {"C90": "C92"})
    index.add_entities(kb, encoder, np.array([old]))
    index.to_disk(tmp_path / "index")
    for one in (index, EntityIndex.from_disk(tmp_path / "index")):
        assert one.priors.total(rows).tolist() == [0, named]
        assert (one.kb_rows[: len(mentions)][mentions] == new).all()
        assert one.rows.live[: len(mentions)][mentions].all()
        assert sorted(one.abbreviations.kb_rows.tolist()) == [-1, new]
    assert best_ids(index, kb, encoder, "common cold")[0] == "C92"


@pytest.mark.parametrize("vectors", [FaissIVF(), FaissIVF(codes="int8")])
def test_disk_bytes_and_pickle(vectors, kb, encoder, documents, tmp_path):
    index = EntityIndex.build(kb, encoder, index=vectors, kinds=ALL, documents=documents)
    index.to_disk(tmp_path / "index")
    loaded = EntityIndex.from_disk(tmp_path / "index")
    assert_same(index, loaded, kb, encoder)
    assert_same(index, EntityIndex.from_bytes(index.to_bytes()), kb, encoder)
    assert_same(index, pickle.loads(pickle.dumps(index)), kb, encoder)
    assert_same(index, pickle.loads(pickle.dumps(loaded)), kb, encoder)


def test_pickle_carries_a_path_or_the_content(index, kb, encoder, tmp_path):
    index.to_disk(tmp_path / "index")
    loaded = EntityIndex.from_disk(tmp_path / "index")
    assert len(pickle.dumps(loaded)) < 1000
    carried = pickle.dumps(loaded)
    index.add_entities(kb, encoder, kb.put([Entity("N1", "zzyzx fever")]))
    index.to_disk(tmp_path / "index")  # another one is there now
    with pytest.raises(PelError, match="PEL-E017"):
        pickle.loads(carried)
    assert pickle.loads(pickle.dumps(loaded)).fingerprint == loaded.fingerprint  # the content this time


def test_foreign_kb_and_encoder_are_refused(index, kb, encoder, tmp_path):
    from spacy_pel.encoders.hash_embed import HashEmbed

    index.to_disk(tmp_path / "index")
    with pytest.raises(PelError, match="PEL-E401.*another encoder"):
        EntityIndex.from_disk(tmp_path / "index", kb=kb, encoder=HashEmbed(width=64, context_weight=0.5))
    with pytest.raises(PelError, match="PEL-E410"):
        index.add_entities(kb, HashEmbed(width=32), np.array([0]))
    kb.put([Entity("N1", "zzyzx fever")])
    with pytest.raises(PelError, match="PEL-E40.*another knowledge base"):
        EntityIndex.from_disk(tmp_path / "index", kb=kb, encoder=encoder)


@pytest.mark.parametrize("name", ["vectors.faiss", "rows.arrow", "priors.arrow", "meta.json", "manifest.json"])
def test_damaged_folders_are_refused(name, index, tmp_path):
    folder = tmp_path / "index"
    index.to_disk(folder)
    whole = (folder / name).read_bytes()
    garbled = bytes(len(whole))
    for content in (whole[: len(whole) // 2], b"", garbled, b"{}", None):
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
        with pytest.raises(PelError):
            EntityIndex.from_disk(folder)
    with pytest.raises(PelError, match="PEL-E007.*saved index.*got no such folder"):
        EntityIndex.from_disk(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["rows.arrow", "priors.arrow"])
def test_rows_that_the_knowledge_base_has_not(name, index, kb, encoder, tmp_path):
    index.to_disk(tmp_path / "a")
    arrays = {
        key: values.copy() for key, values in read_arrays(pa.py_buffer((tmp_path / "a" / name).read_bytes())).items()
    }
    arrays["kb_row"][-1] = kb.n_rows
    write_arrays(tmp_path / "a" / name, arrays)
    write_manifest(tmp_path / "a", kind=KIND, version=VERSION)
    with pytest.raises(PelError, match=f"PEL-E004.*in {name}"):
        EntityIndex.from_disk(tmp_path / "a", kb=kb, encoder=encoder)


def test_files_of_two_indexes_do_not_mix(index, kb, encoder, tmp_path):
    index.to_disk(tmp_path / "a")
    EntityIndex.build(kb, encoder, index=FaissIVF()).to_disk(tmp_path / "b")
    (tmp_path / "a" / "vectors.faiss").write_bytes((tmp_path / "b" / "vectors.faiss").read_bytes())
    with pytest.raises(PelError, match="PEL-E004.*vectors.faiss with"):
        EntityIndex.from_disk(tmp_path / "a")
    write_manifest(tmp_path / "a", kind=KIND, version=VERSION)
    with pytest.raises(PelError, match=f"PEL-E004.*{len(index)} rows"):
        EntityIndex.from_disk(tmp_path / "a")


def test_what_cannot_be_built(kb, encoder):
    from spacy_pel.kb import KnowledgeBase

    with pytest.raises(PelError, match="PEL-E406"):
        EntityIndex.build(KnowledgeBase(), encoder, index=FaissIVF())
    for kinds in ((), ("card", "definition")):
        with pytest.raises(PelError, match="PEL-E016"):
            EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=kinds)
    elsewhere = [Document("d", "cold", [Mention(0, 4, ids=("unknown",))])]
    with pytest.raises(PelError, match="PEL-E407"):
        EntityIndex.build(kb, encoder, index=FaissIVF(), kinds=["mention"], documents=elsewhere)


def test_forms_in_text_are_read_from_names():
    kb = KnowledgeBase([Entity("A", "Food aid", ("AIDS",)), Entity("B", "relief"), Entity("C", "ration")])
    surfaces = ["AIDS", "AIDS", "aids", "relief", "a relief", "a relief", "relief"]
    priors = AliasPriors.build(surfaces, np.array([0, 0, 1, 0, 0, 0, -1]))
    forms = FormsInText.of(priors, kb, kb["A"])
    assert (forms.counts, forms.n_others, forms.n_mentions) == ({"AIDS": 2, "relief": 1}, 1, 5)
    assert str(forms) == "AIDS 2 · relief 1 · others 2"
    assert str(FormsInText.of(priors, kb, kb["A"], n=1)) == "AIDS 2 · others 3"
    assert str(FormsInText.of(priors, kb, kb["C"])) == ""
    kb.put([Entity("A", "Food aid", ("a relief",))])  # not saved yet
    assert FormsInText.of(priors, kb, kb["A"]).counts["a relief"] == 2


def test_places_outside_of_mentions_in_capitals_or_not():
    text = "OR or breast cancer risk, cancer of a breast"
    marked = [(0, 2), (6, 24), (6, 12), (13, 19), (6, 24)]  # nested, and one twice
    others = [MentionInText("risk", 0, 4), MentionInText("OR, OR", 0, 2)]
    counts = unmarked([MentionInText(text, *place) for place in marked] + others)
    found = {form: counts.counts([form])[1].tolist() for form in ("OR", "or", "breast", "cancer", "risk")}
    assert found == {"OR": [1], "or": [1], "breast": [1], "cancer": [1], "risk": []}
