"""Reading files that are damaged or expand to gigabytes; errors that stay short and on one line."""

import gzip
import io
import os
import pickle

import pytest

from spacy_pel.errors import PelError, quoted
from spacy_pel.util import files, numbered_jsonl, read_lines, read_text
from spacy_pel.util.files import open_bytes
from spacy_pel.util.parsing import read_cells


def packed(path, data):
    path.write_bytes(gzip.compress(data, 9))
    return path


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_SMALL", 2**20)
    bomb = packed(tmp_path / "bomb.txt.gz", b"x" * (8 * 2**20))  # 1,000 times its size
    for read in (read_text, lambda path: list(read_lines(path)), lambda path: open_bytes(path).read()):
        with pytest.raises(PelError, match=r"E002.*MiB.*bomb\.txt\.gz.*unpack it"):
            read(bomb)


def test_what_releases_hold_is_read(tmp_path, monkeypatch):
    """MeSH expands 15 to 30 times."""
    monkeypatch.setattr(files, "_SMALL", 2**10)
    lines = b"".join(b"<String>name %d</String>\n" % (number // 8) for number in range(300_000))
    path = packed(tmp_path / "desc.xml.gz", lines)
    assert len(lines) > 15 * path.stat().st_size
    assert sum(1 for _ in read_lines(path)) == 300_000


def test_no_more_than_a_line_is_read_before_its_length_is_checked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 20_000)
    monkeypatch.setattr(files, "_BLOCK", 1000)
    (tmp_path / "long.txt").write_bytes(b"short\n" + b"x" * 1_000_000)
    read = []

    class Counted(io.FileIO):
        def readinto(self, buffer):
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(files, "open_bytes", lambda path: io.BufferedReader(Counted(path), 1024))
    with pytest.raises(PelError, match=r"E002.*long\.txt, line 2"):
        list(read_lines(tmp_path / "long.txt"))
    assert 20_000 < sum(read) < 25_000


def test_blocks_of_lines_end_by_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK", 1000)
    (tmp_path / "x.txt").write_bytes(b"".join(b"%d\n" % number for number in range(10_000)))
    blocks = list(files.raw_blocks(tmp_path / "x.txt"))
    assert len(blocks) > 20 and blocks[1][0] == len(blocks[0][1]) + 1
    assert [int(line) for _, block in blocks for line in block] == list(range(10_000))


def test_a_truncated_file_gives_what_is_whole_and_names_the_line(tmp_path):
    path = packed(tmp_path / "part.txt.gz", os.urandom(100_000).hex().encode() + b"\n" + b"x\n" * 9)
    path.write_bytes(path.read_bytes()[:-12])
    lines = read_lines(path)
    assert len(next(lines)[1]) == 200_000
    with pytest.raises(PelError, match=r"E002.*part\.txt\.gz, line \d"):
        list(lines)


def test_special_files_and_unreadable_ones(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")  # opening it would wait for a writer
    with pytest.raises(PelError, match="E002.*not a regular file"):
        read_text(tmp_path / "pipe.txt")
    with pytest.raises(PelError, match="E002.*got no such file"):
        open_bytes(tmp_path / ("long" * 100))
    with pytest.raises(PelError, match="E002.*a folder"):
        read_text(tmp_path)
    (tmp_path / "x.csv.gz").write_text("code,name")
    with pytest.raises(PelError, match=r"E002.*gzip.*x\.csv\.gz, got b'co'.*off its name"):
        read_text(tmp_path / "x.csv.gz")


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"PK\x03\x04\x14\0\0\0 codes.csv", "a zip file. Unpack it"),
        (b"PK\x03\x04\x14\0\0\0 [Content_Types].xml ... xl/workbook.xml", "an Excel or Word file. Save it as CSV"),
        (b"%PDF-1.7\n", "a PDF. Extract its text"),
        (b'<?xml version="1.0"?>\n<!-- a --><!DOCTYPE x>\n<PubmedArticleSet>', "PubMed XML"),
        ("<article><front/></article>".encode("utf-16"), "JATS"),
        (b"\r\nPMID- 1\r\nTI  - x", "nbib"),
        (b"BZh91AY", "packed data"),
        (b"SQLite format 3\0\x10\0\1\1\0@  \0\0\0", "a binary file"),
        (b"\x93NUMPY\1\0v\0{", "a binary file"),
        (b"\x89HDF\r\n", "a binary file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer.*git lfs pull"),
    ],
)
def test_what_no_reader_reads_is_named(tmp_path, content, got):
    for name, data in {"x.csv": content, "y.csv.gz": gzip.compress(content)}.items():
        (tmp_path / name).write_bytes(data)
        for read in (lambda path: list(read_lines(path)), read_text):
            with pytest.raises(PelError, match=rf"E002.*{name}, got .*{got}"):
                read(tmp_path / name)
    assert list(read_lines(packed(tmp_path / "z.csv", b"code,name"))) == [(1, "code,name")]  # under any name


