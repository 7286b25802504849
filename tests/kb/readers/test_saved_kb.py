"""The reader of KB folders, which are no text as the sources of the other readers."""

from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.from_files import build_kb
from spacy_pel.kb.readers.jsonl_kb import SavedKB
from spacy_pel.types import Entity

ENTITIES = [
    Entity("C1", "Grippe", ("influenza",), ("T047",), "A disease.", ("MESH:D007251",), ("C2",)),
    Entity("C2", "Infektion – akut", types=("T047",)),
    Entity("C3", "Fieber", types=("T184",)),
]


def test_it_gives_what_was_saved(tmp_path):
    kb = KnowledgeBase(ENTITIES, redirects={"C0": "C1"}, source={"name": "tiny", "licence": "CC0"})
    kb.retire(["C3"])
    kb.to_disk(tmp_path / "kb")
    reader = SavedKB(strict=True)
    reader.notes_obsolete = True
    assert list(reader([tmp_path / "kb"])) == ENTITIES[:2]
    assert reader.redirects == {"C0": "C1"} and reader.obsolete.keys() == {"C3"}
    assert reader.source["name"] == "tiny" and reader.source["sources"] == [
        {"name": "tiny", "entities": 2, "licence": "CC0"}
    ]
    again = build_kb(SavedKB(), [tmp_path / "kb"], tmp_path / "again", about={})
    assert list(again.entities()) == ENTITIES[:2] and again.resolve("C0") == "C1"


def test_filters(tmp_path):
    path = KnowledgeBase.build(ENTITIES, tmp_path / "kb").path
    assert [one.concept_id for one in SavedKB(types=["T184"])([path])] == ["C3"]
    assert [one.concept_id for one in SavedKB(id_prefix="C2")([path])] == ["C2"]
