"""index, calibrate and evaluate on the tiny pipeline."""

import json
import random
from dataclasses import replace

import pytest
import spacy

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.corpora.formats.tables import open_table
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.util import fingerprint, read_jsonl

from .conftest import NAMES, UNKNOWN, documents, done, refused, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def calibrated(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrated") / "pipeline"
    done("calibrate", folder / "pipeline", folder / "dev.jsonl", "--output", path, "--json")
    return path


def learned(pipeline):
    return json.loads((pipeline / "proxy_entity_linker" / "cfg.json").read_text())


def test_index_and_mine_take_the_encoder_of_a_pipeline(folder, pipeline, tmp_path):
    def index(model):
        return run("index", folder / "kb", model, tmp_path / "index", "--json")

    expected = index(folder / "model").json["fingerprint"]
    assert index(pipeline).json["fingerprint"] == expected
    mined = [tmp_path / f"mined{i}.jsonl" for i in range(2)]
    for model, out in zip((folder / "model", pipeline), mined, strict=True):
        assert run("mine", folder / "kb", model, folder / "train.jsonl", out).code == 0
    assert mined[0].read_bytes() == mined[1].read_bytes()

    none = index(folder / "ruler")
    assert none.code == 2 and "E656" in none.err


def test_calibrate_finds_the_nil_mentions(folder, calibrated):
    before = learned(folder / "pipeline")
    assert before["calibrated_threshold"] is None  # the copy was calibrated, not this one
    assert 0 < learned(calibrated)["calibrated_threshold"] < 1
    nlp = spacy.load(calibrated)
    doc = nlp("We studied aspirin in zebra fish.")
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("aspirin", "C0"), ("zebra fish", "NIL")]


def test_calibrate_in_place_changes_the_calibration_and_its_checksum(folder, pipeline, calibrated):
    old = {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()}
    result = done("calibrate", pipeline, folder / "dev.jsonl")
    assert "28 of them NIL" in result.err and "is unreliable" in result.err
    new = {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()}
    changed = sorted(path.name for path in old if old[path] != new[path])
    assert changed == ["cfg.json", "manifest.json"] and old.keys() == new.keys()
    assert learned(pipeline) == learned(calibrated)  # same data, same result


def test_calibrate_says_how_well_it_fits(folder, pipeline, tmp_path):
    """The figures are those that evaluate gives for the same mentions."""
    fitted = run("calibrate", pipeline, folder / "dev.jsonl", "--json").json
    measured = run(*("evaluate", pipeline, folder / "dev.jsonl", "--output", tmp_path, "--json")).json
    keys = ["n", "n_nil", "nil_aupr", "nil_precision", "nil_recall", "nil_f1", "nil_ece"]
    for key in [*keys, "recall_all@1", "recall_all@64"]:
        assert fitted[key] == pytest.approx(measured[key], abs=1e-5), key


def test_calibrate_says_what_it_changed(folder, calibrated, tmp_path):
    first = done("calibrate", folder / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "first", "--json").json
    assert first["weights"] == "fitted" and first["cross_fitted"] is True and first["threshold_before"] is None
    before = done("evaluate", folder / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "m", "--json").json
    for name, change in first["changes"].items():
        assert change["before"] == pytest.approx(before[name], abs=1e-5)
        assert change["change"] == pytest.approx(change["after"] - change["before"])
        assert change["low"] <= change["change"] + 1e-9 and change["change"] <= change["high"] + 1e-9
    text = done("calibrate", folder / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "text").out
    assert "40 documents are few: on others like them, the accuracy may have changed by " in text
    assert "P(right) off by" in text and "flatters" not in text


