"""Four made-up wikis in the format of ZESHEL, and a tiny encoder to train on them."""

import json

import pytest
from cli.conftest import run

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
        {"document_id": f"{world}{n}", "title": title, "text": f"{title} The {title} stands near the {other} ."}
        for n, (title, other) in enumerate(zip(WORLDS[world], WORLDS[world][1:] + WORLDS[world], strict=False))
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


@pytest.fixture(scope="package")
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
