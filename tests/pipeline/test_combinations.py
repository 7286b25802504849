"""Every registered generator x ranker x similarity of the encoder: it links, or is refused and told why."""

import inspect
import itertools

import pytest
import spacy

from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry

from .conftest import ENTITIES, NAME, make_doc

WEIGHTS = "random:layers=1,width=16"
TFIDF = "spacy-pel.TfIdf.v1"
BI_ENCODER = "spacy-pel.BiEncoderCandidates.v1"
# settings without which a part cannot be made
SETTINGS = {
    "spacy-pel.DenseSynonyms.v1": {"name": WEIGHTS},
    "spacy-pel.EnsembleCandidates.v1": {
        "generators": {"near": {"@pel_candidates": BI_ENCODER}, "spelled": {"@pel_candidates": TFIDF}}
    },
}
GENERATORS = [None, *sorted(registry.parts("pel_candidates").values())]
RANKERS = [None, *sorted(registry.parts("pel_rankers").values())]
SIMILARITIES = sorted(registry.parts("pel_similarities").values())
MENTIONS = [[("heart attack", "X"), "and", ("Asprin", "X")], ["no", "mention"], ["a", ("cold", "X"), "day"]]


def encoder_config(similarity):
    """A bi-encoder of one random layer, with a similarity."""
    return {
        "@pel_encoders": "spacy-pel.BiEncoder.v1",
        "name": WEIGHTS,
        "tied": True,
        "mention_template": {"@pel_templates": "spacy-pel.MarkedContext.v1", "max_length": 24},
        "entity_template": {"@pel_templates": "spacy-pel.SynonymCard.v1", "max_length": 24},
        "similarity": {"@pel_similarities": similarity},
    }


def ranker_config(name, similarity):
    """A ranker with random weights: its own, or those of a bi-encoder."""
    known = inspect.signature(registry.pel_rankers.get(name)).parameters
    settings = {"encoder": encoder_config(similarity)} if "encoder" in known else {"name": WEIGHTS}
    return {"@pel_rankers": name, "top_k": 2, **settings}


def has_similarity(ranker):
    return ranker is not None and "encoder" in inspect.signature(registry.pel_rankers.get(ranker)).parameters


def needs_encoder(generator):
    return generator is None or resolve(generator_config(generator), "generator").needs_encoder


def generator_config(name):
    return {"@pel_candidates": name, **SETTINGS.get(name, {})}


def resolve(config, name):
    return spacy.registry.resolve({name: config})[name]


class Parts:
    """Each part with its data once, whatever the combinations it is in."""

    def __init__(self):
        self.kb = KnowledgeBase(ENTITIES)
        self.nlp = spacy.blank("en")
        self._made = {}

    def once(self, key, make):
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def encoder(self, similarity):
        def make():
            encoder = resolve(encoder_config(similarity), "encoder")
            encoder.initialize()
            return encoder

        return self.once(similarity, make)

    def index(self, similarity):
        encoder = self.encoder(similarity)
        return self.once(("index", similarity), lambda: EntityIndex.build(self.kb, encoder, index=FaissFlat()))

    def generator(self, name):
        def make():
            generator = resolve(generator_config(name), "generator")
            generator.build(self.kb)
            return generator

        return self.once(name, make)

    def ranker(self, name, similarity):
        def make():
            ranker = resolve(ranker_config(name, similarity), "ranker")
            ranker.initialize()
            return ranker

        return self.once((name, similarity if has_similarity(name) else None), make)

    def component(self, generator, ranker, similarity, *, with_encoder):
        """The component as a config makes it, with its data."""
        config = {
            "generator": None if generator is None else generator_config(generator),
            "reranker": None if ranker is None else ranker_config(ranker, similarity),
            "encoder": encoder_config(similarity) if with_encoder else None,
            "index": {"@pel_indexes": "spacy-pel.FaissFlat.v1"} if with_encoder else None,
        }
        component = self.nlp.create_pipe(NAME, config=config)
        loaders = {"kb_loader": lambda: self.kb}
        if generator is not None:
            loaders["generator_loader"] = lambda kb, part: self.generator(generator)
        if ranker is not None:
            loaders["reranker_loader"] = lambda part: self.ranker(ranker, similarity)
        if with_encoder:
            loaders["encoder_loader"] = lambda part: self.encoder(similarity)
            loaders["index_loader"] = lambda kb, encoder: self.index(similarity)
        component.initialize(lambda: [], **loaders)
        return component

    def links(self, *combination, **settings):
        component = self.component(*combination, **settings)
        docs = [make_doc(self.nlp, *words) for words in MENTIONS]
        return [ent for doc in component.pipe(docs) for ent in doc.ents]


