"""A custom ranker and its recipe, of which the trainer knows nothing but their methods."""

import json
from dataclasses import dataclass

import catalogue
import numpy as np
import pytest
import torch
from torch import nn

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.linking.combiner import is_gold
from spacy_pel.registry import registry
from spacy_pel.training.ranker.settings import RankerSettings, recipe_of
from spacy_pel.types import RankingTask

from .conftest import make_sense_documents, train_ranker

pytestmark = pytest.mark.slow

NAME = "my-package.SharedWords.v1"
CONFIG = f"""[paths]

[ranker]

[ranker.model]
@pel_rankers = "{NAME}"

[ranker.candidates]
n = 2
folds = 0

[ranker.training]
max_epochs = 60
eval_frequency = 30

[ranker.training.optimizer]
learn_rate = 0.5
"""


def shared_words(task):
    entities = [{entity.canonical_name, *entity.types} for entity in task.entities]
    words = [set(mention.text.split()) for mention in task.mentions]
    return task.spread([len(words[i] & entities[j]) for i, j in zip(*task.pairs, strict=True)])


class SharedWords:
    """Counts shared words; the weight of the count is trained."""

    registered_name = NAME
    mix = None

    def __init__(self, weight: float = -1.0, top_k: int = 2):
        self.top_k = top_k
        self.tower = nn.Linear(1, 1)
        nn.init.constant_(self.tower.weight, weight)

    @property
    def fingerprint(self):
        return str(self.tower.weight.item())

    def initialize(self):
        pass

    def changed(self):
        pass

    def score(self, task, *, show_progress=False):
        return self.tower.weight.item() * shared_words(task)

    def to_disk(self, path):
        path.mkdir(parents=True, exist_ok=True)
        (path / "weight.json").write_text(json.dumps(self.tower.weight.item()))


@dataclass
class Batch:
    counts: np.ndarray
    right: np.ndarray

    def __len__(self):
        return len(self.right)


class Objective(nn.Module):
    def __init__(self, tower):
        super().__init__()
        self.towers, self.loss = tower, nn.BCEWithLogitsLoss()

    def forward(self, batch):
        logits = self.towers(torch.from_numpy(batch.counts)[:, None])[:, 0]
        return self.loss(logits, torch.from_numpy(batch.right).float()), {}


class Planner:
    batches_per_epoch = 1

    def __init__(self, batch):
        self.batch = batch

    def plan(self, epoch):
        return [None]

    def build(self, plan, number):
        return self.batch


class SharedWordsRecipe:
    """All pairs in one batch."""

    parts = []
    whole_documents = False

    def __init__(self, ranker, settings):
        self.ranker = ranker

    def objective(self):
        return Objective(self.ranker.tower)

    def own_rates(self):
        return []

    def planner(self, kb, mentions, candidates, seed):
        task = RankingTask.of([query.in_text for query in mentions.queries], candidates.kb_rows, kb.entity_at)
        present = candidates.kb_rows >= 0
        right = is_gold(candidates.kb_rows, mentions.gold)
        return Planner(Batch(shared_words(task)[present], right[present]))


def test_a_ranker_with_its_recipe(retriever, tmp_path, monkeypatch):
    for table, part in ((registry.pel_rankers, SharedWords), (registry.pel_rank_recipes, SharedWordsRecipe)):
        monkeypatch.setitem(catalogue.REGISTRY, (*table.namespace, NAME), part)
    (tmp_path / "my.cfg").write_text(CONFIG)
    write_corpus(tmp_path / "train.jsonl", make_sense_documents(32))
    write_corpus(tmp_path / "dev.jsonl", make_sense_documents(16, first=100))
    paths = {f"paths.{name}": str(tmp_path / f"{name}.jsonl") for name in ("train", "dev")}
    best = train_ranker(tmp_path / "my.cfg", paths, retriever, tmp_path / "out")
    assert best["accuracy"] == 1.0
    assert json.loads((tmp_path / "out" / "model-best" / "weight.json").read_text()) > 0 > SharedWords().tower.weight


def test_a_ranker_without_a_recipe():
    class Stranger:
        registered_name = "my-package.Stranger.v1"

    with pytest.raises(PelError, match=r"PEL-E347.*Stranger.*CrossEncoder\.v1, .*DualEncoder\.v1"):
        recipe_of(Stranger(), RankerSettings(model=Stranger()))


def test_every_ranker_has_a_recipe():
    recipes, rankers = (registry.parts(name).values() for name in ("pel_rank_recipes", "pel_rankers"))
    assert set(recipes) >= set(rankers)
