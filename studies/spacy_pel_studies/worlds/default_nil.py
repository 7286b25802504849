"""Fitting the weights that a NIL model has before calibration, on several worlds left out in turn.

The weights must suit unknown ontologies, encoders and sizes of knowledge bases. So they are fitted on all
worlds but one and measured on that one, and once more with the encoder or generator left out as well. Each
task weighs the same; a third of its mentions are NIL (see ``nil_tasks``).
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.candidates.alias_match import AliasMatch
from spacy_pel.candidates.bi_encoder import BiEncoderCandidates
from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.evaluation.metrics.all_metrics import average_precision
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.linking.combiner import LinearCombiner, right_first
from spacy_pel.linking.decider import break_even_threshold
from spacy_pel.linking.nil import WITH_VECTORS, WITHOUT_VECTORS, default_inputs, default_probability
from spacy_pel.types import CandidateGenerator, CandidateTable, Encoder, MentionInText
from spacy_pel.util import atomic_path, fingerprint, logger

from .nil_tasks import NilTask, NilWorld, draw_world, nil_tasks

BY_NAMES = {"tf-idf": TfIdf, "exact names": AliasMatch}
_L2 = 1.0  # of the weights of standardised inputs, where all tasks together count as 1,000 mentions
_MENTIONS = 1000
Weights = dict[str, float]


class Sample(NamedTuple):
    """What a system finds for the mentions of a task.

    Attributes:
        system: encoder or generator.
        world: of the task.
        size: entities of the task.
        table: without the mentions' vectors.
        has_vectors: whether there were some.
        is_nil: (n,)
        is_right: (n,) is the first candidate a gold entity?
    """

    system: str
    world: str
    size: int
    table: CandidateTable
    has_vectors: bool
    is_nil: NDArray[np.bool_]
    is_right: NDArray[np.bool_]

    @property
    def filled(self) -> NDArray[np.bool_]:
        """(n,) has it candidates? The others are NIL by rule."""
        return self.table.has_candidates

    def inputs(self, names: Sequence[str]) -> NDArray[np.float64]:
        """(n, d), the inputs with these names."""
        columns = default_inputs(self.table, LinearCombiner()(self.table))
        return np.stack([columns[name] for name in names], axis=1)


def fit_default_nil(
    sources: Mapping[str, tuple[Path, Path]],
    encoders: Mapping[str, Encoder],
    output: Path,
    *,
    n_mentions: int = 400,
    n_entities: int = 1500,
    seed: int = 0,
) -> dict[str, Any]:
    """Fit the weights on all worlds, and measure them on each world with weights fitted on the others.

    Args:
        sources: name of a world -> its KB folder and its corpus (JSON lines); at least two.
        encoders: with weights, by name.
        output: gets the candidates of each system, which are used again the next time.
        n_mentions, n_entities, seed: see ``draw_world``.

    Returns:
        Weights, measurements and settings, as JSON data.
    """
    worlds = {
        name: draw_world(name, kb, corpus, n_mentions=n_mentions, n_entities=n_entities, seed=seed)
        for name, (kb, corpus) in sources.items()
    }
    tasks = {name: nil_tasks(worlds, name, seed=seed) for name in worlds}
    samples: list[Sample] = []
    for system in [*encoders, *BY_NAMES]:
        encoder = encoders.get(system)
        path = output / "candidates" / candidates_key(system, encoder, worlds, tasks)
        if not path.exists():
            found = by_names(system, worlds, tasks)
            _write(path, found if encoder is None else by_encoder(system, encoder, worlds, tasks))
        samples += _read(path, system, worlds, tasks)
    return {
        "worlds": {
            name: {
                "kb": str(sources[name][0]),
                "corpus": str(sources[name][1]),
                "entities": len(world.kb),
                "names": sum(1 + len(entity.aliases) for entity in world.kb.entities()),
                "mentions": len(world.mentions),
                "tasks": [{"entities": one.size, "mentions": len(one.gold)} for one in tasks[name]],
            }
            for name, world in worlds.items()
        },
        "settings": {"mentions": n_mentions, "entities": n_entities, "seed": seed, "l2": _L2},
        "weights": {
            kind: fit_weights([one for one in samples if one.has_vectors == (kind == "vectors")])
            for kind in (["vectors", "names"] if encoders else ["names"])
        },
        "results": left_out(samples),
    }


def candidates_key(
    system: str, encoder: Encoder | None, worlds: Mapping[str, NilWorld], tasks: Mapping[str, list[NilTask]]
) -> str:
    """Changes with all that the candidates of a system depend on."""
    own = [task for name in worlds for task in tasks[name]]
    return fingerprint(
        system if encoder is None else encoder.fingerprint,
        FEATURES,
        [world.kb.fingerprint for world in worlds.values()],
        [task.mentions for task in own],
        *(task.allowed.tobytes() for task in own),
    )


def by_encoder(
    name: str, encoder: Encoder, worlds: Mapping[str, NilWorld], tasks: Mapping[str, list[NilTask]]
) -> Iterator[Sample]:
    """Of each task, by the vectors of an encoder."""
    # a mention is linked in several tasks and worlds, but encoded once
    mentions = list(dict.fromkeys(one for own in tasks.values() for task in own for one in task.mentions))
    logger.info("%s: %s mentions", name, f"{len(mentions):,}")
    vectors = encoder.encode_mentions(mentions, show_progress=True)
    known: Any = copy.copy(encoder)
    encoded = dict(zip(mentions, vectors, strict=True))
    known.encode_mentions = lambda asked: np.stack([encoded[one] for one in asked])
    for world in worlds.values():
        logger.info("%s: %s", name, world.name)
        generator = BiEncoderCandidates()
        generator.bind(known, EntityIndex.build(world.kb, encoder, index=FaissIVF(flat_below=None), show_progress=True))
        for task in tasks[world.name]:
            yield _sample(name, world, task, generator, task.mentions)


def by_names(name: str, worlds: Mapping[str, NilWorld], tasks: Mapping[str, list[NilTask]]) -> Iterator[Sample]:
    """Of each task, by a generator without vectors."""
    logger.info("%s", name)
    for world in worlds.values():
        generator: CandidateGenerator = BY_NAMES[name]()
        generator.build(world.kb)
        for task in tasks[world.name]:
            yield _sample(name, world, task, generator, task.mentions)


def _sample(
    system: str, world: NilWorld, task: NilTask, generator: CandidateGenerator, mentions: Sequence[MentionInText]
) -> Sample:
    table = task._replace(mentions=list(mentions)).table(world.kb, generator)
    has_vectors, table.vectors = table.vectors is not None, None
    return _judged(system, task, table, has_vectors)


def _judged(system: str, task: NilTask, table: CandidateTable, has_vectors: bool) -> Sample:
    is_right = right_first(table, LinearCombiner()(table), task.gold)
    return Sample(system, task.world, task.size, table, has_vectors, task.is_nil, is_right)


def _write(path: Path, samples: Iterator[Sample]) -> None:
    with atomic_path(path) as part:
        part.mkdir(parents=True)
        for number, one in enumerate(samples):
            arrays: dict[str, Any] = {"kb_rows": one.table.kb_rows, **one.table.features}
            np.savez(part / f"{number}.npz", has_vectors=np.array(one.has_vectors), **arrays)


def _read(
    path: Path, system: str, worlds: Mapping[str, NilWorld], tasks: Mapping[str, list[NilTask]]
) -> Iterator[Sample]:
    for number, task in enumerate(task for name in worlds for task in tasks[name]):
        with np.load(path / f"{number}.npz", allow_pickle=False) as arrays:
            features = {name: arrays[name] for name in arrays.files}
        has_vectors = bool(features.pop("has_vectors"))
        table = CandidateTable(features.pop("kb_rows"), features)
        yield _judged(system, task, table, has_vectors)


def fit_weights(samples: Sequence[Sample]) -> Weights:
    """Fit a logistic regression.

    Args:
        samples: all of systems with vectors, or all without; each weighs the same.

    Returns:
        A weight for each input, and "bias".
    """
    from sklearn.linear_model import LogisticRegression

    names = [name for name in (WITH_VECTORS if samples[0].has_vectors else WITHOUT_VECTORS) if name != "bias"]
    inputs = np.concatenate([one.inputs(names)[one.filled] for one in samples])
    is_nil = np.concatenate([one.is_nil[one.filled] for one in samples])
    counts = np.array([int(one.filled.sum()) for one in samples])
    weight = np.repeat(_MENTIONS / len(samples) / np.maximum(counts, 1), counts)
    mean, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-9)
    model = LogisticRegression(C=1 / _L2, max_iter=2000)
    model.fit((inputs - mean) / scale, is_nil, sample_weight=weight)
    weights = model.coef_[0] / scale
    return {**dict(zip(names, weights.tolist(), strict=True)), "bias": float(model.intercept_[0] - weights @ mean)}


def left_out(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Measure each world with weights fitted on the others.

    Returns:
        One for each sample: "system", "world" and "entities", the metrics, and
        under "both" those where the encoder or generator was left out as well, if the others have
        candidates for mentions of both kinds: exact names may have none for what is NIL.
    """
    found = []
    for one in samples:
        others = [each for each in samples if each.world != one.world and each.has_vectors == one.has_vectors]
        record: dict[str, Any] = {"system": one.system, "world": one.world, "entities": one.size}
        record["vectors"] = one.has_vectors
        record.update(measure(one, fit_weights(others)))
        others = [each for each in others if each.system != one.system]
        kinds = [each.is_nil[each.filled] for each in others]
        if len({bool(is_nil) for each in kinds for is_nil in each}) == 2:
            record["both"] = measure(one, fit_weights(others))
        found.append(record)
    return found