def test_calibrate_on_few_documents_keeps_what_is_better(folder, calibrated, pipeline, tmp_path):
    """Weights that were fitted on much text stay if those of a few documents link worse."""
    few = tmp_path / "few.jsonl"
    write_corpus(few, documents(12, NAMES + UNKNOWN, "f"))
    before = learned(calibrated)
    result = done("calibrate", calibrated, few, "--keep-weights", "--output", tmp_path / "kept", "--json")
    kept = learned(tmp_path / "kept")
    assert result.json["weights"] == "kept" and "the threshold stays as it was" in result.err
    assert all(kept[key] == before[key] for key in ("combiner", "nil_model", "calibrated_threshold"))
    assert kept["confidence"] != before["confidence"]
    fitted = done("calibrate", calibrated, few, "--refit-weights", "--output", tmp_path / "fitted", "--json").json
    assert fitted["weights"] == "fitted" and learned(tmp_path / "fitted")["nil_model"] != before["nil_model"]
    by_default = done("calibrate", calibrated, few, "--output", tmp_path / "default", "--json").json
    assert fitted["changes"]["accuracy"]["change"] == 0.0 and by_default["weights"] == "kept", "it gains nothing"
    told = []
    for n, share in ((45, 0.45), (55, 0.45), (45, 0.9)):  # mentions that are NIL for no reason, some or most of them
        made, rng = documents(n, NAMES, f"chance {n} "), random.Random(n)
        drawn = [[replace(one, ids=("X1",)) if rng.random() < share else one for one in each.mentions] for each in made]
        write_corpus(few, [replace(each, mentions=own) for each, own in zip(made, drawn, strict=True)])
        out = tmp_path / f"chance {n} {share}"
        told.append(done("calibrate", calibrated, few, "--output", out, "--json").json)
    assert [one["threshold_is"] for one in told] == ["kept", "kept", "fitted"]
    changes = [one["changes"]["accuracy"] for one in told]
    assert [one["change"] for one in changes[:2]] == [0.0, 0.0] and changes[2]["low"] > 0.5
    fold = f"{pipeline}={few}"
    refused("E664", "calibrate", calibrated, few, "--keep-weights", "--fold", fold, "--output", tmp_path / "no")


def test_p_right_of_links_learns_from_several_corpora(folder, calibrated, tmp_path):
    """In the other one half of the links are wrong, which changes nothing but P(right) of links."""
    made = documents(20, NAMES, "also")
    wrong = [[replace(one, ids=("X1",)) for one in each.mentions] for each in made]
    half = [replace(each, mentions=own) for each, own in zip(made[::2], wrong[::2], strict=True)]
    write_corpus(tmp_path / "also.jsonl", [*half, *made[1::2]])
    keep = "calibrate", calibrated, folder / "dev.jsonl", "--keep-weights"
    done(*keep, "--also", tmp_path / "also.jsonl", "--output", tmp_path / "with")
    done(*keep, "--also", folder / "dev.jsonl", "--output", tmp_path / "twice")
    together, twice, before = learned(tmp_path / "with"), learned(tmp_path / "twice"), learned(calibrated)
    assert together["confidence"].pop("link") != twice["confidence"].pop("link")
    assert together == twice
    assert all(together[key] == before[key] for key in ("combiner", "nil_model"))
    refused("E622", *keep[:-1], "--also", tmp_path / "also.jsonl", "--output", tmp_path / "no")


def judged(path, calibrated, texts, answers):
    """Questions about texts, filled in."""
    done("calibrate", calibrated, texts, "--ask", 50, "--output", path)
    header, *rows = path.read_text().splitlines()
    at, mention = header.split("\t").index("right"), header.split("\t").index("mention")
    cells = [row.split("\t") for row in rows]
    for row in cells:
        row[at] = answers(row[mention])
    path.write_text("\n".join([header, *map("\t".join, cells)]) + "\n")
    return path


