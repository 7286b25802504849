"""Training on names alone: pairs of names of one entity, and names held out to measure it (Liu et al. 2021)."""

import numpy as np
from numpy.typing import NDArray

from ...kb import KnowledgeBase
from ...types import Entity, MentionInText
from ...util import normalize_alias
from ..entity_texts import without_names
from .dev import DevRetrieval
from .example_store import ExampleStore
from .settings import DevSettings


class HeldOutNames(DevRetrieval):
    """Measures retrieval of entities by one of their names, read as a mention without context, against their
    other names and those of other entities. ``held_out`` are these entities and all that share a name with
    them: no pair to train on is of one of them.

    Args:
        kb: the whole knowledge base.
        settings: sizes and the k of recall@k; ``n_mentions`` names are drawn.
        seed: random seed of the draws.
    """

    def __init__(self, kb: KnowledgeBase, settings: DevSettings, seed: int):
        rng = np.random.default_rng([seed, 3])
        self._hidden: dict[str, str] = {}  # id -> the name that is searched for, in normal form
        mentions: list[MentionInText] = []
        names: list[str] = []
        for row in rng.permutation(kb.live_rows).tolist():
            if settings.n_mentions and len(mentions) == settings.n_mentions:
                break
            entity = kb.entity_at(row)
            by_form = {normalize_alias(name): name for name in (entity.canonical_name, *entity.aliases)}
            if len(by_form) > 1:
                form = list(by_form)[rng.integers(len(by_form))]
                self._hidden[entity.concept_id] = form
                mentions.append(MentionInText(by_form[form], 0, len(by_form[form])))
                names += by_form.values()
        self.held_out = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *kb.rows_of_aliases(names)]))
        self._set(kb, mentions, [[id_] for id_ in self._hidden], settings, rng)

    def _entity(self, entity: Entity) -> Entity:
        hidden = self._hidden.get(entity.concept_id)
        return entity if hidden is None else without_names(entity, [hidden])


def trainable_names(kb: KnowledgeBase, store: ExampleStore, held_out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of the names of entities with two names or more.

    Args:
        held_out: KB rows of entities whose names are left out.
    """
    usable = (store.names_of.lengths > 1) & ~np.isin(kb.live_rows, held_out)
    return np.flatnonzero(usable[store.name_entity])
