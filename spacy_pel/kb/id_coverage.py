"""Do annotations use the ids of the knowledge base? A warning if most do not, an error if none does."""

from ..errors import Errors, PelError, Warnings
from ..util import logger
from .knowledge_base import KnowledgeBase


def warn_of_other_ids(kb: KnowledgeBase, *, n_outside: int, n: int, example: str) -> None:
    """Log a warning if more than half of the mentions with ids have none that the knowledge base has: often
    it is another knowledge base than that of the annotation, or the ids lack a prefix.

    kb (KnowledgeBase): the entities.
    n_outside (int): mentions none of whose ids is in it.
    n (int): mentions that are annotated with ids.
    example (str): an id that it lacks.
    """
    if 2 * n_outside > n and len(kb):
        logger.warning(Warnings.W103.format(n_outside=n_outside, n=n, example=example, own=_own_id(kb)))


def no_known_id(kb: KnowledgeBase, *, n: int, example: str) -> PelError:
    """The error where no annotated mention has an id that the knowledge base has.

    kb (KnowledgeBase): the entities.
    n (int): mentions that are annotated with ids.
    example (str): one of these ids.
    RETURNS (PelError): to raise.
    """
    return PelError(Errors.E621.format(n=n, example=example, own=_own_id(kb)))


def _own_id(kb: KnowledgeBase) -> str:
    return kb.id_at(int(kb.live_rows[0])) if len(kb) else "none"
