"""The configs of mention detectors: plain `spacy train` and `spacy assemble` in tiny form."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy
from spacy.cli.assemble import assemble_cli
from spacy.cli.train import train
from spacy.training import Example
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_pel.cli import pel_cli
from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[1] / "configs"
TEXTS = ["Metformin lowers glucose.", "Aspirin lowers fever.", "Metformin and aspirin help."]
SMALL = {
    **{"width": 16, "depth": 1, "embed_size": 100, "window_size": 1, "maxout_pieces": 2},
    **{"subword_features": False, "pretrained_vectors": None},
}
FOUND = [(0, 9), (0, 7), (0, 9)]


@pytest.fixture
def corpus(tmp_path) -> str:
    documents = [
        Document(str(number), text, [Mention(*FOUND[number], label="ENTITY", ids=("C1",))])
        for number, text in enumerate(TEXTS)
    ]
    write_corpus(tmp_path / "corpus.jsonl", documents)
    return str(tmp_path / "corpus.jsonl")


def train_detector(config, corpus, output, steps, **overrides):
    """Train on the corpus, which is dev as well, without dropout.

    Returns:
        The folder of the last model.
    """
    paths = {"paths.train": corpus, "paths.dev": corpus}
    schedule = {"training.max_steps": steps, "training.eval_frequency": steps, "training.dropout": 0.0}
    train(CONFIGS / config, output, overrides={**paths, **schedule, **overrides})
    return output / "model-last"


def spans_of(docs):
    return [[(ent.start_char, ent.end_char) for ent in doc.ents] for doc in docs]


def test_ner_learns_and_loads_without_scispacy(corpus, tmp_path, monkeypatch):
    pytest.importorskip("scispacy")
    small = {
        "components.ner.model.tok2vec.embed.rows": [50, 50, 50, 50],
        "components.ner.model.tok2vec.encode.width": 16,
        "components.ner.model.tok2vec.encode.depth": 1,
        "training.optimizer.learn_rate": 0.02,
    }
    trained = train_detector("ner.cfg", corpus, tmp_path / "ner", 40, **small)
    monkeypatch.setitem(sys.modules, "scispacy", None)
    nlp = spacy.load(trained)
    docs = [nlp(text) for text in TEXTS]
    assert spans_of(docs) == [[span] for span in FOUND]
    assert {(ent.label_, ent.kb_id_) for doc in docs for ent in doc.ents} == {("ENTITY", "")}
    assert [token.text for token in nlp("beta-blocker (B) [3H]thymidine")] == (
        ["beta-blocker", "(", "B", ")", "[3H]thymidine"]
    )


def test_ner_minilm_its_student_and_one_trained_further(corpus, tiny_bert, tmp_path, monkeypatch):
    """They learn, are saved with their weights, and load where the sources of these and scispaCy are gone."""
    pytest.importorskip("scispacy")
    source = tmp_path / "bert"
    shutil.copytree(tiny_bert, source)
    KnowledgeBase.build([Entity("C1", "Metformin", types=("T121",))], tmp_path / "names")
    fast = {
        "paths.encoder": str(source),
        "paths.names": str(tmp_path / "names"),
        "training.optimizer.learn_rate.warmup_steps": 5,
        "training.optimizer.learn_rate.initial_rate": 0.02,
        "training.optimizer.use_averages": False,
    }
    trained = train_detector("ner_minilm.cfg", corpus, tmp_path / "ner", 60, **fast)
    student = {"paths.teacher": str(trained), "components.ner.model.tok2vec.layers": 1}
    small = train_detector("ner_fast.cfg", corpus, tmp_path / "ner_fast", 60, **fast, **student)
    of_fast = {key: value for key, value in fast.items() if key.startswith("training.")}
    more = train_detector("ner_more.cfg", corpus, tmp_path / "more", 5, **of_fast, **{"paths.start": str(trained)})
    result = CliRunner().invoke(
        pel_cli, ["average", str(trained), str(more), str(tmp_path / "both"), "--weight", "0.7"]
    )
    assert result.exit_code == 0, result.output
    spacy.blank("en").to_disk(tmp_path / "blank")
    wrong = CliRunner().invoke(pel_cli, ["average", str(trained), str(tmp_path / "blank"), str(tmp_path / "no")])
    assert wrong.exit_code == 2 and "PEL-E354" in wrong.output and not (tmp_path / "no").exists()
    monkeypatch.setitem(sys.modules, "scispacy", None)
    shutil.rmtree(source)
    shutil.rmtree(tmp_path / "names")
    for folder in (trained.rename(tmp_path / "moved"), small, more, tmp_path / "both"):
        nlp = spacy.load(folder)
        assert spans_of(nlp(text) for text in TEXTS) == [[span] for span in FOUND]


def test_ner_sourced(tmp_path):
    """All components of another pipeline, with its tokenizer, and nothing trained anew."""
    base = spacy.blank("en")
    for name in ("tok2vec", "tagger", "attribute_ruler", "parser", "ner"):
        base.add_pipe(name)
    lemmatizer = base.add_pipe("lemmatizer", config={"mode": "lookup"}, before="parser")
    base.get_pipe("tagger").add_label("NN")
    base.get_pipe("parser").add_label("dep")
    base.get_pipe("ner").add_label("ENTITY")
    base.get_pipe("attribute_ruler").add([[{"ORTH": "are"}]], {"TAG": "NN"})
    tables = spacy.lookups.Lookups()
    tables.add_table("lemma_lookup", {"drugs": "drug"})
    lemmatizer.initialize(lookups=tables)
    with base.select_pipes(disable=["attribute_ruler", "lemmatizer"]):
        base.initialize()
    base.tokenizer.add_special_case("betablocker", [{"ORTH": "beta"}, {"ORTH": "blocker"}])
    base.to_disk(tmp_path / "base")
    arguments = SimpleNamespace(args=["--paths.source", str(tmp_path / "base")])
    assemble_cli(arguments, CONFIGS / "ner_sourced.cfg", tmp_path / "sourced", None, False)
    sourced = spacy.load(tmp_path / "sourced")
    assert sorted(sourced.pipe_names) == sorted(base.pipe_names)
    text = "betablocker drugs are drugs, too"
    expected = base(text)
    doc = sourced(text)
    assert [token.text for token in doc][:2] == ["beta", "blocker"]
    for attribute in ("text", "tag_", "lemma_", "dep_", "ent_iob_", "ent_type_"):
        values = [getattr(token, attribute) for token in expected]
        assert [getattr(token, attribute) for token in doc] == values
    assert doc[2].lemma_ == "drug"


def test_detectors_keep_their_tok2vec(tmp_path):
    """Those of `spacy init config` listen to a component of its own, which the pipeline does not have."""
    base = spacy.blank("en")
    base.add_pipe("tok2vec", config={"model": {"@architectures": "spacy.HashEmbedCNN.v2", **SMALL}})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    model = {
        **{"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner", "tok2vec": listener},
        **{"extra_state_tokens": False, "hidden_width": 16, "maxout_pieces": 1, "use_upper": True},
    }
    base.add_pipe("ner", config={"model": model})
    gold = [Example.from_dict(base.make_doc("fever came"), {"entities": [(0, 5, "ENTITY")]})]
    optimizer = base.initialize(lambda: gold)
    optimizer.learn_rate = 0.02
    for _ in range(40):
        base.update(gold, sgd=optimizer)
    assert [ent.text for ent in base("fever came").ents] == ["fever"]
    base.to_disk(tmp_path / "ner")
    for config in ("pipeline.cfg", "pipeline_folds.cfg"):
        read = load_config(CONFIGS / config)
        read["nlp"]["pipeline"], read["paths"]["ner"] = ["ner"], str(tmp_path / "ner")
        read["components"], read["initialize"]["components"] = {"ner": read["components"]["ner"]}, {}
        nlp = spacy.util.load_model_from_config(read.interpolate(), auto_fill=True)
        assert [ent.text for ent in nlp("fever came").ents] == ["fever"]
