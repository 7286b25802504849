"""What a surface form says, and when its context is read: three settings, one answer each."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Correction, Linker, MentionQuery, Reranker
from spacy_pel.linking.calibration import fit
from spacy_pel.linking.combiners import BestRow, LinearCombiner
from spacy_pel.linking.explanation import explain
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.pipeline.calibration import learned_state, load_learned_state
from spacy_pel.types import NIL, Document, Entity, Mention

from .annotated import examples

MODES = ("when_it_may_matter", "always", "never")
# no two of them are equally near to a third
NAMES = """gout asthma measles cholera leprosy tetanus anthrax scabies malaria rickets scurvy mumps pertussis
psoriasis sepsis glaucoma botulism tularemia pneumonia diphtheria""".split()
ANNOTATED = [Document("seen", "the shivers came", [Mention(4, 11, "", ("D3",))])]
CONTEXTS = ("he had {} at night", "severe {} of the knee", "{}, as before", "no sign of {} was seen by us")


class Counting(HashEmbed):
    """Notes which mentions it encodes."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.asked = []

    def encode_mentions(self, mentions, **settings):
        self.asked += mentions
        return super().encode_mentions(mentions, **settings)

    @property
    def in_context(self):
        return [mention for mention in self.asked if mention.surface != mention.text]


def make_linker(**settings):
    kb = KnowledgeBase(
        [Entity(f"D{i}", name, (f"{name} disease",), ("T047" if i % 2 else "T121",)) for i, name in enumerate(NAMES)]
    )
    encoder = Counting(width=64)
    kinds = ("card", "alias", "mention")
    index = EntityIndex.build(kb, encoder, index=FaissFlat(), kinds=kinds, documents=ANNOTATED)
    encoder.asked.clear()
    return Linker(kb, encoder, index, LinearCombiner(), LogisticNil(), **settings)


def ask(surface, context=CONTEXTS[0], label=""):
    start = context.index("{}")
    return MentionQuery(context.format(surface), start, start + len(surface), label)


def stream(n=60):
    """Names, misspelled names, what was annotated, and what the knowledge base lacks; forms repeat."""
    rng = np.random.default_rng(0)
    forms = [*NAMES, *(name[1:] for name in NAMES[:8]), "shivers", "zzyzx", "qwrtp of  vbnm", " "]
    return [ask(forms[i], CONTEXTS[j]) for i, j in rng.integers((len(forms), len(CONTEXTS)), size=(n, 2)).tolist()]


def calibration():
    """Queries, gold ids, documents: names misspelled in two ways, and NIL."""
    forms = [(name, f"D{i}") for i, name in enumerate(NAMES)]
    forms += [(name[:-1], one) for name, one in forms] + [(f"plok{i}osis", "U") for i in range(10)]
    pairs = [(ask(form, CONTEXTS[(i + j) % 4]), one, i % 10) for j in range(2) for i, (form, one) in enumerate(forms)]
    queries, gold, documents = zip(*pairs, strict=True)
    return list(queries), [(one,) for one in gold], list(documents)


@pytest.fixture(scope="module")
def state():
    """Of a linker that was calibrated: both stages."""
    linker = make_linker()
    fit(linker, [examples(linker, *calibration())])
    assert linker.by_form is not linker.in_context
    return json.loads(json.dumps(learned_state(linker)))


@pytest.fixture(params=[False, True], ids=["uncalibrated", "calibrated"])
def calibrated(request):
    return request.param


@pytest.fixture
def make(state, calibrated):
    """Linkers of all modes, with or without a calibration, by which about half of the mentions are NIL by form."""

    def build(**settings):
        linker = make_linker(**settings)
        if calibrated:
            load_learned_state(linker, state, name="pel")
            by_form = make_linker(read_context="never")
            load_learned_state(by_form, state, name="pel")
            # no mention lies on it
            linker.by_form.calibrated_threshold = (
                float(np.median([link.nil_score for link in by_form.link(stream())])) + 1e-3
            )
        return linker

    return build


