"""Attacks on readers: small valid files of every format, damaged."""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import spacy

from benchmarks.attack.mutations import mutated
from benchmarks.attack.runner import GIVEN, Wrong, emptied
from spacy_pel.corpora.formats.jsonl import to_record
from spacy_pel.engines.corpus import Corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.from_files import apply_changes, read_changes
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.repair import repaired
from spacy_pel.registry import registry
from spacy_pel.training.merge import Merge
from spacy_pel.training.merge_config import parse_merge_config
from spacy_pel.training.merge_terms import read_sssom
from spacy_pel.types import Document, Entity
from spacy_pel.util.config import load_config

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
ONTOLOGIES = ("pain.obo", "graph.json", "terms.json", "oncotree.json", "cells.ttl")
_PACKED = 0.08  # share of inputs whose file is gzipped
_INSIDE = 0.5  # share of inputs that are damaged before they are compressed
_BUILT = 0.02  # share of inputs whose entities become a knowledge base
Files = dict[str, bytes]
Read = Callable[[list[Path], Path], None]  # takes the entries of the folder and a place for its output


class ReaderAttack:
    """Files of one format, one of them damaged, and what reads them.

    Args:
        name: of the attack.
        source: a file or a folder whose entries are read together.
        read: reads them and checks what it gives.
        packs: whether the reader reads .gz files.
        deflated: the files are compressed by zlib, whose checksum would hide most damage: half of it is
            done to what they hold.
    """

    def __init__(self, name: str, source: Path, read: Read, *, packs: bool = True, deflated: bool = False) -> None:
        self.name = name
        self.read = read
        self.packs = packs
        self.deflated = deflated
        self.kept = False  # True = a damaged file stays, to be looked at
        found = [path for path in sorted(source.rglob("*")) if path.is_file()] if source.is_dir() else [source]
        top = source if source.is_dir() else source.parent
        self.files: Files = {str(path.relative_to(top)): path.read_bytes() for path in found}

    def prepare(self, folder: Path) -> None:
        """Write the files as they are."""
        given = emptied(folder / GIVEN)
        for name, data in self.files.items():
            (given / name).parent.mkdir(parents=True, exist_ok=True)
            (given / name).write_bytes(data)

    def begin(self, folder: Path) -> None:
        """Nothing is shared."""

    def run(self, rng: random.Random, folder: Path) -> None:
        """Read the files, one of them damaged."""
        given = folder / GIVEN
        name = rng.choice(sorted(self.files))
        data = self.files[name]
        if self.deflated and rng.random() < _INSIDE:
            data = zlib.compress(mutated(zlib.decompress(data), rng), 1)
        else:
            data = mutated(data, rng)
        path = given / name
        path.unlink()
        try:
            if self.packs and rng.random() < _PACKED:
                path = path.with_name(path.name + ".gz")
                data = gzip.compress(data, 1, mtime=0)
                data = mutated(data, rng) if rng.random() < 0.7 else data
            path.write_bytes(data)
            out = emptied(folder / "out") if rng.random() < _BUILT else folder / "none"
            self.read(sorted(given.iterdir()), out)
        finally:
            if not self.kept:
                path.unlink()
                (given / name).write_bytes(self.files[name])


def reader_attacks() -> list[ReaderAttack]:
    """For each registered reader, and each format that one of them reads."""
    spacy.blank("en")  # imported before the processes are forked, not in each of them
    made = []
    for name in sorted(registry.parts("pel_corpus_readers")):
        read = _corpus_with(name)
        source, docbin = FIXTURES / "corpora" / name, name == "docbin"
        made.append(ReaderAttack(f"corpus-{name}", source, read, packs=not docbin, deflated=docbin))
    for name in sorted(registry.parts("pel_kb_readers")):
        if name == "saved":  # reads folders, which are attacked as such
            continue
        made.append(ReaderAttack(f"kb-{name}", FIXTURES / "kb" / name, _kb_with(name)))
    for name in ONTOLOGIES:
        made.append(ReaderAttack(f"ontology-{name}", FIXTURES / "kb" / "onto" / name, _kb_with("obo")))
    onto = FIXTURES / "kb" / "onto"
    made.append(ReaderAttack("sssom", onto / "mapping.sssom.tsv", _read_sssom))
    merge = ReaderAttack("merge", onto, _read_merge, packs=False)
    merge.files["merge.cfg"] = (FIXTURES / "kb" / "onto_merge.cfg").read_bytes()
    made.append(merge)
    base = ReaderAttack("merge-base", FIXTURES / "kb" / "base", _read_merge, packs=False)
    base.files["merge.cfg"] = (FIXTURES / "kb" / "base_merge.cfg").read_bytes()
    made.append(base)
    made.append(ReaderAttack("kb-changes", FIXTURES / "kb" / "jsonl" / "kb.jsonl", _read_changes))
    made.append(ReaderAttack("link-jsonl", FIXTURES / "corpora" / "jsonl" / "tiny.jsonl", _read_texts))
    made.append(ReaderAttack("link-pubtator", FIXTURES / "corpora" / "pubtator" / "tiny.txt", _read_texts))
    made.append(ReaderAttack("link-txt", FIXTURES / "corpora" / "gsc" / "tiny" / "Text" / "100", _read_texts))
    made[-1].files = {"texts.txt": next(iter(made[-1].files.values())) * 3}
    made.append(ReaderAttack("link-bioc", FIXTURES / "corpora" / "bioc", _read_folder))
    return made