def test_questions_are_one_of_each_form(folder, calibrated, tmp_path):
    asked = [tmp_path / f"{name}.tsv" for name in "abc"]
    for path, seed in zip(asked, (0, 0, 1), strict=True):
        done("calibrate", calibrated, folder / "dev.jsonl", "--ask", 8, "--seed", seed, "--output", path)
    assert asked[0].read_bytes() == asked[1].read_bytes() != asked[2].read_bytes()
    rows = [row for _, row in open_table(asked[0], "right")[1]]
    assert len({row["mention"] for row in rows}) == len(rows) == 8
    for row in rows:
        text, name = json.loads(row["text"]), row["mention"]
        assert text[int(row["start"]) : int(row["end"])] == name and f"[[{name}]]" in row["around"]
        assert row["answer"] == ("NIL" if name in UNKNOWN else f"C{NAMES.index(name)}")
        assert 0.0 < float(row["p_right"]) < 1.0 and row["other_1"].split()[0] != row["answer"] and not row["right"]
    refused("E002", "calibrate", calibrated, folder / "dev.jsonl", "--ask", 8, "--output", asked[0])
    refused("E623", "calibrate", calibrated, folder / "dev.jsonl", "--ask", 8, "--keep-weights")
    refused("E642", "calibrate", calibrated, folder / "dev.jsonl", "--ask", 8, "--output", tmp_path / "asked.xlsx")
    for option in (("--seed", 0), ("--text-column", "text")):
        assert f"--ask with {option[0]}" in refused("E602", "calibrate", calibrated, folder / "dev.jsonl", *option)


def test_questions_about_a_column_of_a_table(calibrated, tmp_path):
    notes, asked = tmp_path / "notes.csv", tmp_path / "asked.tsv"
    notes.write_text(f"id,note\n7,We saw {NAMES[0]}.\n")
    ask = "calibrate", calibrated, notes, "--ask", 8, "--output", asked
    refused("E641", *ask)
    done(*ask, "--text-column", "note")
    assert [(row["document"], row["mention"]) for _, row in open_table(asked, "right")[1]] == [("7", NAMES[0])]


def test_answers_to_questions_move_p_right(folder, calibrated, tmp_path):
    """What cannot be learned from few answers stays: weights, P(NIL), and the threshold that they do not contradict."""

    def p_right(path):
        return spacy.load(path)("We saw fever in mice.").ents[0]._.pel_probability

    before, means = learned(calibrated), []
    kinds = (lambda name: "yes" if name != "fever" else "", lambda name: "NIL" if name in UNKNOWN else "no")
    for number, answers in enumerate(kinds):
        table, out = (
            judged(tmp_path / f"{number}.tsv", calibrated, folder / "dev.jsonl", answers),
            tmp_path / f"{number}",
        )
        result = done("calibrate", calibrated, table, "--output", out, "--json")
        blank = 1 - number
        assert result.json["n_blank"] == blank and f"{blank} are blank" in result.err
        assert (result.json["n"], result.json["weights"], result.json["threshold_is"]) == (10 - blank, "kept", "kept")
        after = learned(out)
        assert all(after[key] == before[key] for key in ("combiner", "nil_model", "calibrated_threshold"))
        assert after["confidence"]["smallest"] == before["confidence"]["smallest"]
        means.append(p_right(out))
    assert means[1] < p_right(calibrated) < means[0]
    header, *rows = (tmp_path / "0.tsv").read_text().splitlines()
    for n, name in ((40, "many"), (1, "one")):  # more than the documents of a large corpus, and too few to tell
        chosen = [row for row in rows if "\tyes\t" in row][: None if n > 1 else 4]
        (tmp_path / f"{name}.tsv").write_text("\n".join([header, *chosen * n]) + "\n")
        told = done("calibrate", calibrated, tmp_path / f"{name}.tsv", "--output", tmp_path / name).err
        assert ("Nothing has changed: 4 answers are judged, at least 5 are needed" in told) == (name == "one")
    assert learned(tmp_path / "many")["confidence"] != before["confidence"] and p_right(tmp_path / "many") > means[0]
    assert learned(tmp_path / "one") == before


