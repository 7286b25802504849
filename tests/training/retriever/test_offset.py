"""The offset of a loss in trainings: given, solved for on the first batch."""

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


def test_stopped_and_resumed(train, check_resuming):
    whole = check_resuming(3, pel__loss__offset=None)
    with pytest.raises(PelError, match="E312"):
        train(whole, resume=True, pel__loss__offset=0.0)
