"""Do annotations use the ids of the knowledge base? A warning where most of them do not."""

from ..errors import Warnings
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
        own = kb.id_at(int(kb.live_rows[0]))
        logger.warning(Warnings.W103.format(n_outside=n_outside, n=n, example=example, own=own))
