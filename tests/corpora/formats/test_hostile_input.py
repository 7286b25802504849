"""Files that are damaged or meant to do harm: one clear error each, and nothing is lost in silence."""

import json
import zlib

import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.corpora.formats.base import CorpusReaderBase
from spacy_pel.corpora.formats.bioc import BiocCorpus
from spacy_pel.corpora.formats.docbin import DocbinCorpus
from spacy_pel.corpora.formats.jsonl import JsonlCorpus
from spacy_pel.corpora.formats.pubtator import PubtatorCorpus
from spacy_pel.errors import PelError
from spacy_pel.training.corpora.craft_corpus import COLUMNS, CraftCorpus
from spacy_pel.training.corpora.gsc_corpus import GscCorpus
from spacy_pel.types import Document
from spacy_pel.util import read_lines

DEEP = "[" * 100_000 + "]" * 100_000
BIOC = (
    '<?xml version="1.0" encoding="{encoding}"?><collection><document><id>1</id><passage>'
    "<offset>{offset}</offset><text>fever</text></passage></document></collection>"
)


def document(**more):
    return json.dumps({"id": "1", "text": "fever", **more})


def mention(**more):
    return document(mentions=[{"start": 0, "end": 5, "ids": ["C1"], **more}])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f'{{"id": "1", "text": "fever", "mentions": {DEEP}}}', "E002.*line 1"),
        (mention(start=5).replace("5,", "1e999,", 1), "E202.*line 1.*inf"),
        (document(text="a \ud800"), "E002.*line 1.*surrogate after .*a "),
        (document(meta=5), "E202.*line 1.*the meta 5"),
        (mention(text=5), "E202.*line 1.*'text': 5"),
        (mention(ids=[["C1"]]), "E202.*line 1.*'ids'"),
        (mention(composite="no"), "E202.*line 1.*'no'"),
        ('{"id": "no text"}', "E202.*line 1.*the keys"),
        (document(mentions={"start": 0}), "E202.*line 1.*the mentions"),
        (document(mentions=[{"start": 0}]), "E202.*line 1.*the mention"),
        (document(data={}, annotations=[3]), "E202.*line 1.*the annotations .3"),
        (document(data={}, annotations=[{"result": [{"value": 5}]}]), "E202.*line 1.*the annotations"),
        (mention(end=6), "E201.*line 1"),
    ],
)
def test_json_lines(tmp_path, line, said):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(PelError, match=said) as caught:
        list(read_corpus(tmp_path / "bad.jsonl"))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("offset", ["3000000000", "9" * 20])
@pytest.mark.parametrize("kind", ["xml", "json"])
def test_a_passage_far_behind_the_text(tmp_path, kind, offset):
    """It would be filled with blanks up to there: gigabytes."""
    passage = {"offset": int(offset), "text": "fever"}
    content = json.dumps({"documents": [{"id": "1", "passages": [passage]}]})
    path = tmp_path / f"bad.{kind}"
    path.write_text(BIOC.format(encoding="UTF-8", offset=offset) if kind == "xml" else content)
    with pytest.raises(PelError, match=f"E207.*document 1.*{offset}"):
        list(BiocCorpus()([path]))


def test_bioc_with_a_lone_surrogate(tmp_path):
    passage = {"offset": 0, "text": "fever \ud800"}
    (tmp_path / "bad.json").write_text(json.dumps({"documents": [{"id": "1", "passages": [passage]}]}))
    with pytest.raises(PelError, match="E002.*document 1.*surrogate after .*fever "):
        list(BiocCorpus()([tmp_path / "bad.json"]))


def test_prefixes_of_json_lines(tmp_path):
    mention = {"start": 0, "end": 1, "ids": ["MESH:D1", "D2", "MESH:"]}
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "1", "text": "A", "mentions": [mention]}))
    [document] = JsonlCorpus(strip_prefix="MESH:")([tmp_path / "x.jsonl"])
    assert document.mentions[0].ids == ("D1", "D2", "MESH:")


