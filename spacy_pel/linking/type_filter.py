"""Which entities the label of a mention allows."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from .query import MentionQuery

EntityTypes = dict[str, frozenset[str]]  # label -> types of the KB


def read_entity_types(kb: KnowledgeBase, entity_types: Mapping[str, Sequence[str]] | None) -> EntityTypes:
    """The setting as sets. RAISES (PelError): if no entity has one of the types."""
    read = {label: frozenset(types) for label, types in (entity_types or {}).items()}
    known = kb.types() if read else {}
    for label, types in read.items():
        unknown = sorted(types.difference(known))
        if unknown:
            raise PelError(Errors.E500.format(label=label, types=", ".join(unknown), known=_some(sorted(known))))
    return read


def allowed_rows(
    kb: KnowledgeBase, entity_types: EntityTypes, queries: Sequence[MentionQuery]
) -> list[NDArray[np.bool_] | None] | None:
    """For each mention a mask over the rows of the KB, or
    None where its label is not filtered. Mentions of one label share a mask. None = nothing is filtered."""
    if not entity_types:
        return None
    masks = {label: kb.rows_with_types(types) for label, types in entity_types.items()}
    return [masks.get(query.label) for query in queries]


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
