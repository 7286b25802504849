"""Biomedical entity linking for spaCy. The names below are loaded when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .about import __version__
from .errors import PelError
from .registry import registry
from .types import NIL, Document, Entity, Mention

if TYPE_CHECKING:
    from .evaluation import evaluate, evaluate_end_to_end
    from .index import EntityIndex
    from .kb import KnowledgeBase
    from .linking import Linker
    from .pipeline.proxy_entity_linker import ProxyEntityLinker

_LAZY: dict[str, str] = {
    "EntityIndex": ".index",
    "KnowledgeBase": ".kb",
    "Linker": ".linking",
    "ProxyEntityLinker": ".pipeline.proxy_entity_linker",
    "evaluate": ".evaluation",
    "evaluate_end_to_end": ".evaluation",
}

__all__ = [
    "NIL",
    "Document",
    "Entity",
    "EntityIndex",
    "KnowledgeBase",
    "Linker",
    "Mention",
    "PelError",
    "ProxyEntityLinker",
    "__version__",
    "evaluate",
    "evaluate_end_to_end",
    "registry",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(_LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
