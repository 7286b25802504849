"""Saved folders: complete or refused."""

import json
import os
import shutil
import signal
import sys

import pytest
from forks import end_of, in_child, kill_here

from spacy_pel import PelError
from spacy_pel.util import read_json, saved_folder, write_json, writing
from spacy_pel.util.saved_folder import (
    MANIFEST,
    check_folder,
    load_from_bytes,
    pack_files,
    save_to_bytes,
    unpack_files,
    update_folder,
    verify_folders,
    write_folder,
)
from spacy_pel.util.writing import atomic_path

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
    verify_folders(folder)
    files = json.loads((folder / MANIFEST).read_text())["files"]
    assert sorted(files) == ["inner/manifest.json", "large.bin", "small.json"]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("small.json", b"{} ", "with 2 bytes in the test folder"),
        ("large.bin", b"x", "large.bin with 2097152 bytes"),
        (MANIFEST, b"[]", "kind, format"),
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
    with pytest.raises(PelError, match="E007.*got no such folder"):
        check_folder(tmp_path / "none", kind=KIND, version=3)
    (folder / "large.bin").unlink()
    with pytest.raises(PelError, match="no such file"):
        check_folder(folder, kind=KIND, version=3)
    manifest = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(manifest.replace("large.bin", "long" * 100))
    with pytest.raises(PelError, match="no such file"):
        check_folder(folder, kind=KIND, version=3)
    (folder / MANIFEST).unlink()
    with pytest.raises(PelError, match="manifest.json in the test folder .* a folder without it"):
        check_folder(folder, kind=KIND, version=3)


def test_a_flipped_bit_is_found(folder, monkeypatch):
    """When a folder is opened, or, if it is large, by the full check."""
    content = bytearray((folder / "large.bin").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "large.bin").write_bytes(content)
    with pytest.raises(PelError, match="large.bin with the SHA-256 hash"):
        check_folder(folder, kind=KIND, version=3)
    monkeypatch.setattr(saved_folder, "_HASHED", 10)
    check_folder(folder, kind=KIND, version=3)
    with pytest.raises(PelError, match="large.bin with the SHA-256 hash"):
        verify_folders(folder)


def test_an_inner_folder_is_checked_by_the_full_check(folder):
    (folder / "inner" / "a.txt").write_text("b")
    with pytest.raises(PelError, match="a.txt"):
        verify_folders(folder)


def test_verify_reads_all_folders(folder):
    found = verify_folders(folder.parent)
    assert {one["kind"]: one["files"] for one in found} == {KIND: 3, "inner folder": 1}
    (folder / "more.txt").write_text("")
    with pytest.raises(PelError, match="only the files of the manifest.*more.txt"):
        verify_folders(folder.parent)
    (folder / "more.txt").rename(folder / ".more.txt")  # hidden files do not count
    verify_folders(folder)
    for path in (folder / "nothing", folder / "small.json"):
        with pytest.raises(PelError, match=r"(no such folder|a file)\. Check the path"):
            verify_folders(path)


def snapshot(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_an_update(folder):
    inode = (folder / "large.bin").stat().st_ino
    with update_folder(folder, kind=KIND, version=4, rewritten=["small.json"]) as part:
        (part / "small.json").write_text("[]")
        assert (folder / "small.json").read_text() == "{}", "nothing is changed yet"
    verify_folders(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["inner", "large.bin", MANIFEST, "small.json"]
    assert (folder / "small.json").read_text() == "[]" and (folder / "large.bin").stat().st_ino == inode
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]


def test_an_update_that_failed_changes_nothing(folder):
    before = snapshot(folder)
    with pytest.raises(RuntimeError), update_folder(folder, kind=KIND, version=3) as part:
        write_json(part / "small.json", [])
        (part / "inner" / "a.txt").unlink()
        raise RuntimeError
    assert snapshot(folder) == before and list(folder.parent.iterdir()) == [folder]


def test_an_update_through_a_link(folder):
    link = folder.parent / "link"
    link.symlink_to(folder)
    with update_folder(link, kind=KIND, version=3) as part:
        write_json(part / "small.json", [])
    assert link.is_symlink() and read_json(folder / "small.json") == []


def test_an_update_where_there_are_no_hard_links(folder, monkeypatch):
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "not permitted")))
    with update_folder(folder, kind=KIND, version=3):
        pass
    verify_folders(folder)


