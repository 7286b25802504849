"""Is a generator built, and from a knowledge base like the one that it is given?"""

from typing import Optional, Protocol, TypeVar

from ..errors import Errors, PelError
from ..kb import KnowledgeBase


class _Named(Protocol):
    registered_name: str


class _Rows(Protocol):
    @property
    def n_rows(self) -> int: ...  # the knowledge base must have so many rows at least


Built = TypeVar("Built", bound=_Rows)


def check_built(generator: _Named, part: Optional[Built], kb: Optional[KnowledgeBase] = None) -> Built:
    """What a generator was built of.

    generator (CandidateGenerator): whose part it is.
    part (Optional[Built]): None = it was not built.
    kb (Optional[KnowledgeBase]): the one that is to be searched; its rows never change their places.
    RETURNS (Built): the part.
    RAISES (PelError): if there is none, or it was built from a knowledge base with more rows.
    """
    if part is None:
        raise PelError(Errors.E444.format(generator=generator.registered_name))
    if kb is not None and kb.n_rows < part.n_rows:
        raise PelError(
            Errors.E448.format(generator=generator.registered_name, least=part.n_rows, n=kb.n_rows)
        )
    return part
