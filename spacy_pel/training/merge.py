"""Merging ontologies by cross reference into one knowledge base with the ids of another.

What readers before all ontologies give is the base, e.g. MeSH: entities with their own ids. Every
term of an ontology is mapped to ids (by a UMLS cross reference, a mapping table, or the mappings
of an earlier source) and adds its names, definition, type, cross references and parents to each of them.
Then twins are merged, and only then do the other readers add names with ids of their own (annotated text), so
that twins do not depend on a corpus. Tables of facts about the ids come last.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError, shortened
from ..kb.repair import ends_of_chains, is_obsolete, without_markup
from ..ontologies import Term, clean_text, read_terms
from ..registry import registry
from ..types import Entity
from ..util import logger, normalize_alias
from ..util.files import unexpected
from ..util.xrefs import normalize_xref
from .merge_config import MergeConfig, MergeSource
from .merge_terms import branch_of, merged, nearest_ancestors, read_sssom, read_table, xref_ids

Pairs = dict[str, list[str]]  # term id -> ids


@dataclass
class MergeRecord:
    """One id's names, definition and origin, from all sources so far.

    Attributes:
        named: casefolded name -> the name; the first is the canonical name.
        types: strong types in order.
        weak_types: those of the first source that has any; they are used where there are no strong ones.
        xrefs: cross references in order -> whether a sure source gave it: not an ontology of another vocabulary.
        parents: ids of broader entities; they may be retired, or lacking.
        term_ids: the source terms that point to this id.
        sources: the sources that name it.
        curated: the sources that name it by a curated mapping file.
    """

    named: dict[str, str] = field(default_factory=dict)
    definition: str | None = None
    types: dict[str, None] = field(default_factory=dict)
    weak_types: dict[str, None] = field(default_factory=dict)
    xrefs: dict[str, bool] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    term_ids: dict[str, None] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    curated: set[str] = field(default_factory=set)

    def add_name(self, name: str) -> bool:
        """Whether the name was new."""
        name = clean_text(without_markup(name))
        n_before = len(self.named)
        if name:
            self.named.setdefault(name.casefold(), name)
        return len(self.named) > n_before

    def add_definition(self, definition: str | None) -> None:
        """Take the definition if there is none yet."""
        if self.definition is None and definition:
            self.definition = clean_text(without_markup(definition)) or None

    def add_types(self, names: Iterable[str], *, weak: bool) -> None:
        """Take the types; weak ones only if there are none yet, as ontologies that disagree are not both right."""
        if not (weak and self.weak_types):
            (self.weak_types if weak else self.types).update((name, None) for name in names if name)

    def add_xref(self, xref: str, *, own: bool) -> None:
        """Take a cross reference; ``own``: it is sure."""
        self.xrefs[xref] = own or self.xrefs.get(xref, False)

    def take_over(self, other: "MergeRecord") -> None:
        """Take over the content of a retired record."""
        for folded, name in other.named.items():
            self.named.setdefault(folded, name)
        self.add_definition(other.definition)
        self.add_types(other.weak_types, weak=True)
        for xref, own in other.xrefs.items():
            self.add_xref(xref, own=own)
        for kept in ("types", "parents", "term_ids"):
            getattr(self, kept).update(getattr(other, kept))
        self.sources |= other.sources
        self.curated |= other.curated

    def entity(self, entity_id: str) -> Entity:
        """The record as an entity of the knowledge base."""
        name, *aliases = self.named.values()
        types = tuple(self.types or self.weak_types)
        return Entity(entity_id, name, tuple(aliases), types, self.definition, tuple(self.xrefs), tuple(self.parents))


class Merge:
    """One merge: iterate over it for the entities, then read report, redirects and source.

    Args:
        config: the sources.
        data: the folder of the sources' files.
    """

    def __init__(self, config: MergeConfig, data: Path) -> None:
        self.config = config
        self.data = Path(data)
        self.redirects: dict[str, str] = {}  # of the readers, and the twins
        self.twins: dict[str, str] = {}  # retired id -> the id that stays
        self.report: dict[str, dict[str, int]] = {}  # source -> counts
        self._records: dict[str, MergeRecord] = {}
        self._read: dict[str, dict[str, Any]] = {}  # source -> what its reader says of it
        self._ids_of: dict[str, Pairs] = {}  # source -> term id -> ids
        self._prefixes: set[str] = set()  # of the base's ids
        self._valid = re.compile(config.id_pattern).fullmatch
        self._vocabularies = frozenset(config.xrefs)
        self._normalized = cache(normalize_alias)

    def __call__(self) -> Iterator[Entity]:
        """The merged entities, ordered by id."""
        sources = self.config.sources
        self._check_files()
        base = dict(takewhile(lambda item: item[1].reader, sources.items()))
        for name, source in base.items():
            self._add_entities(name, source)
        base_ids = set(self._records)
        self._prefixes = {entity_id.partition(":")[0] for entity_id in base_ids if ":" in entity_id}
        for name, source in sources.items():
            if not (source.reader or source.own_ids):
                self._add_ontology(name, source)
        self.twins = merge_twins(self._records, base_ids)
        self.redirects.update(self.twins)
        for name, source in sources.items():
            if source.reader and name not in base:
                self._add_entities(name, source)
        for name, source in sources.items():
            if source.own_ids:
                self._add_ontology(name, source)
        if not self._records:
            names = ", ".join(sources)
            raise PelError(Errors.E143.format(sources=names, path=self.config.path))
        ends = ends_of_chains(self.redirects, self._records)
        self.redirects = {old: new for old, new in ends.items() if new in self._records}
        self._drop_loose_xrefs()
        for entity_id in sorted(self._records):
            record = self._records[entity_id]
            parents = dict.fromkeys(self.redirects.get(parent, parent) for parent in record.parents)
            record.parents = {parent: None for parent in parents if parent != entity_id and parent in self._records}
            yield record.entity(entity_id)

    def _check_files(self) -> None:
        """Before the first source is read, which may take minutes.

        Raises:
            PelError: if a file of a source is missing.
        """
        for name, source in self.config.sources.items():
            for file in (*source.files, *source.mappings, *source.via_mappings):
                if not (self.data / file).exists():
                    todo = "Check the path and --data, or leave the source out."
                    raise unexpected(self.data / file, f"a file or folder of the source '{name}'", "nothing", todo)

    def _drop_loose_xrefs(self) -> None:
        """Leave out ontologies' cross references to a vocabulary of which a surer source gives some."""
        records = self._records.values()
        own = {xref.partition(":")[0] for record in records for xref, is_own in record.xrefs.items() if is_own}
        for record in records:
            kept = (item for item in record.xrefs.items() if item[1] or item[0].partition(":")[0] not in own)
            record.xrefs = dict(kept)

    @property
    def source(self) -> dict[str, Any]:
        """For meta.json: name, licence, and each source's origin, version, licence and counts."""
        sources = []
        for name, source in self.config.sources.items():
            given = source.model_dump(include={"origin", "version", "licence"})
            facts = given | self._read.get(name, {}) | {key: text for key, text in given.items() if text}
            # a path outside the data folder is meaningless on another machine
            files = [Path(file).name if Path(file).is_absolute() else file for file in source.files]
            sources.append({**facts, "name": name, "files": files, **self.report.get(name, {})})
        about = {"name": self.config.name, "licence": self.config.licence, "twins_merged": len(self.twins)}
        return {**about, "sources": sources}

    def _add_ontology(self, name: str, source: MergeSource) -> None:
        terms = read_source_terms(source, self.data)
        links, curated = self._link(source, terms)
        self._ids_of[name] = links
        counts = self.report[name] = defaultdict(int, terms=len(terms))
        owners = None if source.homonyms else self._owners()
        known = set() if owners is None else set(self._records)
        type_below = {root: kind for kind, roots in source.types_below.items() for root in roots}
        for term_id, ids in links.items():
            term = terms.get(term_id)
            if term is None or not (term.name or source.own_ids):
                counts["terms_without_name"] += 1
                continue
            kind = type_below.get(branch_of(term, terms, type_below), source.type)
            for entity_id in ids:
                if entity_id not in self._records and (source.only_known or source.own_ids or not source.names):
                    continue
                record = self._record(entity_id, name)
                if (term_id, entity_id) in curated:
                    record.curated.add(name)
                record.term_ids[term_id] = None
                names = term.names(("exact",))
                if owners is not None and entity_id in known:  # a new id keeps its names: it needs one
                    names = self._unshared(names, entity_id, owners, counts)
                own, others = (term.xrefs, []) if source.own_ids else ([term_id], term.xrefs)
                types = [kind] if kind else term.types
                self._describe(name, record, term_id, names, term.definition, types, own, others)
        self._add_parents(terms, links, direct=source.own_ids)
        self._finish(name)

    def _add_parents(self, terms: dict[str, Term], links: Pairs, *, direct: bool) -> None:
        """Give the entities of terms the entities of their nearest ancestors that have any.

        Args:
            terms: of the source.
            links: term id -> ids.
            direct: the parents are ids of entities, of this source or not.
        """
        linked = {term_id: known for term_id, ids in links.items() if (known := [*filter(self._records.get, ids)])}
        for term_id, ids in linked.items():
            term = terms.get(term_id)
            if term is None or not term.parents:
                continue
            above = [term.parents] if direct else map(linked.__getitem__, nearest_ancestors(term, terms, linked))
            parents = dict.fromkeys(parent for found in above for parent in found)
            for entity_id in ids:
                self._records[entity_id].parents.update(parents)

    def _record(self, entity_id: str, name: str) -> MergeRecord:
        """The record of an id that the source with this name has."""
        record, counts = self._records.setdefault(entity_id, MergeRecord()), self.report[name]
        counts["ids_new"] += not record.named
        counts["ids"] += name not in record.sources
        record.sources.add(name)
        return record

    def _finish(self, name: str) -> None:
        """Leave out the ids of a source whose names are all blank, and log its counts."""
        counts = self.report[name]
        for entity_id in [entity_id for entity_id, record in self._records.items() if not record.named]:
            del self._records[entity_id]
            for key, change in {"ids": -1, "ids_new": -1, "terms_without_name": 1}.items():
                counts[key] += change
        self.report[name] = dict(counts)
        if counts:
            said = ", ".join(f"{key} {n:,}" for key, n in sorted(counts.items()))
            logger.info("%s: %s", name, said)

    def _owners(self) -> dict[str, set[str]]:
        """Normalized name -> the ids that have it so far."""
        owners: dict[str, set[str]] = defaultdict(set)
        for entity_id, record in self._records.items():
            for text in record.named.values():
                owners[self._normalized(text)].add(entity_id)
        return owners

    def _unshared(
        self, names: Sequence[str], entity_id: str, owners: Mapping[str, set[str]], counts: dict[str, int]
    ) -> list[str]:
        """The names that no other id has; the others are counted."""
        kept = [text for text in names if owners.get(self._normalized(text), {entity_id}) == {entity_id}]
        counts["homonyms"] += len(names) - len(kept)
        return kept

    def _describe(
        self,
        name: str,
        record: MergeRecord,
        given_id: str,
        names: Iterable[str],
        definition: str | None,
        types: Iterable[str],
        own_xrefs: Iterable[str],
        xrefs: Iterable[str] = (),
    ) -> None:
        """Add what the source with this name says of an id to a record, as its settings allow.

        Raises:
            PelError: if a text cannot be cleaned.
        """
        source = self.config.sources[name]
        try:
            record.add_definition(definition)
            if source.names:
                self.report[name]["names_new"] += sum(map(record.add_name, names))
        except ValueError as err:
            place = ", ".join(str(self.data / file) for file in source.files)
            raise unexpected(place, f"a name or definition of {shortened(given_id)}", err) from err
        record.add_types(types, weak=source.weak_type)
        if source.xrefs and self._vocabularies:
            for own, given in ((True, own_xrefs), (False, xrefs)):
                for xref in map(normalize_xref, given):
                    if xref.partition(":")[0] in self._vocabularies:
                        record.add_xref(xref, own=own)

    def _own_id(self, curie: str) -> str:
        """The id that a cross reference means: with its prefix if an entity has that id
        (MEDIC's "OMIM:…") or ids of the base have this prefix, else what follows the prefix; in place of
        a retired id its successor."""
        prefix, _, local = curie.partition(":")
        found = [self.redirects.get(given, given) for given in (curie, local)]
        for given, entity_id in zip((curie, local), found, strict=True):
            if entity_id in self._records or given in self.redirects:
                return entity_id
        return curie if prefix in self._prefixes else local

    def _link(self, source: MergeSource, terms: dict[str, Term]) -> tuple[Pairs, set[tuple[str, str]]]:
        """Find each term's ids. RETURNS: term id -> ids, and the curated ones of these pairs."""
        links: dict[str, dict[str, None]] = defaultdict(dict)
        curated: set[tuple[str, str]] = set()
        if source.own_ids:
            links.update({term_id: {self.redirects.get(term_id, term_id): None} for term_id in terms})
        for path in source.mappings:
            for term_id, target, label in read_sssom(self.data / path):
                target = self._own_id(target)
                links[term_id][target] = None
                curated.add((term_id, target))
                # the table may be newer than the ontology's file, with additional terms and labels
                known = [terms[term_id]] if term_id in terms else []
                terms[term_id] = merged([*known, Term(term_id, label)])
        for term in terms.values():
            # curated mappings take precedence over cross references of the same term
            for prefix in source.id_xref if term.id not in links else ():
                found = (self._own_id(f"{prefix}:{number}") for number in xref_ids(term.xrefs, prefix))
                links[term.id].update(dict.fromkeys(found))
        if source.via is not None:
            for other_id, term_id in self._via_pairs(source, terms):
                links[term_id].update(dict.fromkeys(self._ids_of[source.via].get(other_id, ())))
        valid = {term_id: [found for found in ids if self._valid(found)] for term_id, ids in links.items()}
        return {term_id: ids for term_id, ids in valid.items() if ids}, curated

    def _via_pairs(self, source: MergeSource, terms: Mapping[str, Term]) -> Iterator[tuple[str, str]]:
        """(term of the other source, term of this one)."""
        if not source.via_mappings:
            yield from zip(terms, terms, strict=True)
        for path in source.via_mappings:
            for other_id, term_id, _ in read_sssom(self.data / path):
                yield other_id, source.id_prefix + term_id.partition(":")[2]

    def _id_of_code(self, vocabulary: str) -> Callable[[str], str]:
        """A function from a code of a vocabulary to an id: that of the only entity so far with this cross reference,
        else the code with the vocabulary as its prefix."""
        ids: dict[str, list[str]] = defaultdict(list)
        for entity_id, record in self._records.items():
            for xref in record.xrefs:
                ids[xref].append(entity_id)

        def id_of(code: str) -> str:
            xref = code_xref(vocabulary, code)
            known = ids.get(xref, [])
            return known[0] if len(known) == 1 else xref

        return id_of

    def _add_entities(self, name: str, source: MergeSource) -> None:
        make = registry.resolve_short("pel_kb_readers", source.reader or "")
        try:
            reader = make(**source.settings)
        except TypeError as err:  # a setting that it lacks
            got = f"merge.sources.{name}.settings: {err}"
            raise PelError(Errors.E142.format(path=self.config.path, got=got)) from err
        counts = self.report[name] = defaultdict(int)
        owners = None if source.homonyms else self._owners()
        id_of = self._id_of_code(source.vocabulary) if source.vocabulary else str
        for entity in reader([self.data / path for path in source.files]) if source.files else ():
            given_id = id_of(entity.concept_id)
            entity_id = self.redirects.get(given_id, given_id)
            only_known = source.only_known or not source.names
            if not self._valid(entity_id) or (only_known and entity_id not in self._records):
                counts["left_out"] += 1
                continue
            record = self._record(entity_id, name)
            names: Sequence[str] = (entity.canonical_name, *entity.aliases)
            if owners is not None:
                names = self._unshared(names, entity_id, owners, counts)
            types = [source.type] if source.type else entity.types
            codes = [code_xref(source.vocabulary, entity.concept_id)] if source.vocabulary else []
            self._describe(name, record, entity_id, names, entity.definition, types, [*codes, *entity.xrefs])
            record.parents.update(dict.fromkeys(map(id_of, entity.parents)))
        self._read[name] = reader.source
        self.redirects.update(
            (old, self.redirects.get(new, new))
            for old, new in ((id_of(old), id_of(new)) for old, new in reader.redirects.items())
            if old not in self._records and old not in self.redirects
        )
        self._finish(name)


