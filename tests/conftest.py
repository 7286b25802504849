"""Lets tests import ``benchmarks``, which is not part of the package (another package installs a folder
of that name), while spacy_pel stays the installed one, on which ``make test`` insists.

And a small transformer as a Hugging Face folder, made from code: no test downloads anything."""

import importlib
import os
import string
import sys
from pathlib import Path

import pytest

import spacy_pel

ROOT = Path(__file__).parents[1]
WORDS = ["the", "a", "of", "in", "heart", "attack", "kidney", "stone", "fever", "pain", "left", "right"]

if os.environ.get("PEL_TEST_INSTALLED") and Path(spacy_pel.__file__).parents[1] == ROOT:
    raise RuntimeError(f"Expected an installed spacy_pel, but came the sources in {ROOT}. Use make test.")
sys.path.insert(0, str(ROOT))
importlib.import_module("benchmarks")  # stays in sys.modules and finds its own modules
sys.path.remove(str(ROOT))
CHILDREN = str(Path(__file__).with_name("children"))  # what starts each process that a test starts


@pytest.fixture(scope="session", autouse=True)
def children():
    """Not before the tests run: pytest-xdist starts its own processes, which have all plugins."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [CHILDREN, os.environ.get("PYTHONPATH")]))


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory):
    """The folder of a random BERT of one layer, 32 wide, that reads a dozen words and all letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("tiny_bert")
    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    vocab += [piece for piece in letters if piece not in vocab] + [f"##{letter}" for letter in letters]
    (path / "vocab.txt").write_text("\n".join(vocab), encoding="utf8")
    BertTokenizerFast(str(path / "vocab.txt"), do_lower_case=True).save_pretrained(path)
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=len(vocab), **sizes))
        torch.nn.init.normal_(model.embeddings.word_embeddings.weight)  # so that words differ clearly
    model.save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def tokenizer(tiny_bert):
    """Its tokenizer, with the markers of the templates."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_bert)
    tokenizer.add_special_tokens({"additional_special_tokens": ["[M_s]", "[M_e]", "[ENT]"]})
    return tokenizer
