"""spaCy's own evaluate command on a pipeline that links."""

from typer.testing import CliRunner

from spacy_pel.util import read_json

from .conftest import done


def test_links_are_scored_per_component(folder, tmp_path):
    from spacy.cli import app

    gold, scores = tmp_path / "dev.spacy", tmp_path / "scores.json"
    done("convert", gold, "--reader", "jsonl", folder / "dev.jsonl", "--nlp", folder / "pipeline")
    call = ["evaluate", str(folder / "pipeline"), str(gold), "--output", str(scores)]
    result = CliRunner().invoke(app, [*call, "--per-component"])
    assert result.exit_code == 0, result.output
    links = read_json(scores)["proxy_entity_linker"]
    assert 0.6 < links["nel_accuracy"] <= 1 and 0.6 < links["nel_micro_f"] <= 1
    assert links["nel_recall_at_1"] <= links["nel_recall_at_64"] == 1
