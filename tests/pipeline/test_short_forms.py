"""The setting ``abbreviations`` of ``pel_abbreviation_detector``: lists of short forms that decide."""

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.index.annotated_text import AliasPriors
from spacy_pel.linking import Correction
from spacy_pel.pipeline.gold import queries_of, query_maker
from spacy_pel.pipeline.mentions import span_queries
from spacy_pel.types import Document, Mention

from .conftest import NAME, copies

DETECTOR = "pel_abbreviation_detector"
HOUSE = """\
short form\tlong form\tsection\t
HD\tHuntington disease\tneurology
HD\tHemodialysis
XQ\tC01
ZZ\tC0099999
HA\tDNA\t\talways
NN\tAspirin\t\tnil
WW\tNIL
"""


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "lists" / "house.tsv"
    path.parent.mkdir()
    path.write_text(HOUSE, encoding="utf8")
    return path


@pytest.fixture
def make(make_nlp):
    """A pipeline whose detector has lists; its linker refuses whatever its threshold decides on."""

    def build(abbreviations, *, mentions=True):
        nlp = make_nlp(threshold=-1.0)
        config = {"mentions": mentions, "abbreviations": abbreviations}
        nlp.add_pipe(DETECTOR, before=NAME, config=config)
        return nlp

    return build


def links(doc):
    return [(ent.text, ent.kb_id_) for ent in doc.ents]


def test_a_list_is_not_overruled_by_the_threshold(make, house):
    assert links(make(None)("HD was started, headache.")) == [("HD", "NIL"), ("headache", "NIL")]
    nlp = make(str(house))
    doc = nlp("HD was started, headache.")
    assert links(doc) == [("HD", "C08"), ("headache", "NIL")]
    assert doc.ents[0]._.pel_probability < 0.95
    assert links(nlp("Neurology: HD.")) == [("HD", "C07")]


def test_ids_and_nil(make, house):
    doc = make(str(house))("XQ, WW.")
    assert links(doc) == [("XQ", "C01")]  # what is no entity is no new mention
    nlp = make(str(house))
    (nil,) = nlp.get_pipe(NAME).linker.link(query_maker(nlp)(Document("1", "WW", [Mention(0, 2, "X", ())])))
    assert (nil.kb_id, nil.probability) == ("NIL", 0.95)


def test_an_id_that_the_knowledge_base_lacks_is_a_warning_once(make, house, caplog):
    nlp = make(str(house))
    nlp("ZZ and ZZ."), nlp("ZZ")
    assert [record.message.count("house.tsv' has C0099999 for ZZ") for record in caplog.records].count(1) == 1


def test_what_the_document_defines_wins_unless_a_row_says_always(make, house):
    nlp = make(str(house))
    assert ("HD", "C08") not in links(nlp("Huntington disease (HD). HD was seen."))
    assert links(nlp("A heart attack (HA); HA was seen."))[1:] == [("HA", "C10")] * 2


def test_the_house_list_comes_before_the_clinical_one(make, house, tmp_path):
    other = tmp_path / "house.tsv"
    other.write_text("MI\tHeadache\nHD\tHeart\n", encoding="utf8")
    assert links(make("clinical")("MI and HD")) == [("MI", "C01"), ("HD", "C08")]
    both = make([str(other), str(house), "clinical"])
    assert links(both("MI and HD, XQ, ASA")) == [("MI", "C03"), ("HD", "C09"), ("XQ", "C01"), ("ASA", "C02")]
    assert both.get_pipe(DETECTOR).abbreviations == ["saved:house.tsv", "saved:1house.tsv", "clinical"]


def test_short_forms_become_mentions_only_where_the_list_is_sure(make):
    text = "MI, asa, abx, dm. RA, UFH."
    assert [ent.text for ent in make("clinical")(text).ents] == ["MI", "UFH"]
    assert [ent.text for ent in make("clinical", mentions=False)(text).ents] == []


def test_a_document_of_short_forms_takes_linear_time():
    nlp = spacy.blank("en")
    nlp.add_pipe(DETECTOR, config={"mentions": True, "abbreviations": "clinical"})
    assert len(nlp("DM2, " * 20_000).ents) == 20_000


