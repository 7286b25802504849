"""The offset of a loss in trainings: given, solved for on the first batch, learned."""

import pytest
from safetensors.torch import load_file

from spacy_pel.errors import PelError

from ..conftest import contents, metrics

pytestmark = pytest.mark.slow


def test_training_with_the_number_that_was_found_is_the_same(train, tmp_path):
    changes = {"pel__regularizer": {"@pel_regularizers": "spacy-pel.FGSM.v1"}}
    train(tmp_path / "solved", pel__loss__offset=None, **changes)
    found = [record["offset"] for record in metrics(tmp_path / "solved")]
    assert len(set(found)) == 1 and 0 < found[0] < 1
    saved = load_file(str(tmp_path / "solved" / "checkpoint" / "objective.safetensors"))
    assert float(saved["loss.offset"]) == found[0] and bool(saved["loss.started"])
    train(tmp_path / "given", pel__loss__offset=found[0], **changes)
    assert "offset" not in metrics(tmp_path / "given")[0]
    given, solved = contents(tmp_path / "given"), contents(tmp_path / "solved")
    assert given["model-last/mention/model.safetensors"] == solved["model-last/mention/model.safetensors"]
    without = [{k: v for k, v in record.items() if k != "offset"} for record in solved["metrics"]]
    assert given["metrics"] == without and given["steps.jsonl"] == solved["steps.jsonl"]
    train(tmp_path / "plain", **changes)
    assert contents(tmp_path / "plain")["metrics"] != given["metrics"]


def test_a_learned_offset_moves_at_its_own_rate(train, tmp_path):
    rate = {"pel__training__optimizer__proxy_learn_rate": 0.01, "pel__training__optimizer__warmup": 0.0}
    train(tmp_path / "solved", pel__loss__offset=None, pel__training__eval_frequency=1)
    start = metrics(tmp_path / "solved")[0]["offset"]
    train(tmp_path / "learned", pel__loss__offset="learned", pel__training__eval_frequency=1, **rate)
    offsets = [record["offset"] for record in metrics(tmp_path / "learned")]
    assert offsets[0] == start, "it starts balanced"
    steps = [abs(after - before) for before, after in zip(offsets, offsets[1:], strict=False)]
    assert all(0 < step < 0.02 for step in steps) and abs(offsets[-1] - start) > 0.005
    saved = load_file(str(tmp_path / "learned" / "checkpoint" / "objective.safetensors"))
    assert float(saved["loss.offset"]) != start
    # the gradient of the offset is not clipped with those of the towers
    first = [record["grad_norm"] for record in metrics(tmp_path / "solved")][0]
    assert metrics(tmp_path / "learned")[0]["grad_norm"] == first


@pytest.mark.parametrize(("step", "offset"), [(3, None), (7, "learned")])
def test_stopped_and_resumed(train, check_resuming, offset, step):
    whole = check_resuming(step, pel__loss__offset=offset)
    for other in (0.0, "learned" if offset is None else None):
        with pytest.raises(PelError, match="E312"):
            train(whole, resume=True, pel__loss__offset=other)
