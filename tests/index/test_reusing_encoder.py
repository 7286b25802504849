"""An index is updated: what has not changed is not embedded, and the result is that of a new build."""

import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.embed import names_of
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.index.row_encoders import ReusingEncoder
from spacy_pel.types import Document, Entity, Mention

KINDS = ("card", "alias", "mention")
NEW = Entity("N1", "zzyzx fever", ("quux disease", "cold"))


class Counting(HashEmbed):
    """Lists what it embeds as rows."""

    def __init__(self):
        super().__init__(width=64)
        self.seen = []

    def encode_entities(self, entities, **kwargs):
        self.seen += [("card", entity.concept_id) for entity in entities]
        return super().encode_entities(entities, **kwargs)

    def encode_names(self, names, **kwargs):
        self.seen += [("alias", name) for name in names]
        return super().encode_names(names, **kwargs)

    def encode_mention_rows(self, mentions, **kwargs):
        self.seen += [("mention", mention.surface) for mention in mentions]
        return super().encode_mention_rows(mentions, **kwargs)


def build(kb, encoder, index, documents):
    return EntityIndex.build(kb, encoder, index=index, kinds=KINDS, documents=documents)


def files(index, folder):
    index.to_disk(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def changed(kb, documents):
    """Changes the KB, and returns changed documents."""

    def change():
        kb.put([NEW])
        kb.put([Entity("C2", kb["C2"].canonical_name, ("wholly other words",), ("T0",))])
        kb.retire(["C90"])
        text = "Zzyzx fever and cold."
        return [*documents[1:], Document("new", text, [Mention(0, 11, ids=("N1",)), Mention(16, 20)])]

    return change


@pytest.mark.parametrize("old", [FaissIVF, lambda: FaissIVF(codes="fp32", flat_below=16)])
@pytest.mark.parametrize("into", [FaissIVF, lambda: FaissIVF(codes="int8"), lambda: FaissIVF(codes="pq")])
def test_the_same_bytes_as_a_new_build(kb, encoder, documents, changed, tmp_path, old, into):
    build(kb, encoder, old(), documents).to_disk(tmp_path / "old")
    documents = changed()
    reusing = ReusingEncoder(encoder, EntityIndex.from_disk(tmp_path / "old"), into())
    updated = files(build(kb, reusing, into(), documents), tmp_path / "updated")
    expected = files(build(kb, encoder, into(), documents), tmp_path / "expected")
    assert updated.keys() == expected.keys() >= {"rows.arrow", "priors.arrow", "meta.json"}
    assert updated == expected


def rows_of(kb, documents):
    """Kind and text of each row, the slow way."""
    named = [(document, m, id_) for document in documents for m in document.mentions for id_ in m.ids]
    return [
        *(("card", entity) for entity in kb.entities()),
        *(("alias", name) for entity in kb.entities() for name in names_of(entity)),
        *(("mention", (document.text, m.start, m.end)) for document, m, id_ in named if id_ in kb),
    ]


def test_only_changes_are_embedded(kb, documents, changed):
    old = build(kb, HashEmbed(width=64), FaissIVF(), documents)
    before = rows_of(kb, documents)
    documents = changed()
    after = rows_of(kb, documents)
    encoder = Counting()
    reusing = ReusingEncoder(encoder, old, FaissIVF())
    built = build(kb, reusing, FaissIVF(), documents)
    rows = {("card", "N1"), ("card", "C2"), ("mention", "Zzyzx fever")}
    rows |= {("alias", name) for name in ("zzyzx fever", "quux disease", "wholly other words")}
    # HashEmbed reads cards and mentions as names, too
    as_names = (kb["C2"].canonical_name, "Zzyzx fever", "Zzyzx fever and cold.")
    assert set(encoder.seen) == rows | {("alias", name) for name in as_names}
    assert reusing.counts(built.rows) == {
        "reused": sum(row in before for row in after),
        "embedded": len(rows),
        "dropped": sum(row not in after for row in before),
    }
    assert len(before) == len(old) and len(after) == len(built)


def test_what_is_in_all_fields_of_an_entity_counts(kb, encoder):
    """A template may read any of them."""
    entity = kb["C2"]
    old = EntityIndex.build(kb, encoder, index=FaissIVF())
    counting = Counting()
    reusing = ReusingEncoder(counting, old, FaissIVF())
    reusing.encode_entities([entity])
    assert counting.seen == []
    for field, value in (("definition", "A gloss."), ("types", ("T9",)), ("aliases", ("x",))):
        reusing.encode_entities([Entity(**{**vars(entity), field: value})])
        assert len([kind for kind, _ in counting.seen if kind == "card"]) == 1, field
        counting.seen.clear()
    # the same words are another text as the row of a card, a name or a mention
    reusing.encode_names([repr(entity)])
    assert counting.seen == [("alias", repr(entity))]


def test_fp16_is_reused_for_fp16(kb, encoder, documents, changed, tmp_path):
    old = build(kb, encoder, FaissIVF(codes="fp16"), documents)
    documents = changed()
    for into in (lambda: FaissIVF(codes="fp16"), lambda: FaissIVF(codes="fp16", flat_below=16)):
        built = build(kb, ReusingEncoder(encoder, old, into()), into(), documents)
        expected = build(kb, encoder, into(), documents)
        assert files(built, tmp_path / "built") == files(expected, tmp_path / "expected")
    with pytest.raises(PelError, match="PEL-E416.*fp16"):
        ReusingEncoder(encoder, old, FaissIVF())


@pytest.mark.parametrize("vectors", [FaissIVF(codes="int8"), FaissIVF(codes="pq"), FaissIVF(flat_below=16)])
def test_codes_that_lose_precision_are_refused(kb, encoder, vectors, tmp_path):
    EntityIndex.build(kb, encoder, index=vectors).to_disk(tmp_path / "old")
    old = EntityIndex.from_disk(tmp_path / "old")
    for into in (FaissIVF(), type(vectors)(**vectors.settings)):
        with pytest.raises(PelError, match="PEL-E416.*--codes fp32.*--update"):
            ReusingEncoder(encoder, old, into)


def test_an_index_of_other_weights_is_refused(kb, encoder):
    old = EntityIndex.build(kb, encoder, index=FaissIVF())
    with pytest.raises(PelError, match="PEL-E401.*another encoder"):
        ReusingEncoder(HashEmbed(width=64, context_weight=0.5), old, FaissIVF())
