"""Round trips. Each loads into an object that was made differently and compares what it finds."""

import gc
import json
import os
import pickle
import shutil
import signal
from pathlib import Path

import pytest
import spacy
from forks import end_of, in_child, kill_here
from spacy.tokens import Doc, DocBin

from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.pipeline.linker_data import update_linker_folder
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.pipeline.settings import LinkerSettings
from spacy_pel.types import NIL, Document, Entity, Mention
from spacy_pel.util.saved_folder import pack_files, unpack_files

from .conftest import NAME, TEXTS, copies, found, links

pytestmark = pytest.mark.slow

FITTED = {
    "combiner": {"@pel_combiners": "spacy-pel.LinearCombiner.v1"},
    "nil_model": {"@pel_nil": "spacy-pel.LogisticNil.v1"},
}
KNOWN = [("heart attack", "C01"), ("aspirin", "C02"), ("headache", "C03"), ("hart atack", "C01")]
KNOWN += [("hedache", "C03"), ("DNA", "C10"), ("aspirine", "C02"), ("diabetes", "C06")]
UNKNOWN = ["zzyzx", "qwrtp", "brrzk", "vbnmk", "plokij"]


def dev_set():
    texts = [(text, (entity_id,)) for text, entity_id in KNOWN] + [(text, ()) for text in UNKNOWN]
    return [Document(t, f"A {t} case", [Mention(2, 2 + len(t), "X", ids)]) for t, ids in texts]


@pytest.fixture
def trained(make_nlp):
    """A calibrated pipeline whose KB has got an entity more than the one on the disk."""
    nlp = make_nlp(**FITTED, coverage=0.8)
    linker = nlp.get_pipe(NAME)
    linker.calibrate(nlp, dev_set())
    linker.add_entities([Entity("N1", "Cold sore", ("cold",), ("T047",))])
    ids = [ent.kb_id_ for ent in nlp(TEXTS[4]).ents]
    assert "C07" in ids and NIL in ids and nlp("cold").ents[0]._.pel_set  # what is to survive says all this
    return nlp


@pytest.fixture
def expected(trained):
    return found(trained)


@pytest.fixture
def other(make_nlp):
    """The same config, but another KB and nothing learned."""

    def make():
        nlp = make_nlp(**FITTED, coverage=0.8)
        kb = KnowledgeBase([Entity("X1", "Aspirin"), Entity("X2", "zzyzx")])
        nlp.get_pipe(NAME).initialize(lambda: [], kb_loader=lambda: kb)
        nlp.get_pipe(NAME).encoder._width = 32  # comes back with the encoder
        return nlp

    return make


def test_round_trips(trained, expected, other, tmp_path):
    path = tmp_path / "pipeline"
    loaded, of_bytes, of_pickle = copies(trained, path)
    names = sorted(file.name for file in (path / NAME).iterdir())
    assert names == ["cfg.json", "encoder", "index", "kb", "manifest.json"]
    # a loaded one refers to its files
    for copy in (loaded, of_bytes, of_pickle, pickle.loads(pickle.dumps(loaded))):
        assert found(copy) == expected
    assert found(other().from_disk(path)) == found(other().from_bytes(trained.to_bytes())) == expected
    copied, linker = of_pickle.get_pipe(NAME), trained.get_pipe(NAME)
    assert (copied.name, copied.linker.nil_threshold) == (NAME, linker.linker.nil_threshold)
    copied.add_entities([Entity("N9", "zzyzx")])
    assert "N9" not in linker.kb


def test_disk_over_the_folder_it_came_from(trained, tmp_path):
    trained.to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    nlp.get_pipe(NAME).add_entities([Entity("N2", "zzyzx", (), ("T047",))])
    nlp.to_disk(tmp_path / "pipeline")
    for same in (nlp, spacy.load(tmp_path / "pipeline")):
        assert [ent.kb_id_ for ent in same("zzyzx").ents] == ["N2"]
        assert [ent.kb_id_ for ent in same("HD of Aspirin").ents][1] == "C02"