def craft(tmp_path, *texts, rows=()):
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    table = ["\t".join(row) for row in (COLUMNS, *rows)]
    (tmp_path / "concepts.tsv").write_text("\n".join(table) + "\n")
    return [tmp_path / "texts.jsonl", tmp_path / "concepts.tsv"]


def test_craft_texts_that_are_no_text(tmp_path):
    for wrong in ({"text": None}, {"text": 5}, {"split": ["train"]}, {"pmid": None}):
        record = {"pmid": "1", "split": "train", "text": "fever", **wrong}
        with pytest.raises(PelError, match=r"E207.*texts\.jsonl, line 1.*'craft'"):
            list(CraftCorpus()(craft(tmp_path, record)))


def test_craft_annotations_of_unknown_texts_are_counted(tmp_path):
    """They were left out without a word."""
    known = ["CL", "train", "1", "0,5", "CL:1", "CL", "fever"]
    rows = [known, [*known[:2], "2", *known[3:]], [known[0], "test", "3", *known[3:]]]
    paths = craft(tmp_path, {"pmid": 1, "split": "train", "text": "fever"}, rows=rows)
    reader = CraftCorpus()
    assert [len(found.mentions) for found in reader(paths)] == [1]
    assert reader.report["no_text"] == reader.report["dropped"] == 2 and reader.report["mentions"] == 3
    with pytest.raises(PelError, match=r"E207.*concepts\.tsv, line 3.*document 2"):
        list(CraftCorpus(strict=True)(paths))
    of_part = CraftCorpus(part="train")
    list(of_part(paths))
    assert of_part.report["no_text"] == 1


def test_pubtator_lines_that_would_replace_others(tmp_path):
    for lines in (["1|t|Fever", "1|a|one", "1|a|two"], ["1|t|Fever", "2|a|one"]):
        (tmp_path / "bad.txt").write_text("\n".join(lines) + "\n")
        with pytest.raises(PelError, match=rf"E205.*bad\.txt, line {len(lines)}"):
            list(PubtatorCorpus()([tmp_path / "bad.txt"]))


def test_long_offsets_and_ids_of_gsc(tmp_path):
    """In quadratic time the id would take hours: 200,000 letters took five minutes."""
    for name in ("Text", "Annotations"):
        (tmp_path / name).mkdir()
    (tmp_path / "Text" / "1").write_text("fever")
    (tmp_path / "Annotations" / "1").write_text(f"[0::{'9' * 5000}]\tHP_1 | fever\n")
    with pytest.raises(PelError, match="E207.*Annotations/1, line 1"):
        list(GscCorpus()([tmp_path]))
    (tmp_path / "Annotations" / "1").write_text(f"[0::5]\tHP_1{'a' * 3_000_000}-{'b' * 3_000_000} | fever\n")
    [document] = GscCorpus()([tmp_path])
    assert document.mentions[0].ids[0].startswith("HP:1a")


def test_what_a_reader_does_not_check_names_the_place(tmp_path):
    class Foreign(CorpusReaderBase):
        def read(self, paths):
            for _, line in read_lines(paths[0]):
                yield Document(line.split("|")[1], line)

    (tmp_path / "x.txt").write_text("A|a\nB\n")
    with pytest.raises(PelError, match=r"E012.*Foreign.*x\.txt"):
        list(Foreign()([tmp_path / "x.txt"]))


def test_a_docbin_that_unpacks_to_gigabytes(tmp_path):
    (tmp_path / "bomb.spacy").write_bytes(zlib.compress(bytes(100 * 2**20), 9))
    with pytest.raises(PelError, match=r"E002.*64 MiB.*bomb\.spacy"):
        list(DocbinCorpus()([tmp_path / "bomb.spacy"]))
    (tmp_path / "bad.spacy").write_bytes(zlib.compress(b"\x81\xa4orth\xc0"))
    with pytest.raises(PelError, match=r"E207.*bad\.spacy"):
        list(DocbinCorpus()([tmp_path / "bad.spacy"]))
