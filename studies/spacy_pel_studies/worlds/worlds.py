"""Training on several worlds (ontologies, wikis) at once, for zero-shot linking to others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_pel.corpora import read_corpus, write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.batching import length_batches
from spacy_pel.training.negatives import Draw, DrawRequest, NegativeSampler, not_gold
from spacy_pel.training.retriever.batches import BatchPlanner, bare_names_for
from spacy_pel.training.retriever.example_store import ExampleStore
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import RunSettings
from spacy_pel.types import Document, Entity, Vectors

from .top_k_of_parts import PartsTopK

JOINER = "/"  # of a world and an id: two wikis may use the same id


def join_worlds(folder: Path, worlds: Sequence[str], out: Path, *, splits: Sequence[str]) -> dict[str, Path]:
    """Join several worlds: one knowledge base, and one corpus per split.

    Args:
        folder: holds for each world WORLD/kb and WORLD/SPLIT.jsonl.
        worlds: which worlds.
        out: gets kb and SPLIT.jsonl; ids are WORLD/ID there.
        splits: e.g. ("train", "dev").

    Returns:
        "kb" and the splits, for ``[paths]`` of a config.

    Raises:
        PelError: if a file is missing or damaged.
    """
    bases = {world: KnowledgeBase.from_disk(folder / world / "kb") for world in worlds}
    source = {"origin": "joined worlds", "worlds": {world: kb.fingerprint for world, kb in bases.items()}}
    KnowledgeBase.build(_entities(bases), out / "kb", source=source)
    paths = {"kb": out / "kb"}
    for split in splits:
        paths[split] = out / f"{split}.jsonl"
        write_corpus(paths[split], _documents(folder, bases, split))
    return paths


def _entities(bases: dict[str, KnowledgeBase]) -> Iterator[Entity]:
    for world, kb in bases.items():
        for entity in kb.entities():
            yield replace(entity, concept_id=f"{world}{JOINER}{entity.concept_id}")


def _documents(folder: Path, bases: dict[str, KnowledgeBase], split: str) -> Iterator[Document]:
    for world, kb in bases.items():
        for document in read_corpus(folder / world / f"{split}.jsonl"):
            mentions = []
            for mention in document.mentions:
                ids = [f"{world}{JOINER}{kb.resolve(entity_id) or entity_id}" for entity_id in mention.ids]
                mentions.append(replace(mention, ids=tuple(dict.fromkeys(ids))))
            yield Document(f"{world}{JOINER}{document.id}", document.text, mentions, {"world": world})


def world_numbers(kb: KnowledgeBase) -> NDArray[np.int64]:
    """(entities,), which world each live entity of a joined KB is of: 0, 1, ..."""
    worlds: dict[str, int] = {}
    names = (entity_id.partition(JOINER)[0] for entity_id in kb.ids_at(kb.live_rows))
    return np.array([worlds.setdefault(name, len(worlds)) for name in names], dtype=np.int64)


class OwnWorldNegatives:
    """Keeps the negatives of a batch, whose examples are all of one world, within that world: an
    entity of another world that the sampler drew is replaced by a random one of this world.

    Args:
        negatives: draws from all worlds.
    """

    def __init__(self, negatives: NegativeSampler):
        self.parts = {"negatives": negatives}
        self._world: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._example_world = self._world
        self._members: list[NDArray[np.int64]] = []

    def tell(self, world: NDArray[np.int64], example_world: NDArray[np.int64]) -> None:
        """world: (entities,), from ``world_numbers``. example_world: (examples,), mentions, then names."""
        self._world, self._example_world = world, example_world
        self._members = [np.flatnonzero(world == number) for number in range(int(world.max()) + 1)]

    @property
    def mined_depth(self) -> int:
        """That of the sampler."""
        return self.parts["negatives"].mined_depth

    def sample(self, request: DrawRequest) -> Draw:
        """As many entities as the sampler drew, of the batch's world."""
        draw = self.parts["negatives"].sample(request)
        own = int(self._example_world[request.examples[0]])
        outside = self._world[draw.rows] != own
        rows = draw.rows.copy()
        rows[outside] = request.rng.choice(self._members[own], int(outside.sum()))
        return Draw(rows, draw.mask & not_gold(rows, request.gold), draw.in_batch)


class SameWorldPlanner(BatchPlanner):
    """Batches whose examples are all of one world, so that in-batch negatives are too, as when each
    world is a knowledge base of its own; hard negatives are mined within the example's world. Bare names
    are drawn from each world in the share of its mentions, however many names it has.

    Args:
        world: (entities,), from ``world_numbers``.
        negatives: draws further entities; the other arguments are the base class's.
    """

    def __init__(self, store: ExampleStore, world: NDArray[np.int64], *, negatives: OwnWorldNegatives, **settings: Any):
        super().__init__(store, negatives=negatives, **settings)
        n_mentions = len(store.mentions)
        examples = world[np.concatenate([store.mention_entity, store.name_entity]).astype(np.int64)]
        negatives.tell(world, examples)
        self._world_of_example, self._world_of_entity = examples, world
        # example numbers of each world that has mentions
        present = np.unique(examples[:n_mentions])
        self._mentions = [np.flatnonzero(examples[:n_mentions] == number) for number in present]
        self._names = [n_mentions + np.flatnonzero(examples[n_mentions:] == number) for number in present]

    @property
    def batches_per_epoch(self) -> int:
        pairs = zip(self._mentions, self._names, strict=True)
        return sum(-(-(len(mine) + self._bare(mine, names)) // self.batch_size) for mine, names in pairs)

    def plan(self, epoch: int) -> list[NDArray[np.int64]]:
        """As in ``BatchPlanner``, but each batch of one world; the order of the
        worlds is random."""
        rng = np.random.default_rng([self.seed, 1, epoch])
        lengths = np.concatenate([self.store.mentions.lengths, self.store.bare_names.lengths])
        batches: list[NDArray[np.int64]] = []
        for mine, names in zip(self._mentions, self._names, strict=True):
            bare = rng.choice(names, self._bare(mine, names), replace=False)
            batches += length_batches(rng.permutation(np.concatenate([mine, bare])), lengths, self.batch_size)
        return [batches[i] for i in rng.permutation(len(batches))]

    def _bare(self, mentions: NDArray[np.int64], names: NDArray[np.int64]) -> int:
        return bare_names_for(len(mentions), self.views.alias_share, len(names))

    def search(self, queries: Vectors, k: int, examples: NDArray[np.int64], device: Any) -> PartsTopK:
        return PartsTopK(queries, k, self._world_of_example[examples], self._world_of_entity, device)


class WorldTrainer(Trainer):
    """A trainer on joined worlds whose batches are of one world each; see ``Trainer``."""

    def __init__(self, settings: RunSettings, output: Path, *, gpu_id: int = -1):
        self.negatives = OwnWorldNegatives(settings.pel.negatives)
        # part of the settings, so that a checkpoint of mixed batches is refused
        pel = settings.pel.model_copy(update={"negatives": self.negatives})
        settings = settings.model_copy(update={"pel": pel})
        super().__init__(settings, output, gpu_id=gpu_id)

    def make_planner(self, store: ExampleStore) -> SameWorldPlanner:
        return SameWorldPlanner(store, world_numbers(self.kb), **self.planner_settings)
