"""ZESHEL's mentions: token offsets, ends inclusive, into the pages of wikis."""

import json
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.corpora.zeshel import ZeshelCorpus

FIXTURES = Path(__file__).parents[2] / "fixtures" / "corpora" / "zeshel"
PAGE = {"document_id": "D1", "title": "Lamp", "text": "Lamp  The lamp\u00e9 of C . W . Jessen burnt\u00a0oil ."}
TOKENS = PAGE["text"].split()


def mention(first, last, text=None, number=0, **changes):
    text = " ".join(TOKENS[first : last + 1]) if text is None else text
    given = {
        "mention_id": f"M{number}",
        "context_document_id": "D1",
        "corpus": "harbour",
        "start_index": first,
        "end_index": last,
        "text": text,
        "label_document_id": "D2",
        "category": "LOW_OVERLAP",
    }
    return {**given, **changes}


def write(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf8")
    return path


def files(tmp_path, mentions, pages=(PAGE,)):
    return [write(tmp_path / "documents" / "harbour.json", pages), write(tmp_path / "mentions" / "test.json", mentions)]


def test_token_offsets_become_character_offsets(tmp_path):
    spans = [(2, 2), (4, 8), (9, 10), (0, len(TOKENS) - 1), (len(TOKENS) - 1, len(TOKENS) - 1)]
    given = [mention(*span, number=number) for number, span in enumerate(spans)]
    given[0]["label_document_id"] = ""
    paths = files(tmp_path, given)
    (document,) = ZeshelCorpus(strict=True)(paths)
    assert [document] == list(ZeshelCorpus()([tmp_path / "documents", paths[1]])), "the folder of pages will do"
    assert document.text == " ".join(TOKENS) and document.id == "D1"
    surfaces = {document.text[one.start : one.end] for one in document.mentions}
    assert surfaces == {" ".join(TOKENS[first : last + 1]) for first, last in spans}
    assert {"C . W . Jessen", "lamp\u00e9"} <= surfaces
    assert {one.label for one in document.mentions} == {"LOW_OVERLAP"}
    assert {document.text[one.start : one.end]: one.ids for one in document.mentions}["lamp\u00e9"] == ()
    assert {one.ids for one in document.mentions} == {("D2",), ()}


def test_world_and_category_are_kept():
    reader = ZeshelCorpus()
    documents = {one.id: one for one in reader(sorted(FIXTURES.iterdir()))}
    assert reader.report["mentions"] == 6 and reader.report["documents"] == len(documents) == 4
    harbour = documents["00B2D4F6081A3C4E"]
    assert harbour.meta["world"] == "harbour" and harbour.meta["title"] == "Gull Harbour"
    categories = {one["mention_id"]: one["category"] for one in harbour.meta["mentions"]}
    assert set(categories.values()) == {"HIGH_OVERLAP", "MULTIPLE_CATEGORIES"}
    placed = {(one.start, one.end, one.label) for one in harbour.mentions}
    assert placed == {(one["start"], one["end"], one["category"]) for one in harbour.meta["mentions"]}


@pytest.mark.parametrize(("first", "last"), [(3, 3), (2, 99), (-1, 2), (5, 4)])
def test_offsets_that_do_not_hold_the_text(tmp_path, first, last):
    paths = files(tmp_path, [mention(2, 2), mention(first, last, text="nowhere", number=1)])
    reader = ZeshelCorpus()
    (document,) = reader(paths)
    assert len(document.mentions) == len(document.meta["mentions"]) == 1
    assert (reader.report["mismatches"], reader.report["dropped"]) == (1, 1)
    with pytest.raises(PelError, match=r"PEL-E201.*test\.json, line 2, D1.*nowhere"):
        list(ZeshelCorpus(strict=True)(paths))


def test_a_page_that_is_not_there(tmp_path):
    paths = files(tmp_path, [mention(2, 2), mention(2, 2, number=1, context_document_id="D9")])
    reader = ZeshelCorpus()
    assert len(list(reader(paths))) == 1
    assert (reader.report["no_page"], reader.report["dropped"], reader.report["mentions"]) == (1, 1, 2)
    with pytest.raises(PelError, match=r"test\.json, line 2"):
        list(ZeshelCorpus(strict=True)(paths))


@pytest.mark.parametrize(
    ("changes", "match"),
    [({"start_index": "2"}, "whole numbers"), ({"category": None}, "category"), ({"corpus": 3}, "corpus")],
)
def test_a_faulty_mention_is_named_with_its_line(tmp_path, changes, match):
    paths = files(tmp_path, [mention(2, 2), mention(2, 2, **changes)])
    with pytest.raises(PelError, match=rf"test\.json, line 2.*{match}"):
        list(ZeshelCorpus()(paths))


def test_pages_or_mentions_alone_are_not_enough(tmp_path):
    pages, mentions = files(tmp_path, [mention(2, 2)])
    with pytest.raises(PelError, match=r"harbour\.json.*no file of mentions"):
        list(ZeshelCorpus()([pages]))
    with pytest.raises(PelError, match=r"test\.json.*no file of pages"):
        list(ZeshelCorpus()([mentions]))
