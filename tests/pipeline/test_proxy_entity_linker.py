import warnings
from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_pel.errors import PelError
from spacy_pel.pipeline.mentions import EXTENSIONS
from spacy_pel.types import NIL

from .conftest import NAME, PLAIN, TEXTS, found, links, make_doc

pytestmark = pytest.mark.slow


def test_links_and_candidates(nlp):
    doc = nlp(TEXTS[0])
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
        ("Aspirin", "CHEMICAL", "C02"),
        ("heart attack", "DISEASE", "C01"),
        ("headache", "DISEASE", "C03"),
    ]
    for ent in doc.ents:
        ids = [entity_id for entity_id, _ in ent._.pel_candidates]
        scores = [score for _, score in ent._.pel_candidates]
        assert ids[0] == ent.kb_id_ and len(set(ids)) == len(ids)
        assert scores == sorted(scores, reverse=True)
        assert isinstance(ent._.pel_nil_score, float)
        assert all(type(pair) is list and type(pair[1]) is float for pair in ent._.pel_candidates)


def test_the_factory_says_what_it_assigns():
    assigned = spacy.blank("en").get_factory_meta("proxy_entity_linker").assigns
    assert assigned == ["token.ent_kb_id", *(f"span._.pel_{name}" for name in EXTENSIONS)]


def test_uninitialized_component_says_so():
    nlp = spacy.blank("en")
    linker = nlp.add_pipe(NAME, config=PLAIN)
    for use in (
        lambda: nlp("text"),
        lambda: list(nlp.pipe(["text"])),
        lambda: linker.kb,
        lambda: linker.add_entities([]),
        lambda: nlp.to_bytes(),
        lambda: nlp.initialize(),
    ):
        with pytest.raises(PelError, match="PEL-E502.*nlp.initialize"):
            use()


def test_default_config_needs_no_weights_and_survives_as_text():
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    again = spacy.util.load_config_from_str(nlp.config.to_str())
    assert again.to_str() == nlp.config.to_str()
    assert spacy.blank("en").from_config(again).config.to_str() == nlp.config.to_str()


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"top_k": 0}, "E507"),
        ({"reranker": {"some": "ranker"}}, "E503"),
        ({"max_length": 64}, "E504"),  # HashEmbed has no such limit
        (
            {"entity_types": {"DISEASE": ["T047", "T999"]}},
            r"E500.*to T999, which.* types: T047 Disease or Syndrome \(\d",
        ),
        ({"entity_types": {"DISEASE": ["disease or syndrom"]}}, r"E500.*did you mean T047 Disease or Syndrome\?"),
        ({"entity_types": {"DISEASE": ["c05"]}}, "E500.*did you mean 'C05', Common cold"),
        ({"entity_types": {"DISEASE": ["heart attack"]}}, "E500.*did you mean 'C01', Myocardial infarction"),
    ],
)
def test_settings_that_cannot_be_used(make_nlp, setting, code):
    with pytest.raises(PelError, match=f"PEL-{code}"):
        make_nlp(**setting)
    with pytest.raises(ValueError, match="no_such_setting"):
        make_nlp(no_such_setting=1)


_NOT_ACCEPTED = [
    ("top_k", [0, "5", 2.5, True, None, 10**9]),
    ("threshold", [True, float("nan"), {"DISEASE": "0.5"}, 10**400]),
    ("batch_size", [0, None]),
    ("coverage", [1.0, "0.9"]),
    ("nil_share", [1.0, -0.1, "0"]),
    ("overwrite", ["no", 1]),
    ("labels_keep", ["DISEASE", {"DISEASE": 1}]),
    ("labels_discard", [[1], None]),
    ("max_length", [0, 10**9]),
    ("spans_key", [["sc"]]),
    ("expand_abbreviations", [0]),
    ("entity_types", [["T047"], {"DISEASE": "T047"}, {"DISEASE": [47]}]),
    ("row_kinds", ["card", ["title"]]),
    ("extension_prefix", ["a b", "", None]),
]


