"""Examples are tokenised once, mapped from disk, used again for the same data, and only for that."""

import numpy as np
import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever import examples
from spacy_pel.training.retriever.examples import cached_examples, write_examples
from spacy_pel.training.retriever.settings import read_settings

from ..conftest import CONFIG, build_examples, make_documents


@pytest.fixture(scope="module")
def encoder(data):
    made = read_settings(CONFIG, data).pel.encoder
    made.initialize()
    return made


@pytest.fixture
def cached(data, encoder, tmp_path, monkeypatch):
    """A function that opens the cache and says whether anything had to be tokenised."""
    built = []

    def build(*args, **settings):
        built.append(settings)
        return write_examples(*args, **settings)

    monkeypatch.setattr(examples, "write_examples", build)
    kb = KnowledgeBase.from_disk(data["paths.kb"])

    def call(kb=kb, **changes):
        settings = read_settings(CONFIG, {**data, **{k.replace("__", "."): v for k, v in changes.items()}})
        if "pel__encoder__mention_template__max_length" in changes:
            settings.pel.encoder.initialize()
            used = settings.pel.encoder
        else:
            used = encoder
        built.clear()
        store = cached_examples(settings, kb, used, tmp_path / "cache")
        return store, bool(built)

    return call


def tokens_of(store):
    parts = (store.mentions, store.cards, store.names, store.bare_names)
    return [[tokens[row].tolist() for row in range(len(tokens))] for tokens in parts]


def test_the_same_data_is_not_tokenised_twice(cached, data, encoder, tmp_path):
    first, made = cached()
    again, made_again = cached()
    assert made and not made_again
    assert isinstance(first.mentions.values, np.memmap) and isinstance(again.cards.values, np.memmap)
    uncached = build_examples(KnowledgeBase.from_disk(data["paths.kb"]), make_documents(), encoder)
    assert tokens_of(first) == tokens_of(again) == tokens_of(uncached)
    numbers = np.arange(len(first.mentions) + len(first.names))
    for one, other in zip(again.gold(numbers), uncached.gold(numbers), strict=True):
        assert one.tolist() == other.tolist()
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_other_data_is(cached, data, tmp_path):
    cached()
    kb = KnowledgeBase.from_disk(data["paths.kb"])
    kb.retire(["C15"])
    (tmp_path / "train.jsonl").write_text("".join(open(data["paths.train"]).readlines()[1:]))
    for change in (
        {"kb": kb},
        {"paths__train": str(tmp_path / "train.jsonl")},
        {"pel__training__limit": 5},
        {"pel__positives__card": 1.0, "pel__positives__name": 0.0, "pel__positives__alias_share": 0.0},
        {"pel__encoder__mention_template__max_length": 20},
    ):
        _, made = cached(**change)
        _, again = cached(**change)
        assert made and not again, change
    # what does not change the tokens does not matter
    assert not cached(pel__training__batch_size=3, pel__positives__card=0.9, pel__positives__name=0.1)[1]
    assert len(list((tmp_path / "cache").iterdir())) == 6


@pytest.mark.parametrize("file", ["cards/ids.int32", "mention_gold.npy", "names/offsets.npy"])
@pytest.mark.parametrize("damage", ["missing", "empty", "short"])
def test_a_damaged_entry_is_made_anew(cached, tmp_path, file, damage):
    whole, _ = cached()
    expected = tokens_of(whole)
    path = next((tmp_path / "cache").iterdir()) / file
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(b"" if damage == "empty" else content[:-8])
    store, made = cached()
    assert made and tokens_of(store) == expected
    assert not cached()[1]


def test_a_build_that_falls_over_leaves_nothing(cached, tmp_path, monkeypatch):
    def falls_over(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("spacy_pel.training.retriever.examples._write_entities", falls_over)
        with pytest.raises(KeyboardInterrupt):
            cached()
    assert list((tmp_path / "cache").iterdir()) == []
    assert cached()[1]


def test_trainings_can_share_a_cache(train, tmp_path):
    cache = {"paths__cache": str(tmp_path / "shared"), "pel__training__max_steps": 1}
    train(tmp_path / "one", **cache)
    train(tmp_path / "two", pel__loss__alpha=8.0, **cache)
    assert len(list((tmp_path / "shared").iterdir())) == 1
    assert not (tmp_path / "one" / "cache").exists()
