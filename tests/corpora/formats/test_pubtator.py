"""PubTator as people write it: other widths, separators, blank lines, sections and spellings."""

import pytest

from spacy_pel.corpora.formats.pubtator import PubtatorCorpus
from spacy_pel.errors import PelError

TEXT = ["1|t|Aspirin and asthma.", "1|a|Rash."]
MENTION = "1\t12\t18\tasthma\tDisease\tD001249"


def read(tmp_path, lines, **settings):
    path = tmp_path / "x.txt"
    path.write_bytes((lines if isinstance(lines, str) else "\n".join(lines) + "\n").encode())
    reader = PubtatorCorpus(**settings)
    return list(reader([path])), reader.report


def mentions(documents):
    return [[(document.text[one.start : one.end], *one.ids) for one in document.mentions] for document in documents]


@pytest.mark.parametrize(
    "relation",
    [
        "1\tCID\tD001241\tD001249",
        "1\tPositive_Correlation\tD001241\tD001249\tNovel",
        "1\tAssociation\t672\t\tNo",
        "1\tNegative_Correlation\tChemical|MESH:D001241\tDisease|MESH:D001249",
    ],
)
def test_relations_of_any_width(tmp_path, relation):
    documents, report = read(tmp_path, [*TEXT, relation, MENTION, relation])
    assert mentions(documents) == [[("asthma", "D001249")]] and report["relations"] == 2
    assert report["mentions"] == 1


@pytest.mark.parametrize(
    "content",
    [
        "\r\n".join([*TEXT, MENTION, ""]),
        "\n".join([*TEXT, MENTION]),
        "\ufeff" + "\n".join([*TEXT, MENTION, ""]),
        "\n".join([*TEXT, "", MENTION, "", "", MENTION.replace("12\t18\tasthma", "0\t7\tAspirin"), ""]),
        "\n".join([TEXT[0], "", TEXT[1], "\t", MENTION, ""]),
        "\r\n\r\n".join([*TEXT, MENTION, ""]),
    ],
)
def test_blank_lines_and_line_ends(tmp_path, content):
    documents, _ = read(tmp_path, content)
    assert [(one.id, one.text) for one in documents] == [("1", "Aspirin and asthma. Rash.")]
    assert ("asthma", "D001249") in mentions(documents)[0]


DAMAGED = ["1\t0\t3", MENTION.replace("12", "x12", 1), "9\t0\t3\tThe\tX\tY", "just text", "1\tCID"]


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_line_is_named(tmp_path, line):
    with pytest.raises(PelError, match=r"E205.*line 3"):
        read(tmp_path, [*TEXT, line])


def test_documents_without_an_abstract_and_with_more_sections(tmp_path):
    lines = [
        *("1|t|Asthma.", "1\t0\t6\tAsthma\tDisease\tD1"),
        *("2|t|Rash.", "", "2|b|Fever.", "2|b|Pain.", "", "2\t6\t11\tFever\tDisease\tD2"),
        *("2\t13\t17\tPain\tDisease\tD4", "3|a|Gout.", "", "3\t1\t5\tGout\tDisease\tD3"),
    ]
    with pytest.raises(PelError, match=r"E205.*line 10"):  # an abstract of another document, or a wrong id
        read(tmp_path, lines)
    documents, _ = read(tmp_path, [*lines[:9], "", *lines[9:]])
    assert [one.text for one in documents] == ["Asthma.", "Rash. Fever. Pain.", " Gout."]
    assert mentions(documents) == [[("Asthma", "D1")], [("Fever", "D2"), ("Pain", "D4")], [("Gout", "D3")]]
    assert [one.meta["title_length"] for one in documents] == [7, 5, 0]


def test_separated_ids_and_normalised_strings(tmp_path):
    lines = [
        "1|t|TNF-α and SARS‐CoV‐2 in Sjögren's, 5 IU.",
        "1\t0\t5\tTNF-a\tGene\t7124;21926",
        "1\t10\t20\tsars cov 2\tSpecies\tD1,D2",
        "1\t24\t33\tSjogren's\tDisease\tD3|D4",
        "1\t35\t36\tX\tDose\t-",
    ]
    documents, report = read(tmp_path, lines)
    assert mentions(documents) == [[("TNF-α", "7124", "21926"), ("SARS‐CoV‐2", "D1", "D2"), ("Sjögren's", "D3", "D4")]]
    assert not any(one.composite for one in documents[0].mentions)
    assert (report["normalised"], report["mismatches"], report["dropped"]) == (3, 1, 1)
    with pytest.raises(PelError, match="E201.*TNF-a"):
        read(tmp_path, lines, strict=True)