def assert_same(links, others, *, tolerance=1e-5):
    """With a tolerance for rounding: hashed vectors have equal cosines, whose ranks it may change."""
    assert [(one.kb_id, one.ids[:1], one.stage, one.learned) for one in links] == [
        (one.kb_id, one.ids[:1], one.stage, one.learned) for one in others
    ]
    for one, other in zip(links, others, strict=True):
        scores = dict(zip(other.ids, other.scores, strict=True))
        assert dict(zip(one.ids, one.scores, strict=True)) == pytest.approx(scores, abs=tolerance)
        assert one.nil_score == pytest.approx(other.nil_score, abs=tolerance)
        assert one.probability == pytest.approx(other.probability, abs=tolerance)


# -- what is read ------------------------------------------------------------------------------------


def test_always_is_what_the_context_alone_says(make):
    linker, queries = make(read_context="always", new_share=None), stream()
    links = linker.link(queries)
    assert_same(links, linker.links(linker.rank("context", queries, linker.top_k), linker.top_k))
    assert {one.stage for one in links} == {"context"} and len(linker.encoder.in_context) == len(set(queries)) * 2


def test_never_reads_each_form_once(make):
    linker, queries = make(read_context="never"), stream()
    links = linker.link(queries)
    forms = {query.form for query in queries}
    assert sorted(mention.surface for mention in linker.encoder.asked) == sorted(forms)
    assert linker.encoder.in_context == [] and {one.stage for one in links} == {"form"}
    linker.encoder.asked.clear()
    assert_same(linker.link(queries[::-1])[::-1], links)
    assert linker.encoder.asked == [], "all forms are known"
    linker.form_cache = 64.0
    linker.link(queries[:1])
    assert len(linker.encoder.asked) == 1, "an empty cache"


def test_contexts_are_read_where_the_form_says_nil(make):
    linker, queries = make(), stream()
    read = [link.kb_id == NIL for link in make(read_context="never").link(queries)]
    links = linker.link(queries)
    assert [one.stage == "context" for one in links] == read and any(read) and not all(read)
    assert {mention.surface for mention in linker.encoder.in_context} == {
        query.surface for query, is_read in zip(queries, read, strict=True) if is_read
    }
    (alone,) = linker.link([MentionQuery("zzyzx", 0, 5)])
    assert alone.stage == "form", "there is no context"


def test_a_form_is_read_once_in_a_document():
    linker = make_linker()
    text = "grubulose, then grubulose again; wexinate"
    places = [(0, 9), (16, 25), (33, 41)]
    links = linker.link([MentionQuery(text, *at) for at in places])
    assert {link.kb_id for link in links} == {NIL} and {link.stage for link in links} == {"context"}
    assert links[0] == links[1] and len(linker.encoder.in_context) == 2
    linker.link([MentionQuery(text.upper(), *places[1]), MentionQuery(text, *places[1], "OTHER")])
    assert len(linker.encoder.in_context) == 4, "another text, and another label"


def test_each_answer_is_that_of_its_stage(make):
    linker, queries = make(new_share=None), stream()
    by_stage = {
        stage: linker.links(linker.rank(stage, queries, linker.top_k), linker.top_k) for stage in ("form", "context")
    }
    links = linker.link(queries)
    assert_same(links, [by_stage[one.stage][i] for i, one in enumerate(links)], tolerance=1e-3)
    assert {one.stage for one in links} == {"form", "context"}


def test_a_calibration_of_one_stage_reads_always(state):
    linker = make_linker()
    load_learned_state(linker, {k: v for k, v in state.items() if k != "by_form"}, name="pel")
    assert linker.by_form is linker.in_context
    assert {one.stage for one in linker.link(stream())} == {"context"}
    linker.read_context = "never"
    assert {one.stage for one in linker.link(stream())} == {"form"}


