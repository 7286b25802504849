"""Fitting the weights that LinearCombiner has before calibration, on several ontologies left out in turn.

The weights must suit ontologies, encoders and texts that nobody has fitted them on. So they are fitted on all
worlds but one and measured on that one. A world may have several tasks, for instance with and without
annotated text in the index, or with another encoder: they are left out together.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.corpora import read_corpus
from spacy_pel.linking.calibration import collect
from spacy_pel.linking.combiner import DEFAULT_WEIGHTS, LinearCombiner, right_first
from spacy_pel.pipeline.gold import query_maker
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.types import CandidateTable, Rows
from spacy_pel.util import logger, normalize_alias

DRAWN = 1000  # mentions of each task in the fit, so that all tasks weigh the same
L2 = 1e-3
Weights = dict[str, float]


class WeightTask(NamedTuple):
    """Mentions to link in one world.

    Attributes:
        name: of the task.
        world: left out together with all tasks of the same world.
        table: the candidates of n mentions that have an entity.
        gold: the KB rows of each.
        forms: (n,), number of the mention's normalised surface form.
    """

    name: str
    world: str
    table: CandidateTable
    gold: list[Rows]
    forms: NDArray[np.int64]

    def hits(self, weights: Mapping[str, float] | None) -> NDArray[np.bool_]:
        """(n,) is the first candidate right? False without candidates.

        Args:
            weights: of a LinearCombiner; None = the default ones.
        """
        combiner = LinearCombiner()
        if weights is not None:
            combiner.load_state({"weights": dict(weights)})
        return right_first(self.table, combiner(self.table), self.gold)

    def recall(self, weights: Mapping[str, float] | None = None) -> tuple[float, float]:
        """Recall@1 over mentions, and over surface forms: the mean of the
        shares of each form's mentions."""
        hits = self.hits(weights)
        by_form = np.bincount(self.forms, weights=hits) / np.bincount(self.forms)
        return float(hits.mean()), float(by_form.mean())

    def drawn(self, seed: int) -> tuple[CandidateTable, list[Rows]]:
        """``DRAWN`` mentions, each surface form as often as any
        other; in running text a few forms make up most of the mentions."""
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(self.gold))
        firsts = np.sort(order[np.unique(self.forms[order], return_index=True)[1]])
        repeated = np.resize(rng.permutation(firsts), DRAWN)
        return self.table.take(repeated), [self.gold[one] for one in repeated]


def read_task(name: str, world: str, pipeline: Path, corpus: Path) -> WeightTask:
    """Find the candidates of a corpus.

    Args:
        name, world: of the task.
        pipeline: a saved pipeline with a linker. Its index must not hold annotated text of the corpus.
        corpus: JSON lines; its own mentions are linked.

    Returns:
        Of the mentions whose entity is in the knowledge base.

    Raises:
        PelError: if the pipeline or the corpus cannot be read, or the knowledge base has none of the
            gold entities.
    """
    logger.info("%s: %s", name, pipeline)
    nlp, component_name, component = load_pipeline(pipeline)
    ask, documents = query_maker(nlp, name=component_name), list(read_corpus(corpus))
    queries = [query for document in documents for query in ask(document)]
    found = collect(component.linker, queries, documents).linkable
    forms = [normalize_alias(surface) for surface in found.surfaces]
    numbers = np.unique(np.array(forms), return_inverse=True)[1]
    found.table.vectors = None
    return WeightTask(name, world, found.table, found.gold, numbers)


def fit_weights(tasks: Sequence[WeightTask], *, seed: int = 0) -> Weights:
    """Of a LinearCombiner, by feature; each task weighs the same."""
    drawn = [task.drawn(seed) for task in tasks]
    names = {name: None for table, _ in drawn for name in table.features}
    combiner = LinearCombiner(l2=L2, max_mentions=None)
    combiner.fit(
        CandidateTable.concatenate([_with_all(table, list(names)) for table, _ in drawn]),
        [rows for _, gold in drawn for rows in gold],
    )
    return combiner.weights


def left_out(tasks: Sequence[WeightTask], *, seed: int = 0) -> list[dict[str, Any]]:
    """Of each task recall@1 over mentions and over surface forms, with the
    current default weights, with those fitted on the other worlds, and with its own, as a bound."""
    by_world = {}
    for world in dict.fromkeys(task.world for task in tasks):
        by_world[world] = fit_weights([task for task in tasks if task.world != world], seed=seed)
    rows = []
    for task in tasks:
        weights = {"current": None, "others": by_world[task.world], "own": fit_weights([task], seed=seed)}
        row: dict[str, Any] = {"task": task.name, "world": task.world, "mentions": len(task.gold)}
        for kind, used in weights.items():
            row[kind], row[f"{kind}_forms"] = task.recall(used)
        rows.append(row)
    return rows


def fit_default_weights(tasks: Sequence[WeightTask], *, seed: int = 0) -> dict[str, Any]:
    """Fit the weights on all tasks, and measure them on each world with weights fitted on the others.

    Args:
        tasks: of at least two worlds.
        seed: random seed of the mentions that are drawn.

    Returns:
        "weights", "current" (the default ones) and "results", as JSON data.
    """
    return {
        "settings": {"seed": seed, "drawn": DRAWN, "l2": L2},
        "weights": {name: round(value, 2) for name, value in fit_weights(tasks, seed=seed).items()},
        "current": dict(DEFAULT_WEIGHTS),
        "results": left_out(tasks, seed=seed),
    }


def _with_all(table: CandidateTable, names: Sequence[str]) -> CandidateTable:
    """With all of these features; one that no candidate has cannot rank them."""
    zeros = np.zeros(table.kb_rows.shape, dtype=np.float32)
    return table.plus({name: zeros for name in names if name not in table.features})
