"""The knowledge base saved, sent to other processes, damaged, and on a full disk."""

import json
import multiprocessing
import pickle
import resource
import shutil

import numpy as np
import pyarrow as pa
import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.store_writer import KIND, VERSION
from spacy_pel.types import Entity
from spacy_pel.util.arrow_files import read_arrays, write_arrays
from spacy_pel.util.saved_folder import pack_files, unpack_files, write_manifest

from .conftest import ENTITIES, REDIRECTS, changed, many, same


def test_built_on_disk_equals_in_memory(kb, folder):
    opened = KnowledgeBase.from_disk(folder)
    assert same(kb, opened)
    assert opened.source == kb.source == {"licence": "CC0"}
    assert (kb.path, opened.path) == (None, folder)


def test_changes_survive_every_round_trip(folder, tmp_path):
    kb = changed(KnowledgeBase.from_disk(folder))
    other = KnowledgeBase.from_disk(folder)
    assert other.fingerprint != kb.fingerprint and "C6" not in other
    assert same(kb, KnowledgeBase.from_bytes(kb.to_bytes()))
    assert same(kb, pickle.loads(pickle.dumps(kb)))
    kb.to_disk(tmp_path / "copy")
    assert same(kb, KnowledgeBase.from_disk(tmp_path / "copy"))
    kb.to_disk(folder)
    assert same(kb, KnowledgeBase.from_disk(folder)) and kb.source["licence"] == "CC0"
    assert len(pickle.dumps(kb)) < 1000  # the changes are in the folder now
    inode = (folder / "entities.arrow").stat().st_ino
    kb.to_disk(folder)
    assert (folder / "entities.arrow").stat().st_ino == inode  # nothing to write
    assert other["C3"] == ENTITIES[2]  # who has the old files open keeps them


def _query(kb):
    return kb.fingerprint, kb.ids("ASA"), kb["C90"].canonical_name


@pytest.mark.slow
def test_processes_share_the_files_under_spawn(folder):
    kb = KnowledgeBase.from_disk(folder)
    data = pickle.dumps(kb)
    assert len(data) < 1000 and pickle.loads(data).path == folder.resolve()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_query, (kb,)) == _query(kb)
        kb.put([Entity("C5", "Cough", ("asa",))])
        assert pool.apply(_query, (kb,)) == (kb.fingerprint, ["C1", "C2", "C5"], "Aspirin")


def test_pickle_of_a_folder_that_changed(folder):
    kb = KnowledgeBase.from_disk(folder)
    data = pickle.dumps(kb)
    changed(KnowledgeBase.from_disk(folder)).to_disk(folder)
    with pytest.raises(PelError, match="PEL-E017"):
        pickle.loads(data)
    assert same(kb, pickle.loads(pickle.dumps(kb)))  # its own files are gone: it travels as bytes
    shutil.rmtree(folder)
    assert same(kb, pickle.loads(pickle.dumps(kb)))


def test_damaged_folders(folder, tmp_path):
    with pytest.raises(PelError, match="PEL-E007.*got no such folder"):
        KnowledgeBase.from_disk(tmp_path / "nowhere")
    with pytest.raises(PelError, match="PEL-E004.*manifest.json"):
        KnowledgeBase.from_disk(tmp_path)
    names = sorted(json.loads((folder / "manifest.json").read_text())["files"])
    assert names == sorted(path.name for path in folder.iterdir() if path.name != "manifest.json")
    for name in names:
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-10])
        with pytest.raises(PelError, match=f"PEL-E004.*{name} with {len(whole)} bytes.* got {len(whole) - 10}"):
            KnowledgeBase.from_disk(folder)
        (folder / name).write_bytes(whole)
    assert len(KnowledgeBase.from_disk(folder)) == 4


@pytest.mark.parametrize(
    ("name", "column"),
    [("ids.arrow", "row"), ("xrefs.arrow", "row"), ("alias_rows.arrow", "row"), ("alias_hashes.arrow", "start")],
)
@pytest.mark.parametrize("number", [-1, 10**6])
def test_numbers_out_of_range(folder, name, column, number):
    arrays = {key: values.copy() for key, values in read_arrays(pa.py_buffer((folder / name).read_bytes())).items()}
    arrays[column][1] = number
    write_arrays(folder / name, arrays)
    write_manifest(folder, kind=KIND, version=VERSION)
    with pytest.raises(PelError, match=f"PEL-E004.*numbers of rows in {name}.*copy or rebuild"):
        KnowledgeBase.from_disk(folder)


@pytest.mark.parametrize(
    ("column", "offsets", "letters"),
    [("name", [0, 2**30, 3], b"abc"), ("name", [0, 1, 3], b"a\xff\xfe"), ("nom", [0, 1, 3], b"abc")],
)
def test_damaged_names_of_types(folder, column, offsets, letters):
    parts = [pa.py_buffer(np.array(offsets, dtype=np.int32)), pa.py_buffer(letters)]
    write_arrays(folder / "types.arrow", {column: pa.StringArray.from_buffers(2, *parts)})
    write_manifest(folder, kind=KIND, version=VERSION)
    with pytest.raises(PelError, match="PEL-E004.*Arrow files.*damaged ones"):
        KnowledgeBase.from_disk(folder)


def test_meta_tells_what_the_folder_holds(kb, folder):
    meta = json.loads((folder / "meta.json").read_text())
    assert meta == KnowledgeBase.from_disk(folder).meta == kb.meta
    assert (meta["version"], meta["fingerprint"]) == (VERSION, kb.fingerprint)
    assert meta["counts"] == {"rows": 4, "entities": 4, "aliases": 7, "redirects": 2, "edits": 0}
    assert (meta["source"], meta["report"]) == ({"licence": "CC0"}, {})


@pytest.mark.parametrize(
    ("meta", "match"), [(b"{", "PEL-E004.*meta.json"), (b"[]", "PEL-E004.*meta.json"), (b'{"version": 1}', "PEL-E005")]
)
def test_bytes_of_something_else(kb, meta, match):
    files = {**unpack_files(kb.to_bytes(), kind=KIND), "meta.json": meta}
    with pytest.raises(PelError, match=match):
        KnowledgeBase.from_bytes(pack_files(files, kind=KIND))
    with pytest.raises(PelError, match="PEL-E004"):
        KnowledgeBase.from_bytes(pack_files({}, kind=KIND))
    with pytest.raises(PelError, match="PEL-E008"):
        KnowledgeBase.from_bytes(b"abc")


def test_never_replaces_other_files(kb, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    for write in (lambda: KnowledgeBase.build(ENTITIES, tmp_path), lambda: kb.to_disk(tmp_path)):
        with pytest.raises(PelError, match="PEL-E111"):
            write()
        with pytest.raises(PelError, match="PEL-E111"):
            kb.to_disk(tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_full_disk_leaves_the_old_knowledge_base(folder):
    kb = KnowledgeBase.from_disk(folder)
    kb.put(many(2000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(PelError, match="PEL-E002.*a writable path"):
            kb.to_disk(folder)
        with pytest.raises(PelError, match="PEL-E002.*a writable path"):
            KnowledgeBase.build(many(2000), folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert same(KnowledgeBase.from_disk(folder), KnowledgeBase(ENTITIES, redirects=REDIRECTS))
    assert [path.name for path in folder.parent.iterdir()] == ["kb"]
