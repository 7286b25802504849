"""Zero-shot linking over worlds: one encoder trained on some, tested on others it never saw.

A world is a folder with a knowledge base (``kb``) and corpora (``train.jsonl``, ``dev.jsonl``,
``test.jsonl``): an ontology of CRAFT, a wiki of ZESHEL. Training joins the worlds; each batch is of
one world (``--mixed-batches``: of all), and dev.jsonl of the training worlds chooses the best model.
Each test world has an index of its own KB's cards and names, without annotated text, beside
the same encoder untrained and the exact matches of names. Example:

    python -m benchmarks.worlds --config configs/worlds_minilm.cfg --worlds corpus/worlds \
        --train CHEBI,GO,UBERON --test CL,MONDO --output metrics/worlds
"""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional, Sequence, Set

import typer

from benchmarks.zero_shot import UnseenWorld, as_markdown, by_encoder, by_name, names_first
from spacy_pel.errors import PelError
from spacy_pel.util import logger, write_json, write_jsonl

NAMES, UNTRAINED, TRAINED = "exact names", "untrained encoder", "trained encoder"
FIRST = ", exact names first"
PAIRS = [
    (TRAINED, UNTRAINED),
    (TRAINED, NAMES),
    (TRAINED + FIRST, UNTRAINED + FIRST),
    (TRAINED + FIRST, NAMES),
]


