"""The command ``mine``: its file, its figures, bad input."""

import json

import numpy as np
import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.types import MentionInText
from spacy_pel.util import read_jsonl

from .conftest import ENTITIES, run


@pytest.fixture
def mine(folder):
    def call(out, *args, **paths):
        given = {"kb": folder / "kb", "model": folder / "model", "corpus": folder / "train.jsonl", **paths}
        return run("mine", given["kb"], given["model"], given["corpus"], out, *args)

    return call


@pytest.mark.parametrize("index", ["flat", "ivf"])
def test_a_line_for_each_mention(mine, folder, tmp_path, index):
    result = mine(tmp_path / "mined.jsonl.gz", "--depth", 3, "--index", index, "--json")
    assert result.code == 0, result.err
    assert "Mining for 40 mentions among 8 entities" in result.err and "NIL" in result.err
    lines = list(read_jsonl(tmp_path / "mined.jsonl.gz"))
    encoder = HashEmbed(width=64)
    cards, ids = encoder.encode_entities(ENTITIES), [entity.concept_id for entity in ENTITIES]
    mentions = [(d, m) for d in read_corpus(folder / "train.jsonl") for m in d.mentions]
    assert len(lines) == len(mentions) == 40
    for line, (document, mention) in zip(lines, mentions, strict=True):
        assert (line["doc"], line["start"], line["end"]) == (document.id, mention.start, mention.end)
        assert line["text"] == document.text[mention.start : mention.end]
        assert line["gold"] == list(mention.ids)
        vector = encoder.encode_mentions([MentionInText(document.text, mention.start, mention.end)])[0]
        scores = dict(zip(ids, (cards @ vector).tolist(), strict=True))
        order = sorted(ids, key=scores.get, reverse=True)
        assert line["rank"] == (order.index(mention.ids[0]) + 1 if order.index(mention.ids[0]) < 4 else None)
        best = [scores[entity_id] for entity_id in order if entity_id not in mention.ids][:3]
        np.testing.assert_allclose([score for _, score in line["negatives"]], best, atol=2e-3)
        np.testing.assert_allclose([scores[name] for name, _ in line["negatives"]], best, atol=2e-3)
    facts = result.json
    assert facts["mentions"] == 40 and facts["entities"] == 8 and facts["depth"] == 3
    assert facts["gold_first"] == np.mean([line["rank"] == 1 for line in lines])
    assert facts["gold_in_depth"] == np.mean([(line["rank"] or 9) <= 3 for line in lines]) > 0
    assert facts["seconds"] > 0 and facts["mentions_per_second"] > 0 and facts["entities_per_second"] > 0


def test_limit_and_plain_output(mine, tmp_path):
    result = mine(tmp_path / "mined.jsonl", "--limit", 7)
    assert result.code == 0 and "gold_first" in result.out
    assert len((tmp_path / "mined.jsonl").read_text().splitlines()) == 7
    # fewer entities than asked for: all others
    assert len(json.loads((tmp_path / "mined.jsonl").read_text().splitlines()[0])["negatives"]) == 7


@pytest.mark.parametrize(
    ("args", "paths", "named"),
    [
        ((), {"kb": "nowhere"}, "nowhere"),
        ((), {"model": "nowhere"}, "nowhere"),
        ((), {"corpus": "nowhere.jsonl"}, "nowhere.jsonl"),
        (("--index", "hnsw"), {}, "hnsw"),
        (("--depth", 0), {}, "depth"),
        (("--gpu-id", 99), {}, "99"),
        (("--backend", "abacus"), {}, "abacus"),
    ],
    ids=str,
)
def test_bad_input_gives_one_line(mine, tmp_path, args, paths, named):
    result = mine(tmp_path / "mined.jsonl", *args, **paths)
    assert result.code == 2 and result.out == ""
    last = result.err.strip().splitlines()[-1]
    assert last.startswith("Error: ") and named in last and "Traceback" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing(mine, tmp_path):
    (tmp_path / "mined.jsonl").mkdir()
    (tmp_path / "mined.jsonl" / "file").write_text("x")
    result = mine(tmp_path / "mined.jsonl")
    assert result.code == 2 and (tmp_path / "mined.jsonl" / "file").read_text() == "x"
