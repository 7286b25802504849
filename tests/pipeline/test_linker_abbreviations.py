import pytest
from spacy.tokens import Doc, Span

from spacy_pel.abbreviations.documents import long_forms, spelled_out
from spacy_pel.pipeline.gold import query_maker
from spacy_pel.types import Document, Mention

from .conftest import NAME

pytest.importorskip("scispacy")
TEXT = "Huntington disease (HD) is rare. HD is inherited."


@pytest.fixture
def expanding(make_nlp):
    nlp = make_nlp()
    nlp.add_pipe("pel_abbreviation_detector", before=NAME)
    return nlp


def test_long_form_is_linked_and_the_text_stays(expanding, make_nlp):
    plain = make_nlp(expand_abbreviations=False)
    plain.add_pipe("pel_abbreviation_detector", before=NAME)
    doc = expanding(TEXT)
    assert doc.text == TEXT
    assert [(e.text, e.kb_id_) for e in doc.ents] == [("Huntington disease", "C07"), ("HD", "C07"), ("HD", "C07")]
    assert [e.kb_id_ for e in plain(TEXT).ents] == ["C07", "C08", "C08"]  # HD is a name of hemodialysis


def test_an_explanation_tells_the_mention_as_written_and_as_read(expanding):
    linker = expanding.get_pipe(NAME)
    long, short, _ = (linker.explain(ent) for ent in expanding(TEXT).ents)
    assert (long.written, long.text) == ("Huntington disease", "Huntington disease")
    assert str(long).startswith("Huntington disease (")
    assert (short.written, short.text) == ("HD", "Huntington disease")
    assert str(short).startswith("HD, read as Huntington disease (")


def test_what_a_document_defines_is_not_corrected_elsewhere(expanding):
    doc = expanding("HD was started.")
    for token in doc.ents[0]:
        token.ent_kb_id_ = "C01"
    expanding.get_pipe(NAME).learn([doc], always=True)
    assert [e.kb_id_ for e in expanding("HD again.").ents] == ["C01"]
    assert [e.kb_id_ for e in expanding(TEXT).ents] == ["C07", "C07", "C07"]


def test_without_definition_or_detector_nothing_is_expanded(expanding, nlp):
    assert [e.kb_id_ for e in expanding("HD was started.").ents] == ["C08"]
    assert [e.kb_id_ for e in nlp(TEXT).ents] == ["C07", "C08", "C08"]


def test_batches_keep_the_definitions_of_each_document_apart(expanding):
    docs = list(expanding.pipe([TEXT, "HD was started.", TEXT]))
    assert [[e.kb_id_ for e in doc.ents][-1] for doc in docs] == ["C07", "C08", "C07"]


@pytest.mark.parametrize(
    "mention, expected",
    [
        ("HD", "Huntington disease"),
        ("Huntington disease (HD)", "Huntington disease"),
        ("Huntington disease [ HD ]", "Huntington disease"),
        ("Huntington disease (HDL)", None),
        ("severe Huntington disease (HD)", None),
    ],
)
def test_an_abbreviation_behind_its_long_form_is_left_out(mention, expected):
    forms = {"CF": [(3, "cystic fibrosis")], "HD": [(40, "Huntington disease"), (90, "heart disease")]}
    assert spelled_out([(mention, 50)], forms) == [expected]


def test_gold_mentions_are_asked_about_in_the_same_way(expanding, make_nlp):
    document = Document("1", TEXT, [Mention(20, 22, "X", ("C07",)), Mention(0, 10, "X", ("C07",))])
    queries = query_maker(expanding)(document)
    assert [query.surface for query in queries] == ["Huntington disease", "Huntington"]
    assert expanding.get_pipe(NAME).linker.link(queries)[0].kb_id == "C07"
    alone = Document("1", "HD", [Mention(0, 2, "X", ("C07",))])
    assert [query.surface for query in query_maker(expanding)(alone, alone=True)] == ["HD"]
    expanding.get_pipe(NAME).expand_abbreviations = False
    assert [query.surface for query in query_maker(expanding)(document)] == ["HD", "Huntington"]
    assert [query.surface for query in query_maker(make_nlp())(document)] == ["HD", "Huntington"]


def test_a_mention_is_read_as_defined_where_it_is(expanding):
    text = "Huntington disease (HD), but a hot drink (HD). HD"
    places = [place for place in range(len(text)) if text.startswith("HD", place)]
    document = Document("1", text, [Mention(place, place + 2, "X", ("C07",)) for place in places])
    surfaces = [query.surface for query in query_maker(expanding)(document)]
    assert surfaces == ["Huntington disease", "hot drink", "hot drink"]


@pytest.mark.parametrize("place", [{}, {"short_start": 99}])
def test_abbreviations_without_places_or_with_those_of_another_document(expanding, place):
    doc = expanding.make_doc("HD")
    doc._.abbreviations = [{"short_text": "HD", "long_text": "Huntington disease", **place}]
    assert spelled_out([("HD", 0)], long_forms(doc)) == ["Huntington disease"]


def test_scispacy_form_with_spans(nlp):
    for owner, name in ((Doc, "abbreviations"), (Span, "long_form")):
        if not owner.has_extension(name):
            owner.set_extension(name, default=None)
    doc = nlp.make_doc(TEXT)
    assert long_forms(doc) == {}
    short = doc[3:4]
    short._.long_form = doc[0:2]
    doc._.abbreviations = [short]
    assert long_forms(doc)["HD"] == [(doc[3].idx, "Huntington disease")]
