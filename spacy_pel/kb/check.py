"""An audit of a knowledge base: names that lead astray, and links between entities that lead nowhere.

Entities are read in batches, for one kind of finding after the other. The largest thing in memory is a column of all
names, with the row of each.
"""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..types import Rows
from ..util import normalize_alias, progress
from ..util.arrays import Ragged, grouped, numbered, owners
from ..util.xrefs import is_code, normalize_xref
from .knowledge_base import KnowledgeBase
from .repair import ends_of_chains, is_obsolete, without_markup, without_mojibake, without_tags

_BATCH = 1 << 15  # rows
_MOST_NAMES, _MOST_OF_ACRONYM = 50, 5
_MOST_SHARED = 0.2  # of the codes of a vocabulary whose codes identify entities
_N_SHOWN, _N_LISTED = 5, 15  # entities of an example, counts by kind or vocabulary
_ACRONYM = re.compile("[A-Z]{2,5}")

# kind: its level, what is counted, and what to do
KINDS = {
    "damaged_name": ("error", "damaged names", "Build again with a reader that repairs names, or rename."),
    "many_names": ("error", f"entities with over {_MOST_NAMES} names", "Leave out wordings that are no names."),
    "is_a_cycle": ("error", "circles of parents", "Leave out the parent that is not broader."),
    "lost_redirect": ("error", "retired ids whose successor is not live", "Name a live successor."),
    "redirect_cycle": ("error", "circles of redirects", "Name a live successor."),
    "twins": ("warning", "preferred names of several entities", "Retire one in favour of the other, or rename it."),
    "shared_code": ("warning", "codes of several entities", "Leave each with one of them, or merge the entities."),
    "other_preferred": ("warning", "aliases that another entity prefers", "Leave out those that texts do not use."),
    "acronym": ("warning", f"acronyms of over {_MOST_OF_ACRONYM} entities", "Leave out those that texts do not use."),
    "lost_parent": ("information", "parents that are no live entity", "Add them, unless you left them out."),
    "no_type": ("information", "entities without a type", "Add types, if mentions are limited by type."),
    "no_definition": ("information", "entities without a definition", "No action needed: linking does not use them."),
}
_DAMAGES: dict[str, Callable[[str], bool]] = {
    "number": lambda name: name.replace(".", "").replace(",", "").isdecimal(),
    "markup": lambda name: ("&" in name or "<" in name) and without_markup(name) != name,
    "mojibake": lambda name: not name.isascii() and ("\ufffd" in name or without_mojibake(name) != name),
    # also those of the fonts of symbols
    "control_character": lambda name: re.search("[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]", name) is not None,
    "obsolete_label": is_obsolete,
    "last_sign": lambda name: name.endswith((";", ",")),
    # after a digit it may be inches, or a place in a molecule
    "stray_quote": lambda name: name.count('"') % 2 == 1 and len(re.findall(r'(?<!\d)"', name)) % 2 == 1,
}


@dataclass(frozen=True)
class Example:
    """One case of a finding.

    Attributes:
        n: the number that makes it bad, such as how many entities have the name.
        what: the name, code or id that it is about; may be empty.
        entities: the first of the entities that it concerns, id -> preferred name ("" for a retired id).
    """

    n: int
    what: str
    entities: dict[str, str]


@dataclass(frozen=True)
class Finding:
    """What the audit says of one kind of fault.

    Attributes:
        kind: a key of ``KINDS``.
        level: "error", "warning" or "information".
        title: what is counted.
        todo: what to do.
        count: how many there are.
        worst: the worst cases, the worst first.
        detail: more numbers, in words; may be empty.
    """

    kind: str
    level: str
    title: str
    todo: str
    count: int
    worst: list[Example]
    detail: str = ""


Found = Iterator[tuple[Any, ...]]


def check(kb: KnowledgeBase, *, top: int = 10, show_progress: bool = False) -> list[Finding]:
    """Look for faults of the live entities and of the redirects.

    Args:
        kb: its changes count, saved or not.
        top: how many cases of a kind are listed at most.
        show_progress: show a progress bar.

    Returns:
        A finding for each of ``KINDS``, also where there is nothing to find (its count is 0).
    """
    finders = (_Audit.entities, _Audit.preferred_names, _Audit.acronyms, _Audit.codes, _Audit.parents, _Audit.redirects)
    steps = progress(finders, description="Checking", show=show_progress)
    found = {kind: rest for find in steps for kind, *rest in find(_Audit(kb, top))}
    return [Finding(kind, *of_kind, *found[kind]) for kind, of_kind in KINDS.items()]


