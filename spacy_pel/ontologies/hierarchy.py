"""Walks up the is-a of an ontology."""

from collections.abc import Collection, Container, Iterator, Mapping

from .term import Term


def nearest_ancestors(term: Term, terms: Mapping[str, Term], wanted: Container[str]) -> Iterator[str]:
    """The first wanted term on each way up from a term.

    Args:
        term: where to start; it does not count itself.
        terms: the ontology, by id.
        wanted: ids of terms.

    Yields:
        Ids, the nearest first.
    """
    seen = {term.id}
    queue = list(term.parents)
    for term_id in queue:  # which grows
        if term_id in seen:
            continue
        seen.add(term_id)
        if term_id in wanted:
            yield term_id
        elif term_id in terms:
            queue += terms[term_id].parents


def branch_of(term: Term, terms: Mapping[str, Term], roots: Collection[str]) -> str:
    """The nearest of some roots that a term is below, or is itself.

    Args:
        term: the term.
        terms: the ontology, by id.
        roots: ids of terms.

    Returns:
        The root's id; "" = none.
    """
    if term.id in roots:
        return term.id
    return next(nearest_ancestors(term, terms, roots), "") if roots else ""
