"""Lists of short forms: how they are read, and which sense the text beside a form tells."""

import time

import pytest
from cases import cases

from spacy_pel.abbreviations.documents import noted
from spacy_pel.abbreviations.short_forms import ShortForms, clinical, find_listed
from spacy_pel.errors import PelError


@pytest.fixture
def table(tmp_path):
    """Reads a table of these lines."""

    def read(*lines, name="house.tsv"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
        return ShortForms.read(path)

    return read


def found(text, *lists, labels=()):
    """What stands for what, and the list that says so."""
    senses = find_listed(text, lists or (clinical(),), dict(labels))
    return [(text[start:end], sense.meaning, sense.source) for start, end, _, sense in senses]


def meanings(text, *lists):
    return [meaning for _, meaning, _ in found(text, *lists)]


@pytest.mark.parametrize("header", ["Short form\tLong form\tSection", "abbreviation\tentity id", None])
def test_with_and_without_header(table, header):
    lines = ["# ours", "", "XY\tyellow fever", "AB|ABs\tC0000001\t\talways"]
    rows = table(*filter(None, [header]), *lines).rows
    assert [(row.short_form, row.meaning, row.mark) for row in rows] == [
        ("XY", "yellow fever", ""),
        ("AB|ABs", "C0000001", "always"),
    ]


@pytest.mark.parametrize("line", ["XY", "XY\t", "\tyellow", "XY\ta\tb\tnever", "XY\ta\tb\talways\tc", "%\tpercent"])
def test_an_error_names_the_line(table, line):
    with pytest.raises(PelError, match=r"house\.tsv, line 3, got .*Fix the file"):
        table("short\tlong", "AB\ta b", line)


@pytest.mark.parametrize("lines", [(), ("# nothing",), ("short form\tlong form",)])
def test_an_empty_table_is_an_error(table, lines):
    with pytest.raises(PelError, match="got none"):
        table(*lines)


def test_a_table_is_written_as_it_was_read(table):
    one = table("XY\tyellow fever\t*, in _, Travel Clinic\talways", "AB\tC0000001")
    assert table(*str(one).splitlines(), name="again.tsv").rows == one.rows


def test_cells_may_have_quotation_marks_as_spreadsheets_write_them(table):
    rows = ['"XY"\t"yellow fever, ""jungle"" kind"\t"Travel, in _"', '# "', '"# "\t', "", 'AB\tabout 5" long']
    with pytest.raises(PelError, match="line 3"):
        table(*rows)
    one = table(*rows[:2], *rows[3:])
    assert [row[:3] for row in one.rows] == [
        ("XY", 'yellow fever, "jungle" kind', ("travel", "in _")),
        ("AB", 'about 5" long', ()),
    ]
    assert table(*str(one).splitlines(), name="again.tsv").rows == one.rows


def test_the_first_list_decides(table):
    house = table("HD\tHodgkin disease", "QX\tquinine")
    assert found("HD and CKD, QX", house, clinical()) == [
        ("HD", "Hodgkin disease", "house.tsv"),
        ("CKD", "chronic kidney disease", "clinical"),
        ("QX", "quinine", "house.tsv"),
    ]


def test_a_row_with_a_section_counts_there_only(table):
    house = table("MS\tmitral stenosis\tCardiology, past medical history")
    assert meanings("Cardiology consult: MS.", house) == ["mitral stenosis"]
    assert meanings("PAST MEDICAL HISTORY\nMS.", house) == ["mitral stenosis"]
    assert meanings("Neurology consult: MS.", house) == meanings("MS", house) == []


@pytest.mark.parametrize("text, expected", cases("abbreviations", "the_text_beside_a_form_tells_its_sense"))
def test_the_text_beside_a_form_tells_its_sense(text, expected):
    assert expected in meanings(text)


def test_how_sure_a_sense_is():
    sure = [sense.probability for *_, sense in find_listed("HTN. Sat 94% on RA. AS.", [clinical()], {})]
    assert sure[0] > sure[-2] > sure[-1]


def test_the_label_of_a_mention_is_a_cue(table):
    house = table("AB\tantibody\tCHEMICAL", "AB\tabortion\t*")
    assert found("AB", house)[0][1] == "abortion"
    assert found("AB", house, labels={(0, 2): "CHEMICAL"}.items())[0][1] == "antibody"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("htn, Htns", ["hypertension"]),
        ("1.HTN 2.COPD", ["hypertension", "chronic obstructive pulmonary disease"]),
        ("CHF/CAD", ["congestive heart failure", "coronary artery disease"]),
        ("UTIs", ["urinary tract infection"]),
        ("as is, it ran all day; he sat; ms and ra; never gave tips", []),  # words, and two letters in lower case
        ("HTNX XHTN HTN2", []),
        ("h/o lap chole", ["history of", "laparoscopic cholecystectomy"]),
        ("liver bx, incl R hip fx", ["biopsy", "a word cut short", "bone fracture"]),
    ],
)
def test_where_a_form_begins_and_ends_and_how_it_may_be_written(text, expected):
    assert meanings(text) == expected


def test_notes_short_hand_is_read_without_a_list():
    assert [noted(form) for form in ("dx", "Hx", "abx")] == ["diagnosis", "history", "antibiotics"]
    assert [noted(form) for form in ("DX", "TX", "x", "box", "htn", "Cx")] == [""] * 6


def test_each_line_of_the_clinical_list_can_count():
    rows = clinical().rows
    assert len(clinical().senses) > 800
    assert len({(row.short_form, row.meaning) for row in rows}) == len(rows)
    for form, senses in clinical().senses.items():
        assert sum(not row.where or "*" in row.where for row in senses) <= 1, form  # a second one never would
    assert all(cue == cue.strip() and cue for row in rows for cue in row.where)


def test_a_long_text_takes_linear_time():
    assert len(found("a HTN (b/c) " * 20_000)) == 40_000
    started = time.perf_counter()
    assert len(found(f"PMH: HTN.{' ' * 50_000}x{' .' * 50_000}")) == 2
    assert time.perf_counter() - started < 5  # quadratic: 40
