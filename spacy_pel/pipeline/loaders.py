"""Loaders for ``[initialize.components.proxy_entity_linker]``: the only settings with paths."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from spacy.util import registry as spacy_registry

from ..kb import KnowledgeBase
from ..types import CandidateGenerator, Encoder
from ..util.files import PathLike


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
def make_index_loader(path: PathLike) -> Callable[[KnowledgeBase, Encoder], object]:
    """Load the index from a folder made by ``spacy-pel index``.

    Args:
        path: the index folder.

    Returns:
        (kb, encoder) -> EntityIndex, checked to fit both.
    """

    def load_index(kb: KnowledgeBase, encoder: Encoder) -> object:
        from ..index import EntityIndex

        return EntityIndex.from_disk(Path(path), kb=kb, encoder=encoder)

    return load_index


@spacy_registry.misc("spacy-pel.GeneratorFromDisk.v1")
def make_generator_loader(path: PathLike) -> Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator]:
    """Load the candidate generator from a folder made by ``spacy-pel candidates build``.

    Args:
        path: the folder.

    Returns:
        (kb, the component's generator) -> the same generator, with its data, checked to
        fit the KB.
    """

    def load(kb: KnowledgeBase, generator: CandidateGenerator) -> CandidateGenerator:
        from ..candidates.generator_base import check_origin

        check_origin(Path(path), kb)
        return generator.from_disk(Path(path))

    return load
