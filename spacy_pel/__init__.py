"""Biomedical entity linking for spaCy. The names below are loaded when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .about import __version__
from .errors import PelError
from .registry import registry
from .types import NIL, Candidate, Document, Entity, Mention

if TYPE_CHECKING:
    from .encoders.bi_encoder import BiEncoder
    from .encoders.pretrained import load_encoder
    from .evaluation import evaluate, evaluate_end_to_end
    from .index import EntityIndex
    from .kb import KnowledgeBase
    from .linking import Linker, MentionQuery
    from .pipeline.proxy_entity_linker import ProxyEntityLinker
    from .training.retriever.loop import train
    from .training.retriever.settings import read_settings

_LAZY: dict[str, str] = {
    "BiEncoder": ".encoders.bi_encoder",
    "EntityIndex": ".index",
    "KnowledgeBase": ".kb",
    "Linker": ".linking",
    "MentionQuery": ".linking",
    "ProxyEntityLinker": ".pipeline.proxy_entity_linker",
    "evaluate": ".evaluation",
    "evaluate_end_to_end": ".evaluation",
    "load_encoder": ".encoders.pretrained",
    "read_settings": ".training.retriever.settings",
    "train": ".training.retriever.loop",
}

__all__ = [
    "NIL",
    "BiEncoder",
    "Candidate",
    "Document",
    "Entity",
    "EntityIndex",
    "KnowledgeBase",
    "Linker",
    "Mention",
    "MentionQuery",
    "PelError",
    "ProxyEntityLinker",
    "__version__",
    "evaluate",
    "evaluate_end_to_end",
    "load_encoder",
    "read_settings",
    "registry",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(_LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
