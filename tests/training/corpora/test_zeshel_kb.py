"""Pages of a wiki as entities, in ZESHEL's exact form."""

import json

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.from_files import build_kb
from spacy_pel.training.corpora import zeshel
from spacy_pel.training.corpora.zeshel import ZeshelKB

from .test_zeshel import write

PAGES = [
    {"document_id": "0A", "title": "Warner", "text": "Warner Warner was a technician aboard the Beacon ."},
    {"document_id": "0B", "title": "Tyler (2012)", "text": "Tyler ( 2012 ) Tyler \u2019 s wife was Winnie ."},
]


def read(path, **settings):
    return list(ZeshelKB(**settings)([path]))


def test_title_and_first_words(tmp_path, monkeypatch):
    path = write(tmp_path / "doctor_who.json", PAGES)
    monkeypatch.setattr(zeshel, "_N_WORDS", 4)
    warner, tyler = read(path)
    assert (warner.concept_id, warner.canonical_name, warner.aliases) == ("0A", "Warner", ())
    assert (warner.types, warner.definition) == (("doctor_who",), "Warner was a technician")
    assert (tyler.canonical_name, tyler.definition) == ("Tyler (2012)", "Tyler \u2019 s wife")


@pytest.mark.parametrize(
    ("title", "text", "definition"),
    [
        ("Warner", "Warners are many .", "Warners are many ."),
        ("Warner", "Warner", None),
        ("Warner Bros", "Warner", "Warner"),
    ],
)
def test_a_text_that_does_not_begin_with_the_title_is_whole(tmp_path, title, text, definition):
    path = write(tmp_path / "w.json", [{"document_id": "0", "title": title, "text": text}])
    assert read(path)[0].definition == definition


def test_a_folder_of_worlds_and_one_of_them(tmp_path):
    write(tmp_path / "documents" / "doctor_who.json", PAGES)
    write(tmp_path / "documents" / "lego.json", [{"document_id": "0C", "title": "Brick", "text": "Brick"}])
    (tmp_path / "documents" / "README.md").write_text("no pages", encoding="utf8")
    folder = tmp_path / "documents"
    assert [entity.concept_id for entity in read(folder)] == ["0A", "0B", "0C"]
    assert [entity.concept_id for entity in read(folder, types=["lego"])] == ["0C"]
    kb = build_kb(ZeshelKB(), [folder], tmp_path / "kb", about={})
    assert kb.types() == {"doctor_who": 2, "lego": 1} and kb.ids("warner") == ["0A"]


@pytest.mark.parametrize("line", ['{"document_id": "0", "title": "A"}', '["a"]', '{"mention_id": "0"}', "{"])
def test_what_is_no_page_is_named_with_its_place(tmp_path, line):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(PAGES[0]) + "\n" + line + "\n", encoding="utf8")
    with pytest.raises(PelError, match=r"w\.json, line 2"):
        read(path)
