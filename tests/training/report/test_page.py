"""The page of a report: well formed, escaped, and nothing is fetched."""

from evaluation.conftest import PageParser

from spacy_pel.evaluation.figures import new_figure
from spacy_pel.training.report.errors import ShownEntity, ShownError
from spacy_pel.training.report.report import inline_svg, render_report
from spacy_pel.training.report.tables import Cell, Table

EVIL = "<script>alert(1)</script>"


def page(runs=(EVIL, 'b"&')):
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], label=EVIL)
    axes.set(xlabel=EVIL)
    entities = [
        ShownEntity("C0009443", EVIL, "not found", None, True, False),
        ShownEntity("x&y", 'say "x"', "1", 0.5, False, True),
    ]
    errors = [ShownError(runs[-1], "k", [EVIL, 'T"1'], EVIL, EVIL, "after", "DISO", EVIL, "x&y", EVIL, entities)]
    return dict(
        title=EVIL,
        description=EVIL,
        runs=dict.fromkeys(runs, EVIL),
        tables=[Table(EVIL, EVIL, ["", EVIL], [[Cell(EVIL), Cell("1.0", EVIL)]], [("", 1), (EVIL, 1)])],
        figures={EVIL: inline_svg(figure, "a", title=EVIL)},
        kinds={"k": EVIL},
        counts={run: {"k": 12345} for run in runs},
        errors=errors,
    )


def test_all_text_is_escaped_and_nothing_is_fetched():
    html = render_report(page())
    found = PageParser(html)
    assert len(found.attributes_of("script")) == 1
    assert EVIL not in html and html.count("alert(1)") > 15
    assert "src=" not in html and "@import" not in html
    assert html.count("url(") == html.count("url(#a-"), "only parts of the figure itself"
    assert {attributes["href"] for attributes in found.attributes_of("a")} == {
        "https://uts.nlm.nih.gov/uts/umls/concept/C0009443"
    }


def test_errors_carry_what_the_filter_reads():
    found = PageParser(render_report(page()))
    (error,) = found.attributes_of("article")
    assert error["data-run"] == 'b"&' and error["data-kind"] == "k"
    assert error["data-type"].split("\n") == [EVIL, 'T"1']
    values = [attributes["value"] for attributes in found.attributes_of("option")]
    assert values == ["", EVIL, 'b"&', "", "k", "", EVIL, 'T"1']
    assert found.attributes_of("mark") == [{"class": "DISO"}]
    assert found.texts_of("mark") == [EVIL] and "12,345" in found.texts_of("td")
    rows = [attributes["class"].split() for attributes in found.attributes_of("tr") if "class" in attributes]
    assert rows == [["gold"], ["chosen"]]
