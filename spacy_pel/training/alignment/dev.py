"""Evaluation during an alignment: names held out of each knowledge base find their entities."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...types import MentionInText
from .settings import AlignDevSettings
from .synonyms import Numbers, Synonyms


class _World(NamedTuple):
    """A knowledge base in the evaluation: the names searched for, those of its entities (m) and where each
    entity's begin (k,), and the place of each searched name's entity (n,)."""

    name: str
    searched: list[str]
    names: list[str]
    starts: Numbers
    gold: Numbers


class HeldOutNames:
    """Measures retrieval within each knowledge base: one name of an entity, read as a mention without
    context, against the entity's other names and those of other entities. Neither these entities nor any
    that share a name with them are trained on.

    synonyms (Synonyms): the names.
    kbs (Sequence[str]): names of the knowledge bases.
    settings (AlignDevSettings): sizes and the k of recall@k.
    seed (int): random seed of the draws.

    ``entities`` are all that may not be trained on.
    """

    def __init__(self, synonyms: Synonyms, kbs: Sequence[str], settings: AlignDevSettings, seed: int):
        self.settings = settings
        rng = np.random.default_rng([seed, 3])
        self.worlds: list[_World] = []
        held_out: list[Numbers] = [np.zeros(0, dtype=np.int64)]
        for number, name in enumerate(kbs):
            own = np.flatnonzero(synonyms.kb == number)
            usable = own[synonyms.names_of.lengths[own] > 1]
            chosen = _some(usable, settings.n_mentions, rng)
            if not len(chosen):
                continue  # a knowledge base without synonyms
            held_out.append(synonyms.namesakes(chosen).values)
            others = _some(np.setdiff1d(own, chosen), settings.n_entities, rng)
            self.worlds.append(_world(name, synonyms, chosen, others, rng))
        self.entities: Numbers = np.unique(np.concatenate(held_out))

    def __call__(self, encoder: BiEncoder) -> dict[str, float]:
        """ "recall@k" in percent for each k, the mean over the knowledge bases, and "recall@k
        NAME" of each."""
        scores: dict[str, float] = {}
        ranks = {world.name: self._ranks(world, encoder) for world in self.worlds}
        for k in self.settings.recall_at:
            each = {name: 100.0 * float((found <= k).mean()) for name, found in ranks.items()}
            scores[f"recall@{k}"] = float(np.mean(list(each.values())))
            scores.update({f"recall@{k} {name}": value for name, value in each.items()})
        return scores

    @staticmethod
    def _ranks(world: _World, encoder: BiEncoder) -> Numbers:
        queries = encoder.encode_mentions([MentionInText(name, 0, len(name)) for name in world.searched])
        scores = queries @ encoder.encode_names(world.names).T
        nearest = np.maximum.reduceat(scores, world.starts, axis=1)
        own = np.take_along_axis(nearest, world.gold[:, None], axis=1)
        return (~(nearest < own)).sum(axis=1)  # without a number there is no rank


def _some(entities: Numbers, n: int, rng: np.random.Generator) -> Numbers:
    return np.sort(rng.choice(entities, min(n, len(entities)), replace=False))


def _world(name: str, synonyms: Synonyms, chosen: Numbers, others: Numbers, rng: np.random.Generator) -> _World:
    searched = synonyms.draw_pairs(chosen, rng)[:, 0]
    entities = np.concatenate([chosen, others])
    taken = synonyms.names_of.take(entities)
    kept = ~np.isin(taken.values, searched)
    owner = taken.owners[kept]
    texts = synonyms.texts
    return _World(
        name,
        searched=[texts[number] for number in searched],
        names=[texts[number] for number in taken.values[kept]],
        starts=np.flatnonzero(np.diff(owner, prepend=-1)),  # each entity has a name left
        gold=np.arange(len(chosen)),
    )
