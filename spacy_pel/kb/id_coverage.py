"""Do annotations use the ids of the knowledge base? A warning if most do not, an error if none does."""

from ..errors import Errors, PelError, Warnings
from ..util import logger
from .knowledge_base import KnowledgeBase


def warn_of_other_ids(kb: KnowledgeBase, *, n_outside: int, n: int, example: str) -> None:
    """Log a warning if more than half of the mentions with ids have none that the knowledge base has: often
    it is another knowledge base than that of the annotation, or the ids lack a prefix.

    Args:
        kb: the entities.
        n_outside: mentions none of whose ids is in it.
        n: mentions that are annotated with ids.
        example: an id that it lacks.
    """
    if 2 * n_outside > n and len(kb):
        facts = {"example": example, "own": _own_id(kb), "hint": prefix_hint(kb, example)}
        logger.warning(Warnings.W103.format(n_outside=n_outside, n=n, **facts))


def no_known_id(kb: KnowledgeBase, *, n: int, example: str) -> PelError:
    """The error where no annotated mention has an id that the knowledge base has.

    Args:
        kb: the entities.
        n: mentions that are annotated with ids.
        example: one of these ids.

    Returns:
        To raise.
    """
    if not len(kb):
        return PelError(Errors.E624)
    return PelError(Errors.E621.format(n=n, example=example, own=_own_id(kb), hint=prefix_hint(kb, example)))


def prefix_hint(kb: KnowledgeBase, example: str) -> str:
    """A sentence, after a blank, where ids may differ only in a prefix such as "MESH:".

    Args:
        example: an annotated id that the knowledge base lacks; "" = there is none.
    """
    own = _own_id(kb)
    given, known = _prefix(example), _prefix(own)
    if given and not known:
        return f" If '{given}' is all that differs, convert the corpus with --set strip_prefix={given}"
    if known and example and not given:
        return f" If '{known}' is all that differs, put it before the ids of the corpus."
    return ""


def _own_id(kb: KnowledgeBase) -> str:
    return kb.id_at(int(kb.live_rows[0])) if len(kb) else "none"


def _prefix(entity_id: str) -> str:
    """ "MESH:" of "MESH:D009369"; "" = none."""
    return "".join(entity_id.partition(":")[:2]) if ":" in entity_id else ""
