"""Seen or unseen: does a gold entity, or the surface form of a mention, occur in annotated text?"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ...kb import KnowledgeBase
from ...types import Document
from ..predict import IsSeen

if TYPE_CHECKING:  # imports faiss
    from ...index import EntityIndex


def seen_in_corpus(kb: KnowledgeBase, documents: Iterable[Document]) -> IsSeen:
    """Is one of these live ids a gold id of the documents?"""
    ids = {entity_id for document in documents for mention in document.mentions for entity_id in mention.ids}
    live: set[str] = {resolved for entity_id in ids if (resolved := kb.resolve(entity_id)) is not None}
    return lambda gold: not live.isdisjoint(gold)


def seen_in_index(kb: KnowledgeBase, index: "EntityIndex | None") -> IsSeen:
    """Is one of these ids a gold id of the documents that the index was built with?
    Without an index, nothing was seen."""
    return lambda gold: index is not None and bool((index.priors.total(kb.rows(list(gold))) > 0).any())


def form_in_index(index: "EntityIndex | None") -> Callable[[str], bool]:
    """Does a surface form occur in the annotated text that the index was built with?"""
    return lambda form: index is not None and len(index.priors.counts([form])[0]) > 0
