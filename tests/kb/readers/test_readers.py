"""The contract that every registered KB reader of text keeps. A new reader needs a folder of fixtures:
``tests/fixtures/kb/NAME/``, whose entries are given to the reader together."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_pel.cli._settings import make_reader
from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.types.semantic_types import shown_value

FIXTURES = Path(__file__).parents[2] / "fixtures" / "kb"
NAMES = sorted(registry.parts("pel_kb_readers").keys() - {"saved"})  # its files are no text: test_saved_kb.py


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def make(name: str, **settings):
    return registry.resolve_short("pel_kb_readers", name)(**settings)


def entries(folder: Path) -> list[Path]:
    found = sorted(folder.iterdir())
    assert found, f"no fixtures in {folder}"
    return found


def copy_of(name: str, tmp_path: Path, edit: Callable[[Path], None]) -> list[Path]:
    folder = tmp_path / name
    shutil.copytree(FIXTURES / name, folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        edit(path)
    return entries(folder)


def pack(path: Path) -> None:
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def test_entities_are_clean(name):
    reader = make(name)
    entities = list(reader(entries(FIXTURES / name)))
    ids = [entity.concept_id for entity in entities]
    assert len(entities) >= 2 and len(set(ids)) == len(ids)
    for entity in entities:
        names = (entity.canonical_name, *entity.aliases)
        assert all(text and text == text.strip() for text in (entity.concept_id, *names))
        assert len(set(names)) == len(names)
        assert entity.definition is None or entity.definition == entity.definition.strip() != ""
    assert set(reader.report) <= {"semantic_tag"}
    assert any(not text.isascii() for entity in entities for text in (entity.canonical_name, *entity.aliases))


def test_source_and_redirects(name):
    reader = make(name)
    ids = {entity.concept_id for entity in reader(entries(FIXTURES / name))}
    assert {"origin", "version", "licence", "files"} <= reader.source.keys()
    assert reader.source["files"] == [path.name for path in entries(FIXTURES / name)]
    assert not ids & reader.redirects.keys() and set(reader.redirects.values()) <= ids


def test_the_command_line_can_make_it(name):
    # its settings are checked by their annotations, and not every annotation can be checked
    made = make_reader("pel_kb_readers", name, {"types": ["T047"], "id_prefix": "C"})
    assert made.wanted_types == {"T047"} and made.id_prefix == "C"


def test_again_and_strict_give_the_same(name):
    paths = entries(FIXTURES / name)
    reader = make(name)
    first = list(reader(paths))
    redirects = dict(reader.redirects)
    assert list(reader([str(path) for path in paths])) == first and reader.redirects == redirects
    assert list(make(name, strict=True)(paths)) == first


def test_filters(name):
    paths = entries(FIXTURES / name)
    entities = list(make(name)(paths))
    first = entities[0].concept_id
    assert [e.concept_id for e in make(name, id_prefix=first)(paths)] == [first]
    wanted = next(kind for entity in entities for kind in entity.types)
    assert list(make(name, types=[wanted])(paths)) == [e for e in entities if wanted in e.types]
    with pytest.raises(PelError, match="E144.*id prefix 'no such id'"):
        list(make(name, id_prefix="no such id")(paths))
    with pytest.raises(PelError, match="E144.*types 'no such type'; the files have ") as refused:
        list(make(name, types=["no such type"])(paths))
    for kind in {kind for entity in entities for kind in entity.types or [""]}:
        assert f"{shown_value(kind)} (" in str(refused.value)


def test_packed_files_and_crlf(name, tmp_path):
    plain = list(make(name)(entries(FIXTURES / name)))
    crlf = copy_of(name, tmp_path / "crlf", lambda p: _edit(p, b"\n", b"\r\n"))
    assert list(make(name)(crlf)) == plain
    assert list(make(name)(copy_of(name, tmp_path / "gz", pack))) == plain


def test_missing_file_is_named(name, tmp_path):
    with pytest.raises(PelError, match="nowhere"):
        list(make(name)([tmp_path / "nowhere"]))


def test_truncated_file_is_an_error(name, tmp_path):
    def cut(path: Path) -> None:
        pack(path)
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(packed.read_bytes()[:-12])

    with pytest.raises(PelError):
        list(make(name)(copy_of(name, tmp_path, cut)))


def test_bad_encoding_is_counted_or_an_error(name, tmp_path):
    first = next(make(name)(entries(FIXTURES / name))).canonical_name.encode("utf8")
    paths = copy_of(name, tmp_path, lambda p: _edit(p, first, first[:1] + b"\xff" + first[2:]))
    with pytest.raises(PelError, match=str(tmp_path)):
        list(make(name, strict=True)(paths))
    reader = make(name)
    try:
        entities = list(reader(paths))
    except PelError as err:
        assert str(tmp_path) in str(err)
    else:
        assert reader.report["bad_encoding"] >= 1
        assert any("\xff" in text for e in entities for text in (e.canonical_name, *e.aliases))


def _edit(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new))
