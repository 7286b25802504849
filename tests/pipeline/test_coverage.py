"""The setting ``coverage`` and what the component says of its answers."""

import logging

import pytest
import spacy

from spacy_pel.types import NIL

from .conftest import NAME, TEXTS
from .test_serialization import FITTED, dev_set


@pytest.fixture
def calibrated(make_nlp):
    nlp = make_nlp(**FITTED, coverage=0.8)
    nlp.get_pipe(NAME).calibrate(nlp, dev_set())
    return nlp


def test_coverage_can_change_at_any_time(calibrated):
    linker = calibrated.get_pipe(NAME)
    sizes = []
    for coverage in (0.3, 0.9999):
        linker.coverage = coverage
        ents = [ent for doc in calibrated.pipe(TEXTS) for ent in doc.ents]
        for ent in ents:
            assert ent._.pel_set and set(ent._.pel_set) <= {NIL, *(one for one, _ in ent._.pel_candidates)}
        sizes.append(sum(len(ent._.pel_set) for ent in ents))
    assert sizes[0] < sizes[1]
    linker.coverage = None
    assert all(ent._.pel_set == [] for doc in calibrated.pipe(TEXTS) for ent in doc.ents)


def test_without_calibration_there_are_no_sets(make_nlp, tmp_path, caplog):
    make_nlp(**FITTED, coverage=0.8).to_disk(tmp_path / "saved")
    with caplog.at_level(logging.WARNING, logger="spacy_pel"):
        nlp = spacy.load(tmp_path / "saved")
    assert "PEL-W508" in caplog.text
    doc = nlp(TEXTS[0])
    assert doc.ents and all(ent._.pel_set == [] and ent._.pel_probability >= 0 for ent in doc.ents)
