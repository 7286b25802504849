"""The inventory of abbreviations: the table."""

import pytest

from spacy_pel.abbreviations.inventory import Abbreviation, is_inventory, read_inventory, write_inventory
from spacy_pel.errors import PelError


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_the_table_comes_back(name, tmp_path):
    entries = [Abbreviation("TNF-α", "tumor necrosis factor α", 7, 2), Abbreviation("HF", 'heart "failure', 1, 1)]
    write_inventory(tmp_path / name, entries)
    assert is_inventory(tmp_path / name) and read_inventory(tmp_path / name) == entries


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short_form\tlong_form\tuses\nHF\theart failure\t3\n", (3, 1)),  # without documents
        ("uses\tlong_form\tshort_form\n3\theart failure\tHF\n", (3, 1)),
        ("\ufeffshort_form\tlong_form\tdocuments\tuses\tnote\r\n\r\nHF \t heart failure\t2\t3\tmine\r\n", (3, 2)),
    ],
)
def test_an_edited_table(text, expected, tmp_path):
    (tmp_path / "a.tsv").write_text(text, encoding="utf8", newline="")
    assert is_inventory(tmp_path / "a.tsv")
    assert read_inventory(tmp_path / "a.tsv") == [Abbreviation("HF", "heart failure", *expected)]


@pytest.mark.parametrize(
    ("lines", "got"),
    [
        ("HF\theart failure\tmany\t1", "line 2.*'many'"),
        ("HF\theart failure\t0\t1", "line 2.*'0'"),
        ("HF\theart failure\t²\t1", "line 2.*'²'"),
        ("HF\theart failure\t1\t1\nMI\t\t1\t1", "a long form.*line 3, got 'MI"),
        ("HF", "4 cells as in the header at .*line 2"),
    ],
)
def test_bad_lines_are_named(lines, got, tmp_path):
    (tmp_path / "a.tsv").write_text("short_form\tlong_form\tuses\tdocuments\n" + lines, encoding="utf8")
    with pytest.raises(PelError, match=got):
        read_inventory(tmp_path / "a.tsv")


def test_other_tables_are_no_inventories(tmp_path):
    (tmp_path / "codes.tsv").write_text("code\tname\nA1\theart failure\n")
    assert not is_inventory(tmp_path / "codes.tsv") and not is_inventory(tmp_path)
    (tmp_path / "half.tsv").write_text("short_form\tlong_form\nHF\theart failure\n")
    with pytest.raises(PelError, match="columns of abbreviations"):
        read_inventory(tmp_path / "half.tsv")
