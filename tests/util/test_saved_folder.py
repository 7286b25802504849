"""Saved folders: complete or refused."""

import json
import os
import shutil
from pathlib import Path

import pytest

from spacy_pel import PelError
from spacy_pel.util.saved_folder import (
    MANIFEST,
    check_folder,
    load_from_bytes,
    pack_folder,
    save_to_bytes,
    unpack_files,
    unpack_folder,
    update_folder,
    write_folder,
)

KIND = "test folder"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "saved"
    with write_folder(path, kind=KIND, version=3) as part:
        (part / "small.json").write_text("{}")
        (part / "large.bin").write_bytes(bytes(range(256)) * 8192)  # 2 MiB
        with write_folder(part / "inner", kind="inner folder", version=1) as inner:
            (inner / "a.txt").write_text("a")
    return path


def test_a_folder_that_was_written_passes(folder):
    check_folder(folder, kind=KIND, version=3)
    check_folder(folder, kind=KIND, version=3, every_hash=True)
    files = json.loads((folder / MANIFEST).read_text())["files"]
    assert sorted(files) == ["inner/manifest.json", "large.bin", "small.json"]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("small.json", b"[]", "SHA-256"),
        ("small.json", b"{} ", "with 2 bytes in the test folder"),
        ("large.bin", b"x", "large.bin with 2097152 bytes"),
        ("inner/manifest.json", b"{}", "inner/manifest.json"),
        (MANIFEST, b"[]", "kind, format"),
        (MANIFEST, b"{", "JSON"),
    ],
)
def test_a_changed_file_is_refused(folder, name, content, match):
    (folder / name).write_bytes(content)
    with pytest.raises(PelError, match=match):
        check_folder(folder, kind=KIND, version=3)


def test_missing_files_kinds_and_versions_are_refused(folder, tmp_path):
    with pytest.raises(PelError, match="E007.*got one with a saved test folder"):
        check_folder(folder, kind="other", version=3)
    with pytest.raises(PelError, match="format version 4"):
        check_folder(folder, kind=KIND, version=4)
    with pytest.raises(PelError, match="E007.*got nothing"):
        check_folder(tmp_path / "none", kind=KIND, version=3)
    (folder / "large.bin").unlink()
    with pytest.raises(PelError, match="no such file"):
        check_folder(folder, kind=KIND, version=3)
    (folder / MANIFEST).unlink()
    with pytest.raises(PelError, match="manifest.json in the test folder .* a folder without it"):
        check_folder(folder, kind=KIND, version=3)


def test_a_flipped_bit_of_a_large_or_inner_file_is_found_by_the_full_check(folder):
    content = bytearray((folder / "large.bin").read_bytes())
    content[1000] ^= 1
    (folder / "large.bin").write_bytes(content)
    check_folder(folder, kind=KIND, version=3)
    with pytest.raises(PelError, match="large.bin"):
        check_folder(folder, kind=KIND, version=3, every_hash=True)
    content[1000] ^= 1
    (folder / "large.bin").write_bytes(content)
    (folder / "inner" / "a.txt").write_text("b")
    with pytest.raises(PelError, match="a.txt"):
        check_folder(folder, kind=KIND, version=3, every_hash=True)


def test_an_error_leaves_the_old_folder(folder):
    with pytest.raises(RuntimeError), write_folder(folder, kind=KIND, version=3) as part:
        (part / "small.json").write_text("[]")
        raise RuntimeError
    check_folder(folder, kind=KIND, version=3, every_hash=True)


def test_an_update_that_was_killed_is_refused(folder):
    with update_folder(folder, kind=KIND, version=3):
        (folder / "small.json").write_text("[]")
        shutil.copytree(folder, folder.parent / "killed")  # what a process that ends here leaves
    check_folder(folder, kind=KIND, version=3, every_hash=True)
    assert sorted(path.name for path in folder.iterdir()) == ["inner", "large.bin", MANIFEST, "small.json"]
    with pytest.raises(PelError, match="without it"):
        check_folder(folder.parent / "killed", kind=KIND, version=3)
    with update_folder(folder.parent / "killed", kind=KIND, version=3):
        pass
    check_folder(folder.parent / "killed", kind=KIND, version=3, every_hash=True)