@pytest.fixture(scope="module")
def parts():
    return Parts()


@pytest.mark.parametrize(
    ("generator", "ranker", "similarity"),
    list(itertools.product(GENERATORS, RANKERS, SIMILARITIES)),
    ids=lambda name: str(name).removeprefix("spacy-pel.").removesuffix(".v1"),
)
def test_it_links_or_says_why_not(parts, generator, ranker, similarity):
    if generator is not None:
        try:
            parts.generator(generator)
        except PelError as err:  # an extra that is not installed
            assert "PEL-E003" in str(err) and "pip install" in str(err)
            return
    with_encoder = needs_encoder(generator)
    ents = parts.links(generator, ranker, similarity, with_encoder=with_encoder)
    assert [ent.text for ent in ents] == ["heart attack", "Asprin", "cold"]
    known = {entity.concept_id for entity in ENTITIES}
    for ent in (ents[0], ents[2]):  # names of the KB, which every generator finds
        ids = [key for key, _ in ent._.pel_candidates]
        assert ids and set(ids) <= known and len(set(ids)) == len(ids) and ent.kb_id_ == ids[0]
    assert {"C01", "C04"} <= {key for ent in ents for key, _ in ent._.pel_candidates}
    # the encoder the other way round is refused, and the message names generator and setting
    code = "PEL-E511" if with_encoder else "PEL-E512"
    with pytest.raises(PelError, match=f"{code}.*{generator or 'no generator'}.*encoder and index"):
        parts.component(generator, ranker, similarity, with_encoder=not with_encoder)


def test_a_ranker_and_its_similarity_change_the_scores(parts):
    rankers = [None, *filter(has_similarity, RANKERS)]  # an untrained cross-encoder scores 0
    scores = {}
    for ranker, similarity in itertools.product(rankers, SIMILARITIES):
        ents = parts.links(TFIDF, ranker, similarity, with_encoder=False)
        key = (ranker, similarity if ranker else None)
        scores.setdefault(key, set()).add(str(ents[2]._.pel_candidates))
    assert all(len(same) == 1 for same in scores.values())
    assert len(set.union(*scores.values())) == len(scores)


def test_a_similarity_decides_which_rows_are_near(parts):
    scores = {
        similarity: [ent._.pel_candidates for ent in parts.links(None, None, similarity, with_encoder=True)]
        for similarity in SIMILARITIES
    }
    by_tokens, pooled = "spacy-pel.SumOfMax.v1", "spacy-pel.DotProduct.v1"
    assert str(scores[by_tokens]) == str(scores[pooled])  # the first of its two stages
    assert len({str(found) for found in scores.values()}) == len(SIMILARITIES) - 1


def test_a_similarity_of_tokens_without_its_second_stage_is_warned_of(parts, caplog):
    parts.component(None, None, "spacy-pel.SumOfMax.v1", with_encoder=True)
    assert "PEL-W504" in caplog.text and "ranker", "add" in caplog.text
    caplog.clear()
    parts.component(None, "spacy-pel.DualEncoder.v1", "spacy-pel.SumOfMax.v1", with_encoder=True)
    parts.component(None, None, "spacy-pel.DotProduct.v1", with_encoder=True)
    assert "PEL-W504" not in caplog.text
