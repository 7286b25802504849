"""The contract of pel_candidates: every generator, whatever it compares."""

import json
import pickle

import numpy as np
import pytest

from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.training.recall import load_generator
from spacy_pel.types import Entity
from spacy_pel.util.saved_folder import MANIFEST, write_manifest

from .conftest import found, mentions_of, values_of

pytestmark = pytest.mark.slow

# other settings of the same part: what was saved must win over them
OTHERS = {
    "spacy-pel.TfIdf.v1": {"char_ngrams": [3, 3], "word_ngrams": None},
    "spacy-pel.BiEncoderCandidates.v1": {"row_k": 8},
}
SURFACES = ["heart attack", "renal failures", "COLD", "acetylsalicylic  acid", "kidney", "MI"]


class Made:
    """A generator built from a knowledge base, with the index that it is bound to, if it needs one."""

    def __init__(self, name, kb, encoder, make_index, **settings):
        self.name, self.kb, self.encoder, self.settings = name, kb, encoder, settings
        self.part = registry.pel_candidates.get(name)(**settings)
        self.index = make_index(kb) if self.part.needs_encoder else None
        self.bind(self.part)
        self.part.build(kb)

    def bind(self, part):
        part.bind(*((self.encoder, self.index) if part.needs_encoder else (None, None)))

    def changed(self, rows):
        if self.index is not None:
            self.index.add_entities(self.kb, self.encoder, rows)
        self.part.add_entities(self.kb, rows)

    def __call__(self, *surfaces, **options):
        return self.part.find_candidates(self.kb, mentions_of(*surfaces), **options)

    def ids(self, *surfaces, **options):
        return found(self.kb, self(*surfaces, **options))


@pytest.fixture(params=sorted(registry.parts("pel_candidates").values()))
def name(request):
    return request.param


@pytest.fixture
def made(name, kb, encoder, make_index):
    return Made(name, kb, encoder, make_index)


def same(one, other, *, exact=True):
    assert one.kb_rows.tolist() == other.kb_rows.tolist()
    for feature in FEATURES:
        if exact:
            assert one.features[feature].tolist() == other.features[feature].tolist(), feature
        else:
            assert one.features[feature] == pytest.approx(other.features[feature], abs=1e-5), feature


def test_tables_are_complete(made):
    many = made.ids(*SURFACES, top_k=20)
    assert made.ids(*SURFACES, top_k=2) == [ids[:2] for ids in many]
    for top_k in (1, 3, 64):
        table = made(*SURFACES, top_k=top_k)
        # as wide as its widest mention, and nothing behind the last candidate
        counts = table.filled.sum(axis=1)
        assert table.kb_rows.shape == (len(SURFACES), max(1, counts.max())) and table.kb_rows.dtype == np.int64
        assert counts.max() <= top_k
        assert (table.filled == (np.arange(table.kb_rows.shape[1]) < counts[:, None])).all()
        assert all(len(set(ids)) == len(ids) for ids in found(made.kb, table))
        # those of the cosine, and of an ensemble what its ranks say
        assert set(table.features) == set(FEATURES)
        for values in table.features.values():
            assert values.shape == table.kb_rows.shape and values.dtype == np.float32
            assert np.isfinite(values).all()


def test_best_first(made):
    table = made(*SURFACES)
    if made.name == "spacy-pel.BiEncoderCandidates.v1":
        pytest.skip("what the surface form names comes first, see find_candidates")
    assert all((np.diff(list(values.values())) <= 0).all() for values in values_of(table, "name"))


def test_the_named_entity_is_found_first(made):
    ids = made.ids("Myocardial Infarction", "nephrolithiasis", "salicylic acid")
    assert [own[0] for own in ids] == ["C0", "C3", "C8"]
    table = made("nephrolithiasis")
    assert table.features["exact"][0, 0] == 1 and table.features["edit"][0, 0] == 1
    assert table.features["exact"][0, 1:].sum() == 0


def test_a_name_of_several_entities_finds_all(made):
    assert sorted(made.ids("cold", top_k=3)[0]) == ["C4", "C5", "C6"]


def test_blank_and_unknown_surfaces(made):
    ids = made.ids("heart attack", " ", "", "\t\n", "жжжж", "nephrolithiasis", "---")
    assert len(ids) == 7 and ids[0][0] == "C0" and ids[5][0] == "C3"
    if made.name != "spacy-pel.BiEncoderCandidates.v1":  # the linker keeps blank mentions from it
        assert ids[1] == ids[2] == ids[3] == []
        assert ids[4] == []
    assert made.ids() == []


def test_masks_are_respected(made, kb):
    only = kb.rows_with_types(["T1"])
    nobody = np.zeros(kb.n_rows, dtype=bool)
    ids = made.ids("cold", "cold", "cold", "kidney", allowed=[only, None, nobody, only])
    assert ids[0][0] == "C5" and not {"C4", "C6"} & set(ids[0])
    assert {"C4", "C5", "C6"} <= set(ids[1])
    assert ids[2] == []
    assert set(ids[1]) == set(made.ids("cold")[0])
    assert set(ids[3]) == set(made.ids("kidney", allowed=[only])[0])


def test_a_mask_does_not_cost_candidates(made, kb):
    if "Alias" in made.name:
        pytest.skip("filters what its own search found")
    rows = kb.rows([f"D{i}" for i in range(25, 30)])
    mask = np.zeros(kb.n_rows, dtype=bool)
    mask[rows] = True
    assert len(made.ids("renal factor of the kidney", top_k=5, allowed=[mask])[0]) == 5


