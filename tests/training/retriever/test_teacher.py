"""Training with a teacher: the student comes to order entities as it does."""

import numpy as np
import pytest
import torch
from torch.nn.functional import kl_div

from spacy_pel.encoders import load_encoder
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.device import make_accelerator
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.negatives import MinedNegatives
from spacy_pel.training.regularizers.fgsm import FGSM
from spacy_pel.training.retriever.batches import BatchPlanner
from spacy_pel.training.retriever.distillation import Distillation
from spacy_pel.training.retriever.examples import build_examples
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.objective import Objective
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.training.retriever.teacher import Teacher
from spacy_pel.types import MentionInText

from ..conftest import CONFIG, NAMES, SMALL, differing, document, make_documents, metrics, random_encoder
from .test_resume import Stopped, stops_before


@pytest.fixture(scope="module")
def teacher(train, tmp_path_factory):
    """A model of another width, whose templates read more text."""
    folder = tmp_path_factory.mktemp("teacher") / "run"
    train(
        folder,
        pel__encoder__name="random:layers=1,width=48",
        pel__encoder__mention_template__max_length=40,
        pel__training__max_steps=60,
        pel__training__eval_frequency=20,
    )
    return folder / "model-last"


def similarities(folder):
    """Of mentions in new texts and the names, times 20."""
    encoder = load_encoder(folder)
    texts = [document(100 + i, [name]) for i, name in enumerate(NAMES)]
    mentions = [MentionInText(d.text, d.mentions[0].start, d.mentions[0].end) for d in texts]
    return 20 * torch.from_numpy(encoder.encode_mentions(mentions) @ encoder.encode_names(NAMES).T)


def test_the_student_is_nearer_to_the_teacher_than_without_it(train, teacher, tmp_path):
    longer = {"pel__training__max_steps": 120, "pel__training__eval_frequency": 8}
    train(tmp_path / "with", pel__teacher__path=str(teacher), pel__teacher__weight=4.0, **longer)
    train(tmp_path / "without", **longer)
    first, *_, last = metrics(tmp_path / "with")
    assert 0 < last["loss_distillation"] < 0.7 * first["loss_distillation"]
    assert "loss_distillation" not in metrics(tmp_path / "without")[-1]
    goal = torch.log_softmax(similarities(teacher), dim=1)
    near, far = (
        float(
            kl_div(
                torch.log_softmax(similarities(tmp_path / run / "model-last"), dim=1),
                goal,
                reduction="batchmean",
                log_target=True,
            )
        )
        for run in ("with", "without")
    )
    assert near < 0.7 * far, "on texts that neither was trained on"


def test_targets_are_the_teachers_similarities_of_the_texts_in_the_batch(data):
    settings = read_settings(CONFIG, {**data, **SMALL, "pel.positives.mention": 0.3})
    pel, kb = settings.pel, KnowledgeBase.from_disk(settings.paths.kb)
    large = random_encoder(width=16, tied=False)

    def planner(encoder):
        store = build_examples(kb, make_documents(), encoder)
        return BatchPlanner(
            store, views=pel.positives, negatives=pel.negatives, batch_size=8, pad_id=0, seed=settings.seed
        )

    student, its = planner(random_encoder()), planner(large)
    teacher = Teacher(large, its, make_accelerator(-1, mixed_precision="no", accumulate_gradient=1))
    for number, plan in enumerate(student.plan(0)[:4]):
        targets = teacher.targets(student, plan, number)
        batch, other = student.build(plan, number), its.build(plan, number)
        assert targets.shape == batch.negative_mask.shape and targets.dtype == np.float32
        assert np.array_equal(batch.negative_mask, other.negative_mask)
        vectors = {}
        for kind, sides in (("anchor", other.anchors), ("entity", other.entities)):
            for side in sides:
                tower = large.tower(side.tower)
                with torch.no_grad():
                    found = tower(torch.from_numpy(side.ids), torch.from_numpy(side.mask))
                vectors.update(
                    ((kind, place), vector / np.linalg.norm(vector))
                    for place, vector in zip(side.places.tolist(), found.numpy(), strict=True)
                )
        expected = [
            [vectors["anchor", i] @ vectors["entity", j] for j in range(targets.shape[1])] for i in range(len(targets))
        ]
        assert np.allclose(targets, expected, atol=1e-5)
    student.mined = MinedNegatives.empty()
    teacher.targets(student, plan, 0)
    assert its.mined is student.mined, "hard negatives are those of the student"


