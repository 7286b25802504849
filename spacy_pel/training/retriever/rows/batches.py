"""Batches for training on rows: which rows an anchor may be compared with, and which it must not see."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....util.ragged import Ragged, offsets_of
from ...members import MembersByLabel
from ..batches import BatchPlanner, Side
from ..example_store import ExampleStore
from ..settings import RowSettings

Numbers = NDArray[np.int64]


class TrainingRows:
    """The rows of an index of the training data, numbered: all names, then all mentions.

    store (ExampleStore): the examples.

    ``entity``: (n,) number of each row's entity; of a mention with several ids, the first.
    ``of_entity``, ``of_form``, ``of_document``: the rows of each entity, surface form and document (mentions
    only); ``form`` (n,) and ``document`` (n_mentions,) are their numbers.
    """

    def __init__(self, store: ExampleStore):
        self.n_names = len(store.names)
        self.entity: Numbers = np.concatenate([store.name_entity, store.mention_entity])
        self.of_entity = MembersByLabel.from_labels(self.entity, store.n_entities)
        self.form, self.of_form = _grouped(np.concatenate([store.name_form, store.mention_form]))
        self.document, mentions_of = _grouped(store.mention_document)
        self.of_document = MembersByLabel(self.n_names + mentions_of.values, mentions_of.offsets)

    def __len__(self) -> int:
        return len(self.entity)


@dataclass
class RowBatch:
    """n anchors and the rows they are compared with.

    anchors: mentions and bare names.
    rows: (n,) the anchors' own rows.
    gold: for each anchor the numbers of its entities.
    hidden: for each anchor the rows that it must not see, its own among them.
    right: (n, r) rows of its entities that it may see, drawn at random; -1 = none.
    names: (p,) names that are read with the current weights.
    name_rows: (p,) their rows, ascending.
    """

    anchors: list[Side]
    rows: Numbers
    gold: Ragged
    hidden: Ragged
    right: Numbers
    names: list[Side]
    name_rows: Numbers

    def __len__(self) -> int:
        return len(self.rows)


class RowPlanner(BatchPlanner):
    """Plans epochs as ``BatchPlanner`` does; its batches are of rows.

    Args:
        rows: what is hidden.
    """

    def __init__(self, store: ExampleStore, *, rows: RowSettings, **settings: object):
        super().__init__(store, **settings)  # type: ignore[arg-type]
        self.settings = rows
        self.rows = TrainingRows(store)

    def build(self, examples: Numbers, step: int) -> RowBatch:  # type: ignore[override]
        """Make one batch; arguments as in ``BatchPlanner.build``."""
        store, rng = self.store, np.random.default_rng([self.seed, 2, step])
        n_mentions, n_names = len(store.mentions), self.rows.n_names
        is_mention = examples < n_mentions
        rows = np.where(is_mention, n_names + examples, examples - n_mentions)
        gold = store.gold(examples)
        hidden = self._hidden(rows, gold, rng.random(len(rows)))
        # a name of each anchor's entity, and the anchors that are names: read again with the current weights
        drawn = store.names_of.draw(store.entity_of(examples), rng)
        name_rows = np.unique(np.concatenate([drawn[drawn >= 0], rows[~is_mention]]))
        places, chosen = np.arange(len(name_rows)), np.ones(len(name_rows), dtype=bool)
        return RowBatch(
            anchors=self.anchors(examples),
            rows=rows,
            gold=_pieces(gold),
            hidden=_pieces(hidden),
            right=self._right(gold, hidden, rng),
            names=[self._side("entity", store.names, name_rows, places, chosen)] if len(places) else [],
            name_rows=name_rows,
        )

    def _hidden(self, rows: Numbers, gold: list[Numbers], draws: NDArray[np.float64]) -> list[Numbers]:
        """A mention does not see its document: a concept is named there again and again. What else is hidden
        makes it as hard as mentions are that the index does not help with: new forms, and entities that
        are never annotated."""
        table, settings = self.rows, self.settings
        hidden = []
        for row, entities, draw in zip(rows.tolist(), gold, draws.tolist(), strict=True):
            is_name = row < table.n_names
            parts = [] if is_name else [table.of_document[table.document[row - table.n_names]]]
            if is_name or draw < settings.hide_form:
                parts.append(table.of_form[table.form[row]])
            elif draw >= 1 - settings.hide_entity:
                own = table.of_entity.take(entities).values
                parts.append(own[own >= table.n_names])
            hidden.append(np.unique(np.concatenate(parts)))
        return hidden

    def _right(self, gold: list[Numbers], hidden: list[Numbers], rng: np.random.Generator) -> Numbers:
        right = np.full((len(gold), self.settings.right), -1, dtype=np.int64)
        for drawn, entities, unseen in zip(right, gold, hidden, strict=True):
            seen = np.setdiff1d(self.rows.of_entity.take(entities).values, unseen)
            chosen = rng.permutation(seen)[: len(drawn)]
            drawn[: len(chosen)] = chosen
        return right


def _grouped(labels: NDArray[np.uint64]) -> "tuple[Numbers, MembersByLabel]":
    """(n,) labels numbered from 0, and the members of each."""
    distinct, numbers = np.unique(labels, return_inverse=True)
    numbers = numbers.astype(np.int64, copy=False)
    return numbers, MembersByLabel.from_labels(numbers, len(distinct))


def _pieces(parts: list[Numbers]) -> Ragged:
    return Ragged(np.concatenate(parts), offsets_of(np.array([len(part) for part in parts])))
