"""Every registered generator, ranker and similarity of the encoder in a pipeline: it links, and each counts."""

import inspect

import pytest

from spacy_pel.errors import PelError
from spacy_pel.registry import registry

from .conftest import ENTITIES, NAME, make_doc

pytestmark = pytest.mark.slow

WEIGHTS = "random:layers=1,width=16"
TFIDF = "spacy-pel.TfIdf.v1"
BI_ENCODER = "spacy-pel.BiEncoderCandidates.v1"
WITH_ENCODER = (None, BI_ENCODER)
GENERATORS = [None, *sorted(registry.parts("pel_candidates").values())]
RANKERS = sorted(registry.parts("pel_rankers").values())
SIMILARITIES = sorted(registry.parts("pel_similarities").values())
SUM_OF_MAX, POOLED = "spacy-pel.SumOfMax.v1", "spacy-pel.DotProduct.v1"
MENTIONS = [[("heart attack", "X"), "and", ("Asprin", "X")], ["no", "mention"], ["a", ("cold", "X"), "day"]]


def encoder_config(similarity):
    """A bi-encoder of one random layer, with a similarity."""
    return {
        "@pel_encoders": "spacy-pel.BiEncoder.v1",
        "name": WEIGHTS,
        "tied": True,
        "mention_template": {"@pel_templates": "spacy-pel.MarkedContext.v1", "max_length": 24},
        "entity_template": {"@pel_templates": "spacy-pel.EntityCard.v1", "max_length": 24},
        "similarity": {"@pel_similarities": similarity},
    }


@pytest.fixture
def make(make_nlp):
    """A pipeline of these parts, with random weights: a ranker's own, or those of a bi-encoder."""

    def make(generator=None, ranker=None, similarity=POOLED):
        config = {"encoder": None, "index": None}
        if generator in WITH_ENCODER:
            config = {"encoder": encoder_config(similarity), "index": {"@pel_indexes": "spacy-pel.FaissIVF.v1"}}
        if generator is not None:
            config["generator"] = {"@pel_candidates": generator}
        if ranker is not None:
            own = {"encoder": encoder_config(similarity)} if has_similarity(ranker) else {"name": WEIGHTS}
            config["reranker"] = {"@pel_rankers": ranker, "top_k": 2, **own}
        return make_nlp(ruler=False, **config)

    return make


def has_similarity(ranker):
    return "encoder" in inspect.signature(registry.pel_rankers.get(ranker)).parameters


def linked(nlp):
    docs = [make_doc(nlp, *words) for words in MENTIONS]
    return [ent for doc in nlp.get_pipe(NAME).pipe(docs) for ent in doc.ents]


@pytest.mark.parametrize(
    ("generator", "ranker", "similarity"),
    [
        *((generator, RANKERS[-1], POOLED) for generator in GENERATORS),
        *((TFIDF, ranker, POOLED) for ranker in RANKERS),
        *((None, None, similarity) for similarity in SIMILARITIES),
    ],
)
def test_it_links(make, generator, ranker, similarity):
    try:
        nlp = make(generator, ranker, similarity)
    except PelError as err:  # an extra that is not installed
        assert "PEL-E003" in str(err) and "pip install" in str(err)
        return
    ents = linked(nlp)
    assert [ent.text for ent in ents] == ["heart attack", "Asprin", "cold"]
    known = {entity.concept_id for entity in ENTITIES}
    for ent in (ents[0], ents[2]):  # names of the KB, which every generator finds
        ids = [key for key, _ in ent._.pel_candidates]
        assert ids and set(ids) <= known and len(set(ids)) == len(ids) and ent.kb_id_ == ids[0]
    assert {"C01", "C04"} <= {key for ent in ents for key, _ in ent._.pel_candidates}


def test_a_similarity_of_tokens_without_its_second_stage_is_warned_of(make, caplog):
    make(similarity=SUM_OF_MAX)
    assert "PEL-W504" in caplog.text
    caplog.clear()
    make(ranker="spacy-pel.DualEncoder.v1", similarity=SUM_OF_MAX)
    make()
    assert "PEL-W504" not in caplog.text
