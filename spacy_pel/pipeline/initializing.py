"""Filling the component with data: what its ``initialize`` does."""

from typing import TYPE_CHECKING, Callable, Iterable, Optional

from spacy.training import Example

from ..errors import Errors, PelError
from ..indexes import EntityIndex
from ..kb import KnowledgeBase
from ..types import Encoder, Ranker
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
) -> None:
    """Load or make KB, encoder, ranker and index; see ``ProxyEntityLinker.initialize``.

    RAISES (PelError): if there is no KB, or what is loaded does not fit together.
    """
    if kb_loader is None and not component.is_initialized:
        raise PelError(Errors.E502.format(name=component.name, missing="kb_loader, so no knowledge base"))
    kb = component.kb if kb_loader is None else kb_loader()
    if encoder_loader is None:
        component.encoder.initialize()
    else:
        component.encoder = encoder_loader(component.encoder)
    if component.reranker is None and reranker_loader is not None:
        raise PelError(Errors.E509.format(name=component.name))
    if component.reranker is not None:
        if reranker_loader is None:
            component.reranker.ranker.initialize()
        else:
            component.reranker.ranker = reranker_loader(component.reranker.ranker)
    if index_loader is not None:
        index = index_loader(kb, component.encoder)
    else:
        documents = documents_of(get_examples()) if "mention" in component.row_kinds else []
        index = EntityIndex.build(
            kb,
            component.encoder,
            index=component.vector_index,
            kinds=component.row_kinds,
            documents=documents,
        )
    component.set_data(kb, index)