def test_retired_entities_are_never_found(made, kb):
    rows = kb.retire(["C0", "D3"])
    if made.index is None:
        assert "C0" not in made.ids("heart attack")[0]  # before the generator was told
    made.changed(rows)
    assert "C0" not in made.ids("heart attack")[0] and "D3" not in made.ids("factor 3 of kidney")[0]


def test_new_entities_are_found(made, kb):
    before = made.part.fingerprint
    rows = kb.put([Entity("N1", "Zoster", ("shingles", "heart attack")), Entity("N2", "herpes zoster")])
    made.changed(rows)
    ids = made.ids("zoster", "heart attack", "SHINGLES", "nephrolithiasis")
    assert ids[0][0] == ids[2][0] == "N1"
    assert set(ids[1][:2]) == {"C0", "N1"} and ids[3][0] == "C3"
    assert made.part.fingerprint != before
    made.changed(kb.put([Entity("C3", "gall stone", (), ("T1",))]))
    assert made.ids("gall stone")[0][0] == "C3" and made("nephrolithiasis").features["exact"].sum() == 0


def test_saved_and_loaded_into_another(made, kb, tmp_path):
    made.part.to_disk(tmp_path / "generator")
    assert not {file.suffix for file in (tmp_path / "generator").rglob("*")} & {".pkl", ".pickle", ".joblib"}
    table = made(*SURFACES)
    other = registry.pel_candidates.get(made.name)(**OTHERS.get(made.name, {}))
    for loaded in (other.from_disk(tmp_path / "generator"), load_generator(tmp_path / "generator", kb=kb)):
        made.bind(loaded)
        same(table, loaded.find_candidates(kb, mentions_of(*SURFACES)), exact=False)
        assert loaded.settings == made.part.settings and loaded.fingerprint == made.part.fingerprint
    rows = kb.put([Entity("N1", "Zoster")])
    if made.index is not None:
        made.index.add_entities(kb, made.encoder, rows)
    loaded.add_entities(kb, rows)  # what was loaded follows changes, too
    assert found(kb, loaded.find_candidates(kb, mentions_of("zoster")))[0][0] == "N1"
    loaded.to_disk(tmp_path / "generator")  # in place of the old one
    again = load_generator(tmp_path / "generator", kb=kb)
    made.bind(again)
    assert found(kb, again.find_candidates(kb, mentions_of("zoster")))[0][0] == "N1"


def test_batch_equals_single(made):
    table = made(*SURFACES)
    for number, surface in enumerate(SURFACES):
        single = made(surface)
        for feature in FEATURES if made.index is None else ():
            own, alone = values_of(table, feature)[number], values_of(single, feature)[0]
            assert list(own) == list(alone) and own == pytest.approx(alone, abs=1e-5), (surface, feature)
        # the vectors of a batch differ in their last digits
        assert set(found(made.kb, table)[number]) == set(found(made.kb, single)[0])


def test_not_built_is_said(name, kb, tmp_path):
    part = registry.pel_candidates.get(name)()
    assert part.registered_name == name and isinstance(part.fingerprint, str)
    if name != "spacy-pel.AliasMatch.v1":
        with pytest.raises(PelError, match="E444|E456"):
            part.find_candidates(kb, mentions_of("cold"))
    if name not in ("spacy-pel.AliasMatch.v1", "spacy-pel.BiEncoderCandidates.v1"):
        with pytest.raises(PelError, match="E444"):
            part.to_disk(tmp_path / "generator")
        assert list(tmp_path.iterdir()) == []


def test_another_knowledge_base_is_refused(made, kb, tmp_path):
    if made.name in ("spacy-pel.BiEncoderCandidates.v1",):
        pytest.skip("the index is checked where it is bound")
    made.part.to_disk(tmp_path / "generator")
    small = KnowledgeBase([Entity("C0", "heart attack")])
    with pytest.raises(PelError, match="E443"):
        load_generator(tmp_path / "generator", kb=small)
    if made.name != "spacy-pel.AliasMatch.v1":
        with pytest.raises(PelError, match="E448"):
            made.part.find_candidates(small, mentions_of("heart attack"))


def test_damaged_folders(made, tmp_path):
    if made.index is not None:
        pytest.skip("it has no data of its own")
    path = tmp_path / "generator"
    with pytest.raises(PelError, match="E007"):
        made.part.from_disk(path)
    made.part.to_disk(path)
    manifests = {file: file.read_bytes() for file in path.rglob(MANIFEST)}

    def sign():  # inner folders first
        for file in sorted(manifests, key=lambda file: -len(file.parts)):
            saved = json.loads(manifests[file])
            write_manifest(file.parent, kind=saved["kind"], version=saved["format"])

    names = ("generator.json", MANIFEST)
    files = [file for file in path.rglob("*") if file.is_file() and file.name not in names]
    for file in files:
        content = file.read_bytes()
        for wrong in (content[: len(content) // 2], b"\0" * len(content)):
            file.write_bytes(wrong)
            sign()
            try:
                loaded = load_generator(path)
            except PelError:
                pass
            else:  # no reader looks at every byte of a tokenizer
                assert "encoder" in file.parts and loaded
        file.write_bytes(content)
        for manifest, saved in manifests.items():
            manifest.write_bytes(saved)
    load_generator(path)
    meta = path / "generator.json"
    for wrong, code in (
        ("[]", "E004"),
        ('{"generator": "x"}', "E009"),
        ('{"generator": "spacy-pel.Nothing.v1", "settings": {}}', "E009"),
    ):
        meta.write_text(wrong)
        sign()
        with pytest.raises(PelError, match=code):
            load_generator(path)


def test_goes_to_another_process(made, kb):
    sent = pickle.loads(pickle.dumps(made.part))  # what spaCy does with n_process
    made.bind(sent)
    same(made(*SURFACES), sent.find_candidates(kb, mentions_of(*SURFACES)), exact=False)
