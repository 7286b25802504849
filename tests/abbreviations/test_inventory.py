"""The inventory of abbreviations: counting definitions, and the table."""

import pytest

from spacy_pel.abbreviations.inventory import (
    Abbreviation,
    AbbreviationCounts,
    is_inventory,
    read_inventory,
    write_inventory,
)
from spacy_pel.errors import PelError
from spacy_pel.types import Document, Entity


def test_counts_uses_and_documents_of_texts():
    counts = AbbreviationCounts()
    counts.add_texts(
        [
            Document("1", "Adenosine triphosphate (ATP) was low. ATP rose, and ATP fell."),
            Document("2", "We gave adenosine\ntriphosphate (ATP)."),
            Document("3", "Adenosine triphosphate rose; ATP fell."),  # defines nothing
            Document("4", "The anterior tibial pulse (ATP) was weak."),
        ]
    )
    assert counts.abbreviations() == [
        Abbreviation("ATP", "Adenosine triphosphate", 4, 2),
        Abbreviation("ATP", "anterior tibial pulse", 1, 1),
    ]


def test_counts_entities_whose_names_spell_each_other_out():
    counts = AbbreviationCounts()
    counts.add_entities(
        [
            Entity("C1", "Adenosine Triphosphate", ("ATP", "adenosine 5-triphosphate", "Striadyne")),
            Entity("C2", "adenosine triphosphate assay", ("ATP",)),
            Entity("C3", "ATP", ("Adenosine triphosphate",)),
            Entity("C4", "Anemia", ("low hemoglobin (LH)", "HB")),
            Entity("C5", "NAD", (), definition="Nicotinamide adenine dinucleotide (NAD) is a coenzyme."),
            Entity("C6", "Pulse", ("APT",), definition="Felt at the wrist (or the neck)."),
        ]
    )
    found = {entry[:2]: entry[2:] for entry in counts.abbreviations()}
    assert found.pop(("ATP", "adenosine triphosphate assay")) == (1, 1)
    assert found == {("ATP", "Adenosine Triphosphate"): (2, 2), ("NAD", "Nicotinamide adenine dinucleotide"): (1, 1)}


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
        ("HF", "a long form.*line 2, got 'HF'"),
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
    with pytest.raises(PelError, match="none with uses"):
        read_inventory(tmp_path / "half.tsv")