def main(
    worlds: Annotated[Path, typer.Option(help="Holds a folder for each world.")],
    train: Annotated[str, typer.Option(help="Worlds to train on, separated by commas.")],
    test: Annotated[str, typer.Option(help="Worlds to test on, separated by commas.")],
    output: Annotated[Path, typer.Option(help="Folder for the model, worlds.json and worlds.md.")],
    config: Annotated[Path, typer.Option(help="A training config; its paths are set here.")],
    model: Annotated[Optional[Path], typer.Option(help="A trained encoder; nothing is trained then.")] = None,
    mixed: Annotated[bool, typer.Option("--mixed-batches", help="Batches of several worlds.")] = False,
    split: Annotated[str, typer.Option(help="The split of the test worlds.")] = "test",
    settings: Annotated[
        Optional[List[str]],
        typer.Option("--set", help="A setting of the config, e.g. pel.training.max_steps=5 (repeatable)."),
    ] = None,
    gpu_id: Annotated[int, typer.Option(help="CUDA device; -1 = CPU.")] = -1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the training's checkpoint.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Train on some worlds, test on others."""
    try:
        report = run(
            config,
            worlds,
            _names(train),
            _names(test),
            output,
            model=model,
            mixed=mixed,
            split=split,
            settings=settings or [],
            gpu_id=gpu_id,
            resume=resume,
        )
    except PelError as err:
        typer.echo(f"Error: {err}", err=True)
        raise typer.Exit(2) from err
    if as_json:
        import json

        typer.echo(json.dumps(report))
    else:
        typer.echo(as_markdown(report))


def run(
    config: Path,
    worlds: Path,
    train: Sequence[str],
    test: Sequence[str],
    output: Path,
    *,
    model: Optional[Path],
    mixed: bool,
    split: str,
    settings: Sequence[str],
    gpu_id: int,
    resume: bool,
) -> Dict[str, Any]:
    """Train, or take a model, and evaluate.

    RETURNS (Dict[str, Any]): what worlds.json holds.
    RAISES (PelError): if an input is missing or broken.
    """
    from spacy_pel.encoders import load_encoder
    from spacy_pel.evaluation.metrics.group_recall import GroupOutcomes, GroupTable, group_metrics
    from spacy_pel.research.worlds.tables import POLICY, world_difference

    tested = [UnseenWorld(name, worlds, split) for name in test]  # before a training that takes long
    if model is None:
        model = _train(config, worlds, train, output, mixed, settings, gpu_id, resume)
    encoders = {UNTRAINED: _untrained(config, output, settings), TRAINED: load_encoder(model)}
    outcomes: Dict[str, Dict[str, Any]] = {}
    known_names = _names_of(worlds, train)
    names: Dict[str, Any] = {}
    for world in tested:
        systems = {NAMES: by_name(world.kb, world.surfaces)}
        for name, encoder in encoders.items():
            logger.info("%s: %s", world.name, name)
            _use_gpu(encoder, gpu_id)
            systems[name] = by_encoder(world.kb, encoder, world.mentions, show_progress=True)
        systems.update({name + FIRST: names_first(systems[NAMES], systems[name]) for name in encoders})
        is_known = world.known(known_names)
        split_by_name: Dict[str, Any] = {
            "known": {},
            "new": {},
            "n_known": sum(is_known),
            "n_new": len(is_known) - sum(is_known),
        }
        for name, rankings in systems.items():
            predictions = world.predictions(rankings)
            folder = output / "predictions" / world.name / name.replace(", ", " ").replace(" ", "_")
            write_jsonl(folder / "predictions.jsonl", (one.to_json() for one in predictions))
            outcomes.setdefault(name, {})[world.name] = GroupOutcomes.of(predictions)
            right = [prediction.rank == 1 for prediction in predictions]
            for kind, wanted in (("known", True), ("new", False)):
                hits = [hit for hit, one in zip(right, is_known, strict=True) if one is wanted]
                split_by_name[kind][name] = sum(hits) / max(len(hits), 1)
        names[world.name] = split_by_name
    tables = {name: GroupTable(by_world) for name, by_world in outcomes.items()}
    report = {
        "train": list(train),
        "test": list(test),
        "batches": "mixed" if mixed else "one world each",
        "model": str(model),
        "seen_in_training": sorted(set(train) & set(test)),
        "coverage": {world.name: world.coverage() for world in tested},
        "systems": {name: group_metrics(table) for name, table in tables.items()},
        "differences": {
            f"{ours} - {theirs}": world_difference(tables[ours], tables[theirs]) for ours, theirs in PAIRS
        },
        "names": names,
        "policy": POLICY,
    }
    write_json(output / "worlds.json", report)
    _write_text(output / "worlds.md", as_markdown(report))
    return report


def _train(
    config: Path,
    worlds: Path,
    train: Sequence[str],
    output: Path,
    mixed: bool,
    settings: Sequence[str],
    gpu_id: int,
    resume: bool,
) -> Path:
    from spacy_pel.research.worlds.worlds import WorldTrainer, join_worlds
    from spacy_pel.training.retriever.loop import Trainer
    from spacy_pel.training.retriever.settings import read_settings

    paths = join_worlds(worlds, train, output / "joined", splits=("train", "dev"))
    overrides = {**_overrides(settings), **{f"paths.{name}": str(path) for name, path in paths.items()}}
    trainer = (Trainer if mixed else WorldTrainer)(
        read_settings(config, overrides), output / "encoder", gpu_id=gpu_id
    )
    trainer.run(resume=resume)
    return output / "encoder" / "model-best"


def _untrained(config: Path, output: Path, settings: Sequence[str]) -> Any:
    """The encoder as training begins with it."""
    import torch

    from spacy_pel.training.retriever.settings import read_settings

    loaded = read_settings(config, _overrides(settings))
    torch.manual_seed(loaded.seed)
    loaded.pel.encoder.initialize()
    return loaded.pel.encoder


def _names_of(worlds: Path, train: Sequence[str]) -> Set[str]:
    """Normalised names of the training worlds: of their entities, and their mentions in train.jsonl."""
    from spacy_pel.corpora import read_corpus
    from spacy_pel.kb import KnowledgeBase
    from spacy_pel.util import normalize_alias

    known: Set[str] = set()
    for world in train:
        for entity in KnowledgeBase.from_disk(worlds / world / "kb").entities():
            known.update(map(normalize_alias, (entity.canonical_name, *entity.aliases)))
        for document in read_corpus(worlds / world / "train.jsonl"):
            known.update(normalize_alias(document.text[m.start : m.end]) for m in document.mentions)
    return known


def _overrides(settings: Sequence[str]) -> Dict[str, Any]:
    from spacy_pel.cli._settings import parse_settings

    return parse_settings(list(settings))


def _names(given: str) -> List[str]:
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def _use_gpu(encoder: Any, gpu_id: int) -> None:
    if gpu_id >= 0:
        encoder.towers.to(f"cuda:{gpu_id}")


def _write_text(path: Path, text: str) -> None:
    from spacy_pel.util import atomic_path

    with atomic_path(path) as part:
        part.write_text(text, encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
