"""BRAT as annotators write it, and as `link` does."""

import gzip

import pytest

from spacy_pel.corpora.formats.brat import BratCorpus, write_brat
from spacy_pel.errors import PelError
from spacy_pel.types import Mention

from .test_writers import RECORDS, expected, found, record

TEXT = "Fever and rash.\nNo heart\nattack, no gout."


def read(tmp_path, *lines, text=TEXT, **settings):
    (tmp_path / "a.txt").write_bytes(text.encode())
    (tmp_path / "a.ann").write_bytes(("\n".join(lines) + "\n").encode())
    reader = BratCorpus(**settings)
    [document] = reader([tmp_path])
    return document, reader.report


@pytest.mark.parametrize(
    "lines,ids,composite",
    [
        ([], (), False),
        (["N1\tReference T1 UMLS:C1\tfever"], ("UMLS:C1",), False),
        (["N1\tReference T1 UMLS:C1\tfever", "N2\tReference T1 HPO:1\tfever"], ("UMLS:C1", "HPO:1"), False),
        (["N1\tReference T1 UMLS:CUI-less\t"], (), False),
        (["N1\tReference T1 UMLS:C1\tfever", "#1\tAnnotatorNotes T1\tC0002"], ("UMLS:C1",), False),
        (["#1\tAnnotatorNotes T1\tC0015967"], ("C0015967",), False),
        (["#1\tAnnotatorNotes T1\tC0015967, C0424755"], ("C0015967", "C0424755"), False),
        (["#1\tAnnotatorNotes T1\t8041/34"], ("8041/34",), False),
    ],
)
def test_ids(tmp_path, lines, ids, composite):
    document, report = read(tmp_path, *lines, "T1\tFinding 0 5\tFever")
    assert document.mentions == [Mention(0, 5, "Finding", ids, composite=composite)]
    assert report["dropped"] == 0 and "notes" not in report


def test_what_is_no_mention_is_counted(tmp_path):
    document, report = read(
        tmp_path,
        *("T1\tFinding 0 5\tFever", "", "#1\tAnnotatorNotes T1\tis this one?", "#2\tAnnotatorNotes R1\tC0015967"),
        *("E1\tFinding:T1", "R1\tCauses Arg1:T1 Arg2:T1", "*\tEquiv T1 T2", "A1\tNegated T1", "M1\tNegated T1"),
        "X1\tsomething else",
    )
    assert document.mentions == [Mention(0, 5, "Finding")]
    counts = {"notes": 1, "events": 1, "relations": 2, "attributes": 2, "unknown_lines": 1}
    assert {key: report.get(key) for key in counts} == counts


def test_parts(tmp_path):
    document, report = read(
        tmp_path,
        "T1\tEvent 19 24;25 31\theart attack",
        "T2\tEvent 0 5;10 14\tFever rash",
        "T3\tEvent 16 31\tNo heart attack",
        label="X",
    )
    assert document.mentions == [Mention(0, 14, "X"), Mention(16, 31, "X"), Mention(19, 31, "X")]
    assert document.meta["discontinuous"] == [{"start": 0, "end": 14, "spans": [[0, 5], [10, 14]]}]
    assert report["discontinuous"] == 1


@pytest.mark.parametrize("offset", [0, 2])
def test_line_ends_of_two_characters(tmp_path, offset):
    line = f"T1\tFinding {36 + offset} {40 + offset}\tgout"
    document, _ = read(tmp_path, line, text=TEXT.replace("\n", "\r\n"), strict=True)
    assert document.text[document.mentions[0].start :] == "gout."
    assert ("\r" in document.text) == bool(offset)


def test_folders_and_single_files(tmp_path):
    for name in ("train/b", "a", "c"):
        path = tmp_path / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("Fever")
        path.with_suffix(".ann").write_text("T1\tFinding 0 5\tFever\n")
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"Rash"))
    (tmp_path / "annotation.conf").write_text("[entities]\n")
    reader = BratCorpus()
    assert [(one.id, len(one.mentions)) for one in reader([tmp_path])] == [("a", 1), ("c", 1), ("d", 0), ("b", 1)]
    assert reader.report["without_annotations"] == 1
    for paths in (["a.ann"], ["a.txt"], ["a.txt", "a.ann"]):
        assert [len(one.mentions) for one in reader([tmp_path / path for path in paths])] == [1]
    (tmp_path / "a.txt").unlink()
    with pytest.raises(PelError, match=r"E207.*a\.ann: expected a text a\.txt"):
        list(reader([tmp_path]))


@pytest.mark.parametrize("line", ["T1\tFinding 0 5", "T1\tFinding 0\tFever", "T1 Finding 0 5 Fever", "T1\tX a b\tc"])
def test_a_damaged_mention_is_named(tmp_path, line):
    with pytest.raises(PelError, match=r"E207.*a\.ann, line 1"):
        read(tmp_path, line)


def test_what_link_writes_is_read_back(tmp_path):
    ids = ["my id%", "KB:7", "KB2:1", "MESH:D 1", "A|B", "A,B2", "C1+C2"]
    odd = [record(f"a/b é – {one}", "gout", ("gout", "X", one)) for one in ids]
    plain = [one for one in RECORDS if one["id"] != "xml"]  # BRAT has no label A&B
    write_brat(tmp_path / "out.brat", [*plain, *odd])
    documents = {document.id: document for document in BratCorpus(strict=True)([tmp_path / "out.brat"])}
    assert len(documents) == len(plain) + len(odd)
    for written in [*plain, *odd]:
        text = written["text"]
        for char in "\t\r\x0b\x85\u2028":
            text = text.replace(char, " ")
        assert found(documents[written["id"]]) == expected(written, text)
        assert documents[written["id"]].meta == {}


def test_texts_without_any_annotations(tmp_path):
    (tmp_path / "a.txt").write_text("Fever")
    with pytest.raises(PelError, match=r"E207.*expected files \.ann beside files \.txt"):
        list(BratCorpus()([tmp_path]))
