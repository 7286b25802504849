"""The data of a component: in memory, in a folder, as bytes; and the loaders for
``[initialize.components.proxy_entity_linker]``, the only settings with paths."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from spacy.util import registry as spacy_registry

from ..candidates.bi_encoder import BiEncoderCandidates
from ..candidates.generator_base import check_origin
from ..errors import Errors, PelError, Warnings
from ..index import EntityIndex
from ..kb import KnowledgeBase
from ..linking import Linker, Memory, Reranker
from ..linking.confidence import Confidence
from ..linking.mention_types import LabelTypes
from ..types import CandidateGenerator, Combiner, Encoder, NilModel, Ranker
from ..util import logger
from ..util.files import PathLike
from ..util.saved_folder import Buffer, load_from_bytes, read_whole, save_to_bytes, update_folder

KIND = "entity linker"  # of the component's folder
VERSION = 1
CALIBRATION = "cfg.json"
MEMORY = "memory"


def update_linker_folder(path: Path, *, rewritten: Iterable[str] = ()) -> "AbstractContextManager[Path]":
    """For changing a component's folder, see ``update_folder``."""
    return update_folder(path, kind=KIND, version=VERSION, rewritten=rewritten)


def saved_memory(path: Path) -> Memory:
    """That of a component's folder; an empty one if it has none.

    Raises:
        PelError: if it is damaged.
    """
    return read_whole(path, lambda: _read_memory(path / MEMORY))


def save_memory(path: Path, memory: Memory, *, n_lines: int) -> None:
    """Replace the memory of a component's folder, and nothing else: everything takes effect at once.

    Args:
        path: the component's folder.
        memory: read from this folder, and changed since.
        n_lines: of its log, when it was read.

    Raises:
        PelError: if the folder's memory has changed since; nothing is saved then.
    """
    with update_linker_folder(path, rewritten={MEMORY}) as part:
        if saved_memory(path).log != memory.log[:n_lines]:
            raise PelError(Errors.E675.format(path=path / MEMORY))
        memory.to_disk(part / MEMORY)


@dataclass(frozen=True)
class LinkerData:
    """The knowledge base, and the parts that hold weights or tables.

    Each is saved in a folder of its own. Encoder, generator and ranker are built from the config, with
    settings only, and load their data in place.

    Attributes:
        kb: the entities.
        encoder: reads the mentions; None for a generator that needs no vectors.
        index: built from ``kb`` with ``encoder``, if there is one.
        generator: built from ``kb``; None = the default one, without data.
        ranker: rescores the best candidates.
        memory: corrected mentions; saved if there were any.
    """

    kb: KnowledgeBase | None = None
    encoder: Encoder | None = None
    index: EntityIndex | None = None
    generator: CandidateGenerator | None = None
    ranker: Ranker | None = None
    memory: Memory | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that are set, by the names of their folders."""
        parts = {
            "kb": self.kb,
            "encoder": self.encoder,
            "index": self.index,
            "generator": self.generator,
            "reranker": self.ranker,
            "memory": self.memory or None,  # an empty one is not saved
        }
        return {name: part for name, part in parts.items() if part is not None}

    def to_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the folders of the parts.

        Args:
            path: what ``update_linker_folder`` yields.
            exclude: names of folders to leave as they are.

        Raises:
            PelError: if the files cannot be written.
        """
        for name, part in self.parts.items():
            if name not in exclude:
                part.to_disk(path / name)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> dict[str, bytes]:
        """The folders that ``to_disk`` would write.

        Raises:
            PelError: if one of them is more than 2 GiB.
        """
        # an empty memory, too: it replaces what is learned where the bytes are read
        saved = {**self.parts, MEMORY: self.memory or Memory()}
        parts = {name: part for name, part in saved.items() if name not in exclude}
        has_bytes = (KnowledgeBase, EntityIndex)
        return {
            name: part.to_bytes() if isinstance(part, has_bytes) else save_to_bytes(part.to_disk, kind=name)
            for name, part in parts.items()
        }

    def load(self, path: Path, *, exclude: Iterable[str] = ()) -> "LinkerData":
        """Read what ``to_disk`` wrote; KB and index are memory-mapped.

        Args:
            path: the component's folder.
            exclude: names of folders not to read: these parts are not changed.

        Returns:
            With the data.

        Raises:
            PelError: if a part is missing or damaged, or does not belong to the KB or the encoder.
        """
        return self._loaded(lambda name: name not in exclude, lambda name, read, _: read(path / name))

    def from_bytes(self, saved: Mapping[str, Buffer]) -> "LinkerData":
        """Read what ``to_bytes`` returned; a part that is missing there is not changed.

        Returns:
            With the data.

        Raises:
            PelError: as ``load``.
        """

        def load(name: str, from_disk: Callable, from_bytes: Callable | None) -> Any:
            return from_bytes(saved[name]) if from_bytes else load_from_bytes(saved[name], from_disk, kind=name)

        return self._loaded(saved.__contains__, load)

    def _loaded(self, is_saved: Callable[[str], bool], load: Callable[[str, Callable, Callable | None], Any]) -> Any:
        """The parts that are saved are read by ``load``, from their names and how they are read from a folder, and from
        bytes if they have a form of their own."""
        kb, index, memory = self.kb, self.index, self.memory
        if is_saved("kb"):
            kb = load("kb", KnowledgeBase.from_disk, KnowledgeBase.from_bytes)
        if self.generator is not None and kb is not None and is_saved("generator"):
            load("generator", partial(_read_generator, self.generator, kb), None)
        for name, part in (("encoder", self.encoder), ("reranker", self.ranker)):
            if part is not None and is_saved(name):
                load(name, part.from_disk, None)
        if is_saved(MEMORY):
            memory = load(MEMORY, _read_memory, None)
        if self.encoder is not None and is_saved("index"):
            index = load("index", EntityIndex.from_disk, EntityIndex.from_bytes)
            index.check_built_for(kb, self.encoder)
        if memory is not None:
            memory.check_made_with(self.encoder)
        return replace(self, kb=kb, index=index, memory=memory)