def test_docbin_and_doc_bytes(trained, expected):
    docs = list(trained.pipe(TEXTS))
    store = DocBin(docs=docs, store_user_data=True)
    for again in DocBin().from_bytes(store.to_bytes()).get_docs(trained.vocab):
        found = [ent._.pel_candidates for ent in again.ents]
        assert all(type(one) is list for candidates in found for one in (candidates, *candidates))
        assert all(type(texts) is list for ent in again.ents for texts in (ent._.pel_types, ent._.pel_xrefs))
    (span, *_), pairs = docs[0].ents, [["C01", 0.5], ["C02", 0.25]]
    gc.collect()
    stored = docs[0].user_data["._.", "pel_candidates", span.start_char, span.end_char]
    assert stored and not gc.is_tracked(stored)
    set_by_hand = Doc(trained.vocab).from_bytes(docs[0].to_bytes())
    set_by_hand.ents[0]._.pel_candidates = pairs
    for doc in (set_by_hand, Doc(trained.vocab).from_bytes(set_by_hand.to_bytes())):
        assert doc.ents[0]._.pel_candidates == pairs
    vocab = spacy.blank("en").vocab  # does not know the ids' strings
    assert [links(doc) for doc in DocBin().from_bytes(store.to_bytes()).get_docs(vocab)] == expected
    again = [Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes()) for doc in docs]
    assert [links(doc) for doc in again] == expected


def test_settings_given_to_load_win(trained, tmp_path):
    trained.to_disk(tmp_path / "pipeline")

    def ids(**settings):
        config = {f"components.{NAME}.{key}": value for key, value in settings.items()}
        doc = spacy.load(tmp_path / "pipeline", config=config)(TEXTS[4])
        return [ent.kb_id_ for ent in doc.ents], len(doc.ents[0]._.pel_candidates)

    saved, n_saved = ids()
    assert NIL in saved and n_saved > 3
    assert NIL not in ids(threshold=1.0)[0]
    assert set(ids(threshold=-1.0)[0]) == {NIL}
    assert ids(top_k=3) == (saved, 3)
    assert ids(labels_discard=["DISEASE"])[0][1] == ""
    one, two = tmp_path / "pipeline", tmp_path / "two"
    spacy.load(one, config={f"components.{NAME}.threshold": -1.0}).to_disk(two)
    assert spacy.load(two)("cold").ents[0].kb_id_ == NIL  # saved as a setting
    back = spacy.load(two, config={f"components.{NAME}.threshold": None})
    assert found(back) == found(trained)


def test_thresholds_of_labels(trained, tmp_path):
    trained.to_disk(tmp_path / "one")
    config = tmp_path / "one" / "config.cfg"
    given = 'threshold = {"CHEMICAL":-1.0,"OTHER":-1.0}'
    config.write_text(config.read_text().replace("threshold = null", given))
    spacy.load(tmp_path / "one").to_disk(tmp_path / "two")
    ids = [ent.kb_id_ for ent in spacy.load(tmp_path / "two")(TEXTS[4]).ents]
    assert [found == NIL for found in ids] == [True, False, True, False]


def test_a_pipeline_without_a_threshold_says_so_when_it_is_loaded(trained, make_nlp, tmp_path, caplog):
    trained.to_disk(tmp_path / "fitted")
    make_nlp().to_disk(tmp_path / "plain")
    spacy.load(tmp_path / "fitted")
    spacy.load(tmp_path / "plain", config={f"components.{NAME}.threshold": 0.5})
    assert "PEL-W50" not in caplog.text
    spacy.load(tmp_path / "plain")
    assert caplog.text.count("PEL-W505") == 1


def test_default_nil_weights_survive_and_are_named_when_loaded(make_nlp, tmp_path, caplog):
    """Nothing was fitted, so nothing is saved; a pipeline that was fitted goes back to the defaults."""
    nlp = make_nlp(nil_model=FITTED["nil_model"])
    expected = found(nlp)
    ids = {ent.text: ent.kb_id_ for ent in nlp(TEXTS[4]).ents}
    assert ids == {"Aspirin": "C02", "cold": ids["cold"], "zzyzx": NIL, "Huntington disease": "C07"}
    fitted = make_nlp(nil_model=FITTED["nil_model"])
    fitted.get_pipe(NAME).calibrate(fitted, dev_set())
    assert found(fitted) != expected and fitted.get_pipe(NAME).linker.nil_threshold is not None
    loaded, *others = copies(nlp, tmp_path / "nlp")
    assert "PEL-W506" in caplog.text and NAME in caplog.text
    for copy in (loaded, *others, fitted.from_bytes(nlp.to_bytes())):
        assert found(copy) == expected and copy.get_pipe(NAME).linker.nil_threshold is None


