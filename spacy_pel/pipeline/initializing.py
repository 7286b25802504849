"""Filling the component with data: what its ``initialize`` does."""

from typing import TYPE_CHECKING, Callable, Iterable, Optional

from spacy.training import Example

from ..errors import Errors, PelError
from ..index import EntityIndex
from ..kb import KnowledgeBase
from ..types import CandidateGenerator, Encoder, Ranker
from .checks import check_vector_loaders
from .gold import documents_of

if TYPE_CHECKING:
    from .proxy_entity_linker import ProxyEntityLinker


def initialize_component(
    component: "ProxyEntityLinker",
    get_examples: Callable[[], Iterable[Example]],
    kb_loader: Optional[Callable[[], KnowledgeBase]],
    encoder_loader: Optional[Callable[[Encoder], Encoder]],
    index_loader: Optional[Callable[[KnowledgeBase, Encoder], EntityIndex]],
    reranker_loader: Optional[Callable[[Ranker], Ranker]],
    generator_loader: Optional[Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator]],
) -> None:
    """Load or make KB, encoder, ranker, index and generator; see ``ProxyEntityLinker.initialize``.

    RAISES (PelError): if there is no KB, or what is loaded does not fit together.
    """
    if kb_loader is None and not component.is_initialized:
        raise PelError(Errors.E502.format(name=component.name, missing="kb_loader, so no knowledge base"))
    check_vector_loaders(component, encoder_loader, index_loader)
    kb = component.kb if kb_loader is None else kb_loader()
    if component.encoder is not None:
        if encoder_loader is None:
            component.encoder.initialize()
        else:
            component.encoder = encoder_loader(component.encoder)
    _initialize_reranker(component, reranker_loader)
    index = _make_index(component, kb, get_examples, index_loader)
    _initialize_generator(component, kb, generator_loader)
    component.set_data(kb, index)


def _initialize_reranker(
    component: "ProxyEntityLinker", reranker_loader: Optional[Callable[[Ranker], Ranker]]
) -> None:
    if component.reranker is None and reranker_loader is not None:
        raise PelError(Errors.E509.format(name=component.name))
    if component.reranker is not None:
        if reranker_loader is None:
            component.reranker.ranker.initialize()
        else:
            component.reranker.ranker = reranker_loader(component.reranker.ranker)


def _initialize_generator(
    component: "ProxyEntityLinker",
    kb: KnowledgeBase,
    generator_loader: Optional[Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator]],
) -> None:
    if component.generator is None and generator_loader is not None:
        raise PelError(Errors.E514.format(name=component.name))
    if component.generator is not None:
        if generator_loader is None:
            component.generator.build(kb)
        else:
            component.generator = generator_loader(kb, component.generator)


def _make_index(
    component: "ProxyEntityLinker",
    kb: KnowledgeBase,
    get_examples: Callable[[], Iterable[Example]],
    index_loader: Optional[Callable[[KnowledgeBase, Encoder], EntityIndex]],
) -> Optional[EntityIndex]:
    if component.encoder is None or component.vector_index is None:
        return None
    if index_loader is not None:
        return index_loader(kb, component.encoder)
    return EntityIndex.build(
        kb,
        component.encoder,
        index=component.vector_index,
        kinds=component.row_kinds,
        documents=documents_of(get_examples()) if "mention" in component.row_kinds else [],
    )
