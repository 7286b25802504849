"""Walks up the is-a of an ontology."""

from collections.abc import Container, Iterable, Iterator, Mapping

from .term import Term


def nearest_ancestors(term: Term, terms: Mapping[str, Term], wanted: Container[str]) -> list[str]:
    """The first wanted term on each way up from a term.

    Args:
        term: where to start; it does not count itself.
        terms: the ontology, by id.
        wanted: ids of terms.

    Returns:
        Ids, the nearest first.
    """
    found, seen = [], {term.id}
    queue = list(term.parents)
    for term_id in queue:  # which grows
        if term_id in seen:
            continue
        seen.add(term_id)
        if term_id in wanted:
            found.append(term_id)
        elif term_id in terms:
            queue += terms[term_id].parents
    return found


def branch_of(term: Term, terms: Mapping[str, Term], roots: Container[str]) -> str:
    """The nearest of some roots that a term is below, or is itself.

    Args:
        term: the term.
        terms: the ontology, by id.
        roots: ids of terms.

    Returns:
        The root's id; "" = none.
    """
    return next((term_id for term_id in _upwards(term.id, terms) if term_id in roots), "")


def _upwards(start: str, terms: Mapping[str, Term]) -> Iterator[str]:
    """A term and its ancestors, the nearest first."""
    seen: set[str] = set()
    level: Iterable[str] = [start]
    while level:
        level = [term_id for term_id in dict.fromkeys(level) if term_id not in seen]
        seen.update(level)
        yield from level
        level = [parent for term_id in level if term_id in terms for parent in terms[term_id].parents]