def test_broken_folders_are_named(trained, tmp_path):
    trained.to_disk(tmp_path / "whole")

    def broken(name, damage):
        path = tmp_path / name
        shutil.copytree(tmp_path / "whole", path)
        damage(path / NAME)
        with pytest.raises(PelError) as err:
            spacy.load(path)
        assert "\n" not in str(err.value)
        return str(err.value)

    assert "index/manifest.json" in broken("no index", lambda path: shutil.rmtree(path / "index"))
    for file in ("cfg.json", "manifest.json"):
        assert file in broken(f"no {file}", lambda path, f=file: (path / f).unlink())

    def truncate(path):
        file = max((path / "index").iterdir(), key=lambda file: file.stat().st_size)
        file.write_bytes(file.read_bytes()[:-40])

    def be_newer(path):
        manifest = json.loads((path / "manifest.json").read_text())
        (path / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))

    def replace_kb(path):
        with update_linker_folder(path) as part:
            other.to_disk(part / "kb")

    other = KnowledgeBase([Entity("X1", "Aspirin")])
    assert "in the index at" in broken("truncated", truncate)
    assert "PEL-E005" in broken("newer", be_newer)
    assert "kb/manifest.json" in broken("another kb", lambda path: other.to_disk(path / "kb"))
    assert "spacy-pel index" in broken("a replaced kb", replace_kb)


@pytest.mark.parametrize("part", ["kb", "encoder", "index", "cfg.json"])
def test_a_save_that_is_killed_leaves_the_old_pipeline(trained, expected, tmp_path, monkeypatch, part):
    """It changes every part, and ends right after it has written one of them."""
    trained.to_disk(tmp_path / "pipeline")
    linker = trained.get_pipe(NAME)
    linker.add_entities([Entity("N2", "zzyzx", (), ("T047",))])
    replace = os.replace

    def replace_and_end(source, target):
        replace(source, target)
        if Path(target).name == part and Path(target).parent.name == NAME:
            kill_here()

    monkeypatch.setattr(os, "replace", replace_and_end)
    assert end_of(in_child(lambda: linker.to_disk(tmp_path / "pipeline" / NAME))) == -signal.SIGKILL
    monkeypatch.undo()
    assert found(spacy.load(tmp_path / "pipeline")) == expected
    trained.to_disk(tmp_path / "pipeline")
    assert found(spacy.load(tmp_path / "pipeline")) == found(trained) != expected


def test_parts_can_be_left_out(trained, expected, make_nlp, tmp_path):
    linker, nlp, new = trained.get_pipe(NAME), *(make_nlp(**FITTED, coverage=0.8) for _ in range(2))
    linker.to_disk(tmp_path / "linker", exclude=["encoder", "cfg"])
    assert sorted(path.name for path in (tmp_path / "linker").iterdir()) == ["index", "kb", "manifest.json"]
    other = nlp.get_pipe(NAME).from_disk(tmp_path / "linker", exclude=["encoder", "cfg"])
    assert (len(other.kb), other.linker.nil_threshold) == (len(linker.kb), None)
    linker.to_disk(tmp_path / "linker", exclude=["kb", "index"])  # the rest
    assert found(nlp) != expected
    other.from_disk(tmp_path / "linker", exclude=["index"])
    assert found(nlp) == expected
    new.get_pipe(NAME).from_bytes(linker.to_bytes(exclude=["encoder"]))
    assert found(new) == expected


def test_foreign_bytes(make_nlp):
    for data in (b"", b"nonsense", b"\xc1", b"\x93\x01\x02\x03"):
        with pytest.raises(PelError, match="PEL-E008.*entity linker"):
            make_nlp().get_pipe(NAME).from_bytes(data)
    linker = make_nlp().get_pipe(NAME)
    files = unpack_files(linker.to_bytes(), kind="x")
    with pytest.raises(PelError, match="PEL-E008.*entity linker.*without settings"):
        linker.from_bytes(pack_files({**files, "cfg.json": b"{}"}, kind="x"))


def test_a_pipe_or_device_among_spacys_files_is_named(trained, tmp_path):
    """spaCy itself would wait for ever."""
    trained.to_disk(tmp_path / "p")
    path = tmp_path / "p" / "vocab" / "key2row"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        path.unlink()
        make(path)
        with pytest.raises(PelError, match="E650.*vocab/key2row is not a regular file"):
            load_pipeline(tmp_path / "p")


def test_without_calibration_there_are_no_sets(make_nlp, tmp_path, caplog):
    make_nlp(**FITTED, coverage=0.8).to_disk(tmp_path / "saved")
    nlp = spacy.load(tmp_path / "saved")
    assert "PEL-W508" in caplog.text
    doc = nlp(TEXTS[0])
    assert doc.ents and all(ent._.pel_set == [] and ent._.pel_probability >= 0 for ent in doc.ents)


