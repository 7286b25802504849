"""The setting ``generator``: without an encoder or beside it, round trips, processes, calibration, errors."""

import json

import pytest
import spacy

from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.recall import load_generator
from spacy_pel.types import NIL, Entity

from .conftest import NAME, TEXTS, copies, found
from .test_serialization import FITTED, dev_set

pytestmark = pytest.mark.slow

TFIDF = {"@pel_candidates": "spacy-pel.TfIdf.v1"}
BI_ENCODER = {"@pel_candidates": "spacy-pel.BiEncoderCandidates.v1"}
ALONE = {"generator": TFIDF, "encoder": None, "index": None, **FITTED}


@pytest.fixture
def trained(make_nlp):
    """A calibrated pipeline without an encoder, whose KB has got an entity more than the one on the disk."""
    nlp = make_nlp(**ALONE)
    linker = nlp.get_pipe(NAME)
    linker.calibrate(nlp, dev_set())
    linker.add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    return nlp


# -- linking ---------------------------------------------------------------------------------------


# -- calibration -----------------------------------------------------------------------------------


def test_calibration_without_vectors(trained):
    linker = trained.get_pipe(NAME).linker
    assert 0.0 < linker.nil_threshold < 1.0 and linker.decider.nil_model.state()["directions"] == []
    assert [ent.kb_id_ for ent in trained(TEXTS[4]).ents] == ["C02", "C04", NIL, "C07"]


def test_the_calibration_of_another_generator_is_not_used(trained, make_nlp, tmp_path, caplog):
    learned = trained.get_pipe(NAME)
    learned.to_disk(tmp_path / "linker")
    assert json.loads((tmp_path / "linker" / "cfg.json").read_text())["generator"] == {"kind": "TfIdf"}
    settings = {**ALONE, "generator": {"@pel_candidates": "spacy-pel.AliasMatch.v1"}}
    other = make_nlp(**settings).get_pipe(NAME)
    other.from_disk(tmp_path / "linker", exclude=["generator"])
    assert "PEL-W503" in caplog.text and "AliasMatch" in caplog.text
    assert other.linker.nil_threshold is None and not other.linker.decider.nil_model.state()
    assert other.linker.decider.combiner.state() != learned.linker.decider.combiner.state()


# -- disk, bytes, processes ------------------------------------------------------------------------


def test_round_trips(trained, tmp_path):
    expected = found(trained)
    assert [found(copy) for copy in copies(trained, tmp_path / "pipeline")] == [expected] * 3
    names = sorted(path.name for path in (tmp_path / "pipeline" / NAME).iterdir())
    assert names == ["cfg.json", "generator", "kb", "manifest.json"]


def test_the_config_names_the_loader(kb_path, tmp_path):
    kb = KnowledgeBase.from_disk(kb_path)
    built = TfIdf(char_ngrams=(1, 3))
    built.build(kb)
    built.to_disk(tmp_path / "tfidf")
    nlp = spacy.blank("en")
    linker = nlp.add_pipe(NAME, config=ALONE)
    nlp.config["initialize"]["components"][NAME] = {
        "kb_loader": {"@misc": "spacy-pel.KBFromDisk.v1", "path": str(kb_path)},
        "generator_loader": {"@misc": "spacy-pel.GeneratorFromDisk.v1", "path": str(tmp_path / "tfidf")},
    }
    nlp.initialize()
    assert linker.linker.generator.char_ngrams == [1, 3]
    assert linker.linker.generator.fingerprint == load_generator(tmp_path / "tfidf", kb=kb).fingerprint


# -- what does not go together ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"generator": "spacy-pel.TfIdf.v1"}, "PEL-E518.*TfIdf"),
        ({"encoder": None}, "PEL-E511.*no generator.*encoder is null"),
        ({"index": None, "generator": BI_ENCODER}, "PEL-E511.*BiEncoder"),
        ({"generator": TFIDF}, "PEL-E512.*TfIdf.*encoder and index would"),
    ],
)
def test_refused_settings_say_why(make_nlp, settings, code):
    with pytest.raises(PelError, match=code):
        make_nlp(**settings)


def test_refused_loaders_say_why(make_nlp):
    linker = make_nlp(**ALONE).get_pipe(NAME)
    for loader in ("encoder_loader", "index_loader"):
        with pytest.raises(PelError, match=f"PEL-E513.*{loader}"):
            linker.initialize(lambda: [], **{loader: lambda *parts: parts[0]})
    with pytest.raises(PelError, match="PEL-E513.*generator_loader"):
        make_nlp().get_pipe(NAME).initialize(lambda: [], generator_loader=lambda kb, generator: generator)
