"""Every training config parses, its parts resolve, and it has no unknown keys."""

from operator import attrgetter
from pathlib import Path

import pytest
from pages import options_after
from spacy_pel_studies.study import plan_study
from srsly import read_yaml
from thinc.api import Config

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.training.commands.train import parse_overrides
from spacy_pel.training.ranker.settings import resolve_rank_settings
from spacy_pel.training.retriever.settings import read_settings, resolve_settings
from spacy_pel.util.config import load_config

FOLDER = Path(__file__).parents[1] / "configs"
PEL = sorted(path for path in FOLDER.glob("*.cfg") if "pel" in Config().from_disk(path))


def test_the_configs_are_there():
    assert {"pel_minilm.cfg", "pel_sapbert.cfg", "tiny.cfg"} <= {path.name for path in PEL}


@pytest.mark.parametrize("path", PEL, ids=lambda path: path.name)
def test_config(path):
    settings = read_settings(path)
    assert isinstance(settings.pel.encoder, BiEncoder) and settings.pel.encoder.towers is None
    assert settings.pel.encoder.name
    assert settings.paths.required("kb")
    dev = settings.pel.training.dev
    assert dev.metric in [f"recall@{k}" for k in dev.recall_at] + ["mrr"]
    views = settings.pel.positives
    assert views.card + views.name + views.mention == pytest.approx(1)
    assert path.read_text(encoding="utf8").startswith("# "), "says what it is for"


# -- the papers' settings --------------------------------------------------------------------------

