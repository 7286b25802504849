"""Which encoder a folder holds is written in it: one file adds an encoder."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bert import Bert
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.encoders.pretrained import load_encoder, load_tower, locate
from spacy_pel.encoders.token_arrays import SavedTokenizer, piece_lists, pieces_with_offsets
from spacy_pel.errors import PelError
from spacy_pel.util import read_json, write_json
from spacy_pel.util.saved_folder import write_manifest, write_part

from .conftest import make_encoder

pytestmark = pytest.mark.slow

PIPELINE = Path(__file__).parents[2] / "assets" / "pel_medmentions"


def test_an_encoder_that_is_not_registered_is_named(tmp_path):
    with write_part(tmp_path / "model", kind="encoder", name="tests.Lengths.v1"):
        pass
    with pytest.raises(PelError, match=rf"PEL-E009.*{tmp_path / 'model'}.*'tests.Lengths.v1'.*pel_encoders"):
        load_encoder(tmp_path / "model")


@pytest.mark.parametrize("content", [[], {"encoder": 1}, {"ranker": "spacy-pel.HashEmbed.v1"}])
def test_a_folder_that_names_no_encoder_is_refused(tmp_path, content):
    HashEmbed().to_disk(tmp_path)
    with pytest.raises(PelError, match="PEL-E010.*BiEncoder.v1.*HashEmbed.v1"):
        BiEncoder().from_disk(tmp_path)
    write_json(tmp_path / "encoder.json", content)
    write_manifest(tmp_path, kind="encoder", version=1)
    with pytest.raises(PelError, match="PEL-E004.*encoder.json"):
        load_encoder(tmp_path)


@pytest.mark.parametrize("pooling", ["mean", "markers"])
def test_a_saved_bert_is_the_one_of_transformers(tiny_bert, tmp_path, pooling):
    encoder = make_encoder(tiny_bert, pooling=pooling)
    encoder.to_disk(tmp_path / "model")
    folder = tmp_path / "model" / "mention"
    tokenizer, model = load_tower(folder)
    whole = transformers.AutoModel.from_pretrained(folder)
    assert isinstance(model, Bert) and isinstance(tokenizer, SavedTokenizer)
    ours, theirs = dict(model.named_parameters()), dict(whole.named_parameters())
    assert [*ours] == [name for name in theirs if not name.startswith("pooler")]
    ids = torch.randint(5, model.config.vocab_size, (3, 9))
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    for read in (
        {"input_ids": ids, "attention_mask": mask},
        {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
        {"input_ids": ids, "attention_mask": mask, "token_type_ids": (ids > 9).long()},
        {"inputs_embeds": whole.get_input_embeddings()(ids), "attention_mask": mask},
    ):
        assert torch.equal(model(**read).last_hidden_state, whole(**read).last_hidden_state)
    found = []
    for one in (model.train(), whole.train()):
        torch.manual_seed(3)
        found.append(one(input_ids=ids, attention_mask=mask).last_hidden_state)
    assert torch.equal(*found) and not torch.equal(found[0], model.eval()(ids, mask).last_hidden_state)
    # and it is saved as it was
    encoder.from_disk(tmp_path / "model").to_disk(tmp_path / "again")
    files = sorted(file.relative_to(tmp_path / "model") for file in (tmp_path / "model").rglob("*.*"))
    assert len(files) > 12
    for file in files:
        assert (tmp_path / "model" / file).read_bytes() == (tmp_path / "again" / file).read_bytes(), file


@pytest.mark.parametrize("store", ["float16", "float32"])
def test_word_embeddings_stay_as_they_were_saved(tiny_bert, tmp_path, store):
    make_encoder(tiny_bert, store=store).to_disk(tmp_path / "model")
    encoder = BiEncoder(backend=TorchBackend(precision="float32")).from_disk(tmp_path / "model")
    model = encoder.towers["mention"].transformer
    kept = {name: tensor.dtype for name, tensor in model.state_dict().items() if tensor.dtype != torch.float32}
    assert kept == ({"embeddings.word_embeddings.weight": torch.float16} if store == "float16" else {})
    texts = ["Aspirin relieves a headache.", "fever"]
    vectors = encoder.encode_names(texts)
    encoder.towers.float()
    assert all(tensor.dtype == torch.float32 for tensor in model.state_dict().values())
    assert np.array_equal(encoder.encode_names(texts), vectors)


def test_a_saved_tokenizer_is_the_one_of_transformers(tiny_bert, tmp_path):
    encoder = make_encoder(tiny_bert, tied=True)
    encoder.to_disk(tmp_path / "model")
    tokenizer = pickle.loads(pickle.dumps(load_tower(tmp_path / "model" / "mention")[0]))
    whole = transformers.AutoTokenizer.from_pretrained(tmp_path / "model" / "mention")
    texts = ["Aspirin [SEP] relieves\u00a0Kopfschmerz", "", "α-synuclein [M_s] x" * 200]
    assert piece_lists(tokenizer, texts) == piece_lists(whole, texts)
    for name in ("cls_token_id", "sep_token_id", "pad_token_id"):
        assert getattr(tokenizer, name) == getattr(whole, name)
    assert tokenizer.get_vocab() == whole.get_vocab() and len(tokenizer) == len(whole)
    with pytest.raises(TypeError, match="AutoTokenizer"):
        tokenizer(texts, return_token_type_ids=False)


def make_byte_level(path):
    """A byte-level BPE tokenizer, in which an emoji is several pieces."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaTokenizerFast

    made = ByteLevelBPETokenizer(add_prefix_space=True)
    made.train_from_iterator(["fever in the heart"], special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    path.mkdir()
    made.save(str(path / "rules.json"))
    RobertaTokenizerFast(tokenizer_file=str(path / "rules.json")).save_pretrained(path)
    return path


@pytest.mark.parametrize("kind", ["words", "letters", "bytes"])
def test_a_saved_tokenizer_knows_where_its_pieces_are(tiny_bert, tmp_path, kind):
    shipped = PIPELINE / "proxy_entity_linker" / "encoder" / "mention"
    folders = {"words": lambda: shipped, "letters": lambda: tiny_bert}
    folder = folders.get(kind, lambda: make_byte_level(tmp_path / "bytes"))()
    tokenizer, whole = SavedTokenizer.read(folder), transformers.AutoTokenizer.from_pretrained(folder)
    texts = [
        "Aspirin [SEP] relieves\u00a0Kopfschmerz <s> [M_s]fever",
        "naïve cafe\u0301 – ﬁbrosis, Å and A\u030a; ½ µg of α-synuclein İ",
        "🫀🧬 of 👩🏽‍⚕️ the heart\t\r\n ",
        "发烧 القلب हृदय \u200bfever\u0000\ufffd",
        " ",
        "",
        "heart attack " * 400,
    ]
    assert pieces_with_offsets(tokenizer, []) == []
    found = pieces_with_offsets(tokenizer, texts)
    assert [ids for ids, _ in found] == piece_lists(tokenizer, texts) == piece_lists(whole, texts)
    expected = [(ids, offsets.tolist()) for text in texts for ids, offsets in pieces_with_offsets(whole, [text])]
    assert [(ids, offsets.tolist()) for ids, offsets in found] == expected
    assert sum(map(len, piece_lists(tokenizer, texts))) > 600


SCRIPT = """
import sys
import spacy
nlp = spacy.load(sys.argv[1])
doc = nlp("Metformin lowers glucose in patients with diabetes.")
assert doc.ents and all(ent.kb_id_ for ent in doc.ents)
print(*sys.modules)
"""
# what takes a second or 100 MB, and linking does not need; pandas is not among it, since pyarrow imports it
HEAVY = {
    *("transformers", "torch._dynamo", "sympy", "sklearn", "scipy", "matplotlib"),
    *("openvino", "scispacy.linking", "pyarrow.dataset", "torch._inductor"),
    *(f"spacy_pel.{room}" for room in ("cli", "engines", "evaluation", "ontologies", "serving", "training")),
}


def test_linking_imports_nothing_heavy():
    command = [sys.executable, "-c", SCRIPT, str(PIPELINE)]
    loaded = set(subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout.split())
    assert "spacy_pel.encoders.bert" in loaded and not loaded & HEAVY


# -- what the folder of a model must not do --------------------------------------------------------

LOAD = """
import sys
from pathlib import Path
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError
for model in sys.argv[1:]:
    try:
        load_encoder(Path(model))
    except PelError as err:
        print(str(err).replace(chr(10), "several lines"))
    else:
        print("loaded")
"""


def change(model, name, **settings):
    """As the author of a folder can: the manifest fits."""
    file = model / "mention" / name
    write_json(file, {**read_json(file), **settings})
    write_manifest(model, kind="encoder", version=1)


def test_a_folder_runs_no_code_of_its_own_and_nothing_is_looked_for_elsewhere(tmp_path, tiny_bert):
    """In a new process that would agree to everything, and may not reach the hub."""
    names = ["good", "config.json", "tokenizer_config.json", "no tower", "pickled"]
    for name in names:
        make_encoder(tiny_bert, tied=True).to_disk(tmp_path / name)
    code = f"from pathlib import Path\nPath({str(tmp_path / 'flag')!r}).touch()\nclass Own:\n    pass\n"
    auto = {"AutoConfig": "own.Own", "AutoModel": "own.Own", "AutoTokenizer": ["own.Own", "own.Own"]}
    relative = {"position_embedding_type": "relative_key"}  # a BERT of transformers, not that which we read ourselves
    for name, another_model in (("config.json", {"model_type": "own"}), ("tokenizer_config.json", relative)):
        (tmp_path / name / "mention" / "own.py").write_text(code)
        change(tmp_path / name, "config.json", **another_model)
        change(tmp_path / name, name, auto_map=auto, tokenizer_class="Own")
    shutil.rmtree(tmp_path / "no tower" / "mention")
    write_manifest(tmp_path / "no tower", kind="encoder", version=1)
    weights = tmp_path / "pickled" / "mention" / "model.safetensors"
    weights.unlink()
    torch.save({}, weights.with_name("pytorch_model.bin"))
    change(tmp_path / "pickled", "config.json", **relative)

    env = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}
    command = [sys.executable, "-c", LOAD, *names]
    done = subprocess.run(
        command, input="y\n" * 9, stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path, check=True
    )
    good, *refused = done.stdout.splitlines()
    assert good == "loaded" and len(refused) == len(names) - 1
    assert all("PEL-E004" in said and "several lines" not in said for said in refused)
    assert "no such folder" in refused[2] and "model.safetensors" in refused[3]
    assert not (tmp_path / "flag").exists()