def measure(sample: Sample, weights: Weights) -> dict[str, float]:
    """NIL where it is more probable than the first candidate.

    Args:
        sample: not fitted on.
        weights: with "bias".

    Returns:
        "aupr", "precision", "recall" and "f1" of NIL; "lost", the share of the
        linkable mentions that become NIL; "right_lost", the same of those that would be linked correctly;
        "accuracy" of all decisions, and "accuracy_linked" if all mentions were linked. "aupr_score" is that
        of 1 - best score.
    """
    scores = LinearCombiner()(sample.table)
    nil_score = np.where(sample.filled, default_probability(default_inputs(sample.table, scores), weights), 1.0)
    best = np.where(sample.filled, scores.max(axis=1), 0.0).astype(np.float64)
    called, is_nil = nil_score > break_even_threshold(best), sample.is_nil
    hits = float((called & is_nil).sum())
    right = sample.is_right & ~is_nil
    return {
        "aupr": average_precision(nil_score, is_nil),
        "aupr_score": average_precision(1.0 - best, is_nil),
        "precision": hits / max(int(called.sum()), 1),
        "recall": hits / max(int(is_nil.sum()), 1),
        "f1": 2 * hits / max(int(called.sum() + is_nil.sum()), 1),
        "lost": float(called[~is_nil].mean()),
        "right_lost": float(called[right].mean()),
        "accuracy": float(np.where(is_nil, called, right & ~called).mean()),
        "accuracy_linked": float(np.where(is_nil, ~sample.filled, right).mean()),
    }
