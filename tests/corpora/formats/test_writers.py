"""What is written can be read by our readers; for BRAT, the lines of its standoff format."""

import re
from xml.etree import ElementTree

import pytest

from spacy_pel.corpora.formats.bioc import BiocCorpus, write_bioc
from spacy_pel.corpora.formats.brat import write_brat
from spacy_pel.corpora.formats.pubtator import PubtatorCorpus, write_pubtator
from spacy_pel.util import read_text


def record(document_id, text, *mentions):
    """mentions: (surface, label, id) in order of the text."""
    found, at = [], 0
    for surface, label, kb_id in mentions:
        at = text.index(surface, at)
        end = at + len(surface)
        name = f"name of {kb_id}" if kb_id not in ("", "NIL") else None
        found.append({"start": at, "end": end, "label": label, "kb_id": kb_id, "name": name, "score": 0.5})
        at = end
    return {"id": document_id, "text": text, "mentions": found}


LONG = "Gout 🦶 is not 𝒻ever. " * 20_000
RECORDS = [
    record("1", "CF was severe. No gout.", ("CF", "DISEASE", "C0010674"), ("gout", "DISEASE", "NIL")),
    record("PMC1|a", "Aspirin", ("Aspirin", "CHEMICAL", "MESH:D001241")),
    record("emoji", "😀 𝒜stro 👨‍👩‍👧 fever\u0301 é", ("𝒜stro", "X", "C1"), ("fever\u0301", "X", "C2"), ("é", "X", "")),
    record("xml", 'a < b & "c" ]]> d > e <!-- f', ('b & "c" ]]>', "A&B", "C<1>"), ("<!-- f", "A", "NIL")),
    record(
        "lines", "Title of\r\ntwo\tlines. Heart\nattack.\n\nEnd\x85 a\u2028b\x0bc \x00d", ("Heart\nattack", "X", "C1")
    ),
    record("empty", ""),
    record("blank", "\n\n fever \n", ("fever", "X", "C3")),
    record("long", LONG, ("𝒻ever", "X", "C4")),
    record("last", LONG, *[("𝒻ever", "X", "C4")] * 3),
    record("none", "Nothing here."),
]
RECORDS[7]["mentions"][0].update(start=len(LONG) - 7, end=len(LONG) - 2)
SPACES = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def expected(document, text):
    """What a reader should find."""
    mentions = [
        (m["start"], m["end"], m["label"], (m["kb_id"],) if m["kb_id"] not in ("", "NIL") else ())
        for m in document["mentions"]
    ]
    return document["id"], text, mentions


def found(document):
    return document.id, document.text, [(m.start, m.end, m.label, m.ids) for m in document.mentions]


@pytest.mark.parametrize("name", ["out.pubtator", "out.pubtator.gz"])
def test_pubtator_round_trip(tmp_path, name):
    write_pubtator(tmp_path / name, RECORDS)
    documents = list(PubtatorCorpus(strict=True)([tmp_path / name]))
    assert [document.id for document in documents][:2] == ["1", "PMC1_a"]
    documents[1].id = "PMC1|a"
    for written, read in zip(RECORDS, documents, strict=True):
        assert found(read) == expected(written, SPACES.sub(" ", written["text"]))


@pytest.mark.parametrize("abstract", ["7|a|CF was severe. It was.\n", "7|a|\n", ""])
def test_pubtator_title_stays(tmp_path, abstract):
    source = f"7|t|Is it gout? A trial of aspirin.\n{abstract}7\t6\t10\tgout\tDISEASE\tC1\n\n"
    (tmp_path / "in.pubtator").write_text(source)
    [document] = PubtatorCorpus()([tmp_path / "in.pubtator"])
    mentions = [{"start": 6, "end": 10, "label": "DISEASE", "kb_id": "C1"}]
    record = {"id": "7", "text": document.text, "meta": document.meta, "mentions": mentions}
    write_pubtator(tmp_path / "out.pubtator", [record])
    assert (tmp_path / "out.pubtator").read_text() == source