def test_a_saved_precision_reaches_the_encoder(make_nlp, tiny_bert, tmp_path):
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)}
    linker = make_nlp(encoder=encoder).get_pipe(NAME)
    linker.precision = "bfloat16"
    linker.to_disk(tmp_path / "saved")
    for load, saved in (("from_disk", tmp_path / "saved"), ("from_bytes", linker.to_bytes())):
        loaded = getattr(make_nlp(encoder=encoder).get_pipe(NAME), load)(saved)
        assert loaded.linker.encoder.backend.precision == "bfloat16"


def test_max_length_changes_what_mentions_read_and_nothing_that_is_saved(make_nlp, tiny_bert, tmp_path):
    nlp = make_nlp(encoder={"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)})
    nlp.to_disk(tmp_path / "long")
    short = spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 8})
    linker = short.get_pipe(NAME)
    assert linker.encoder.mention_template.max_length == 128
    assert linker.linker.encoder.mention_template.max_length == 8
    text = "zzyzx " * 3 + "heart attack" + " zzyzx" * 3
    assert links(short(text)) != links(nlp(text))
    assert linker.linker.encoder.towers is linker.encoder.towers
    short.to_disk(tmp_path / "short")  # saves the setting, not another encoder
    again = spacy.load(tmp_path / "short")
    assert links(again(text)) == links(short(text))
    back = spacy.load(tmp_path / "short", config={f"components.{NAME}.max_length": None})
    assert links(back(text)) == links(nlp(text))
    with pytest.raises(PelError, match="PEL-E301"):
        spacy.load(tmp_path / "long", config={f"components.{NAME}.max_length": 2})


SET = {
    "top_k": 7, "threshold": {"X": 0.25}, "batch_size": 9, "coverage": 0.5, "nil_share": 0.2, "read_context": "always",
    "precision": "bfloat16", "form_cache": 3, "overwrite": False, "labels_keep": ["X"], "labels_discard": ["Y"],
    "group_labels": True, "max_length": 20, "spans_key": "sc", "expand_abbreviations": False,
    "entity_types": {"X": ["T047"]}, "row_kinds": ["card"], "extension_prefix": "other",
}  # fmt: skip


def test_every_setting_that_was_set_is_saved_and_one_given_to_load_wins(make_nlp, tmp_path):
    assert set(SET) == set(LinkerSettings.model_fields)
    nlp = make_nlp()
    linker = nlp.get_pipe(NAME)
    for name, value in SET.items():
        if name != "max_length":  # of encoders with a template
            setattr(linker, name, value)
    expected = linker.settings.model_dump()
    nlp.to_disk(tmp_path / "nlp")
    linker.to_disk(tmp_path / "alone")
    renamed, alone = spacy.load(tmp_path / "nlp"), make_nlp().get_pipe(NAME)
    renamed.rename_pipe(NAME, "renamed")
    renamed.get_pipe("renamed").top_k = 8
    renamed.to_disk(tmp_path / "renamed")
    copied = pickle.loads(pickle.dumps(nlp))
    copied.get_pipe(NAME).top_k = 8
    copied.to_disk(tmp_path / "copied")
    for loaded, top_k in (
        (spacy.load(tmp_path / "nlp").get_pipe(NAME), 7),
        (make_nlp().from_bytes(nlp.to_bytes()).get_pipe(NAME), 7),
        (alone.from_disk(tmp_path / "alone"), 7),
        (spacy.load(tmp_path / "copied").get_pipe(NAME), 8),
        (spacy.load(tmp_path / "renamed").get_pipe("renamed"), 8),
    ):
        assert loaded.settings.model_dump() == {**expected, "top_k": top_k}
        assert loaded.linker.top_k == top_k
    for given in (0.75, None):
        other = spacy.load(tmp_path / "nlp", config={"components": {NAME: {"threshold": given}}})
        assert other.get_pipe(NAME).threshold == given and other.get_pipe(NAME).top_k == 7


def test_meta_tells_of_the_linkers_that_are_there(trained, tmp_path):
    trained.meta["sources"] = [{"name": "mine"}]
    trained.to_disk(tmp_path / "a")
    trained.rename_pipe(NAME, "li")
    trained.to_disk(tmp_path / "b")
    trained.get_pipe("li").retire(["N1"])
    n = len(trained.get_pipe("li").kb)
    for meta in (trained.meta, pickle.loads(pickle.dumps(trained)).meta, spacy.load(tmp_path / "b").meta):
        assert list(meta["knowledge_bases"]) == ["li"]
        assert {one.get("component") for one in meta["sources"]} <= {None, "li"} and {"name": "mine"} in meta["sources"]
    assert trained.meta["knowledge_bases"]["li"]["entities"] == n
    assert list(spacy.load(tmp_path / "a").meta["knowledge_bases"]) == [NAME]
