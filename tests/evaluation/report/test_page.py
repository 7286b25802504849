"""The page of a report: well formed, escaped, and nothing is fetched."""

from html.parser import HTMLParser

import pytest

from spacy_pel.evaluation.report.figure import inline_svg, new_figure
from spacy_pel.evaluation.report.page import Cell, Page, ShownEntity, ShownError, Table, render_report

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link", "br", "input"}


class Tags(HTMLParser):
    """Checks that tags are closed; keeps them, and the text of each kind."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], {}

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


def parsed(page):
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser


def page(runs=(EVIL, 'b"&')):
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], label=EVIL)
    axes.set(xlabel=EVIL)
    entities = [
        ShownEntity("C0009443", EVIL, "not found", None, True, False),
        ShownEntity("x&y", 'say "x"', "1", 0.5, False, True),
    ]
    errors = [ShownError(runs[-1], "k", [EVIL, 'T"1'], EVIL, EVIL, "after", EVIL, "x&y", EVIL, entities)]
    return Page(
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
    found = parsed(html)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert EVIL not in html and html.count("alert(1)") > 15
    assert "src=" not in html and "@import" not in html
    assert html.count("url(") == html.count("url(#a-"), "only parts of the figure itself"
    assert {attributes["href"] for tag, attributes in found.tags if tag == "a"} == {
        "https://uts.nlm.nih.gov/uts/umls/concept/C0009443"
    }


def test_errors_carry_what_the_filter_reads():
    found = parsed(render_report(page()))
    (error,) = [attributes for tag, attributes in found.tags if tag == "article"]
    assert error["data-run"] == 'b"&' and error["data-kind"] == "k"
    assert error["data-type"].split("\n") == [EVIL, 'T"1']
    values = [attributes["value"] for tag, attributes in found.tags if tag == "option"]
    assert values == ["", EVIL, 'b"&', "", "k", "", EVIL, 'T"1']
    assert found.text["mark"] == [EVIL] and "12,345" in found.text["td"]
    rows = [attributes["class"].split() for tag, attributes in found.tags if tag == "tr" and "class" in attributes]
    assert rows == [["gold"], ["chosen"]]


@pytest.mark.parametrize("runs", [("only",), ("a", "b")])
def test_choice_of_runs_only_where_there_are_several(runs):
    found = parsed(render_report(page(runs)))
    names = [attributes["name"] for tag, attributes in found.tags if tag == "select"]
    assert ("run" in names) == (len(runs) > 1)


def test_page_without_errors_and_figures():
    empty = page()._replace(errors=[], figures={}, kinds={})
    html = render_report(empty)
    assert parsed(html).text["span"][-1] == "0" and "of 0 sampled errors" in html
    assert 'class="figures"' not in html and "<article" not in html
