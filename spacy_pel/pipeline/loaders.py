"""Loaders for ``[initialize.components.proxy_entity_linker]``: the only settings with paths."""

from collections.abc import Callable
from pathlib import Path

from spacy.util import registry as spacy_registry

from ..kb import KnowledgeBase
from ..types import CandidateGenerator, Encoder, Ranker
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
def make_encoder_loader(path: PathLike) -> Callable[[Encoder], Encoder]:
    """Load the encoder from a model folder.

    Args:
        path: the model folder, e.g. "training/model-best".

    Returns:
        The component's encoder -> the same encoder, with weights.
    """
    return lambda encoder: encoder.from_disk(Path(path))


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


@spacy_registry.misc("spacy-pel.RankerFromDisk.v1")
def make_ranker_loader(path: PathLike) -> Callable[[Ranker], Ranker]:
    """Load the ranker from a model folder made by ``spacy-pel ranker train``.

    Args:
        path: the model folder, e.g. "training/ranker/model-best".

    Returns:
        The component's ranker -> the same ranker, with weights.
    """
    return lambda ranker: ranker.from_disk(Path(path))


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
        from ..candidates.loading import check_origin

        check_origin(Path(path), kb)
        return generator.from_disk(Path(path))

    return load
