"""The command ``mine``: its file, its figures, bad input."""

import numpy as np
import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.util import read_jsonl

from .conftest import run

pytestmark = pytest.mark.slow


@pytest.fixture
def mine(folder):
    def call(out, *args, **paths):
        given = {"kb": folder / "kb", "model": folder / "model", "corpus": folder / "train.jsonl", **paths}
        return run("mine", given["kb"], given["model"], given["corpus"], out, *args)

    return call


def test_a_line_for_each_mention(mine, folder, tmp_path):
    result = mine(tmp_path / "mined.jsonl.gz", "--depth", 3, "--json")
    assert result.code == 0, result.err
    lines = list(read_jsonl(tmp_path / "mined.jsonl.gz"))
    mentions = [(d, m) for d in read_corpus(folder / "train.jsonl") for m in d.mentions]
    assert len(lines) == len(mentions) == 40
    for line, (document, mention) in zip(lines, mentions, strict=True):
        assert (line["doc"], line["start"], line["end"]) == (document.id, mention.start, mention.end)
        assert line["text"] == document.text[mention.start : mention.end] and line["gold"] == list(mention.ids)
        assert len(line["negatives"]) == 3 and not {name for name, _ in line["negatives"]} & set(mention.ids)
    facts = result.json
    assert (facts["mentions"], facts["entities"], facts["depth"]) == (40, 8, 3)
    assert facts["gold_first"] == np.mean([line["rank"] == 1 for line in lines])
    assert facts["gold_in_depth"] == np.mean([(line["rank"] or 9) <= 3 for line in lines]) > 0