def test_an_attribute_is_checked_like_a_config(nlp, linker):
    for name, wrong in [(name, wrong) for name, values in _NOT_ACCEPTED for wrong in values]:
        before = getattr(linker, name)
        with pytest.raises(PelError, match=f"PEL-E507. Expected {name} to be "):
            setattr(linker, name, wrong)
        assert getattr(linker, name) == before
        with pytest.raises(ValueError, match=f"{name}|non-serializable"):  # spaCy checks some types itself
            spacy.blank("en").add_pipe(NAME, config={name: wrong})


def test_an_attribute_has_the_form_of_a_config(nlp, linker):
    linker.labels_discard = {"DISEASE"}
    linker.threshold = {"CHEMICAL": np.float32(1)}
    linker.top_k = np.int64(3)
    linker.overwrite = np.bool_(False)
    linker.entity_types = {"DISEASE": ("T047",)}
    assert linker.labels_discard == ["DISEASE"] and linker.entity_types == {"DISEASE": ["T047"]}
    assert type(linker.linker.threshold["CHEMICAL"]) is float
    assert linker.linker.top_k == 3 and type(linker.top_k) is int and linker.overwrite is False


def test_unusual_documents(nlp, linker):
    assert len(linker(Doc(nlp.vocab))) == 0
    assert linker(make_doc(nlp, ("cold", "X"))).ents[0].kb_id_ in ("C04", "C05")
    assert linker(make_doc(nlp, "no", "mentions")).ents == ()
    blank = linker(make_doc(nlp, "a", (" \n", "X"), ("Aspirin", "X")))
    assert [(ent.kb_id_, len(ent._.pel_candidates) > 0) for ent in blank.ents] == [(NIL, False), ("C02", True)]
    assert blank.ents[0]._.pel_nil_score == 1.0
    odd = linker(make_doc(nlp, "👩‍⚕️👩‍⚕️", ("🧬", "X"), "عن", ("قلب", "X"), "é́", ("heart attack", "X")))
    assert [ent.kb_id_ for ent in odd.ents] == ["C10", "C09", "C01"]


def test_batch_is_as_single_and_twice_as_once(make_nlp):
    nlp = make_nlp(batch_size=2)
    single = [links(nlp(text)) for text in TEXTS]
    assert sum(map(len, single)) == 8
    assert found(nlp) == single
    assert [links(doc) for doc in nlp.pipe(TEXTS, batch_size=1)] == single
    docs = list(nlp.pipe(TEXTS))
    assert [links(doc) for doc in nlp.get_pipe(NAME).pipe(docs)] == single


@pytest.mark.parametrize(("mode", "batches"), [("always", [3, 1]), ("never", [2])])
def test_pipe_is_a_stream_that_batches_mentions_of_several_documents(make_nlp, monkeypatch, mode, batches):
    nlp = make_nlp(batch_size=3, read_context=mode)
    linker = nlp.get_pipe(NAME)
    asked = []
    encode = linker.encoder.encode_mentions
    monkeypatch.setattr(linker.encoder, "encode_mentions", lambda m: asked.append(len(m)) or encode(m))
    pulled = []
    texts = (pulled.append(number) or f"{number}: a cold and Aspirin" for number in range(100))
    stream = linker.pipe(nlp.get_pipe("entity_ruler")(nlp.make_doc(text)) for text in texts)
    next(stream)
    assert pulled == [0, 1]  # two documents have the three mentions of a batch, and more
    assert asked == batches  # of a form, only the first mention is encoded


def test_nil_is_what_lies_above_the_threshold(make_nlp):
    doc = make_nlp()(TEXTS[4])
    nil_scores = {ent.text: ent._.pel_nil_score for ent in doc.ents}
    assert all(ent.kb_id_ != NIL for ent in doc.ents)  # nothing is calibrated: no mention is NIL
    assert nil_scores["zzyzx"] > nil_scores["Aspirin"]
    threshold = (nil_scores["zzyzx"] + max(s for text, s in nil_scores.items() if text != "zzyzx")) / 2
    ids = {ent.text: ent.kb_id_ for ent in make_nlp(threshold=threshold)(TEXTS[4]).ents}
    assert ids["zzyzx"] == NIL and NIL not in (ids["Aspirin"], ids["cold"], ids["Huntington disease"])
    exact = {ent.text: ent.kb_id_ for ent in make_nlp(threshold=nil_scores["zzyzx"])(TEXTS[4]).ents}
    assert exact["zzyzx"] != NIL  # not above, but at the threshold
    assert {ent.kb_id_ for ent in make_nlp(threshold=-1.0)(TEXTS[4]).ents} == {NIL}


