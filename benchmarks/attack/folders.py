"""Attacks on saved folders: one file of a small one is damaged. It must be refused, or give equal answers."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.mutations import mutated
from benchmarks.attack.runner import Wrong, emptied
from benchmarks.speed import made_up_pipeline
from spacy_pel.candidates.tfidf import TfIdf
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.index import EntityIndex
from spacy_pel.kb import KnowledgeBase
from spacy_pel.pipeline.saved import load_pipeline
from spacy_pel.training.recall import load_generator
from spacy_pel.types import MentionInText
from spacy_pel.util import read_json, write_json

_ENTITIES = 60
Answer = Callable[[Path], Any]


class FolderAttack:
    """A saved folder, one of whose files is damaged.

    Args:
        name: of the attack.
        part: the folder within that of the pipeline; "" = all of it.
        answer: loads the folder and asks it something; equal folders give equal answers.
    """

    def __init__(self, name: str, part: str, answer: Answer) -> None:
        self.name = name
        self.part = part
        self.answer = answer
        self.expected: Any = None
        self.kept = False

    def prepare(self, folder: Path) -> None:
        """Copy a pipeline of a few made-up entities."""
        shutil.copytree(made_up(folder.parent), folder, dirs_exist_ok=True)

    def begin(self, folder: Path) -> None:
        """Ask the folder as it is."""
        self.expected = self.answer(folder / self.part)

    def run(self, rng: random.Random, folder: Path) -> None:
        """Damage a file, load the folder, compare its answers, put the file back."""
        place = folder / self.part
        path = rng.choice(sorted(path for path in place.rglob("*") if path.is_file()))
        data = path.read_bytes()
        try:
            _damage(path, data, rng)
            found = self.answer(place)
        finally:
            if not self.kept:
                _remove(path)
                path.write_bytes(data)
        if found != self.expected:
            raise Wrong(f"other answers with a damaged {path.relative_to(folder)}")


def made_up(place: Path) -> Path:
    """Save a pipeline of a few made-up entities, its texts, and a generator; once for all attacks.

    Returns:
        The folder.
    """
    folder = place / "made_up"
    if not (folder / "texts.json").exists():
        texts = made_up_pipeline(emptied(folder), _ENTITIES)
        generator = TfIdf()
        generator.build(KnowledgeBase.from_disk(folder / "kb"))
        generator.to_disk(folder / "generator")
        write_json(folder / "texts.json", texts)
    return folder


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _damage(path: Path, data: bytes, rng: random.Random) -> None:
    path.unlink()
    how = rng.choice(("same size", "same size", "truncated", "longer", "any", "missing", "special"))
    if how == "same size":
        path.write_bytes(_same_size(data, rng))
    elif how == "truncated":
        path.write_bytes(data[: rng.randrange(len(data) + 1)])
    elif how == "longer":
        path.write_bytes(data + rng.choice((b"\x00", b"\n", data[:100])))
    elif how == "any":
        path.write_bytes(mutated(data, rng))
    elif how == "special":
        rng.choice((_fifo, _folder, _dangling, _endless))(path)


def _same_size(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 8, 100)) if data else 0):
        at = rng.randrange(len(data))
        width = rng.choice((1, 1, 8, 64))
        changed[at : at + width] = rng.randbytes(len(changed[at : at + width]))
    return bytes(changed)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder_attacks() -> list[FolderAttack]:
    """For each kind of folder."""
    linker = "pipeline/proxy_entity_linker"
    return [
        FolderAttack("folder-kb", f"{linker}/kb", _ask_kb),
        FolderAttack("folder-index", f"{linker}/index", _ask_index),
        FolderAttack("folder-encoder", f"{linker}/encoder", _ask_encoder),
        FolderAttack("folder-generator", "generator", _ask_generator),
        FolderAttack("folder-pipeline", "pipeline", _ask_pipeline),
    ]


def _ask_kb(path: Path) -> Any:

    kb = KnowledgeBase.from_disk(path)
    entities = list(kb.entities())
    names = [name for entity in entities for name in (entity.canonical_name, *entity.aliases)]
    return entities, [kb.ids(name) for name in names]


def _ask_index(path: Path) -> Any:

    index = EntityIndex.from_disk(path)
    queries = np.random.default_rng(0).normal(size=(4, index.width)).astype(np.float32)
    scores, rows = index.search_entities(queries, 10)
    return scores.tolist(), rows.tolist(), index.fingerprint


def _ask_encoder(path: Path) -> Any:

    encoder = load_encoder(path)
    return encoder.encode_mentions([MentionInText("fever and pain", 0, 5)]).tolist()


def _ask_generator(path: Path) -> Any:

    kb = KnowledgeBase.from_disk(path.parent / "kb")
    generator = load_generator(path, kb=kb)
    names = [entity.canonical_name for entity in kb.entities()][:5]
    table = generator.find_candidates(kb, [MentionInText(name, 0, len(name)) for name in names])
    return (table.kb_rows.tolist(), [score.tolist() for score in table.features.values()])


def _ask_pipeline(path: Path) -> Any:
    nlp = load_pipeline(path)[0]
    texts = read_json(path.parent / "texts.json")[:5]
    return [[(e.text, e.label_, e.kb_id_, e._.pel_candidates) for e in doc.ents] for doc in nlp.pipe(texts)]