def test_explain_names_the_list(make, house):
    nlp = make([str(house), "clinical"])
    explain = nlp.get_pipe(NAME).explain
    mi, hd, headache = nlp("MI, HD, headache").ents
    assert [explain(span).listed for span in (mi, hd, headache)] == ["clinical", "house.tsv", None]
    assert "MI, read as myocardial infarction" in str(explain(mi))
    assert "decided by the list of short forms 'clinical'" in str(explain(mi))


def test_a_correction_comes_before_a_list(make, house):
    nlp = make(str(house))
    doc = nlp("HD was started.")
    doc.ents = [spacy.tokens.Span(doc, 0, 1, label="X", kb_id="C07")]
    nlp.get_pipe(NAME).learn([doc])
    assert links(nlp("HD was started.")) == [("HD", "C07")]
    assert links(nlp("Neurology: HD, XQ."))[-1] == ("XQ", "C01")


@pytest.mark.parametrize("form", ["HA", "HD"])
def test_a_term_that_was_corrected_comes_before_a_list(make, house, form):
    nlp = make(str(house))
    before = links(nlp(f"{form} was started."))
    correction = [Correction(form, 0, len(form), "C01", always=True)]
    nlp.get_pipe(NAME).linker.learn(queries_of(correction, query_maker(nlp)), correction)
    assert before != links(nlp(f"{form} was started.")) == [(form, "C01")]


def test_a_list_decides_of_a_form_that_is_read_as_another(make, tmp_path):
    (tmp_path / "house.tsv").write_text("hemodialisis\tC01\nDD\themodialisis\t\tnil\n", encoding="utf8")
    nlp = make(str(tmp_path / "house.tsv"))
    mentions = [Mention(0, 12, "X", ()), Mention(14, 16, "X", ())]
    queries = query_maker(nlp)(Document("1", "hemodialisis, DD.", mentions))
    linker = nlp.get_pipe(NAME).linker
    read, _ = linker.finder.read(queries)
    assert [query.surface for query in read] == ["hemodialysis", "hemodialysis"], "the spelling is mended"
    assert [(link.kb_id, link.probability) for link in linker.link(queries)] == [("C01", 0.95), ("NIL", 0.95)]


def test_gold_mentions_are_decided_in_the_same_way(make, house):
    nlp = make(str(house))
    document = Document("1", "Neurology: HD\nHD", [Mention(11, 13, "X", ("C07",)), Mention(14, 16, "X", ("C07",))])
    assert [query.surface for query in query_maker(nlp)(document)] == ["Huntington disease"] * 2
    nlp.get_pipe(NAME).expand_abbreviations = False
    assert [query.surface for query in query_maker(nlp)(document)] == ["HD"] * 2


def test_a_term_that_stands_alone_is_decided_in_the_same_way(make, house):
    nlp = make(str(house))
    (query,) = query_maker(nlp)(Document("1", "HD", [Mention(0, 2, "", ())]), alone=True)
    assert query.surface == "Hemodialysis"
    (link,) = nlp.get_pipe(NAME).linker.link([query])
    assert link.kb_id == "C08"


def test_plain_strings_are_read_by_the_lists_of_the_pipeline(make, house, tmp_path):
    def answers(linker):
        assert [one.verdict for one in linker.check([("HD", "C08"), ("HD", "C07")])] == ["agrees", "other"]
        return [(one.term, one.id, one.rests_on) for one in linker.map(["HD", " XQ ", "WW", "headache", ""])]

    nlp = make(str(house))
    expected = answers(nlp.get_pipe(NAME))
    assert [one[:2] for one in expected] == [
        ("HD", "C08"),
        (" XQ ", "C01"),
        ("WW", "NIL"),
        ("headache", "NIL"),
        ("", "NIL"),
    ]
    assert expected[0][2] == "list"
    for copy in copies(nlp, tmp_path / "saved"):
        assert answers(copy.get_pipe(NAME)) == expected
    nlp.rename_pipe(NAME, "other")
    assert answers(nlp.get_pipe("other")) == expected
    nlp.get_pipe("other").expand_abbreviations = False
    assert nlp.get_pipe("other").map(["HD"])[0].rests_on != "list"