def code_xref(vocabulary: str, code: str) -> str:
    """The cross reference that a code is, e.g. "NCIT:C3224" of "C3224", or of itself."""
    xref = normalize_xref(code)
    return xref if xref.startswith(f"{vocabulary}:") else f"{vocabulary}:{code}"


def read_source_terms(source: MergeSource, data: Path) -> dict[str, Term]:
    """Read a source's live terms; terms described by several files are merged.

    Args:
        source: the source.
        data: the folder of the files.

    Returns:
        Id -> term.
    """
    found: dict[str, list[Term]] = defaultdict(list)
    for name in source.files:
        path, columns = data / name, source.columns.get(name)
        if columns is None:
            terms = read_terms(path)
        else:
            keys = ("header", "id_prefix", "where", "separator", "xref_prefix")
            terms = read_table(path, columns=columns, **{key: getattr(source, key) for key in keys})
        for term in terms:
            found[term.id].append(term)
    return {term.id: term for term in map(merged, found.values()) if not (term.obsolete or is_obsolete(term.name))}


def merge_twins(records: dict[str, MergeRecord], base: Collection[str] = frozenset()) -> dict[str, str]:
    """Merge the twins among the records, in place.

    Args:
        records: id -> record; the retired ids are taken out.
        base: ids that are never retired.

    Returns:
        Retired id -> the id that stays.
    """

    def preference(entity_id: str) -> tuple[bool, int, int, str]:
        record = records[entity_id]
        return entity_id not in base, -len(record.curated), -len(record.sources), entity_id

    redirects: dict[str, str] = {}
    for group in find_twins(records):
        keeper, *others = sorted(group, key=preference)
        for entity_id in others:
            if entity_id not in base:
                records[keeper].take_over(records.pop(entity_id))
                redirects[entity_id] = keeper
    return redirects


def find_twins(records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The groups of twins, each with two ids at least."""
    same_names: dict[frozenset, list[str]] = defaultdict(list)
    for entity_id, record in records.items():
        same_names[frozenset(map(normalize_alias, record.named.values()))].append(entity_id)
    groups = [group for ids in same_names.values() if len(ids) > 1 for group in _joined(ids, records)]
    return [group for group in groups if len(group) > 1]


def _joined(ids: list[str], records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The groups of ids that are connected, where sharing a source term connects."""
    from scipy.cluster.hierarchy import DisjointSet

    connected, first_of_term = DisjointSet(ids), dict[str, str]()
    for entity_id in ids:
        for term_id in records[entity_id].term_ids:
            connected.merge(entity_id, first_of_term.setdefault(term_id, entity_id))
    groups: dict[str, list[str]] = defaultdict(list)
    for entity_id in ids:
        groups[connected[entity_id]].append(entity_id)
    return list(groups.values())