# -- the same answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_batches_order_and_cache_change_nothing(make, mode):
    queries = stream()
    linker = make(read_context=mode, batch_size=1000)
    cold, tolerance = linker.link(queries), 1e-3 if mode == "always" else 1e-5
    assert_same(linker.link(queries), cold)
    order = np.random.default_rng(1).permutation(len(queries))
    for other in (make(read_context=mode, batch_size=1), make(read_context=mode, form_cache=0.02)):
        turned = other.link([queries[i] for i in order])
        assert_same([turned[i] for i in np.argsort(order)], cold, tolerance=tolerance)
    with ThreadPoolExecutor(4) as pool:
        pieces = pool.map(make(read_context=mode).link, [queries[i : i + 7] for i in range(0, len(queries), 7)])
        assert_same([link for piece in pieces for link in piece], cold, tolerance=tolerance)


# -- what changes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_changes_of_the_knowledge_base_are_not_hidden_by_the_cache(make, mode):
    linker = make(read_context=mode)
    queries = [ask(form) for form in ("grubulose", NAMES[0], NAMES[1])]
    before = linker.link(queries)
    assert [one.ids[0] for one in before[1:]] == ["D0", "D1"] and "NEW" not in before[0].ids
    retired = linker.kb.row("D1")
    rows = linker.kb.add([Entity("NEW", "grubulose", (), ("T047",))])
    linker.kb.retire(["D1"], {"D1": "D2"})
    linker.index.add_entities(linker.kb, linker.encoder, np.append(rows, retired))
    linker.refresh()
    new, same, gone = linker.link(queries)
    assert (new.kb_id, same.kb_id) == ("NEW", before[1].kb_id) and "D1" not in gone.ids


@pytest.mark.parametrize("mode", MODES)
def test_corrections(make, mode):
    linker = make(read_context=mode)
    query, elsewhere = ask(NAMES[2]), ask(NAMES[2], CONTEXTS[1])
    before = linker.link([query, elsewhere])
    for answer in ("D7", NIL):
        linker.learn([query], [Correction(query.text, query.start, query.end, answer)])
        (link,) = linker.link([query])
        assert link.kb_id == answer and link.learned
        assert link.stage == ("form" if mode == "never" else "context"), "learned mentions are compared in context"
        linker.unlearn([link.learned])
        assert_same(linker.link([query, elsewhere]), before)


@pytest.mark.parametrize("mode", MODES)
def test_type_filters(make, mode):
    linker = make(read_context=mode, entity_types={"DRUG": ["T121"], "DISEASE": ["T047"]})
    for label, rest in (("DRUG", 0), ("DISEASE", 1)):
        links = linker.link([replace(query, label=label) for query in stream(30)])
        assert all(int(one[1:]) % 2 == rest for link in links for one in link.ids)
        assert any(link.ids for link in links)
    assert {int(one[1:]) % 2 for link in linker.link(stream(30)) for one in link.ids} == {0, 1}


@pytest.mark.parametrize("mode", MODES)
def test_sets(state, mode):
    linker = make_linker(read_context=mode, coverage=0.8)
    load_learned_state(linker, state, name="pel")
    queries, gold, _ = calibration()
    links = linker.link(queries)
    right = [ids[0] if ids[0] in linker.kb else NIL for ids in gold]
    assert np.mean([one in link.id_set for one, link in zip(right, links, strict=True)]) >= 0.8
    assert all(set(link.id_set) <= {NIL, *link.ids} for link in links)


@pytest.mark.parametrize("mode", MODES)
def test_explanations_say_what_decided(make, mode):
    linker = make(read_context=mode)
    for query in stream(12):
        (link,) = linker.link([query])
        why = explain(linker, query)
        assert (why.stage, why.kb_id, [one.id for one in why.candidates]) == (link.stage, link.kb_id, link.ids)
        said = {"form": "by the surface form alone", "context": "read in context"}[link.stage]
        assert said in str(why)


def test_a_repeated_form_is_explained_by_the_mention_that_was_read(make):
    text = "grubulose, then wexinate for the knee again; as before, no sign of severe grubulose"
    first, last = (MentionQuery(text, start, start + 9) for start in (0, text.rindex("grubulose")))
    linker = make(new_share=None)
    assert linker.link([last])[0].scores != linker.link([first])[0].scores
    why = explain(linker, last, others=[first])
    assert why.stage == "context" and why.candidates == explain(linker, first).candidates