@pytest.mark.parametrize("spans_key", [None, "mine"])
def test_words_around_a_name_make_the_answer_broader(make_nlp, spans_key):
    nlp = make_nlp(spans_key=spans_key, threshold={"X": -1.0})
    words = [
        ("severe headache", "D"),
        "and",
        ("Headache", "D"),
        "and",
        ("severe zzyzx", "X"),
        "and",
        ("left Heart", "D"),
    ]
    doc = make_doc(nlp, *words, ".")
    if spans_key:
        doc.spans[spans_key] = list(doc.ents)
        doc.ents = []
    doc = nlp.get_pipe(NAME)(doc)
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    for one in (doc, *DocBin().from_bytes(stored).get_docs(nlp.vocab)):
        ents = one.spans[spans_key] if spans_key else one.ents
        relations = {ent.text: (ent.kb_id_, ent._.pel_relation) for ent in ents}
        assert relations["severe headache"] == ("C03", "broader") and relations["Headache"] == ("C03", "exact")
        assert (
            relations["severe zzyzx"] == (NIL, None) and relations["left Heart"][1] != "broader"
        )  # the heart is no finding
    why = nlp.get_pipe(NAME).explain(ents[0])
    assert (why.written, why.text, why.relation) == ("severe headache", "headache", "broader")
    assert "C03 Headache, broader than the mention" in str(why)


def test_a_correction_of_the_whole_decides(nlp, linker):
    doc = make_doc(nlp, ("severe headache", "D"), ".")
    doc.ents[0][0].ent_kb_id_ = doc.ents[0][1].ent_kb_id_ = "C07"
    linker.learn([doc])
    [ent] = linker(make_doc(nlp, ("severe headache", "D"), ".")).ents
    assert (ent.kb_id_, ent._.pel_relation) == ("C07", "exact")
    [other] = linker(make_doc(nlp, ("mild headache", "D"), ".")).ents
    assert (other.kb_id_, other._.pel_relation) == ("C03", "broader")


def test_top_k_shortens_the_candidates_and_nothing_else(make_nlp):
    combiner = {"@pel_combiners": "spacy-pel.LinearCombiner.v1"}
    long = make_nlp(combiner=combiner)(TEXTS[4])
    short = make_nlp(combiner=combiner, top_k=2)(TEXTS[4])
    assert links(long)[2][3][0][1] < 0.9  # zzyzx is like many a name: the scores share what there is
    assert len(long.ents[0]._.pel_candidates) > 2
    for one, two in zip(links(long), links(short), strict=True):
        assert two == (*one[:3], one[3][:2], *one[4:])


def test_overwrite(make_nlp):
    for overwrite, expected in ((True, ["C02", "C05"]), (False, ["KEEP", "C05"])):
        nlp = make_nlp(overwrite=overwrite, entity_types={"DISEASE": ["T047"]})
        doc = make_doc(nlp, ("Aspirin", "CHEMICAL"), "against", ("cold", "DISEASE"))
        doc[0].ent_kb_id_ = "KEEP"
        assert [ent.kb_id_ for ent in nlp.get_pipe(NAME)(doc).ents] == expected
        assert [ent.label_ for ent in doc.ents] == ["CHEMICAL", "DISEASE"]


def test_analyze_pipes_warns_where_nothing_sets_mentions(make_nlp):
    assert make_nlp(ruler=False).analyze_pipes()["problems"][NAME] == ["doc.ents"]
    assert make_nlp().analyze_pipes()["problems"][NAME] == []


def said(recwarn):
    return [text for warning in recwarn if f"'{NAME}' can link nothing" in (text := str(warning.message))]