def test_questions_that_cannot_be_read_name_their_row(folder, calibrated, tmp_path):
    table, dev, out = tmp_path / "questions.tsv", folder / "dev.jsonl", ("--output", tmp_path / "none")
    ids = {name: f"C{number} {name}" for number, name in enumerate(NAMES)}
    judged(table, calibrated, dev, lambda name: ids.get(name, "nil"))
    refused("E002", "calibrate", calibrated, table, "--refit-weights", *out)
    refused("E002", "calibrate", folder / "pipeline", table, *out)
    lines = table.read_text().splitlines()
    number, line = next((at, one) for at, one in enumerate(lines) if "\tkidney stone\tC4\t" in one)
    columns = lines[0].split("\t")
    mention_and_text = "a text, its offsets and what is around as they were written"
    row = next(row for _, row in open_table(table, "right")[1] if row["mention"] == "kidney stone")
    from_the_end = {key: str(int(row[key]) - len(json.loads(row["text"]))) for key in ("start", "end")}
    for cells_of, expected in (
        ({"right": "perhaps"}, "got 'perhaps'"),
        ({"right": "yes", "answer": ""}, "got 'yes'"),
        ({"around": "kidney"}, mention_and_text),
        (from_the_end, mention_and_text),
        *(({"text": cell}, mention_and_text) for cell in ('["kidney"]', "[" * 100_000, "5", "")),
        ({"mention": "2-Sep"}, None),  # as a spreadsheet writes "SEPT2"
    ):
        cells = line.split("\t")
        for column, cell in cells_of.items():
            cells[columns.index(column)] = cell
        table.write_text("\n".join([*lines[:number], "\t".join(cells), *lines[number + 1 :]]) + "\n")
        if expected is None:
            done("calibrate", calibrated, table, *out)
        else:
            err = refused("E002", "calibrate", calibrated, table, *out)
            assert f"line {number + 1}" in err and expected in err
    table.unlink()
    refused("E002", "calibrate", calibrated, judged(table, calibrated, dev, lambda name: ""), *out)


def test_nil_model_learns_from_folds_and_evidence_weights_do_not(folder, pipeline, tmp_path):
    """With the same pipeline for both parts, P(NIL) is as if they were one corpus."""
    dev = list(read_corpus(folder / "dev.jsonl"))
    halves = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, half in zip(halves, (dev[::2], dev[1::2]), strict=True):
        write_corpus(path, half)
    write_corpus(tmp_path / "whole.jsonl", [*dev[::2], *dev[1::2]])
    before = learned(pipeline)
    fold = f"{pipeline}={halves[1]}"
    states = []
    for name, corpus, *options in (
        ("pooled", halves[0], "--fold", fold),
        ("whole", tmp_path / "whole.jsonl"),
        ("half", halves[0]),
    ):
        done("calibrate", folder / "pipeline", corpus, *options, "--output", tmp_path / name)
        states.append(learned(tmp_path / name))
    pooled, whole, half = states
    assert learned(pipeline) == before
    assert pooled["combiner"] == half["combiner"] != whole["combiner"]
    assert pooled["nil_model"] != half["nil_model"]
    means = [one["nil_model"]["state"]["mean"] for one in (pooled, whole)]
    assert means[0] == pytest.approx(means[1], abs=0.02)  # the scores differ a little
    assert pooled["calibrated_threshold"] == pytest.approx(whole["calibrated_threshold"], abs=0.01)
    assert pooled["confidence"]["n_mentions"] == whole["confidence"]["n_mentions"]
    refused("E626", "calibrate", folder / "pipeline", halves[0], "--fold", pipeline)


def test_apply_to_another_pipeline(folder, pipeline, calibrated):
    """What was learned where the KB lacks entities goes to the pipeline that is shipped."""
    result = run("calibrate", folder / "pipeline", folder / "dev.jsonl", "--apply-to", pipeline, "--json")
    assert result.json["stored_in"] == [str(pipeline)]
    assert learned(pipeline) == learned(calibrated)
    assert learned(folder / "pipeline")["calibrated_threshold"] is None


def test_settings_that_were_saved_with_a_pipeline_stay(folder, pipeline):
    """Those set in Python are not in config.cfg."""
    nlp, name, component = load_pipeline(pipeline)
    component.coverage = 0.7
    nlp.to_disk(pipeline)
    done("calibrate", folder / "pipeline", folder / "dev.jsonl", "--apply-to", pipeline)
    assert load_pipeline(pipeline).component.coverage == 0.7