def test_an_interrupted_training_resumes_exactly_and_only_with_the_same_teacher(train, teacher, tmp_path):
    path = str(teacher)
    with pytest.raises(Stopped):
        train(tmp_path / "halves", trainer=stops_before(6), pel__teacher__path=path)
    other = teacher.with_name("model-best")
    if load_encoder(other).fingerprint == load_encoder(teacher).fingerprint:
        pytest.fail("the two models of the teacher's run should differ")
    for change in ({"pel__teacher__path": str(other)}, {"pel__teacher__path": path, "pel__teacher__scale": 5.0}, {}):
        with pytest.raises(PelError, match="PEL-E312"):
            train(tmp_path / "halves", resume=True, **change)
    train(tmp_path / "halves", resume=True, pel__teacher__path=path)
    train(tmp_path / "whole", pel__teacher__path=path)
    assert differing(tmp_path / "halves", tmp_path / "whole") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pel__mixing": {"@pel_mixing": "spacy-pel.AdaptiveMixup.v1"}}, r"\[pel\.mixing\]"),
        ({"pel__regularizer": {"@pel_regularizers": "spacy-pel.FGSM.v1"}}, r"\[pel\.regularizer\]"),
        ({"pel__rows": {}}, r"\[pel\.rows\]"),
    ],
)
def test_settings_without_a_meaning_are_refused(train, teacher, tmp_path, change, said):
    with pytest.raises(PelError, match=f"PEL-E356.*{said}"):
        train(tmp_path / "out", pel__teacher__path=str(teacher), **change)
    assert not (tmp_path / "out").exists()


def test_the_teacher_reads_with_its_own_padding(data, tmp_path):
    settings = read_settings(CONFIG, {**data, **SMALL})
    trainer, large = Trainer(settings, tmp_path / "run", show_progress=False), random_encoder()
    settings.pel.encoder.initialize()
    large.tokenizer.pad_token = large.tokenizer.sep_token
    kb = KnowledgeBase.from_disk(settings.paths.kb)
    made = trainer._teacher(kb, large)
    assert made.planner.pad_id == large.tokenizer.sep_token_id != settings.pel.encoder.tokenizer.pad_token_id


def test_objectives_that_do_not_go_together_are_refused():
    towers = random_encoder().towers
    with pytest.raises(PelError, match="PEL-E356"):
        Objective(towers, CrossEntropy(), regularizer=FGSM(), distillation=Distillation())


def test_another_similarity_is_refused(train, teacher, tmp_path):
    with pytest.raises(PelError, match="PEL-E356.*Cosine.*Euclidean"):
        train(
            tmp_path / "out",
            pel__teacher__path=str(teacher),
            pel__encoder__similarity={"@pel_similarities": "spacy-pel.Euclidean.v1"},
        )
    assert not (tmp_path / "out").exists()


def test_a_teacher_that_is_missing_or_no_bi_encoder_is_refused(train, tmp_path):
    with pytest.raises(PelError, match="nowhere"):
        train(tmp_path / "out", pel__teacher__path=str(tmp_path / "nowhere"))
    HashEmbed(width=8).to_disk(tmp_path / "hashes")
    with pytest.raises(PelError, match="PEL-E357.*hashes.*HashEmbed"):
        train(tmp_path / "out", pel__teacher__path=str(tmp_path / "hashes"))
    assert not (tmp_path / "out").exists()
