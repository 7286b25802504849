"""The setting ``coverage`` and what the component says of its answers."""

import logging

import pytest
import spacy

from spacy_pel.types import NIL

from .conftest import NAME, TEXTS, links
from .test_serialization import FITTED, dev_set


@pytest.fixture
def calibrated(make_nlp):
    nlp = make_nlp(**FITTED, coverage=0.8)
    nlp.get_pipe(NAME).calibrate(nlp, dev_set())
    return nlp


def test_answers_have_a_probability_and_a_set(calibrated):
    for doc in calibrated.pipe(TEXTS):
        for ent in doc.ents:
            assert 0.0 <= ent._.pel_probability <= 1.0
            ids = [one for one, _ in ent._.pel_candidates]
            assert ent._.pel_set and set(ent._.pel_set) <= {*ids, NIL}


def test_coverage_can_change_at_any_time(calibrated):
    linker = calibrated.get_pipe(NAME)
    sizes = []
    for coverage in (0.3, 0.9999):
        linker.coverage = coverage
        sizes.append([len(ent._.pel_set) for doc in calibrated.pipe(TEXTS) for ent in doc.ents])
    assert sum(sizes[0]) < sum(sizes[1])
    linker.coverage = None
    assert all(ent._.pel_set == [] for doc in calibrated.pipe(TEXTS) for ent in doc.ents)


def test_sets_survive_saving_and_processes(calibrated, tmp_path):
    expected = [links(doc) for doc in calibrated.pipe(TEXTS)]
    assert any(sets for doc in expected for *_, sets in doc)
    calibrated.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    assert [links(doc) for doc in loaded.pipe(TEXTS)] == expected
    assert [links(doc) for doc in loaded.pipe(TEXTS, n_process=2)] == expected
    other = spacy.load(tmp_path / "saved", config={f"components.{NAME}.coverage": 0.9999})
    assert [links(doc) for doc in other.pipe(TEXTS)] != expected


def test_without_calibration_there_are_no_sets(make_nlp, tmp_path, caplog):
    make_nlp(**FITTED, coverage=0.8).to_disk(tmp_path / "saved")
    with caplog.at_level(logging.WARNING, logger="spacy_pel"):
        nlp = spacy.load(tmp_path / "saved")
    assert "PEL-W508" in caplog.text
    doc = nlp(TEXTS[0])
    assert doc.ents and all(ent._.pel_set == [] and ent._.pel_probability >= 0 for ent in doc.ents)