class FirstLetter:
    """A ranker that prefers entities whose name has the first letter of the word after the mention."""

    fingerprint, top_k, mix = "letter", 5, None

    def score(self, task, *, show_progress=False):
        rest = [mention.text[mention.end :].strip()[:1] for mention in task.mentions]
        pairs = zip(*task.pairs, strict=True)
        return task.spread([5.0 * (task.entities[j].canonical_name[:1] == rest[i]) for i, j in pairs])


@pytest.mark.parametrize("mode", MODES)
def test_a_reranker_always_reads(mode):
    linker = make_linker(read_context=mode, reranker=Reranker(FirstLetter()))
    links = linker.link(stream())
    assert {one.stage for one in links} == {"context"}
    assert len(linker.encoder.in_context) > 0


@pytest.mark.parametrize("mode", MODES)
def test_a_generator_without_context_has_one_stage(mode):
    kb = KnowledgeBase([Entity(f"D{i}", name) for i, name in enumerate(NAMES)])
    generator = TfIdf()
    generator.build(kb)
    linker = Linker(kb, None, None, LinearCombiner(), LogisticNil(), generator=generator, read_context=mode)
    part = examples(linker, *calibration())
    assert part.form_table is None
    fit(linker, [part])
    assert linker.by_form is linker.in_context
    links = linker.link(stream())
    assert {one.stage for one in links} == {"form"} and "by_form" not in learned_state(linker)
    whole = Linker(kb, None, None, LinearCombiner(), LogisticNil(), generator=generator)
    load_learned_state(whole, learned_state(linker), name="pel")
    assert_same(whole.link(stream()), links)


# -- calibration -----------------------------------------------------------------------------------------


def test_only_scores_that_are_shares_tell_the_share_of_new_entities():
    homes = {}
    for combiner in (LinearCombiner(), BestRow()):
        linker = make_linker()
        linker = Linker(linker.kb, linker.encoder, linker.index, combiner, LogisticNil())
        fit(linker, [examples(linker, *calibration())])
        homes[type(combiner)] = linker.home_share
    assert homes[LinearCombiner] is not None and homes[BestRow] is None


def test_a_saved_calibration_answers_alike(state):
    linker = make_linker()
    links = fit(linker, [examples(linker, *calibration())])
    assert_same(links, linker.link(calibration()[0]), tolerance=1e-3)
    other = make_linker()
    load_learned_state(other, state, name="pel")
    assert learned_state(other) == state
    assert_same(other.link(stream()), linker.link(stream()))


def test_reading_where_it_may_matter_loses_next_to_nothing(state):
    answers = {}
    queries, gold, _ = calibration()
    for mode in MODES:
        linker = make_linker(read_context=mode)
        load_learned_state(linker, state, name="pel")
        right = [ids[0] if ids[0] in linker.kb else NIL for ids in gold]
        answers[mode] = np.mean([link.kb_id == one for link, one in zip(linker.link(queries), right, strict=True)])
    assert answers["when_it_may_matter"] >= answers["always"] - 0.02


@pytest.mark.parametrize(
    ("mode", "stages"), [("when_it_may_matter", {"form", "context"}), ("always", {"context"}), ("never", {"form"})]
)
def test_a_calibration_reports_on_the_links_of_the_setting(mode, stages):
    linker = make_linker(read_context=mode)
    part = examples(linker, *calibration())
    links = fit(linker, [part])
    assert {link.stage for link in links} == {link.stage for link in linker.link(part.queries)} == stages
    assert all(link.stage == "context" for link in links if link.kb_id == NIL and mode != "never")


def test_two_calibrations_are_the_same(state):
    linker = make_linker()
    for _ in range(2):
        fit(linker, [examples(linker, *calibration())])
    again = json.loads(json.dumps(learned_state(linker)))
    assert set(again) == set(state)
