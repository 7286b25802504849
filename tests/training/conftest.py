"""A tiny data set, and trainings of configs/tiny.cfg on it that take a second."""

import json
import tempfile
from pathlib import Path

import pytest
import torch

from spacy_pel.corpora import write_corpus
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.templates import EntityCard, MarkedContext
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.example_store import ExampleStore
from spacy_pel.training.retriever.examples import linked_mentions, write_examples
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.types import Document, Entity, Mention

CONFIG = Path(__file__).parents[2] / "configs" / "tiny.cfg"
NAMES = [
    *("heart attack", "kidney stone", "fever", "influenza", "asthma", "stroke", "migraine", "gout", "anemia"),
    *("measles", "scabies", "psoriasis", "hepatitis", "obesity", "rickets", "tetanus"),
]
ENTITIES = [Entity(f"C{i}", name, (f"{name} disorder", f"acute {name}"), ("T047",)) for i, name in enumerate(NAMES)]
WORDS = ["we", "saw", "it", "then", "as", "of", "two", "old", "men", "ill", "not", "yet", "so", "far"]
SMALL = {
    "pel.training.batch_size": 8,
    "pel.training.max_epochs": 1000,
    "pel.training.max_steps": 12,
    "pel.training.eval_frequency": 2,
    "pel.training.dev.recall_at": [1, 5],
    "pel.training.dev.n_entities": 0,
    "pel.negatives.n_negatives": 4,
}


def random_encoder(width=8, **settings):
    """An encoder of one random layer, whose templates cut nothing off."""
    made = BiEncoder(
        name=f"random:layers=1,width={width}",
        mention_template=MarkedContext(max_length=64),
        entity_template=EntityCard(max_length=64),
        **settings,
    )
    made.initialize()
    return made


def set_dropout(module, p):
    """Of all parts, the attention among them."""
    for part in module.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = p
        if hasattr(part, "dropout_prob"):
            part.dropout_prob = p


def document(number, names, ids=None):
    """A text of its own for each number, in which the names are mentions."""
    text, mentions = f"{number} " + " ".join(WORDS[number % 7 : number % 7 + 1 + number % 5]), []
    for name in names:
        start = len(text) + 1
        text += f" {name} and"
        mentions.append(Mention(start, start + len(name), "", ids or (f"C{NAMES.index(name)}",)))
    return Document(f"d{number}", text, mentions)


def make_documents(n=20, first=0):
    # the last two names are mentioned once and never
    chosen = NAMES[:-2]
    return [document(first + i, [chosen[i % len(chosen)], chosen[(i * 5 + 2) % len(chosen)]]) for i in range(n)] + [
        document(first + n, [NAMES[-2]])
    ]


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Overrides that name a KB, a training and a dev corpus."""
    path = tmp_path_factory.mktemp("data")
    KnowledgeBase.build(ENTITIES, path / "kb")
    write_corpus(path / "train.jsonl", make_documents())
    write_corpus(path / "dev.jsonl", make_documents(8, first=50))
    return {
        "paths.kb": str(path / "kb"),
        "paths.train": str(path / "train.jsonl"),
        "paths.dev": str(path / "dev.jsonl"),
    }


@pytest.fixture(scope="session")
def train(data):
    """A function that trains configs/tiny.cfg (or another), smaller, with some settings changed."""

    def run(output, resume=False, trainer=Trainer, config=CONFIG, **changes):
        overrides = {**data, **SMALL, **{name.replace("__", "."): v for name, v in changes.items()}}
        settings = read_settings(config, overrides)
        return trainer(settings, output).run(resume=resume)

    return run


class Stopped(Exception):
    pass


def stops_before(step, trainer=Trainer):
    """A trainer that fails before this step."""

    class StoppingTrainer(trainer):
        def _update(self, objective, optimizer, batches, number, total):
            if number == step:
                raise Stopped
            return super()._update(objective, optimizer, batches, number, total)

    return StoppingTrainer


@pytest.fixture
def check_resuming(train, tmp_path):
    """A function that stops a training before a step and resumes it: the files must be those of a whole run."""

    def check(step, base=Trainer, **changes):
        stopped, whole = tmp_path / "stopped", tmp_path / "whole"
        with pytest.raises(Stopped):
            train(stopped, trainer=stops_before(step, base), **changes)
        best = train(stopped, resume=True, **changes)
        assert best["step"] == train(whole, **changes)["step"]
        assert differing(stopped, whole) == []
        return whole

    return check


def build_examples(kb, documents, encoder, *, limit=None, with_names=True):
    """The examples of a corpus; their files are deleted, but stay mapped."""
    mentions = linked_mentions(kb, documents)[:limit]
    with tempfile.TemporaryDirectory() as folder:
        write_examples(Path(folder) / "examples", kb, mentions, encoder, with_names=with_names)
        return ExampleStore.open(Path(folder) / "examples")


def contents(output):
    """What a training leaves, byte by byte; of the metrics all but the time."""
    found = {
        str(path.relative_to(output)): path.read_bytes()
        for path in sorted(output.rglob("*"))
        if path.is_file() and path.name != "metrics.jsonl"
    }
    found["metrics"] = [
        {key: value for key, value in record.items() if key not in ("examples_per_second", "seconds")}
        for record in evaluations(output)
    ]
    return found


def evaluations(output):
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]


def metrics(output):
    """The evaluations after that of the untrained model."""
    untrained, *records = evaluations(output)
    assert untrained["step"] == 0 and "loss" not in untrained
    return records


def differing(one, other):
    """Names of the files that differ: short enough for a failure's text."""
    one, other = contents(one), contents(other)
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