def test_one_warning_where_nothing_can_be_linked(make_nlp, recwarn):
    warnings.simplefilter("always")  # recwarn's own filter shows a text once
    behind = make_nlp()
    behind.add_pipe("entity_ruler", name="late")
    behind.remove_pipe("entity_ruler")
    without = make_nlp(ruler=False)
    without.add_pipe("pel_abbreviation_detector", first=True, config={"mentions": True})
    disabled = make_nlp()
    disabled.disable_pipe("entity_ruler")
    for nlp, what in (
        (behind, "doc.ents"),
        (without, "doc.ents"),
        (disabled, "doc.ents"),
        (make_nlp(spans_key="sc"), "'sc'"),
    ):
        for text in ("Huntington disease (HD)", "cold", ""):
            nlp(text)
        list(nlp.pipe(TEXTS))
        [warning] = said(recwarn)
        assert what in warning
        recwarn.clear()


def test_no_warning_where_a_text_has_no_mention(make_nlp, recwarn):
    grouped = make_nlp(ruler=False, spans_key="sc")
    grouped.add_pipe("span_ruler", first=True, config={"spans_key": "sc"})
    finder = make_nlp(ruler=False)
    finder.add_pipe("pel_name_finder", first=True)
    for nlp in (make_nlp(), grouped, finder):
        assert not any(doc.ents for doc in nlp.pipe(["Nothing here.", "", " \n"]))
    assert not said(recwarn)


def test_labels_keep_and_discard(make_nlp):
    nlp = make_nlp(labels_keep=["DISEASE", "CHEMICAL"], labels_discard=["DISEASE"])
    doc = nlp(TEXTS[0])
    assert [ent.kb_id_ for ent in doc.ents] == ["C02", "", ""]
    assert [ent._.pel_nil_score is None for ent in doc.ents] == [False, True, True]
    assert doc.ents[1]._.pel_candidates == []
    nlp.get_pipe(NAME).labels_keep = []
    assert {ent.kb_id_ for ent in nlp(TEXTS[0]).ents} == {""}
    nlp.get_pipe(NAME).labels_keep, nlp.get_pipe(NAME).labels_discard = None, []
    assert [ent.kb_id_ for ent in nlp(TEXTS[0]).ents] == ["C02", "C01", "C03"]


def test_labels_keep_and_discard_by_group_and_type(nlp, linker):
    doc = nlp.make_doc("Aspirin after a heart attack relieves headache.")

    def linked(labels, **settings):
        linker.labels_keep, linker.labels_discard = settings.get("keep"), settings.get("discard", [])
        doc.ents = [Span(doc, i, j, label) for (i, j), label in zip([(0, 1), (3, 5), (6, 7)], labels, strict=True)]
        return [ent.text for ent in linker(doc).ents if ent.kb_id_]

    labels = ["CHEMICAL", "BIOLOGIC_FUNCTION", "FINDING"]
    assert linked(labels, keep=["DISORDER"]) == ["heart attack", "headache"]
    assert linked(labels, keep=["T103", "FINDING"]) == ["Aspirin", "headache"]
    assert linked(labels, discard=["DISORDER"]) == ["Aspirin"]
    assert linked(["T103", "T047", "T184"], keep=["DISORDER"]) == ["heart attack", "headache"]
    assert linked(["T103", "T047", "T184"], keep=["BIOLOGIC_FUNCTION"]) == ["heart attack"]
    assert linked(["DRUG", "DISEASE", "DISEASE"], keep=["DISEASE"]) == ["heart attack", "headache"]


@pytest.mark.parametrize("spans_key", [None, "mentions"])
def test_group_labels(make_nlp, spans_key):
    """By the types of the entity, or else of the label; a label that is none stays."""
    nlp = make_nlp(
        group_labels=True,
        spans_key=spans_key,
        threshold={"BIOLOGIC_FUNCTION": -1.0, "Zzyzx": -1.0},
        labels_discard=["GENE"],
    )
    doc = nlp.make_doc("Aspirin for a heart attack, zzyzx zzyzx and DNA.")
    labels = [(0, 1, "ENTITY"), (3, 5, "T038"), (6, 7, "BIOLOGIC_FUNCTION"), (7, 8, "Zzyzx"), (9, 10, "GENE")]
    mentions = [Span(doc, start, end, label) for start, end, label in labels]
    if spans_key is None:
        doc.ents = mentions
    else:
        doc.spans[spans_key] = mentions
    nlp.get_pipe(NAME)(doc)
    found = doc.ents if spans_key is None else doc.spans[spans_key]
    expected = [("CHEMICAL", "C02"), ("DISORDER", "C01"), ("DISORDER", NIL), ("Zzyzx", NIL), ("GENE", "")]
    assert [(span.label_, span.kb_id_) for span in found] == expected
    assert found[0]._.pel_types == ["T121"] and [span.text for span in found][1] == "heart attack"