@pytest.mark.parametrize(("content", "is_usable"), [("{}", True), ("[]", False)])
def test_an_update_that_failed_leaves_a_usable_folder_if_nothing_changed(folder, content, is_usable):
    with pytest.raises(RuntimeError), update_folder(folder, kind=KIND, version=3):
        (folder / "small.json").write_text(content)
        raise RuntimeError
    assert (folder / MANIFEST).is_file() == is_usable


def test_a_failed_update_that_rewrote_a_large_file_at_the_same_size_is_refused(folder):
    with pytest.raises(RuntimeError), update_folder(folder, kind=KIND, version=3):
        (folder / "large.bin").write_bytes(bytes(2 << 20))
        raise RuntimeError
    with pytest.raises(PelError, match="without it"):
        check_folder(folder, kind=KIND, version=3)


def test_a_failed_update_to_a_new_format_leaves_the_old_one(folder):
    with pytest.raises(RuntimeError), update_folder(folder, kind=KIND, version=4):
        raise RuntimeError
    check_folder(folder, kind=KIND, version=3, every_hash=True)


def test_what_an_interrupted_write_left_is_not_in_the_manifest(folder):
    (folder / ".inner.abc" / "inner").mkdir(parents=True)
    (folder / ".inner.abc" / "inner" / "half.bin").write_bytes(b"half")
    with update_folder(folder, kind=KIND, version=3):
        pass
    shutil.rmtree(folder / ".inner.abc")
    check_folder(folder, kind=KIND, version=3, every_hash=True)


def test_a_folder_that_cannot_be_moved_to_its_place_leaves_the_old_one(folder, monkeypatch):
    replace = os.replace

    def fail(source, target):
        if Path(target) == folder and Path(source).name == folder.name:
            raise OSError(5, "broken disk", str(source))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PelError, match="broken disk"), write_folder(folder, kind=KIND, version=3) as part:
        (part / "other.json").write_text("[]")
    monkeypatch.undo()
    check_folder(folder, kind=KIND, version=3, every_hash=True)


def test_bytes_and_back(folder, tmp_path):
    data = pack_folder(folder, kind=KIND)
    assert bytes(unpack_files(data, kind=KIND)["inner/a.txt"]) == b"a"
    unpack_folder(data, tmp_path / "copy", kind=KIND)
    check_folder(tmp_path / "copy", kind=KIND, version=3, every_hash=True)


def test_what_saves_to_a_folder_saves_to_bytes():
    def save(path):
        path.mkdir()
        (path / "text").write_text("text")

    data = save_to_bytes(save, kind=KIND)
    assert load_from_bytes(data, lambda path: (path / "text").read_text(), kind=KIND) == "text"
    with pytest.raises(PelError, match="E008.*1 bytes more"):
        load_from_bytes(data + b"x", lambda path: None, kind=KIND)


def test_too_many_bytes_are_refused(folder, monkeypatch):
    monkeypatch.setattr("spacy_pel.util.saved_folder.LIMIT", 1000)
    with pytest.raises(PelError, match="E006.*to_disk"):
        pack_folder(folder, kind=KIND)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"cheese",
        b"[1]\n",
        b'{"a": Infinity}\n',
        b'{"a": 9}\nshort',
        b'{"../a": 1}\n' + b"x" * 99,
        b'{"/a": 1}\n' + b"x" * 56,
    ],
)
def test_other_bytes_are_refused(data, tmp_path):
    with pytest.raises(PelError, match="E008"):
        unpack_folder(data, tmp_path / "copy", kind=KIND)