@pytest.mark.parametrize("known", [None, -1, 4, 10_000, "3", True])
def test_pubtator_title_length_that_is_none(tmp_path, known):
    record = {"id": "7", "text": "Gout. A trial.", "meta": {"title_length": known}, "mentions": []}
    write_pubtator(tmp_path / "out.pubtator", [record])
    assert (tmp_path / "out.pubtator").read_text() == "7|t|Gout.\n7|a|A trial.\n\n"


@pytest.mark.parametrize("name", ["out.xml", "out.xml.gz"])
def test_bioc_round_trip(tmp_path, name):
    write_bioc(tmp_path / name, RECORDS)
    documents = list(BiocCorpus(strict=True)([tmp_path / name]))
    for written, read in zip(RECORDS, documents, strict=True):
        assert found(read) == expected(written, re.sub("[\x00\x0b]", " ", written["text"]))


def test_bioc_elements(tmp_path):
    write_bioc(tmp_path / "out.xml", [RECORDS[0], RECORDS[2]])
    root = ElementTree.fromstring(read_text(tmp_path / "out.xml"))
    assert [child.tag for child in root] == ["source", "date", "key", "document", "document"]
    passage = root.find("document/passage")
    assert [child.tag for child in passage] == ["offset", "text", "annotation", "annotation"]
    infons = [
        {infon.get("key"): infon.text for infon in annotation.findall("infon")}
        for annotation in root.iter("annotation")
    ]
    assert infons[0] == {"identifier": "C0010674", "type": "DISEASE", "name": "name of C0010674", "score": "0.5"}
    assert infons[1]["identifier"] == "-" and "name" not in infons[1]
    assert "identifier" not in infons[4]  # not looked at
    assert [annotation.get("id") for annotation in passage.findall("annotation")] == ["T1", "T2"]


def ann_lines(folder, name):
    return (folder / f"{name}.ann").read_text(encoding="utf8").split("\n")[:-1]


def test_brat(tmp_path):
    odd = record("odd", "gout and x", ("gout", "Bone disease/joint", "my id%"), ("x", "", "KB2:1"))
    odd["mentions"][0]["name"] = "Gout\n(of the\tfoot)"
    odd["mentions"][1]["name"] = None
    out = tmp_path / "out.brat"
    write_brat(out, [*RECORDS, odd])
    for written in RECORDS:
        text = (out / f"{written['id'].replace('|', '%7C')}.txt").read_bytes().decode("utf8")
        assert text == re.sub(r"[\t\r\x0b\x85\u2028]", " ", written["text"])
    assert ann_lines(out, "1") == [
        "T1\tDISEASE 0 2\tCF",
        "N1\tReference T1 KB:C0010674\tname of C0010674",
        "T2\tDISEASE 18 22\tgout",
        "#2\tAnnotatorNotes T2\tNIL",
    ]
    assert ann_lines(out, "PMC1%7Ca")[1] == "N1\tReference T1 MESH:D001241\tname of MESH:D001241"
    assert ann_lines(out, "emoji")[4:] == ["T3\tX 21 22\té"], "not looked at"
    assert ann_lines(out, "lines")[0] == "T1\tX 21 26;27 33\tHeart attack"
    assert ann_lines(out, "xml")[0] == 'T1\tA_B 4 15\tb & "c" ]]>'
    assert ann_lines(out, "odd") == [
        "T1\tBone_disease_joint 0 4\tgout",
        "N1\tReference T1 KB:my%20id%25\tGout (of the foot)",
        "T2\tMention 9 10\tx",
        "N2\tReference T2 KB2:1\tKB2:1",
    ]


def test_brat_names_of_files(tmp_path):
    ids = ["a/b", "../c", "a", "A", "a", ".hidden", "é ü", "a~2", "50%"]
    write_brat(tmp_path / "out", [record(document_id, f"Text {n}.") for n, document_id in enumerate(ids)])
    texts = {path.stem: path.read_text() for path in (tmp_path / "out").glob("*.txt")}
    names = {text: name for name, text in texts.items()}
    assert len(texts) == len(ids) and len({name.casefold() for name in texts}) == len(ids)
    assert [names[f"Text {n}."] for n in (0, 1, 2, 3, 4, 5, 6, 8)] == [
        *("a%2Fb", "%2E.%2Fc", "a", "A~2", "a~3", "%2Ehidden", "é%20ü", "50%25")
    ]
