"""The zero-shot experiment on wikis in the format of ZESHEL, and its rankings by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import run

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.kb import KnowledgeBase
from spacy_pel.research.worlds.ranking import by_encoder, by_name, names_first
from spacy_pel.types import Entity, MentionInText

ROOT = Path(__file__).parents[3]
WORLDS = {
    "harbour": ["Gull Lamp", "Old Pier", "Salt Store", "Rope Walk", "Fish Market", "Boat Yard"],
    "kitchen": ["Copper Pan", "Bread Oven", "Spice Rack", "Soup Pot", "Fish Knife", "Milk Jug"],
    "railway": ["Signal Box", "Steam Engine", "Old Pier", "Ticket Hall", "Coal Store", "Night Train"],
    "castle": ["Round Tower", "Iron Gate", "Great Hall", "Spice Rack", "Deep Well", "Stone Stair"],
}
TINY = {
    "pel.encoder.name": "random:layers=1,width=32",
    "pel.encoder.mention_template.max_length": 24,
    "pel.encoder.entity_template.max_length": 16,
    "pel.negatives.n_negatives": 3,
    "pel.training.batch_size": 4,
    "pel.training.max_steps": 3,
    "pel.training.eval_frequency": 3,
    "pel.training.mixed_precision": "no",
    "pel.training.dev.n_entities": 0,
}


def pages(world):
    return [
        {
            "document_id": f"{world}{n}",
            "title": title,
            "text": f"{title} The {title} stands near the {other} .",
        }
        for n, (title, other) in enumerate(
            zip(WORLDS[world], WORLDS[world][1:] + WORLDS[world], strict=False)
        )
    ]


def mentions(world, shift):
    """The other thing named on each page; with its last word alone on every second one."""
    made = []
    for n in range(len(WORLDS[world])):
        target = (n + 1) % len(WORLDS[world])
        first, last = 8, 9
        if (n + shift) % 2:
            first = last
        words = pages(world)[n]["text"].split()
        made.append(
            {
                "mention_id": f"{world}M{shift}{n}",
                "context_document_id": f"{world}{n}",
                "corpus": world,
                "start_index": first,
                "end_index": last,
                "text": " ".join(words[first : last + 1]),
                "label_document_id": f"{world}{target}",
                "category": "HIGH_OVERLAP" if first < last else "AMBIGUOUS_SUBSTRING",
            }
        )
    return made


def write(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf8")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """ZESHEL's folders, turned into one folder per world by the commands of configs/zeshel.cfg."""
    raw, out = tmp_path_factory.mktemp("zeshel"), tmp_path_factory.mktemp("worlds")
    for world in WORLDS:
        write(raw / "documents" / f"{world}.json", pages(world))
    trained, tested = ("harbour", "kitchen"), ("railway", "castle")
    write(raw / "mentions" / "train.json", [one for world in trained for one in mentions(world, 0)])
    write(raw / "mentions" / "heldout_train_seen.json", [m for w in trained for m in mentions(w, 1)])
    write(raw / "mentions" / "test.json", [one for world in tested for one in mentions(world, 0)])
    for world in WORLDS:
        document = str(raw / "documents" / f"{world}.json")
        commands = [["kb", "build", str(out / world / "kb"), "--reader", "zeshel", document]]
        splits = {"train": "train", "dev": "heldout_train_seen"} if world in trained else {"test": "test"}
        for ours, theirs in splits.items():
            target, source = str(out / world / f"{ours}.jsonl"), str(raw / "mentions" / f"{theirs}.json")
            setting = ["--strict", "--set", f"worlds={json.dumps([world])}"]
            commands.append(["convert", target, "--reader", "zeshel", document, source, *setting])
        for command in commands:
            result = run(*command)
            assert result.code == 0, result.err
    return out


def call(worlds, output, *more):
    args = [output, "--worlds", worlds, "--config", ROOT / "configs" / "zeshel.cfg"]
    for name, value in TINY.items():
        args += ["--set", f"{name}={value}"]
    return run("research", "worlds", *args, *more)


@pytest.fixture(scope="module")
def ran(worlds, tmp_path_factory):
    output = tmp_path_factory.mktemp("output")
    result = call(worlds, output, "--train", "harbour,kitchen", "--test", "railway,castle")
    assert result.code == 0, result.err
    return output, result.out


