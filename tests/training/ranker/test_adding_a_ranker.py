"""A custom ranker with its recipe: one file and two entry points, in another package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.training.ranker.recipe import recipe_of
from spacy_pel.training.ranker.settings import RankerSettings

pytestmark = pytest.mark.slow

FILE = '''
import json
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from spacy_pel import registry
from spacy_pel.training.ranker.loop import ranking_task
from spacy_pel.training.ranker.pair_batches import are_gold
from spacy_pel.training.ranker.settings import RankerSettings


def shared_words(task):
    entities = [{entity.canonical_name, *entity.types} for entity in task.entities]
    words = [set(mention.text.split()) for mention in task.mentions]
    counts = [len(words[i] & entities[j]) for i, j in zip(task.owners, task.rows)]
    return np.array(counts, dtype=np.float32)


@registry.pel_rankers("my-package.SharedWords.v1")
class SharedWords:
    """Counts shared words; the weight of the count is trained.

    weight (float): initial weight.
    top_k (int): number of candidates.
    """

    registered_name = "my-package.SharedWords.v1"
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

    def build(self, plan):
        return self.batch


@registry.pel_rank_recipes("my-package.SharedWords.v1")
class SharedWordsRecipe:
    """All pairs in one batch.

    ranker (SharedWords): to be trained.
    settings (RankerSettings): not used.
    """

    parts = []
    whole_documents = False

    def __init__(self, ranker: SharedWords, settings: RankerSettings):
        self.ranker = ranker

    def objective(self):
        return Objective(self.ranker.tower)

    def own_rates(self):
        return []

    def planner(self, kb, mentions, candidates, seed):
        counts = shared_words(ranking_task(kb, mentions, candidates))
        return Planner(Batch(counts, are_gold(candidates.kb_rows, candidates.offsets, mentions.gold)))
'''
ENTRY_POINTS = """[spacy_pel_rankers]
my-package.SharedWords.v1 = my_ranker:SharedWords
[spacy_pel_rank_recipes]
my-package.SharedWords.v1 = my_ranker:SharedWordsRecipe
"""
CONFIG = """[paths]

[ranker]

[ranker.model]
@pel_rankers = "my-package.SharedWords.v1"

[ranker.candidates]
n = 2
folds = 0

[ranker.training]
max_epochs = 60
eval_frequency = 30

[ranker.training.optimizer]
learn_rate = 0.5
"""
RUN = """
import sys
from pathlib import Path
from spacy_pel.corpora import write_corpus
from spacy_pel.evaluation.predict import gold_queries
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.settings import read_rank_settings
from training.ranker.conftest import make_sense_documents, make_sense_linker

folder = Path(sys.argv[1])
paths = {f"paths.{name}": str(folder / f"{name}.jsonl") for name in ("train", "dev")}
write_corpus(Path(paths["paths.train"]), make_sense_documents(32))
write_corpus(Path(paths["paths.dev"]), make_sense_documents(16, first=100))
settings = read_rank_settings(folder / "my.cfg", paths)
weight = settings.ranker.model.tower.weight.item()
trainer = RankTrainer(
    settings, folder / "out", linker=make_sense_linker(), queries=gold_queries, show_progress=False
)
best = trainer.run()
print(weight, best["accuracy"], (folder / "out" / "model-best" / "weight.json").read_text())
"""


def test_one_file_and_two_entry_points(tmp_path):
    (tmp_path / "my_ranker.py").write_text(FILE)
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "my.cfg").write_text(CONFIG)
    # as if the package were installed; the fixtures come from the folder of the tests
    places = [str(tmp_path), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    result = subprocess.run(command, env=where, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    before, accuracy, after = map(float, result.stdout.split())
    assert before == -1.0 and after > 0 and accuracy == 1.0


def test_a_ranker_without_a_recipe():
    class Stranger:
        registered_name = "my-package.Stranger.v1"

    with pytest.raises(PelError, match=r"PEL-E347.*Stranger.*CrossEncoder\.v1, .*DualEncoder\.v1"):
        recipe_of(Stranger(), RankerSettings(model=Stranger()))


def test_every_ranker_has_a_recipe():
    recipes, rankers = (registry.parts(name).values() for name in ("pel_rank_recipes", "pel_rankers"))
    assert set(recipes) >= set(rankers)