def test_other_text_is_of_no_format():
    """And prologues of XML take no time that grows exponentially."""
    heads = ("AĀB".encode("utf-16-le"), b"a\0\0", b"\x93DNA\x94", b"code,name\n", b'{"id": "PMID- 1"}')
    for head in (*heads, b"<p>asthma</p>", b"<?xml ?>" * 1000, b"<!-- " * 1600):
        assert files.format_of(head) is None


def test_lone_surrogates_in_json_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00"}\n{"a": "\\\\ud800"}\n{"a": "\\uD800"}\n')
    lines = numbered_jsonl(path)
    assert next(lines) == (1, {"a": "😀"}) and next(lines) == (2, {"a": "\\ud800"})
    with pytest.raises(PelError, match="E002.*line 3.*surrogate"):
        next(lines)
    path.write_text('[{"a": "b"}, {"a": "\\uD800"}]')
    with pytest.raises(PelError, match="E002.*item 2.*surrogate"):
        list(numbered_jsonl(path))


def test_errors_are_one_short_line():
    err = PelError("start " + "x" * 1_000_000 + " the end\nof it \x1b[2J \ud800")
    assert len(str(err)) == 1000 and str(err).isprintable()
    assert str(err).startswith("start xx") and str(err).endswith("the end of it \\x1b[2J \\ud800")
    assert str(pickle.loads(pickle.dumps(err))) == str(err)
    assert str(PelError("naïve – 中")) == "naïve – 中"


def test_quoted_values_are_short():
    laughs = "x"
    for _ in range(50):
        laughs = [laughs] * 9
    deep = []
    for _ in range(5000):
        deep = [deep]
    for value in ("x" * 10**6, list(range(10**6)), laughs, deep, {"a" * 10**6: 1}, 10**4000):
        assert len(quoted(value)) <= 201
    assert quoted({"a": [1]}) == "{'a': [1]}"


def test_cells(tmp_path):
    path = tmp_path / "x.tsv"

    def cells(*lines, **settings):
        return list(read_cells(path, enumerate(lines, start=1), **settings))

    assert cells("a\tb", "", '"c\td"\te') == [(1, ["a", "b"]), (3, ["c\td", "e"])]
    assert cells('"a\tb', quotes=False) == [(1, ['"a', "b"])]
    assert cells('a,"b', 'c"', delimiter=",") == [(2, ["a", "b\nc"])]
    for kept in (["n\tt", '1\t"a\tb', '5\tc"'], ["n\tt", 'x\t"a', 'y\tb"'], ["n,t", '1,"a', '2, b"']):
        assert len(cells(*kept, delimiter=kept[0][1], texts=True)) == 2
    for swallowed in (["n\tt", '1\t"a', '2\tb"'], ["t\tn", '"a\td9', 'b"\td10'], ["n,t", '7123,"a', '8456,b"']):
        with pytest.raises(PelError, match=r"E002.*line 2.*rows in it"):
            cells(*swallowed, delimiter=swallowed[0][1], texts=True)
    for lines in (['a\t"b', "c\td", 'e"\tf'], ['"a', "b"], ['"a"b']):
        with pytest.raises(PelError, match=r"E002.*x\.tsv, line \d.*quotation marks"):
            cells(*lines)
