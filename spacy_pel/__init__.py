from .about import __version__
from .registry import registry
from .types import NIL, Candidate, Document, Entity, Mention

__all__ = ["NIL", "Candidate", "Document", "Entity", "Mention", "__version__", "registry"]