def _corpus_with(name: str) -> Read:
    make = registry.resolve_short("pel_corpus_readers", name)

    def read(paths: list[Path], out: Path) -> None:
        reader = make()
        check_documents(reader(paths))

    return read


def _kb_with(name: str) -> Read:
    make = registry.resolve_short("pel_kb_readers", name)

    def read(paths: list[Path], out: Path) -> None:
        reader = make()
        check_entities(reader(paths), reader.redirects, out)

    return read


def _read_sssom(paths: list[Path], out: Path) -> None:
    for mapping in read_sssom(paths[0]):
        _check_text(*mapping)


def _read_merge(paths: list[Path], out: Path) -> None:
    path = next(path for path in paths if path.name == "merge.cfg")
    config = load_config(path)
    if "merge" in config:
        merge = Merge(parse_merge_config(config["merge"], path), path.parent)
        # as in KnowledgeBase.build, which ``kb merge`` calls
        checked = (repaired(entity, lambda kind, entity_id: None) for entity in merge())
        entities = [entity for entity in checked if entity is not None]
        check_entities(entities, merge.redirects, out)
        json.dumps(merge.source)


def _read_changes(paths: list[Path], out: Path) -> None:
    changes = read_changes(JsonlKB(), paths[:1])
    if out.exists():
        apply_changes(KnowledgeBase([Entity("C1", "fever"), Entity("C2", "pain")]), changes)


def _read_texts(paths: list[Path], out: Path) -> None:
    check_documents(replace(one, text="") for one in Corpus(paths[0]))  # link leaves out texts that UTF-8 cannot hold


def _read_folder(paths: list[Path], out: Path) -> None:
    check_documents(Corpus(paths[0].parent))


def check_documents(documents: Iterable[Document]) -> None:
    """Raises:
    Wrong: if a document could not be written, or a mention lies outside its text.
    """
    for document in documents:
        line = json.dumps(to_record(document), ensure_ascii=False)
        _check_text(line)
        for mention in document.mentions:
            if not 0 <= mention.start < mention.end <= len(document.text):
                raise Wrong(f"a mention outside the text of {document.id[:80]!r}")
            if not all(isinstance(found, str) for found in (mention.label, *mention.ids)):
                raise Wrong(f"a label or an id that is not text: {mention!r:.200}")


def check_entities(entities: Iterable[Entity], redirects: dict[str, str], out: Path) -> None:
    """Check entities, and if ``out`` is there build a knowledge base of them.

    Raises:
        Wrong: if an entity has no id or name, or one that is not text.
    """
    kept = []
    for entity in entities:
        if not entity.concept_id or not entity.canonical_name:
            raise Wrong(f"an entity without an id or a name: {entity!r:.200}")
        _check_text(entity.concept_id, entity.canonical_name, *entity.aliases, *entity.types)
        _check_text(entity.definition or "")
        kept.append(entity)
    if out.exists():
        kb = KnowledgeBase.build(kept, out / "kb", redirects=redirects)
        if len(kb) != len({entity.concept_id for entity in kept}):
            raise Wrong(f"{len(kb)} entities were kept of {len(kept)}")


def _check_text(*texts: Any) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise Wrong(f"not text: {text!r:.200}")
        try:
            text.encode("utf8")
        except UnicodeEncodeError as err:
            raise Wrong(f"text that UTF-8 cannot hold: {text!r:.200}") from err
