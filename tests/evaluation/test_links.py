"""The page of linked texts: complete, escaped, and the same cells as the terminal's table."""

import pytest

from spacy_pel.evaluation.links import entity_url, link_row, pieces, render_links
from spacy_pel.types import Entity

from .conftest import PageParser

ENTITIES = {
    "C0009443": Entity("C0009443", "common cold", (), ("T047",), "A <mild> infection.", ("MESH:D003139", "local 7")),
    "D003139": Entity("D003139", "<b>Cold</b>", (), ("T070", "<type>")),
    "X1": Entity("X1", 'say "x"'),
}
TEXT = "A cold & a <script>alert(1)</script> zebra."


def record(start, end, kb_id, candidates, nil_score=0.25, probability=0.7):
    mention = dict(
        start=start,
        end=end,
        text=TEXT[start:end],
        label="ENTITY",
        kb_id=kb_id,
        name=ENTITIES[kb_id].canonical_name if kb_id in ENTITIES else None,
    )
    score = candidates[0][1] if candidates else None
    return {**mention, "score": score, "nil_score": nil_score, "probability": probability, "candidates": candidates}


MENTIONS = [
    record(2, 6, "C0009443", [["C0009443", 0.75], ["D003139", 0.125]]) | {"relation": "broader"},
    record(11, 36, "NIL", [["X1", 0.5]], nil_score=0.875, probability=0.8),
    record(37, 42, "NIL", [], nil_score=1.0, probability=None),
]


@pytest.fixture(scope="module")
def page():
    documents = [{"id": "one & two", "text": TEXT, "mentions": MENTIONS}]
    return render_links(documents, title="T < U", entity_of=ENTITIES.__getitem__, forms_of=lambda _: "<cold> 3")


def test_page_is_well_formed_and_shows_the_text(page):
    parser, text = PageParser(page), ""
    for data, tags in parser.pieces:
        classes = {attributes.get("class") for _, attributes in tags}
        if "text" in classes and not {"hover", "tag"} & classes:
            text += data
    assert text == TEXT
    assert len(parser.attributes_of("script")) == 1, "names and text are escaped"
    assert not parser.attributes_of("b")
    assert "src=" not in page and "@import" not in page and "url(" not in page, "nothing is fetched"
    assert {link["href"] for link in parser.attributes_of("a")} == {entity_url("C0009443"), entity_url("D003139")}


def test_page_tells_linked_from_nil_and_shows_candidates(page):
    body = page[page.index("<article>") : page.index("</article>")]
    assert body.count('class="mention DISO"') == 1 and body.count('class="mention nil"') == 2
    assert body.count("no candidate") == 1
    assert body.count("relation</span><span>broader") == 1
    assert body.count("P(right)") == 3  # in two boxes, where it is known, and at the head of the table
    for shown in ("0.750", "0.125", "0.875", "0.700", "0.800", "&lt;b&gt;Cold&lt;/b&gt;", "say &#34;x&#34;"):
        assert shown in body


def test_page_says_what_the_entity_is(page):
    parser = PageParser(page)
    about = [data for data, tags in parser.pieces if ("span", {"class": "about"}) in tags]
    assert about[:3] == ["common cold", "Disease or Syndrome", "A <mild> infection."]
    names = " · ".join(("common cold", *ENTITIES["C0009443"].aliases))
    listed = [text for one in about[3:] if (text := one.strip(" ·"))]
    assert listed == ["names", names, "in annotated text", "<cold> 3", "codes", "MESH:D003139", "local 7"]
    types = [data for data, tags in parser.pieces if tags and tags[-1][0] == "small"]
    assert types == ["Disease or Syndrome", "Natural Phenomenon or Process · <type>"]
    assert legend(page) == {"mention DISO": "Disorders", "mention nil": "NIL: not in the knowledge base"}


def legend(page):
    parser = PageParser(page[page.index('<p class="legend">') : page.index("<article>")])
    return {tags[-1][1]["class"]: data for data, tags in parser.pieces if tags and tags[-1][0] == "span"}


def looks(mentions):
    """The legend of a page with these mentions, and the classes of the mentions."""
    documents = [{"id": "1", "text": TEXT, "mentions": mentions}]
    page = render_links(documents, title="T", entity_of=ENTITIES.__getitem__)
    return legend(page), [one["class"] for one in PageParser(page).attributes_of("span") if "tabindex" in one]


def test_entities_without_a_group():
    nil = "NIL: not in the knowledge base"
    plain, grouped = record(2, 6, "X1", []), record(37, 42, "C0009443", [])
    for mentions, expected in (
        ([plain], {"mention ": "linked", "mention nil": nil}),
        ([plain, grouped], {"mention DISO": "Disorders", "mention other": "no semantic group", "mention nil": nil}),
    ):
        found, styles = looks(mentions)
        assert found == expected and styles == list(expected)[-2::-1]


def test_groups_of_labels_where_the_entity_has_none():
    mentions = [
        {**record(2, 6, "X1", []), "label": "CHEMICAL"},
        {**record(11, 36, "NIL", []), "label": "BIOLOGIC_FUNCTION"},
        {**record(37, 42, "C0009443", []), "label": "CHEMICAL"},  # its own type counts
    ]
    found, styles = looks(mentions)
    nil = {"mention nil": "NIL: not in the knowledge base"}
    assert found == {"mention CHEM": "Chemicals & Drugs", "mention DISO": "Disorders", **nil}
    assert styles == ["mention CHEM", "mention nil DISO", "mention DISO"]


def test_pieces_join_to_the_text_even_if_mentions_overlap():
    spans = [{"start": 2, "end": 6}, {"start": 0, "end": 4}, {"start": 0, "end": 1}, {"start": 6, "end": 8}]
    found = pieces(TEXT, spans)
    assert "".join(piece["text"] for piece in found) == TEXT
    assert [piece["mention"] for piece in found] == [spans[1], None, spans[3], None]


def test_rows():
    assert link_row(MENTIONS[0], ENTITIES.__getitem__) == (
        *("cold", "ENTITY", "C0009443", "common cold", "0.700"),
        "<b>Cold</b> (D003139) 0.125",
    )
    assert link_row(MENTIONS[1], ENTITIES.__getitem__)[2:] == ("NIL", "–", "0.800", 'say "x" (X1) 0.500')
    assert link_row(MENTIONS[2], ENTITIES.__getitem__)[2:] == ("NIL", "–", "–", "–")


@pytest.mark.parametrize(
    ("entity_id", "expected"),
    [
        ("C0009443", "https://uts.nlm.nih.gov/uts/umls/concept/C0009443"),
        ("D003139", "https://meshb.nlm.nih.gov/record/ui?ui=D003139"),
        ("MESH:D001249", "https://meshb.nlm.nih.gov/record/ui?ui=D001249"),
        ("OMIM:219700", "https://omim.org/entry/219700"),
        ("RXNORM:1191", "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm=1191"),
        ("SNOMEDCT:195967001", "https://browser.ihtsdotools.org/?perspective=full&conceptId1=195967001"),
        ("ICD10:J45.9", "https://icd.who.int/browse10/2019/en#/J45.9"),
        ("ICD10:A00-B99", "https://bioregistry.io/ICD10:A00-B99"),
        ("javascript:alert(1)", None),
        ("some id", None),
    ],
)
def test_addresses(entity_id, expected):
    assert entity_url(entity_id) == expected