SAPBERT = "cambridgeltl/SapBERT-from-PubMedBERT-fulltext"
WIATRAK, CAI, LE_NGUYEN, SOFT_RADIUS, RANKER = read_yaml(Path(__file__).with_name("fixtures") / "papers.yaml").values()
AT_PAPER_SIZE = "at the paper's size:"  # in the comments of a config: what it takes
MEDMENTIONS = {**WIATRAK, "pel.encoder.name": SAPBERT}
STUDY = {"study.n_dev": 0, "study.n_test": 0, "study.kinds": ["card"]}
PB = {"pel.loss": "ProxySoftplus", "pel.loss.alpha": 32.0, "pel.encoder.similarity": "Cosine"}
PB_0 = {**PB, "pel.loss.margin": 0.0, "pel.loss.offset": 0.0}
CE = {"pel.loss": "CrossEntropy", "pel.loss.scale": 1.0, "pel.encoder.similarity": "DotProduct"}
RANDOM = {"pel.negatives": "RandomNegatives"}
MIXED = {"pel.negatives": "MixedNegatives", "pel.negatives.percent": 50.0}
PLAIN = {"pel.regularizer": None}
FGSM = {"pel.regularizer": "FGSM", "pel.regularizer.epsilon": 0.01, "pel.regularizer.weight": 1.0}
LOSSES, REGULARIZERS = (("Pb", PB_0), ("CE", CE)), (("plain", PLAIN), ("FGSM", FGSM))
N_32, N_64 = ({"pel.negatives.n_negatives": n} for n in (32, 64))
CAI_STUDY = {**STUDY, "study.seeds": [0, 1, 2], "study.first_stage": 1024}
BINARY = {"pel.loss": "BinaryCrossEntropy", "pel.loss.offset": 0.0}
BASELINE = {"pel.loss": "CrossEntropy", "pel.mixing": None}
AMH = {**BINARY, "pel.mixing": "AdaptiveMixup", "pel.mixing.alpha": 0.3, "pel.negatives": "InBatchNegatives"}
IN_BATCH = {"pel.negatives": "InBatchNegatives"}
ADDED = {"pel.negatives.shared": False, "pel.negatives.in_batch": True, "pel.training.mining.every_epochs": 1}
HARD = {**ADDED, "pel.negatives": "HardNegatives"}
K = {"DUAL": 1, "Pooling Mean": 1, "SOM": 10}
SCORERS = {
    "DUAL": {"pel.encoder.pooling": "cls", "pel.encoder.similarity": "DotProduct"},
    "Pooling Mean": {"pel.encoder.pooling": "mean", "pel.encoder.similarity": "DotProduct"},
    "SOM": {"pel.encoder.pooling": "mean", "pel.encoder.similarity": "SumOfMax"},
}
# Wiatrak et al. (2022), Appendix B and the cross-encoder of Table 6
FOR_RANKER = {"pel.training.dev.metric": "recall@16"}  # Appendix B
# config -> label of its runs ("" for all of a study, and for a config of one training) -> settings
PAPERS = {
    # Tables 2 and 3: 64 random or 32 mixed negatives, FGSM with 32
    "study": {
        "": {**MEDMENTIONS, **STUDY},
        "Pb random plain": {**PB_0, **RANDOM, **N_64, **PLAIN},
        "Pb random FGSM": {**PB_0, **RANDOM, **N_64, **FGSM},
        "Pb mixed plain": {**PB_0, **MIXED, **N_32, **PLAIN},
        "Pb mixed FGSM": {**PB_0, **MIXED, **N_32, **FGSM},
        "CE random plain": {**CE, **RANDOM, **N_64, **PLAIN},
        "CE random FGSM": {**CE, **RANDOM, **N_64, **FGSM},
        "CE mixed plain": {**CE, **MIXED, **N_32, **PLAIN},
        "CE mixed FGSM": {**CE, **MIXED, **N_32, **FGSM},
        "Pb 0.05": {**PB, **MIXED, **N_32, "pel.loss.margin": 0.05},
        "Pb 0.1": {**PB, **MIXED, **N_32, "pel.loss.margin": 0.1},
    },
    "study_paper": {
        "": {**MEDMENTIONS, **STUDY, **PLAIN},
        "Pb random": {**PB_0, **RANDOM, **N_64},
        "Pb mixed": {**PB_0, **MIXED, **N_32},
        "CE random": {**CE, **RANDOM, **N_64},
        "CE mixed": {**CE, **MIXED, **N_32},
    },
    # Table 4: 64 mixed negatives
    "study_nil": {
        "": {**MEDMENTIONS, **STUDY, **N_64, **PLAIN},
        "Pb mixed": {**PB_0, **MIXED},
        "Pb 0.01": {**PB, **MIXED, "pel.loss.margin": 0.01},
        "Pb 0.05": {**PB, **MIXED, "pel.loss.margin": 0.05},
        "Pb 0.1": {**PB, **MIXED, "pel.loss.margin": 0.1},
        "CE mixed": {**CE, **MIXED},
    },
    "study_fgsm": {
        "": {**STUDY, **{name: value for name, value in MEDMENTIONS.items() if ".mining." not in name}},
        "Pb plain": {**PB_0, **RANDOM, **N_32, **PLAIN},
        "Pb FGSM 1e-2": {**PB_0, **RANDOM, **N_32, **FGSM},
    },
    "study_offset": {
        "": {
            **STUDY,
            "pel.encoder.name": SAPBERT,
            "pel.encoder.pooling": "mean",
            "pel.training.batch_size": 32,
            "pel.training.max_epochs": 7,
            "pel.training.max_steps": 0,
            "pel.training.optimizer.learn_rate": 1e-5,
        },
        "Pb": PB_0,
        "CE dot": CE,
    },
    "study_amh": {
        "": {**CAI, **CAI_STUDY},
        **{f"{name} random": {**own, **BASELINE, **IN_BATCH} for name, own in SCORERS.items()},
        **{f"{name} hard": {**own, **BASELINE, **HARD} for name, own in SCORERS.items()},
        **{f"{name} mixed-50": {**own, **BASELINE, **MIXED, **ADDED} for name, own in SCORERS.items()},
        **{f"{name} random, BCE": {**own, **BINARY, **IN_BATCH} for name, own in SCORERS.items()},
        **{f"{name} hard, BCE": {**own, **BINARY, **HARD} for name, own in SCORERS.items()},
        **{f"{name} mixed-50, BCE": {**own, **BINARY, **MIXED, **ADDED} for name, own in SCORERS.items()},
        **{f"{name} AMH": {**own, **AMH, "pel.mixing.k": K[name]} for name, own in SCORERS.items()},
        **{f"Pooling Mean α {a}": {**BINARY, "pel.mixing.alpha": a} for a in (0, 0.1, 0.5, 1)},
    },
    "amh": {"": {**CAI, **SCORERS["DUAL"], **AMH, "pel.mixing.k": 1}},
    "study_triplet": {
        "": {**LE_NGUYEN, "study.n_test": 0},
        "triplet": {"ranker.anchors": "AllMentions", "ranker.loss.squared": True},
        "triplet_downsampled": {"ranker.anchors": "OneMention", "ranker.loss.squared": True},
        "prototype": {"ranker.anchors": "MeanPrototype", "ranker.loss.squared": False},
        "prototype_srn": SOFT_RADIUS,
    },
    "triplet_minilm": {"": {**LE_NGUYEN, **SOFT_RADIUS}},
    # Table 2
    "pel_sapbert": {"": {**MEDMENTIONS, **PB_0, **RANDOM, **N_64, **PLAIN}},
    "pel_sapbert_fgsm": {"": {**MEDMENTIONS, **PB_0, **MIXED, **N_32, **FGSM, **FOR_RANKER}},
    "pel_sapbert_ce": {"": {**MEDMENTIONS, **CE, **MIXED, **N_32, **FGSM}},
    # Table 3
    "zeshel": {"": {**WIATRAK, **PB_0, **RANDOM, **N_32, **FOR_RANKER, "pel.encoder.name": "bert-base-uncased"}},
    "study_worlds": {
        "": {**WIATRAK, **N_32, "pel.encoder.name": "bert-base-uncased"}
        | {"pel.encoder.entity_template": "GeneralCard", "study.n_test": 0, "study.kinds": ["card"]},
        **{f"{loss} random {reg}": {**a, **RANDOM, **b} for loss, a in LOSSES for reg, b in REGULARIZERS},
        **{f"{loss} mixed {reg}": {**a, **MIXED, **b} for loss, a in LOSSES for reg, b in REGULARIZERS},
    },
    "ranker_sapbert": {"": RANKER},
    "ranker_zeshel": {"": {**RANKER, "ranker.model.name": "bert-base-uncased"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_settings(name):
    """Each config has them, most of them with the options that its comments list for a GPU."""
    path, wanted = FOLDER / f"{name}.cfg", PAPERS[name]
    has_options = AT_PAPER_SIZE in path.read_text(encoding="utf8")
    overrides = parse_overrides(options_after(path, AT_PAPER_SIZE)) if has_options else {}
    if "study" in Config().from_disk(path):
        study, runs = plan_study(path, overrides)
        trainings = [(run.label, Config(run.config), study) for run in runs]
    else:
        trainings = [("", load_config(path, overrides), None)]
    assert set(wanted) <= {"", *(label for label, _, _ in trainings)}
    for label, config, study in trainings:
        read = resolve_rank_settings if "ranker" in config else resolve_settings
        settings = read(config, path)
        for setting, value in {**wanted[""], **wanted.get(label, {})}.items():
            root, _, rest = setting.partition(".")
            if setting == "ranker.anchors.radius":
                rest = "anchors.start"  # the radius itself is a parameter
            found = attrgetter(rest)(study if root == "study" else getattr(settings, root))
            if isinstance(value, str) and not isinstance(found, str):
                found = type(found).__name__
            assert found == value, (label, setting)
