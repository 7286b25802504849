"""Files that are damaged or meant to do harm: one clear error each, and nothing is lost in silence."""

import gzip
import json

import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.corpora.readers.bioc_corpus import BiocCorpus
from spacy_pel.corpora.readers.pubtator_corpus import PubtatorCorpus
from spacy_pel.errors import PelError
from spacy_pel.util import read_json

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
        (document(meta={"source": ["\udfff"]}), "E002.*line 1.*surrogate"),
        (mention(label="\ud83d"), "E002.*line 1.*surrogate"),
        (document(meta=5), "E202.*line 1.*the meta 5"),
        (mention(text=5), "E202.*line 1.*'text': 5"),
    ],
)
def test_json_lines(tmp_path, line, said):
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(PelError, match=said) as caught:
        list(read_corpus(tmp_path / "bad.jsonl"))
    assert len(str(caught.value)) < 1000


def test_a_long_value_is_quoted_in_part(tmp_path):
    (tmp_path / "bad.jsonl").write_text(mention(start="x" * 1_000_000) + "\n")
    with pytest.raises(PelError, match="E202.*xxx…") as caught:
        list(read_corpus(tmp_path / "bad.jsonl"))
    assert len(str(caught.value)) < 1000


def test_json_that_is_nested_too_deeply(tmp_path):
    (tmp_path / "bad.json").write_text(DEEP)
    with pytest.raises(PelError, match="E002.*bad.json"):
        read_json(tmp_path / "bad.json")
    with pytest.raises(PelError, match="E002.*bad.json, line 1"):
        list(BiocCorpus()([tmp_path / "bad.json"]))


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


def test_bioc_in_an_unknown_encoding_and_in_part(tmp_path):
    (tmp_path / "bad.xml").write_text(BIOC.format(encoding="UF-8", offset=0))
    with pytest.raises(PelError, match=r"E207.*bad\.xml.*UF-8"):
        list(BiocCorpus()([tmp_path / "bad.xml"]))
    whole = gzip.compress(BIOC.format(encoding="UTF-8", offset=0).encode())
    (tmp_path / "part.xml.gz").write_bytes(whole[:-12])
    with pytest.raises(PelError, match=r"E207.*part\.xml\.gz"):
        list(BiocCorpus()([tmp_path / "part.xml.gz"]))


def test_lines_that_end_in_cr_alone(tmp_path):
    """Read as one line, it lost every document after the first."""
    lines = ["1|t|Fever", "1|a|", "1\t0\t5\tFever\tT\tC1", "", "2|t|Pain", "2|a|", ""]
    (tmp_path / "crlf.txt").write_bytes("\r\n".join(lines).encode())
    assert [one.id for one in PubtatorCorpus()([tmp_path / "crlf.txt"])] == ["1", "2"]
    (tmp_path / "cr.txt").write_bytes("\r".join(lines).encode())
    with pytest.raises(PelError, match=r"E002.*cr\.txt.*CR alone"):
        list(PubtatorCorpus()([tmp_path / "cr.txt"]))