def test_metrics_by_world_and_their_mean(ran):
    output, stdout = ran
    report = json.loads((output / "worlds.json").read_text())
    assert (report["train"], report["test"]) == (["harbour", "kitchen"], ["railway", "castle"])
    assert set(report["coverage"]) == {"railway", "castle"}
    assert report["coverage"]["castle"]["in_kb"] == 6 and report["coverage"]["castle"]["entities"] == 6
    names = report["systems"]["exact names"]
    # three of six mentions are whole titles: they match, the others do not
    assert names["groups"]["castle"]["recall@1"] == names["groups"]["railway"]["recall@64"] == 0.5
    assert names["macro"]["recall@1"] == names["micro"]["recall@1"] == 0.5
    for system in report["systems"].values():
        shares = [system["groups"][world]["recall@4"] for world in report["test"]]
        assert system["macro"]["recall@4"] == pytest.approx(np.mean(shares))
        assert system["macro"]["recall@64"] == (0.5 if system is names else 1.0), "a KB of six is found whole"
        assert (
            system["macro"]["recall@1_low"] <= system["macro"]["recall@1"] <= system["macro"]["recall@1_high"]
        )
    assert "trained encoder, exact names first - exact names" in report["differences"]
    assert stdout.strip() == (output / "worlds.md").read_text().strip()
    assert "Mean over the worlds" in stdout and "| trained encoder |" in stdout


def test_names_of_the_training_worlds_are_told_apart(ran):
    names = json.loads((ran[0] / "worlds.json").read_text())["names"]
    # "Spice Rack" is a page of the kitchen, too, and the castle has a mention of it
    assert names["castle"]["n_known"] + names["castle"]["n_new"] == 6
    assert names["castle"]["n_known"] == 1 and set(names["castle"]["new"]) == set(names["castle"]["known"])


def test_predictions_can_be_compared(ran):
    lines = (ran[0] / "predictions" / "castle" / "trained_encoder" / "predictions.jsonl").read_text()
    records = [json.loads(line) for line in lines.splitlines()]
    assert len(records) == 6 and all(len(one["candidates"]) == 6 for one in records)
    assert (
        records[0]["gold"][0].startswith("castle") and records[0]["kb_id"] == records[0]["candidates"][0][0]
    )


def test_a_trained_model_is_taken_as_it_is(worlds, ran, tmp_path):
    model = ran[0] / "encoder" / "model-best"
    args = ["--train", "harbour,kitchen", "--test", "railway,castle", "--model", str(model), "--json"]
    result = call(worlds, tmp_path, *args)
    again, first = result.json, json.loads((ran[0] / "worlds.json").read_text())
    assert {**again, "model": ""} == {**first, "model": ""}
    assert not (tmp_path / "encoder").exists()


def test_bad_input_is_one_line(worlds, tmp_path):
    result = call(worlds, tmp_path, "--train", "harbour", "--test", "nowhere")
    assert result.code == 2 and "nowhere" in result.err and result.err.count("\n") == 1


# -- rankings -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kb():
    entities = [
        Entity("A", "cold sore", ("herpes labialis",)),
        Entity("B", "common cold", ("cold", "acute coryza")),
        Entity("C", "cold"),
        Entity("D", "fever"),
    ]
    return KnowledgeBase(entities)


def ids(kb, ranking):
    return kb.ids_at(list(ranking))


def test_by_name(kb):
    rankings = by_name(kb, ["Cold", "warm"])
    assert ids(kb, rankings[0]) == ["C", "B"], "the canonical name before the alias"
    assert rankings[1] == {}


def test_by_encoder_gives_each_entity_once_with_its_best_cosine(kb):
    encoder = HashEmbed(width=256, context_weight=0.0)
    ranking = by_encoder(kb, encoder, [MentionInText("herpes labialis", 0, 15)])[0]
    assert ids(kb, ranking)[0] == "A" and len(ranking) == 4
    assert list(ranking.values()) == sorted(ranking.values(), reverse=True)
    own = encoder.encode_names(["herpes labialis"])[0]
    for row, score in ranking.items():
        entity = kb.entity_at(row)
        best = max(encoder.encode_names([entity.canonical_name, *entity.aliases]) @ own)
        assert score == pytest.approx(float(best), abs=1e-5)


def test_names_first(kb):
    near = {0: 0.9, 2: 0.8, 3: 0.1}
    (joined,) = names_first([{2: 1.0, 1: 0.5}], [near])
    assert list(joined) == [2, 1, 0, 3], "a name that was not among the nearest still comes before them"
    assert list(joined.values()) == sorted(joined.values(), reverse=True)
    assert names_first([{}], [near]) == [near]
    assert names_first([{1: 1.0}], [{}])[0].keys() == {1}