class _Audit:
    """Finds faults. Each finder gives the kinds, counts, worst cases and maybe details of its findings."""

    def __init__(self, kb: KnowledgeBase, top: int):
        self.kb, self.top = kb, top

    def entities(self) -> Found:
        """Damaged names, too many names, and entities without types or a definition."""
        names = self._live("canonical_name", "aliases")
        texts, groups = _by_text((row, _damaged([name, *aliases])) for row, name, aliases in names)
        n_of_kinds = Counter(text.partition(":")[0] for text in texts.to_pylist())
        detail = _listed(dict(n_of_kinds.most_common()))
        yield "damaged_name", len(texts), self._worst(groups, texts.__getitem__), detail
        many = sorted(((len(names), row) for row, names in self._names() if len(names) > _MOST_NAMES), reverse=True)
        yield "many_names", len(many), [Example(n, "", self._named([row])) for n, row in many[: self.top]]
        for kind, field in (("no_type", "types"), ("no_definition", "definition")):
            rows = [row for row, value in self._live(field) if not value]
            yield kind, len(rows), [Example(1, "", self._named([row])) for row in rows[: self.top]]

    def preferred_names(self) -> Found:
        """Names that several entities prefer, and those that one prefers and others have, too."""
        names, groups = _by_text((row, [normalize_alias(name)]) for row, name in self._live("canonical_name"))
        twins = np.flatnonzero(groups.lengths > 1)
        pairs = groups.take(twins)
        types = zip(owners(pairs.offsets).tolist(), self.kb.types_at(pairs.values), strict=True)
        counts = Counter((name, kind) for name, kinds in types for kind in kinds)
        n_alike = len({name for (name, _), n in counts.items() if n > 1})
        detail = f"{len(pairs.values):,} entities; {n_alike:,} of the names are of entities that share a type"
        yield "twins", len(twins), self._worst(pairs, names.take(twins).__getitem__), detail if len(twins) else ""

        number = np.full(self.kb.n_rows, -1)  # that of the name that each entity prefers
        number[groups.values] = owners(groups.offsets)
        all_names, having = _by_text((row, set(map(normalize_alias, of_row))) for row, of_row in self._names())
        having = having.take(pc.index_in(names, value_set=all_names).to_numpy())
        rows, which = having.values, owners(having.offsets)
        is_alias = number[rows] != which
        others = grouped(rows[is_alias], which[is_alias], len(names))
        worst = self._worst(others, lambda i: f"{names[i]} ({self.kb.id_at(groups[i][0])})")
        yield "other_preferred", len(others.values), worst

    def acronyms(self) -> Found:
        acronyms, groups = _by_text((row, filter(_ACRONYM.fullmatch, names)) for row, names in self._names())
        of_many = np.flatnonzero(groups.lengths > _MOST_OF_ACRONYM)
        yield "acronym", len(of_many), self._worst(groups.take(of_many), acronyms.take(of_many).__getitem__)

    def codes(self) -> Found:
        """Codes of several entities, in vocabularies most of whose codes have one."""

        def codes_of(xrefs: list[str]) -> set[str]:
            return {xref for xref in map(normalize_xref, xrefs) if is_code(*xref.partition(":")[::2])}

        codes, groups = _by_text((row, codes_of(xrefs)) for row, xrefs in self._live("xrefs"))
        vocabularies = pc.list_element(pc.split_pattern(codes, ":", max_splits=1), 0).dictionary_encode()
        names, which = vocabularies.dictionary.to_pylist(), vocabularies.indices.to_numpy()
        is_shared = groups.lengths > 1
        n, n_shared = (np.bincount(some, minlength=len(names)) for some in (which, which[is_shared]))
        n_shared[n_shared > _MOST_SHARED * n] = 0
        shared = np.flatnonzero(is_shared & (n_shared[which] > 0))
        detail = _listed({names[i]: f"{n_shared[i]:,} of {n[i]:,}" for i in np.argsort(-n_shared) if n_shared[i]})
        yield ("shared_code", len(shared), self._worst(groups.take(shared), codes.take(shared).__getitem__), detail)

    def parents(self) -> Found:
        """Circles of is-a, and parents that are not live."""
        ids, children = _by_text(self._live("parents"))
        parents = self.kb.rows(ids.to_pylist())
        known, lost = np.flatnonzero(parents >= 0), np.flatnonzero(parents < 0)
        sources, targets = children.take(known).values, np.repeat(parents[known], children.lengths[known])
        circles = _circles(sources, targets, self.kb.n_rows)
        yield "is_a_cycle", len(circles), self._worst(circles, lambda _: "circle")
        yield "lost_parent", len(lost), self._worst(children.take(lost), ids.take(lost).__getitem__)

    def redirects(self) -> Found:
        """Retired ids that lead to no live entity, or in circles."""
        redirects = self.kb.redirects()
        olds = zip(redirects, self.kb.rows(list(redirects)).tolist(), strict=True)
        lost = {old: redirects[old] for old, row in olds if row < 0}
        ids, numbers = numbered([*lost, *lost.values()])  # retired ids first
        ends = enumerate(ends_of_chains(lost, ()).values())
        by_end, groups = _by_text((i, [end]) for i, end in ends if end not in lost)
        yield "lost_redirect", len(groups.values), self._worst(groups, by_end.__getitem__, ids)
        circles = _circles(numbers[: len(lost)], numbers[len(lost) :], len(ids))
        yield "redirect_cycle", len(circles), self._worst(circles, lambda _: "circle", ids)

    def _worst(self, groups: Ragged, what: Callable[[int], Any], ids: Sequence[str] = ()) -> list[Example]:
        """The largest groups.

        Args:
            groups: of rows; or of numbers of ``ids``, if there are some.
            what: tells what a group is about.
            ids: retired ones.
        """
        largest = np.argsort(-groups.lengths, kind="stable")[: self.top].tolist()
        named = (lambda numbers: {ids[i]: "" for i in numbers[:_N_SHOWN]}) if ids else self._named
        return [Example(len(groups[i]), str(what(i)), named(groups[i])) for i in largest if len(groups[i])]

    def _live(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The row of each live entity, and these fields."""
        for start in range(0, len(self.kb), _BATCH):
            rows = self.kb.live_rows[start : start + _BATCH]
            yield from zip(rows.tolist(), *self.kb.cells_at(rows, *fields), strict=True)

    def _names(self) -> Iterator[tuple[int, set[str]]]:
        return ((row, {name, *aliases}) for row, name, aliases in self._live("canonical_name", "aliases"))

    def _named(self, rows: Sequence[int] | Rows) -> dict[str, str]:
        ids, names = self.kb.cells_at(rows[:_N_SHOWN], "concept_id", "canonical_name")
        return dict(zip(ids, names, strict=True))


def _by_text(texts_of_rows: Iterable[tuple[Any, ...]]) -> tuple[pa.StringArray, Ragged]:
    """The distinct texts, and the rows that have each."""
    pairs = ((text, row) for row, texts in texts_of_rows for text in texts)
    columns, rows = [pa.array([], type=pa.string())], array("i")
    while batch := list(islice(pairs, _BATCH)):
        columns.append(pa.array([text for text, _ in batch], type=pa.string()))
        rows.extend(row for _, row in batch)
    encoded = pa.chunked_array(columns).combine_chunks().dictionary_encode()
    return encoded.dictionary, grouped(np.array(rows), encoded.indices.to_numpy(), len(encoded.dictionary))


def _damaged(names: Sequence[str]) -> Iterator[str]:
    """The damaged names of an entity, each after what is wrong with it. An alias may have a tag, if the entity has the
    name without it, too.

    Args:
        names: the preferred one first.
    """
    for name in names:
        untagged = without_tags(name)
        if untagged != name and (name == names[0] or untagged.casefold() not in map(str.casefold, names)):
            yield f"semantic_tag: {name}"
        yield from (f"{kind}: {name}" for kind, is_so in _DAMAGES.items() if is_so(name))


def _circles(sources: Rows, targets: Rows, n: int) -> Ragged:
    """The members of each circle of links between n things."""
    links = csr_array((np.ones(len(sources), dtype=bool), (sources, targets)), shape=(n, n))
    _, part_of = connected_components(links, connection="strong")
    parts = grouped(np.arange(n), part_of, n)
    is_circle = parts.lengths > 1
    is_circle[part_of[sources[sources == targets]]] = True
    return parts.take(np.flatnonzero(is_circle))


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} ({value})" for name, value in islice(values.items(), _N_LISTED))
