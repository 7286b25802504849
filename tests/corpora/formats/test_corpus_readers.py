"""The contract that every registered corpus reader keeps. A new reader needs a folder of fixtures:
``tests/fixtures/corpora/NAME/``, whose entries are given to the reader together. One of its mentions
must be "Acetylsalicylate", and it must hold a letter outside ASCII before another mention.
"""

import gzip
import inspect
import shutil
from pathlib import Path

import pytest

from spacy_pel.cli._settings import make_reader
from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.errors import PelError
from spacy_pel.registry import registry

FIXTURES = Path(__file__).parents[2] / "fixtures" / "corpora"
NAMES = sorted(registry.parts("pel_corpus_readers"))


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def make(name: str, **settings):
    return registry.resolve_short("pel_corpus_readers", name)(**settings)


def settings_of(name: str) -> list[str]:
    return list(inspect.signature(registry.resolve_short("pel_corpus_readers", name)).parameters)


def copy_of(name: str, tmp_path: Path) -> list[Path]:
    shutil.copytree(FIXTURES / name, tmp_path / name)
    return sorted((tmp_path / name).iterdir())


def entries(name: str) -> list[Path]:
    return sorted((FIXTURES / name).iterdir())


def test_offsets_match_the_text(name):
    reader = make(name)
    documents = list(reader(entries(name)))
    assert len({document.id for document in documents}) == len(documents) >= 2
    mentions = [(document, mention) for document in documents for mention in document.mentions]
    surfaces = [document.text[mention.start : mention.end] for document, mention in mentions]
    assert "Acetylsalicylate" in surfaces
    assert any(not document.text[: mention.start].isascii() for document, mention in mentions)
    for surface, (document, mention) in zip(surfaces, mentions, strict=True):
        assert 0 <= mention.start < mention.end <= len(document.text)
        assert surface == surface.strip() and "  " not in surface
        assert all(entity_id == entity_id.strip() != "" for entity_id in mention.ids)
        assert len(mention.ids) > 1 or not mention.composite
    assert reader.report["documents"] == len(documents)
    assert reader.report["mentions"] == len(mentions)
    assert reader.report["dropped"] == 0


def test_the_command_line_can_make_it(name):
    # its settings are checked by their annotations, and not every annotation can be checked
    assert make_reader("pel_corpus_readers", name, {}).report["documents"] == 0


def test_reading_twice_gives_the_same(name):
    reader = make(name)
    first = list(reader(entries(name)))
    report = dict(reader.report)
    assert list(reader(entries(name))) == first and reader.report == report


def test_round_trip_through_the_corpus_format(name, tmp_path):
    documents = list(make(name)(entries(name)))
    for target in (tmp_path / "corpus.jsonl", tmp_path / "corpus.jsonl.gz"):
        assert write_corpus(target, documents) == len(documents)
        assert list(read_corpus(target)) == documents


def test_packed_files(name, tmp_path):
    paths = copy_of(name, tmp_path)
    if any(path.is_dir() or path.suffix == ".spacy" for path in paths):
        pytest.skip("the format is a folder or compressed already")
    for path in paths:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    packed = [path.with_name(path.name + ".gz") for path in paths]
    assert list(make(name)(packed)) == list(make(name)(entries(name)))
    packed[0].write_bytes(packed[0].read_bytes()[:-12])
    with pytest.raises(PelError, match=packed[0].name):
        list(make(name)(packed))


def test_a_string_that_differs(name, tmp_path):
    if "strict" not in settings_of(name):
        pytest.skip("the format has no strings beside its offsets")
    paths = copy_of(name, tmp_path)
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    for file in files:
        if file.is_file() and "Acetylsalicylate" in file.read_text(encoding="utf8"):
            text = file.read_text(encoding="utf8")
            file.write_text(text.replace("Acetylsalicylate", "Xcetylsalicylatx", 1), encoding="utf8")
            break
    with pytest.raises(PelError, match=r"PEL-E201.*cetylsalicylat"):
        list(make(name, strict=True)(paths))
    kept, changed = make(name, strict=False), list(make(name)(entries(name)))
    documents = list(kept(paths))
    assert kept.report["mismatches"] >= 1 and kept.report["dropped"] == 1
    assert sum(len(document.mentions) for document in documents) == (
        sum(len(document.mentions) for document in changed) - 1
    )


def test_settings_of_label_and_prefix(name):
    if not {"label", "strip_prefix"} <= set(settings_of(name)):
        assert name == "jsonl"  # reads what these settings made
        return
    plain = list(make(name)(entries(name)))
    ids = [entity_id for document in plain for mention in document.mentions for entity_id in mention.ids]
    prefix = ids[0][:4]
    read = list(make(name, label="THING", strip_prefix=prefix)(entries(name)))
    assert {mention.label for document in read for mention in document.mentions} == {"THING"}
    stripped = [entity_id for document in read for mention in document.mentions for entity_id in mention.ids]
    assert sorted(stripped) == sorted(entity_id.removeprefix(prefix) for entity_id in ids)
    assert stripped != ids


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe broken", b"something else\n"])
def test_wrong_files_are_named(name, tmp_path, content):
    paths = copy_of(name, tmp_path)
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        if content is not None:
            path.write_bytes(content)
    with pytest.raises(PelError) as caught:
        list(make(name)(paths))
    assert any(path.name in str(caught.value) for path in paths)
