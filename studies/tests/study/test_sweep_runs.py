"""Which runs of a study differ in one setting only."""

import pytest
from spacy_pel_studies.study.plan import plan_study
from spacy_pel_studies.study.sweep import sweep_lines
from training.conftest import CONFIG

from spacy_pel.errors import PelError
from spacy_pel.util import write_json

pytestmark = pytest.mark.slow

STUDY = """
[study]
test = "x"
seeds = [0,1]

[study.factors]

[study.factors.loss]

[study.factors.loss.Pb]

[study.factors.loss.Pb.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"

[study.factors.loss.CE]

[study.factors.loss.CE.loss]
@pel_losses = "spacy-pel.CrossEntropy.v1"

[study.extra]

[study.extra.margin]
label = "Pb 0.1"
like = {"loss":"Pb"}

[study.extra.margin.pel]

[study.extra.margin.pel.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"
margin = 0.1

[study.extra.both]
label = "Pb 0.2, few"
like = {"loss":"Pb"}

[study.extra.both.pel]

[study.extra.both.pel.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"
margin = 0.2

[study.extra.both.pel.training]
max_steps = 3
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "study.cfg"
    path.write_text(CONFIG.read_text() + STUDY)
    return path


def finished(folder, name, recall, **facts):
    path = folder / name / "evaluation" / "metrics.json"
    write_json(path, {"recall@1": recall, "recall@64": 0.9, **facts})


def test_runs_that_differ_in_nothing_else(config, tmp_path):
    for name, recall in (("Pb/seed0", 0.4), ("Pb/seed1", 0.6), ("margin/seed0", 0.7), ("both/seed0", 0.1)):
        finished(tmp_path, name, recall)
    lines = sweep_lines(config, tmp_path, "pel.loss.margin")
    assert list(lines) == ["Pb"]  # CE has no margin, and "both" differs in more
    points = [(point.value, point.n_runs, point.metrics["recall@1"].value) for point in lines["Pb"]]
    assert points == [(0.0, 2, 0.5), (0.1, 1, 0.7)]  # 0.0 is the margin's default


def test_what_was_trained_counts_not_what_the_config_says_now(config, tmp_path):
    _, runs = plan_study(config, {"study.extra.margin.pel.loss.margin": 0.3})
    for run in runs:
        finished(tmp_path, run.name, 0.5, config=run.config)
    lines = sweep_lines(config, tmp_path, "pel.loss.margin")
    assert [point.value for point in lines["Pb"]] == [0.0, 0.3]


def test_refused(config, tmp_path):
    with pytest.raises(PelError, match=r"E679.*pel\.training\.max_steps"):
        sweep_lines(config, tmp_path, "pel.mixing.alpha")
    finished(tmp_path, "Pb/seed0", 0.4)
    with pytest.raises(PelError, match="E693"):
        sweep_lines(config, tmp_path, "pel.loss.margin")