def _read_memory(path: Path) -> Memory:
    """An empty one if there is none."""
    return Memory.from_disk(path) if path.exists() else Memory()


def _read_generator(generator: CandidateGenerator, kb: KnowledgeBase, path: Path) -> CandidateGenerator:
    check_origin(path, kb)
    return generator.from_disk(path)


# -- loaders ----------------------------------------------------------------------------------------


@spacy_registry.misc("spacy-pel.KBFromDisk.v1")
def make_kb_loader(path: PathLike) -> Callable[[], KnowledgeBase]:
    """Load the KB from a folder made by ``spacy-pel kb build``.

    Args:
        path: the KB folder.

    Returns:
        () -> KnowledgeBase.
    """
    return lambda: KnowledgeBase.from_disk(Path(path))


@spacy_registry.misc("spacy-pel.EncoderFromDisk.v1")
@spacy_registry.misc("spacy-pel.RankerFromDisk.v1")
def make_part_loader(path: PathLike) -> Callable[[Any], Any]:
    """Load the encoder or the ranker from a model folder.

    Args:
        path: the model folder, e.g. "training/model-best".

    Returns:
        The component's encoder or ranker -> the same, with weights.
    """
    return lambda part: part.from_disk(Path(path))


@spacy_registry.misc("spacy-pel.IndexFromDisk.v1")
def make_index_loader(path: PathLike) -> Callable[[KnowledgeBase, Encoder], EntityIndex]:
    """Load the index from a folder made by ``spacy-pel index``.

    Args:
        path: the index folder.

    Returns:
        (kb, encoder) -> EntityIndex, checked to fit both.
    """
    return lambda kb, encoder: EntityIndex.from_disk(Path(path), kb=kb, encoder=encoder)


@spacy_registry.misc("spacy-pel.GeneratorFromDisk.v1")
def make_generator_loader(path: PathLike) -> Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator]:
    """Load the candidate generator from a folder made by ``spacy-pel candidates build``.

    Args:
        path: the folder.

    Returns:
        (kb, the component's generator) -> the same generator, with its data, checked to
        fit the KB.
    """
    return lambda kb, generator: _read_generator(generator, kb, Path(path))


# -- the calibration as JSON ------------------------------------------------------------------------


_DEFAULT_GENERATOR = BiEncoderCandidates.__name__