def test_apply_to_refuses_a_pipeline_that_was_changed_by_hand(folder, pipeline):
    """It would get a new manifest, as if it were complete."""
    cfg = pipeline / "proxy_entity_linker" / "cfg.json"
    cfg.write_text(json.dumps({**learned(pipeline), "calibrated_threshold": 0.25}))
    refused("E004", "calibrate", folder / "pipeline", folder / "dev.jsonl", "--apply-to", pipeline)
    assert learned(pipeline)["calibrated_threshold"] == 0.25


def test_a_threshold_in_the_config_is_pointed_out(folder, pipeline):
    config = pipeline / "config.cfg"
    config.write_text(config.read_text().replace("threshold = null", "threshold = 0.9"))
    assert "W600" in done("calibrate", pipeline, folder / "dev.jsonl").err


def test_evaluate_writes_the_files(folder, calibrated, tmp_path):
    out = tmp_path / "metrics"
    result = done("evaluate", calibrated, folder / "dev.jsonl", "--output", out, "--json")
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics == result.json
    for name in ("recall.png", "nil.png", "reliability.png", "risk_coverage.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    assert metrics["corpus_fingerprint"] == fingerprint(folder / "dev.jsonl")
    assert metrics["threshold"] == learned(calibrated)["calibrated_threshold"]
    predictions = list(read_jsonl(out / "predictions.jsonl"))
    gold = [(d.id, m.start, m.end) for d in read_corpus(folder / "dev.jsonl") for m in d.mentions]
    assert [(p["doc"], p["start"], p["end"]) for p in predictions] == gold
    assert metrics["n"] == len(predictions) and metrics["n_nil"] == sum(not p["gold"] for p in predictions)
    known = sum(p.get("known_form", False) for p in predictions)
    groups = metrics["mention_groups"]
    assert (
        groups["form"]["known form"]["n"] == known and groups["form"]["new form"]["n"] == len(predictions) - known > 0
    )
    assert set(groups["seen"]) == {"seen", "unseen", "NIL"} and list(groups["label"]) == ["ENTITY"]
    assert groups["label"]["ENTITY"]["coverage@95"] == metrics["coverage@95"]
    hits = sum(p["candidates"][0][0] in p["gold"] for p in predictions if p["gold"])
    assert metrics["recall@1"] == hits / (metrics["n"] - metrics["n_nil"])
    right = sum(p["kb_id"] in (p["gold"] or ["NIL"]) for p in predictions)
    assert metrics["accuracy"] == right / metrics["n"] > 0.9
    assert {len({found for found, _ in p["candidates"]}) for p in predictions} == {len(NAMES)}


def test_end_to_end(folder, calibrated, tmp_path):
    documents = list(read_corpus(folder / "dev.jsonl"))
    for document in documents[:10]:
        document.text = document.text.replace(" in mice.", " in fever.")  # found, but not in the gold
    write_corpus(tmp_path / "c.jsonl", documents)
    out = tmp_path / "m"
    result = run("evaluate", calibrated, tmp_path / "c.jsonl", "--output", out, "--end-to-end", "--json").json
    assert result["end_to_end"] is True
    assert result["mention_precision"] == pytest.approx(80 / 90) and result["mention_recall"] == 1.0
    assert result["link_recall"] == 1.0 and result["link_precision"] == pytest.approx(52 / 62)
    predictions = list(read_jsonl(out / "predictions.jsonl"))
    assert len(predictions) == 80 and all(p["kb_id"] for p in predictions)
    assert len(predictions[0]["candidates"]) > 2
    done("evaluate", calibrated, tmp_path / "c.jsonl", "--output", out, "--end-to-end", "--top-k", 2)
    assert {len(p["candidates"]) for p in read_jsonl(out / "predictions.jsonl")} == {2}