def test_a_process_killed_at_any_step_leaves_the_old_or_the_new_folder(folder):
    """It is killed before each change of the file system, from the first to the last."""
    old = snapshot(folder)
    states = []
    for step in range(100):
        status = end_of(in_child(lambda step=step: update_and_die_before(step, folder)))
        writing._cleaned.clear()
        writing.remove_leftovers(folder.parent)
        states.append(snapshot(folder) == old)
        verify_folders(folder)
        assert list(folder.parent.iterdir()) == [folder], step
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert 8 < step < 99
    assert states == sorted(states, reverse=True) and states[0] and not states[-1]


def update_and_die_before(step, folder):
    """Kill this process in the audit event of this number, of those that change files."""
    seen = []

    def hook(event, args):
        writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax")
        if writes or event in ("os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir"):
            seen.append(event)
            if len(seen) > step:
                kill_here()

    sys.addaudithook(hook)
    with update_folder(folder, kind=KIND, version=3, rewritten=["small.json"]) as part:
        (part / "small.json").write_text("[]")


def test_a_target_named_old_is_no_old_target(tmp_path):
    def write_half():
        with atomic_path(tmp_path / "old") as part:
            part.write_text("half")
            kill_here()

    assert end_of(in_child(write_half)) == -signal.SIGKILL
    writing._cleaned.clear()
    writing.remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_relative_links_are_followed_in_an_update(folder):
    target = folder.parent / "weights.bin"
    target.write_bytes(b"weights")
    (folder / "weights.bin").symlink_to("../weights.bin")
    (folder / ".gitattributes").write_text("kept")
    with update_folder(folder, kind=KIND, version=3):
        pass
    verify_folders(folder)
    assert (folder / "weights.bin").read_bytes() == b"weights"
    assert "weights.bin" in read_json(folder / MANIFEST)["files"]
    assert (folder / ".gitattributes").read_text() == "kept"


def test_verify_skips_what_a_killed_process_left(folder):
    shutil.copytree(folder, folder / ".inner.1.00000000.x")
    (folder / ".inner.1.00000000.x" / "large.bin").unlink()
    assert len(verify_folders(folder)) == 2


def test_staging_folders_of_processes_that_live_are_kept(tmp_path):
    with atomic_path(tmp_path / "slow") as part:
        part.write_text("new")
        writing._cleaned.clear()
        with atomic_path(tmp_path / "quick") as other:
            other.write_text("new")
    assert (tmp_path / "slow").read_text() == (tmp_path / "quick").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_an_interrupted_write_left_is_not_in_the_manifest(folder):
    (folder / ".inner.1.00000000.abc" / "inner").mkdir(parents=True)
    (folder / ".inner.1.00000000.abc" / "inner" / "half.bin").write_bytes(b"half")
    with update_folder(folder, kind=KIND, version=3):
        pass
    assert not (folder / ".inner.1.00000000.abc").exists()
    verify_folders(folder)


def test_what_saves_to_a_folder_saves_to_bytes(folder):
    data = save_to_bytes(lambda path: shutil.copytree(folder, path), kind=KIND)
    assert bytes(unpack_files(data, kind=KIND)["inner/a.txt"]) == b"a"
    assert load_from_bytes(data, verify_folders, kind=KIND) != []
    assert load_from_bytes(data, snapshot, kind=KIND) == snapshot(folder)
    with pytest.raises(PelError, match="E008.*1 bytes more"):
        load_from_bytes(data + b"x", snapshot, kind=KIND)


def test_the_bytes_in_saved_pipelines_do_not_change():
    """A saved transformer keeps them in its file."""
    data = pack_files({"a": b"12", "b/c": b"3"}, kind=KIND)
    assert data == b'{"a": 2, "b/c": 1}\n'.ljust(64, b"\0") + b"12".ljust(64, b"\0") + b"3"
    assert {name: bytes(content) for name, content in unpack_files(data, kind=KIND).items()} == {
        "a": b"12",
        "b/c": b"3",
    }


def test_too_many_bytes_are_refused(monkeypatch):
    monkeypatch.setattr("spacy_pel.util.saved_folder.LIMIT", 1000)
    with pytest.raises(PelError, match="E006.*to_disk"):
        pack_files({"a": bytes(1001)}, kind=KIND)


@pytest.mark.parametrize("data", [b"", b'{"a": Infinity}\n', b'{"a": 9}\nshort', b'{"../a": 1}\n' + b"x" * 99])
def test_other_bytes_are_refused(data):
    with pytest.raises(PelError, match="E008"):
        load_from_bytes(data, snapshot, kind=KIND)