def test_a_hub_that_is_not_reached_is_named_in_one_line(monkeypatch, capfd):
    import huggingface_hub.utils.logging as hub

    def refuse(source, **settings):
        hub.get_logger("huggingface_hub.utils._http").warning("Retrying in 1s")
        raise OSError("We couldn't connect to 'https://huggingface.co'.\nCheck your connection.")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", refuse)
    level = hub.get_verbosity()
    with pytest.raises(PelError, match=r"connect to 'https://huggingface.co'\. Check the name, or give a folder\.$"):
        BiEncoder(name="org/model").initialize()
    assert hub.get_verbosity() == level <= hub.WARNING  # which would have shown it
    assert "Retrying" not in "".join(capfd.readouterr())


def test_a_hub_id_with_a_revision(tmp_path, monkeypatch):
    assert locate("org/model@v2") == ("org/model", "v2")
    assert locate("org/model") == ("org/model", None)
    with pytest.raises(PelError, match="PEL-E303.*no revision"):
        locate("org/model@")
    (tmp_path / "a@b").mkdir()
    assert locate(str(tmp_path / "a@b")) == (str(tmp_path / "a@b"), None)
    asked = []

    def refuse(source, **settings):
        asked.append((source, settings["revision"], settings["trust_remote_code"]))
        raise OSError("not here")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", refuse)
    with pytest.raises(PelError, match="PEL-E303.*org/model@v2"):
        BiEncoder(name="org/model@v2").initialize()
    assert asked == [("org/model", "v2", False)]


def test_weights_that_a_model_lacks_are_named(tiny_bert, tmp_path, caplog):
    from safetensors.torch import load_file, save_file

    model = shutil.copytree(tiny_bert, tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    lacking = "encoder.layer.0.output.dense.weight"
    save_file(
        {name: weights[name] for name in weights if name != lacking}, model / "model.safetensors", {"format": "pt"}
    )
    BiEncoder(name=str(tiny_bert)).initialize()
    assert not [one for one in caplog.records if one.name == "spacy_pel"], "a pooler that is not read is no news"
    BiEncoder(name=str(model)).initialize()
    assert f"PEL-W302] The files of '{model}' lack weights" in caplog.text and lacking in caplog.text