def learned_state(linker: Linker) -> dict[str, Any]:
    """The content of ``cfg.json``. Settings are not in it: they are in the config,
    so that ``spacy.load(config=...)`` can set them. The generator is in it if it is not the default one.
    """
    decider, generator = linker.decider, kind_of(linker.generator)
    optional = {
        "confidence": decider.confidence.state(),
        "reranker": {} if decider.reranker is None else _state(decider.reranker),
        "label_types": dict(decider.label_types.counts),
        "generator": {} if generator == _DEFAULT_GENERATOR else {"kind": generator},
        "expected_nil_share": decider.expected_nil_share,
    }
    in_context = {} if decider.calibrated_in_context is None else {"in_context": decider.calibrated_in_context}
    return {
        "calibrated_threshold": decider.calibrated_threshold,
        **in_context,
        "combiner": _state(decider.combiner),
        "nil_model": _state(decider.nil_model),
        **{name: state for name, state in optional.items() if state},
    }


def load_learned_state(linker: Linker, saved: dict[str, Any], *, name: str) -> None:
    """Load the calibration of another linker.

    Only what still applies is loaded; otherwise a warning is logged, as it is if neither a calibration nor a setting
    gives a NIL threshold, if there is no calibration for ``coverage``, or if the linker now reads context and did not
    then, or the other way round.
    With another kind of combiner, NIL model and threshold are not loaded either, as they were fitted on its
    scores; nor are they with another kind of NIL model or reranker. The types of labels go with the combiner,
    which weighs them. With another kind of generator nothing is loaded.

    Args:
        linker: built from the config.
        saved: from ``learned_state``.
        name: the component's name, for the warning.
    """
    is_whole, decider = _load(linker, saved, name), linker.decider
    if linker.coverage is not None and not decider.confidence.is_fitted:
        logger.warning(Warnings.W508.format(name=name, coverage=linker.coverage))
    if is_whole and not decider.is_calibrated and linker.threshold is None:
        logger.warning((Warnings.W506 if decider.decides_without_threshold else Warnings.W505).format(name=name))
    if is_whole:
        warn_of_other_reading(linker, name=name)


def _load(linker: Linker, saved: dict[str, Any], name: str) -> bool:
    """Load the states of the parts that are of the saved kinds, and if all are, threshold and confidence.

    Returns:
        Whether all are.
    """
    decider, kind, now = linker.decider, saved_generator_kind(saved), kind_of(linker.generator)
    if kind != now:
        logger.warning(Warnings.W503.format(name=name, what="the generator", saved=kind, now=now))
        return False
    if saved["combiner"]["kind"] == kind_of(decider.combiner):
        decider.label_types = LabelTypes(saved.get("label_types", {}))
    parts = {"combiner": decider.combiner, "reranker": decider.reranker, "nil_model": decider.nil_model}
    for key, part in parts.items():  # NIL model and threshold depend on the reranker
        saved_kind, part_kind = saved.get(key, {}).get("kind"), None if part is None else kind_of(part)
        if saved_kind != part_kind:
            what = f"the {key.replace('nil_', 'NIL ')}"
            logger.warning(Warnings.W503.format(name=name, what=what, saved=saved_kind, now=part_kind))
            return False
        if part is not None:
            part.load_state(saved[key]["state"])
    decider.calibrated_threshold = saved["calibrated_threshold"]
    decider.calibrated_in_context = saved.get("in_context")
    decider.expected_nil_share = saved.get("expected_nil_share")
    decider.confidence = Confidence.from_state(saved.get("confidence", {}))
    return True


def warn_of_other_reading(linker: Linker, *, name: str) -> None:
    """Log a warning if a linker reads mentions in their context and was calibrated on surface forms, or the other way
    round."""
    then = linker.decider.calibrated_in_context
    if then is not None and then != linker.reads_context:
        saved, now = ("always", "never") if then else ("never", "always")
        logger.warning(Warnings.W503.format(name=name, what="read_context =", saved=saved, now=now))


def saved_generator_kind(saved: dict[str, Any]) -> str:
    """The kind that was calibrated; ``saved`` is from ``learned_state``."""
    return saved.get("generator", {}).get("kind", _DEFAULT_GENERATOR)


def kind_of(part: CandidateGenerator | Combiner | NilModel | Reranker) -> str:
    """The kind of a part, by which a calibration is for it."""
    return type(part.ranker if isinstance(part, Reranker) else part).__name__


def _state(part: Combiner | NilModel | Reranker) -> dict[str, Any]:
    return {"kind": kind_of(part), "state": part.state()}
