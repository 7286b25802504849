"""The comparison of readers with other parsers, on a file that they count differently."""

from benchmarks.readers.__main__ import compare, table_of
from benchmarks.readers.corpora import corpus, counts_of
from benchmarks.readers.entry import Entry


def a_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1|t|Fever, pain.\n1\t0\t5\tFever\tT\tA|B\n1\t7\t11\tpain\tT\t-1\n1\t0\t5\tFever\tT\tA\n")
    return path


def broken(paths):
    raise KeyError("date")


def test_equal_or_why_not(tmp_path):
    path = a_file(tmp_path)
    assert counts_of([["A|B", "-1", "A"]]) == {"documents": 1, "mentions": 3, "ids": 3}
    entries = [
        Entry((path.name,), "pubtator", corpus("pubtator"), other)
        for other in (lambda paths: {"documents": 1, "mentions": 2, "ids": 2}, counts_of_all, broken)
    ]
    rows = [compare(entry, [path]) for entry in entries]
    assert [row["equal"] for row in rows] == [True, False, False]
    assert rows[1]["ours"] == {"documents": 1, "mentions": 2, "ids": 2}
    assert rows[1]["report"] == {"same_span": 1} and "KeyError('date')" in rows[2]["note"]
    last = table_of(rows).columns[-1]._cells
    assert last == ["equal", "1 same span", "the other parser failed: KeyError('date'), 1 same span"]


def counts_of_all(paths):
    return counts_of([["A|B", "-1", "A"]])
