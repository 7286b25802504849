"""Zero-shot linking: an encoder trained on some worlds and tested on unseen ones.

A world is a folder with a knowledge base (``kb``) and corpora (``train.jsonl``, ``dev.jsonl``,
``test.jsonl``): an ontology of CRAFT, a wiki of ZESHEL. Training joins the worlds; each batch is of one
world, and dev.jsonl of the training worlds chooses the best model. Each test world has an index of the
cards and names of its own KB, without annotated text. The trained encoder is compared with the same
encoder untrained and with exact matches of names. A ranker can be trained on its candidates; then its
recall@1 is the unnormalised accuracy. Worlds of validation are reported beside those of testing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.retriever.settings import read_settings
from spacy_pel.util import atomic_path, logger, normalize_alias, write_json, write_jsonl

from .group_recall import GroupOutcomes, GroupTable, recall_by_group
from .ranker import WorldRanker, by_ranker
from .ranking import Ranking, by_encoder, by_name, names_first
from .tables import POLICY, as_markdown, world_difference
from .unseen_world import UnseenWorld
from .worlds import WorldTrainer, join_worlds

NAMES, UNTRAINED, TRAINED = "exact names", "untrained encoder", "trained encoder"
RERANKED = "trained encoder, reranked"
FIRST = ", exact names first"
PAIRS = [
    (TRAINED, UNTRAINED),
    (TRAINED, NAMES),
    (TRAINED + FIRST, UNTRAINED + FIRST),
    (TRAINED + FIRST, NAMES),
    (RERANKED, TRAINED),
]
RANKER = "ranker."  # of settings for the ranker's config


def run_worlds(
    config: Path,
    worlds: Path,
    train: Sequence[str],
    test: Sequence[str],
    output: Path,
    *,
    val: Sequence[str] = (),
    model: Path | None = None,
    ranker: Path | None = None,
    mixed: bool = False,
    split: str = "test",
    overrides: dict[str, Any] | None = None,
    gpu_id: int = -1,
    resume: bool = False,
) -> dict[str, Any]:
    """Train on some worlds, or load a trained model, and test on others.

    Args:
        config: of the training; its paths are set here.
        worlds: has a folder for each world.
        train, test: names of the worlds.
        output: gets the models, predictions, worlds.json and worlds.md.
        val: names of further unseen worlds, reported beside ``test``.
        model: a trained encoder; None = train one.
        ranker: config of a ranker; it is trained on the encoder's candidates for the training
            worlds, each mention's from its own world. None = no ranker.
        mixed: train on batches of several worlds.
        split: of the unseen worlds.
        overrides: settings of the config, by their dotted names; those in "ranker" are
            of the ranker's config.
        gpu_id: CUDA device; -1 = CPU.
        resume: resume from the checkpoints of the trainings.

    Returns:
        The content of worlds.json.

    Raises:
        PelError: if an input is missing or damaged.
    """
    of_ranker = {name: value for name, value in (overrides or {}).items() if name.startswith(RANKER) and ranker}
    overrides = {name: value for name, value in (overrides or {}).items() if name not in of_ranker}
    # errors before a long training
    unseen = {name: UnseenWorld(name, worlds, split) for name in dict.fromkeys([*val, *test])}
    reranking: WorldRanker | None = None
    if model is None or ranker is not None:
        joined = join_worlds(worlds, train, output / "joined", splits=("train", "dev"))
    if ranker is not None:
        reranking = WorldRanker(ranker, joined, output / "ranker", overrides=of_ranker, gpu_id=gpu_id)
    if model is None:
        paths = {f"paths.{name}": str(path) for name, path in joined.items()}
        make = Trainer if mixed else WorldTrainer
        make(read_settings(config, {**overrides, **paths}), output / "encoder", gpu_id=gpu_id).run(resume=resume)
        model = output / "encoder" / "model-best"
    encoders: dict[str, Any] = {UNTRAINED: _untrained(config, overrides), TRAINED: load_encoder(model)}
    for encoder in encoders.values():
        if gpu_id >= 0:
            encoder.towers.to(f"cuda:{gpu_id}")
    trained_ranker = None if reranking is None else reranking.train(encoders[TRAINED], resume=resume)
    outcomes: dict[str, dict[str, GroupOutcomes]] = {}
    training_names = _names_of(worlds, train)
    names: dict[str, Any] = {}
    for world in unseen.values():
        systems = {NAMES: by_name(world.kb, world.surfaces)}
        for name, encoder in encoders.items():
            logger.info("%s: %s", world.name, name)
            systems[name] = by_encoder(world.kb, encoder, world.mentions, show_progress=True)
        systems.update({name + FIRST: names_first(systems[NAMES], systems[name]) for name in encoders})
        if reranking is not None and trained_ranker is not None:
            logger.info("%s: %s", world.name, RERANKED)
            systems[RERANKED] = by_ranker(
                world.kb, trained_ranker, world.mentions, systems[TRAINED], n=reranking.n, show_progress=True
            )
        names[world.name] = _measure(world, systems, training_names, output / "predictions", outcomes)
    tables = {name: GroupTable({world: own[world] for world in test}) for name, own in outcomes.items()}
    of_val = {name: GroupTable({world: own[world] for world in val}) for name, own in outcomes.items()}
    report = {
        "train": list(train),
        "val": list(val),
        "test": list(test),
        "batches": "mixed" if mixed else "one world each",
        "model": str(model),
        "ranker": str(output / "ranker" / "model-best") if reranking else None,
        "seen_in_training": sorted(set(train) & set(unseen)),
        "coverage": {world.name: world.coverage() for world in unseen.values()},
        "systems": {name: recall_by_group(table) for name, table in tables.items()},
        "val_systems": {name: recall_by_group(table) for name, table in of_val.items()} if val else {},
        "differences": {
            f"{ours} - {theirs}": world_difference(tables[ours], tables[theirs])
            for ours, theirs in PAIRS
            if ours in tables
        },
        "names": names,
        "policy": POLICY,
    }
    write_json(output / "worlds.json", report)
    with atomic_path(output / "worlds.md") as part:
        part.write_text(as_markdown(report), encoding="utf8")
    return report


def _measure(
    world: UnseenWorld,
    systems: dict[str, list[Ranking]],
    training_names: set[str],
    output: Path,
    outcomes: dict[str, dict[str, GroupOutcomes]],
) -> dict[str, Any]:
    """Write the predictions of each system and add its outcomes.

    Returns:
        Recall@1 of mentions whose name the training worlds have, and of others.
    """
    is_known = world.known(training_names)
    n_known = sum(is_known)
    recall: dict[str, Any] = {"known": {}, "new": {}, "n_known": n_known, "n_new": len(is_known) - n_known}
    for name, rankings in systems.items():
        predictions = world.predictions(rankings)
        folder = output / world.name / name.replace(", ", " ").replace(" ", "_")
        write_jsonl(folder / "predictions.jsonl", (one.to_json() for one in predictions))
        outcomes.setdefault(name, {})[world.name] = GroupOutcomes.of(predictions)
        for kind, wanted in (("known", True), ("new", False)):
            hits = [one.rank == 1 for one, own in zip(predictions, is_known, strict=True) if own is wanted]
            recall[kind][name] = sum(hits) / max(len(hits), 1)
    return recall


def _untrained(config: Path, overrides: dict[str, Any]) -> Any:
    """The encoder before training, with the same initial weights."""
    settings = read_settings(config, overrides)
    torch.manual_seed(settings.seed)
    settings.pel.encoder.initialize()
    return settings.pel.encoder


def _names_of(worlds: Path, train: Sequence[str]) -> set[str]:
    """Normalised names of the training worlds: of their entities, and of the mentions in train.jsonl."""
    known: set[str] = set()
    for world in train:
        for entity in KnowledgeBase.from_disk(worlds / world / "kb").entities():
            known.update(map(normalize_alias, (entity.canonical_name, *entity.aliases)))
        for document in read_corpus(worlds / world / "train.jsonl"):
            known.update(normalize_alias(document.text[m.start : m.end]) for m in document.mentions)
    return known