def test_entity_types_filter_before_ranking(make_nlp):
    diseases = make_nlp(entity_types={"DISEASE": ["T047"]})("a cold and Aspirin")
    assert [ent.kb_id_ for ent in diseases.ents] == ["C05", "C02"]
    assert {c[0] for c in diseases.ents[0]._.pel_candidates} == {"C01", "C05", "C06", "C07"}
    assert len(diseases.ents[1]._.pel_candidates) > 4  # CHEMICAL is not in the map: no filter
    weather = make_nlp(entity_types={"DISEASE": ["T070", "T023"]})("a cold")
    assert [c[0] for c in weather.ents[0]._.pel_candidates] == ["C04", "C09"]
    branch = make_nlp(entity_types={"DISEASE": ["C06", "T070"]})
    assert {c[0] for c in branch("a cold").ents[0]._.pel_candidates} == {"C04", "C06"}
    kb = branch.get_pipe(NAME).kb
    kb.put([replace(kb["C05"], parents=("C07",)), replace(kb["C07"], parents=("C06",))])
    assert {c[0] for c in branch("a cold").ents[0]._.pel_candidates} == {"C04", "C05", "C06", "C07"}
    assert [ent.kb_id_ for ent in branch("a cold and Huntington disease").ents][1] == "C07"
    kb.retire(["C07"])
    assert {c[0] for c in branch("a cold").ents[0]._.pel_candidates} == {"C04", "C06"}
    none = make_nlp(entity_types={"DISEASE": []})("a cold")
    assert (none.ents[0].kb_id_, none.ents[0]._.pel_candidates) == (NIL, [])


def test_spans_key(make_nlp):
    nlp = make_nlp(ruler=False, spans_key="mentions")
    doc = make_doc(nlp, ("heart attack", "DISEASE"), "Aspirin")
    doc.spans["mentions"] = [Span(doc, 0, 2, "A"), Span(doc, 0, 1, "B"), Span(doc, 2, 3, "C")]
    doc.spans["others"] = [Span(doc, 2, 3, "C")]
    nlp.get_pipe(NAME)(doc)
    assert [span.kb_id_ for span in doc.spans["mentions"]] == ["C01", "C09", "C02"]
    assert doc.spans["mentions"][2]._.pel_candidates[0][0] == "C02"
    assert doc.spans["others"][0].kb_id_ == "" and doc.ents[0].kb_id_ == ""
    assert nlp("no such group").spans.get("mentions") is None
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [span.kb_id_ for span in again.spans["mentions"]] == ["C01", "C09", "C02"]


@pytest.mark.parametrize(("mode", "wrong"), [("always", "cold rain"), ("never", "cold zzyzx")])
def test_error_handler_decides(make_nlp, monkeypatch, mode, wrong):
    """Whether the encoder fails on a context or on a surface form, only that document is lost."""
    nlp = make_nlp(read_context=mode)
    linker = nlp.get_pipe(NAME)
    encode = linker.encoder.encode_mentions

    def fail(mentions):
        if any(wrong.split()[1] in mention.text for mention in mentions):
            raise ValueError("boom")
        return encode(mentions)

    monkeypatch.setattr(linker.encoder, "encode_mentions", fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="boom"):
            nlp(wrong)
    failed = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.extend(doc.text for doc in docs))
    for size in (1, 3):
        assert [doc.text for doc in nlp.pipe(["cold", wrong, "cold snow"], batch_size=size)] == ["cold", "cold snow"]
    assert failed == [wrong, wrong]


@pytest.mark.parametrize("setting", ["encoder", "index", "combiner", "nil_model", "scorer"])
def test_a_name_is_no_part(setting):
    for wrong in ("spacy-pel.BiEncoder.v1", 3, []):
        with pytest.raises(PelError, match=rf"E518.*Expected {setting} .*registry .*Example: {setting} = "):
            spacy.blank("en").add_pipe(NAME, config={setting: wrong})