def test_round_trips_take_the_table_along_without_its_path(make, house, tmp_path):
    nlp = make([str(house), "clinical"])
    texts = ["HD, XQ.", "Neurology: HD", "", "MI"]
    expected = [links(doc) for doc in nlp.pipe(texts)]
    assert expected[0] == [("HD", "C08"), ("XQ", "C01")]
    nlp.to_bytes()  # names the table in the config
    for copy in copies(nlp, tmp_path / "nlp"):
        assert [links(doc) for doc in copy.pipe(texts, n_process=2)] == expected
    house.unlink()
    again = spacy.load(tmp_path / "nlp")
    assert [links(doc) for doc in again.pipe(texts)] == expected
    assert str(tmp_path) not in (tmp_path / "nlp" / "config.cfg").read_text(encoding="utf8")
    again.to_disk(tmp_path / "second")
    assert [links(doc) for doc in spacy.load(tmp_path / "second").pipe(texts)] == expected


def test_a_config_override_wins_over_what_was_saved(make, house, tmp_path):
    make(str(house)).to_disk(tmp_path / "nlp")
    for setting, expected in ((None, "NIL"), ("clinical", "C08"), (str(house), "C08")):
        nlp = spacy.load(tmp_path / "nlp", config={"components": {DETECTOR: {"abbreviations": setting}}})
        assert links(nlp("Course: HD was started."))[0] == ("HD", expected)
    (tmp_path / "nlp" / DETECTOR / "house.tsv").unlink()
    with pytest.raises(PelError, match="house.tsv"):
        spacy.load(tmp_path / "nlp")


def test_setting_it_later_is_saved_too(make, tmp_path):
    nlp = make(None)
    table = tmp_path / "manifest.json"  # the name of a file that a saved folder has itself
    table.write_text("QX\tAspirin\n", encoding="utf8")
    nlp.get_pipe(DETECTOR).abbreviations = ["clinical", table]
    for wrong in (1, [None], ["clinical", tmp_path / "none.tsv"]):
        with pytest.raises(PelError, match="no such file"):
            nlp.get_pipe(DETECTOR).abbreviations = wrong
    nlp.to_disk(tmp_path / "nlp")
    assert links(spacy.load(tmp_path / "nlp")("MI, QX")) == links(nlp("MI, QX")) != links(make("clinical")("MI, QX"))


def test_a_table_that_is_not_there(make, tmp_path):
    with pytest.raises(PelError, match="no such file"):
        make(str(tmp_path / "none.tsv"))
    with pytest.raises(PelError, match="saved:none.tsv, which was not loaded"):
        make("saved:none.tsv").get_pipe(DETECTOR)(spacy.blank("en")("HD"))


def test_a_form_within_a_longer_mention_is_read_in_full(make, house):
    nlp = make(str(house), mentions=False)
    doc = nlp("Neurology: HD x3, HD, NN x2, HD-1 x3")
    places = ((11, 16), (18, 20), (22, 27), (29, 36))
    doc.ents = [doc.char_span(*place, label="X") for place in places]
    queries = span_queries(doc, doc.ents, expand_abbreviations=True, kb=nlp.get_pipe(NAME).kb)
    assert [query.form for query in queries] == ["Huntington disease x3", "Huntington disease", "NN x2", "HD-1 x3"]
    assert [query.sense is not None for query in queries] == [False, True, False, False]


def test_a_form_that_a_detector_took_apart_is_one_mention(make, tmp_path):
    table = tmp_path / "house.tsv"
    table.write_text("t2 dm\tAspirin\n", encoding="utf8")
    nlp = make(str(table))
    patterns = [{"label": "X", "pattern": pattern} for pattern in ("t2", "dm", "dm and more")]
    nlp.get_pipe("entity_ruler").add_patterns(patterns)
    assert links(nlp("has t2 dm, t2, dm"))[0] == ("t2 dm", "C02")
    assert [ent.text for ent in nlp("t2 dm and more").ents] == ["t2", "dm and more"]


def test_of_the_entities_of_a_long_form_annotated_text_chooses(make, tmp_path, monkeypatch):
    table = tmp_path / "house.tsv"
    table.write_text("XQ\tcold\n", encoding="utf8")
    nlp = make(str(table))
    linker = nlp.get_pipe(NAME).linker
    for kb_id in ("C04", "C05"):
        monkeypatch.setattr(linker.index, "priors", AliasPriors.build(["XQ"], linker.kb.rows([kb_id])))
        assert links(nlp("XQ."))[0] == ("XQ", kb_id)
