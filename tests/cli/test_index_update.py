"""index --update: vectors of an index are reused."""

import json
import shutil
import signal

import pytest
from forks import end_of, in_child, kill_here

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import embed
from spacy_pel.index.row_encoders import ResumableEncoder
from spacy_pel.util import write_jsonl

from .conftest import NAMES, done, refused, run

pytestmark = pytest.mark.slow

CHANGES = [
    {"concept_id": "N1", "canonical_name": "gout", "aliases": ["podagra"], "types": ["T047"]},
    {"concept_id": "C0", "canonical_name": "aspirin", "aliases": ["acetylsalicylic acid"], "types": ["T047"]},
    {"concept_id": "C1", "retired": True},
]


@pytest.fixture
def changed(folder, tmp_path):
    """A folder with an index of the old KB, and the new KB."""
    args = ("--kinds", "card,alias,mention", "--mentions", folder / "train.jsonl", "--codes", "fp32")
    assert run("index", folder / "kb", folder / "model", tmp_path / "old", *args).code == 0
    shutil.copytree(folder / "kb", tmp_path / "kb")
    write_jsonl(tmp_path / "changes.jsonl", CHANGES)
    assert run("kb", "add", tmp_path / "kb", tmp_path / "changes.jsonl").code == 0
    assert run("index", tmp_path / "kb", folder / "model", tmp_path / "expected", *args).code == 0
    return tmp_path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def embedded(monkeypatch):
    """The names that HashEmbed reads."""
    seen = []
    encode_names = HashEmbed.encode_names

    def encode(self, names, **kwargs):
        seen.extend(names)
        return encode_names(self, names, **kwargs)

    monkeypatch.setattr(HashEmbed, "encode_names", encode)
    return seen


@pytest.mark.parametrize("out", ["new", "old"])
def test_update(folder, changed, embedded, out):
    args = ("index", changed / "kb", folder / "model", changed / out, "--update", changed / "old")
    result = done(*args, "--mentions", folder / "train.jsonl", "--json")
    # two cards, whose names HashEmbed reads, and new names
    assert sorted(embedded) == ["acetylsalicylic acid", "aspirin", "gout", "gout", "podagra"]
    assert "Embedding what has changed among " in result.err
    counts = result.json
    assert (counts["embedded"], counts["reused"] + counts["embedded"]) == (5, counts["rows"])
    # the card of C0; of C1 a card, two names and its mentions
    n_mentions = json.loads((folder / "index" / "meta.json").read_text())["live_rows"]["mention"]
    lost = n_mentions - counts["live_rows"]["mention"]
    assert lost > 0 and counts["dropped"] == 1 + 3 + lost
    assert files(changed / out) == files(changed / "expected")
    assert not (changed / f"{out}.parts").exists()


def test_settings_stay_the_same_unless_they_are_given(folder, changed):
    args = ("--kinds", "alias", "--index-type", "faissivf", "--codes", "fp16")
    old = run("index", folder / "kb", folder / "model", changed / "old", *args, "--json").json
    again = ("index", changed / "kb", folder / "model", changed / "new", "--update", changed / "old", "--json")
    new = run(*again).json
    assert (new["kinds"], new["index"]) == (["alias"], old["index"])
    assert new["index"]["settings"]["codes"] == "fp16" and new["reused"] == 2 * len(NAMES) - 2
    assert run(*again, "--index-type", "faissivf").json["index"] == old["index"], "the same type, by its name"
    refused("E416", *again, "--kinds", "card,alias", "--codes", "fp32")
    other = run(*again, "--index-type", "faissivf", "--codes", "fp16").json
    assert other["index"]["name"] == "spacy-pel.FaissIVF.v1"


def test_a_killed_update_resumes(folder, changed, embedded, monkeypatch):
    monkeypatch.setattr(embed, "_CHUNK", 4)
    before = files(changed / "old")
    args = ("index", changed / "kb", folder / "model", changed / "old", "--update", changed / "old")
    args = (*args, "--mentions", folder / "train.jsonl", "--json")
    encode_rows = ResumableEncoder.encode_rows

    def dying(self, kind, *rest):
        return kill_here() if kind == "alias" else encode_rows(self, kind, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(ResumableEncoder, "encode_rows", dying)
        assert end_of(in_child(lambda: run(*args))) == -signal.SIGKILL
    assert files(changed / "old") == before and (changed / "old.parts").is_dir()
    resumed = done(*args)
    assert "Resumed: 2 vectors" in resumed.err
    assert sorted(embedded) == ["acetylsalicylic acid", "gout", "podagra"]  # not the cards
    assert resumed.json["embedded"] == 5
    assert files(changed / "old") == files(changed / "expected")
    assert not (changed / "old.parts").exists()


def test_what_cannot_be_updated(folder, changed):
    HashEmbed(width=64, context_weight=0.5).to_disk(changed / "model")
    args = ("--kinds", "alias", "--update", changed / "old")
    before = files(changed / "old")
    refused("E401", "index", changed / "kb", changed / "model", changed / "old", *args)
    assert files(changed / "old") == before
    # the old index has rows of mentions
    refused("E630", "index", changed / "kb", folder / "model", changed / "old", "--update", changed / "old")
    new = ("index", changed / "kb", folder / "model", changed / "new", "--update")
    refused("E007", *new, changed / "kb")
    refused("E414", *new, changed / "old", "--kinds", "card", "--row-bytes", 8)  # the old index has codes
    assert not (changed / "new").exists() and not (changed / "new.parts").exists()


def test_a_corpus_that_adds_nothing_is_refused(folder, tmp_path):
    nil = {"id": "d", "text": "No gout.", "mentions": [{"start": 3, "end": 7, "ids": [], "kb_id": "NIL"}]}
    for name, lines in {"empty": [], "nil": [nil]}.items():
        write_jsonl(tmp_path / name, lines)
        args = ("index", folder / "kb", folder / "model", tmp_path / "out", "--mentions", tmp_path / name)
        assert f"none among {len(lines)}." in refused("E501", *args) and not (tmp_path / "out").exists()
