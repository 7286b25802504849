"""Mentions read by their surface form, or in their context: two settings, one answer each."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Correction, Linker, MentionQuery, Reranker
from spacy_pel.linking.calibration import fit
from spacy_pel.linking.combiner import LinearCombiner
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.pipeline.linker_data import learned_state, load_learned_state
from spacy_pel.types import NIL, Document, Entity, Mention

from .annotated import examples, hashed_linker

MODES = ("never", "always")
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
    rows = {"kinds": ("card", "alias", "mention"), "documents": ANNOTATED}
    linker = hashed_linker(kb, encoder=encoder, rows=rows, **settings)
    encoder.asked.clear()
    return linker


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
def states():
    """Of linkers that were calibrated, by mode."""
    made = {}
    for mode in MODES:
        linker = make_linker(read_context=mode)
        fit(linker, [examples(linker, *calibration())])
        made[mode] = json.loads(json.dumps(learned_state(linker)))
    return made


@pytest.fixture(params=[False, True], ids=["uncalibrated", "calibrated"])
def make(states, request):
    """Linkers of both modes, with or without a calibration, by which about half of the mentions are NIL."""

    def build(read_context="never", **settings):
        linker = make_linker(read_context=read_context, **settings)
        if request.param:
            load_learned_state(linker, states[read_context], name="pel")
            plain = make_linker(read_context=read_context)
            load_learned_state(plain, states[read_context], name="pel")
            # no mention lies on it
            threshold = float(np.median([link.nil_score for link in plain.link(stream())])) + 1e-3
            linker.decider.calibrated_threshold = threshold
        return linker

    return build


def assert_same(links, others, *, tolerance=1e-5):
    """With a tolerance for rounding: hashed vectors have equal cosines, whose ranks it may change."""
    assert [(one.kb_id, one.ids[:1], one.learned) for one in links] == [
        (one.kb_id, one.ids[:1], one.learned) for one in others
    ]
    for one, other in zip(links, others, strict=True):
        scores = dict(zip(other.ids, other.scores, strict=True))
        assert dict(zip(one.ids, one.scores, strict=True)) == pytest.approx(scores, abs=tolerance)
        assert one.nil_score == pytest.approx(other.nil_score, abs=tolerance)
        assert one.probability == pytest.approx(other.probability, abs=tolerance)


# -- what is read ------------------------------------------------------------------------------------


def test_always_reads_each_mention_in_its_context(make):
    linker, queries = make(read_context="always"), stream()
    linker.link(queries)
    assert len(linker.encoder.in_context) == len(set(queries)), "equal mentions once"


def test_never_reads_each_form_once(make):
    linker, queries = make(read_context="never"), stream()
    links = linker.link(queries)
    forms = {query.form for query in queries}
    assert sorted(mention.surface for mention in linker.encoder.asked) == sorted(forms)
    assert linker.encoder.in_context == []
    linker.encoder.asked.clear()
    assert_same(linker.link(queries[::-1])[::-1], links)
    assert linker.encoder.asked == [], "all forms are known"
    linker.refresh()
    linker.link(queries[:1])
    assert len(linker.encoder.asked) == 1, "an empty cache"


def test_a_warning_says_that_a_calibration_was_made_for_the_other_mode(states, caplog):
    for mode, other in (MODES, MODES[::-1]):
        linker = make_linker(read_context=mode)
        load_learned_state(linker, states[mode], name="pel")
        assert "PEL-W503" not in caplog.text
        load_learned_state(make_linker(read_context=other), states[mode], name="pel")
        assert f"read_context = {mode}, now has {other}" in caplog.text
        caplog.clear()


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
    rows = linker.kb.put([Entity("NEW", "grubulose", (), ("T047",))])
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
        linker.unlearn([link.learned])
        assert_same(linker.link([query, elsewhere]), before)


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
    linker.link(stream())
    assert linker.reads_context and len(linker.encoder.in_context) > 0


@pytest.mark.parametrize("mode", MODES)
def test_a_generator_without_context_never_reads_it(mode):
    kb = KnowledgeBase([Entity(f"D{i}", name) for i, name in enumerate(NAMES)])
    generator = TfIdf()
    generator.build(kb)
    linker = Linker(kb, None, None, LinearCombiner(), LogisticNil(), generator=generator, read_context=mode)
    fit(linker, [examples(linker, *calibration())])
    links = linker.link(stream())
    assert not linker.reads_context
    whole = Linker(kb, None, None, LinearCombiner(), LogisticNil(), generator=generator)
    load_learned_state(whole, learned_state(linker), name="pel")
    assert_same(whole.link(stream()), links)


# -- calibration -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_saved_calibration_answers_alike(states, mode):
    linker = make_linker(read_context=mode)
    links = fit(linker, [examples(linker, *calibration())])
    assert_same(links, linker.link(calibration()[0]), tolerance=1e-3)
    other = make_linker(read_context=mode)
    load_learned_state(other, states[mode], name="pel")
    assert learned_state(other) == states[mode]
    assert_same(other.link(stream()), linker.link(stream()))
