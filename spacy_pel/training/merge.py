"""Merging ontologies by cross reference into one knowledge base with the ids of another.

What readers before all ontologies give is the base, e.g. MeSH: entities with their own ids. Every
term of an ontology is mapped to one id (by a UMLS cross reference, a mapping table, or the mappings
of an earlier source; of several ids to that which other sources call so) and adds its names, definition, type,
cross references and parents to it. Then the other readers add names with ids of their own, annotated text among
them, and tables add facts about the ids. Last, preferred names are chosen, and twins become one entity.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Indel

from ..candidates.other_forms import variants
from ..errors import Errors, PelError, shortened
from ..kb.repair import ends_of_chains, is_obsolete
from ..ontologies import Term, read_terms
from ..registry import registry
from ..types import Entity
from ..types.semantic_types import type_group
from ..util import logger, normalize_alias
from ..util.files import unexpected
from ..util.xrefs import normalize_xref
from .merge_config import MergeConfig, MergeSource
from .merge_record import MergeRecord, plain_name
from .merge_rules import Rules, Witnesses, choose_preferred_names, find_annotated_twins, find_twins, without_circles
from .merge_terms import branch_of, merged, nearest_ancestors, own_ingredients, read_sssom, read_table, xref_ids

Pairs = dict[str, list[str]]  # term id -> ids
_ALIKE = 0.8  # of two words' letters, as in "tumor" and "tumours"


class Merge:
    """One merge: iterate over it for the entities, then read report, redirects and source.

    Args:
        config: the sources.
        data: the folder of the sources' files.
    """

    def __init__(self, config: MergeConfig, data: Path) -> None:
        self.config = config
        self.data = Path(data)
        self._witnesses = Witnesses()
        self.redirects: dict[str, str] = {}  # of the readers, and the ids that became another one
        self.report: dict[str, dict[str, int]] = {}  # source -> counts
        self.rules = Rules()
        self._records: dict[str, MergeRecord] = {}
        self._read: dict[str, dict[str, Any]] = {}  # source -> what its reader says of it
        # source -> reader, and what it read, until it is added
        self._heard: dict[str, tuple[Any, Iterable[Entity]]] = {}
        self._terms: dict[str, dict[str, Term]] = {}  # source -> its terms
        self._ids_of: dict[str, Pairs] = {}  # source -> term id -> ids
        self._curated: dict[str, set[tuple[str, str]]] = {}  # source -> curated pairs of term id and id
        self._passed_over: dict[str, str] = {}  # id that a term may be -> the id that it is
        self._prefixes: set[str] = set()  # of the base's ids
        self._valid = config.id_pattern.fullmatch
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
        ontologies = {name: source for name, source in sources.items() if not (source.reader or source.own_ids)}
        self._link_all(ontologies)
        for name, source in ontologies.items():
            self._add_ontology(name, source)
        for name, source in sources.items():
            if source.reader and name not in base:
                self._add_entities(name, source)
        # the other ids of terms, if nothing else names them
        self.redirects.update((old, new) for old, new in self._passed_over.items() if old not in self._records)
        for name, source in sources.items():
            if source.own_ids:
                self._terms[name] = read_source_terms(source, self.data)
                self._ids_of[name], self._curated[name] = self._link(source, self._terms[name])
                self._add_ontology(name, source)
        if not self._records:
            raise PelError(Errors.E143.format(sources=", ".join(sources), path=self.config.path))
        self._follow_redirects()
        for entity_id, record in self._records.items():
            for name in record.drop_inverted() if entity_id not in base_ids else ():
                self.rules["inverted names"].add(f"{entity_id}: {name}")
        self._merge(choose_preferred_names(self._records, base_ids, self.rules), base_ids)
        self._merge(find_twins(self._records, base_ids, self._witnesses.annotated), base_ids)
        self._merge(find_annotated_twins(self._records, base_ids), base_ids)
        self._drop_loose_xrefs()
        without_circles(self._records, self.rules)
        self._limit_names(base_ids)
        for entity_id in sorted(self._records):
            yield self._records[entity_id].entity(entity_id)

    def _link_all(self, sources: Mapping[str, MergeSource]) -> None:
        """Read ontologies, and find the one id of each of their terms."""
        for name, source in sources.items():
            self._terms[name] = read_source_terms(source, self.data)
        direct = {name: self._link(source, self._terms[name]) for name, source in sources.items() if source.via is None}
        self._hear_readers({entity_id for links, _ in direct.values() for ids in links.values() for entity_id in ids})
        # a source that goes by way of another one needs the ids that are chosen for that one's terms
        for names in (list(direct), *([name] for name in sources if name not in direct)):
            links = {name: direct.get(name) or self._link(sources[name], self._terms[name]) for name in names}
            for name, (ids_of, curated) in links.items():
                self._curated[name] = curated
                for term_id, (entity_id, *others) in ids_of.items():
                    if not others:  # so this is sure
                        self._witnesses.add(entity_id, self._names_of(name, term_id), name)
            for name, (ids_of, _) in links.items():
                chosen = {term_id: self._one_id(name, term_id, ids) for term_id, ids in ids_of.items()}
                self._ids_of[name] = {term_id: [entity_id] for term_id, entity_id in chosen.items() if entity_id}

    def _hear_readers(self, ids: Collection[str]) -> None:
        """Note what the base and the readers call these ids."""
        for entity_id in filter(self._records.__contains__, ids):
            self._witnesses.add(entity_id, map(self._normalized, self._records[entity_id].named.values()), "")
        for name, source in self.config.sources.items():
            if ids and source.reader and source.names and not source.vocabulary and name not in self.report:
                reader, entities = self._open(name, source)
                self._heard[name] = reader, list(entities)
                for entity in self._heard[name][1]:
                    entity_id = self.redirects.get(entity.concept_id, entity.concept_id)
                    if entity_id in ids:
                        names = map(self._normalized, (entity.canonical_name, *entity.aliases))
                        self._witnesses.add(entity_id, names, name)
                    if source.forms:
                        self._witnesses.annotated.add(entity_id)

    def _names_of(self, name: str, term_id: str) -> list[str]:
        """The normalised names of a term of the source with this name; none if only a mapping has it."""
        term = self._terms[name].get(term_id)
        return [] if term is None else list(filter(None, map(self._normalized, term.names(("exact",)))))

    def _one_id(self, name: str, term_id: str, ids: list[str]) -> str:
        """The id of a term of the source with this name; "" if its names are those of none."""
        names = self._names_of(name, term_id)
        fitting = [entity_id for entity_id in ids if self._may_be(name, term_id, entity_id, names)]
        if not fitting:
            self.rules["mapping without a shared name"].add(f"{term_id} ({names[0]}): {', '.join(ids)}")
            return ""
        best = self._witnesses.best(fitting, names, name)
        for other in fitting:
            if other != best and names:
                self._passed_over.setdefault(other, best)
                self.rules["one term, one id"].add(f"{term_id}: {best}, not {other}")
        return best

    def _may_be(self, name: str, term_id: str, entity_id: str, names: list[str]) -> bool:
        """Whether a term may be an id: where its source is not sure and others name the id, one calls it alike."""
        if not self.config.sources[name].shared_name or not names or (term_id, entity_id) in self._curated[name]:
            return True
        others = self._witnesses.others(entity_id, name)
        return not others or bool(self._witnesses.agreeing(entity_id, names, name))

    def _merge(self, twins: Mapping[str, str], base_ids: Collection[str]) -> None:
        """Let entities become others, in place."""
        for old, new in twins.items():
            if old not in base_ids and old in self._records and new in self._records:
                twin = self._records.pop(old)
                self.rules["twins"].add(f"{old} ({twin.canonical_name}): {new}")
                self._records[new].take_over(twin)
                self.redirects[old] = new
        self._follow_redirects()

    def _follow_redirects(self) -> None:
        """Let retired ids lead to records, also as parents."""
        ends = ends_of_chains(self.redirects, self._records)
        self.redirects = {old: new for old, new in ends.items() if new in self._records}
        for entity_id, record in self._records.items():
            parents = (self.redirects.get(parent, parent) for parent in record.parents)
            record.parents = {parent: None for parent in parents if parent in self._records and parent != entity_id}

    def _limit_names(self, base_ids: Collection[str]) -> None:
        """Leave out the last names of entities that have too many."""
        for entity_id, record in self._records.items():
            if 0 < self.config.most_names < len(record.named) and entity_id not in base_ids:
                self.rules["names left out"].add(f"{entity_id} ({record.canonical_name}): {len(record.named)}")
                preferred = {record.canonical_name.casefold(): record.canonical_name}
                record.named = dict([*(preferred | record.named).items()][: self.config.most_names])

    def _check_files(self) -> None:
        """Before the first source is read, which may take minutes.

        Raises:
            PelError: if a file of a source is missing.
        """
        for name, source in self.config.sources.items():
            for file in (*source.files, *source.mappings, *source.via_mappings):
                if not os.path.exists(self.data / file):  # False where the name is too long for one
                    todo = "Check the path and --data, or leave the source out."
                    raise unexpected(self.data / file, f"a file or folder of the source '{name}'", "nothing", todo)

    def _drop_loose_xrefs(self) -> None:
        """Leave out ontologies' cross references to a vocabulary of which a surer source gives some, and terms'
        ids as cross references of other entities than the terms'."""
        records = self._records
        own = {xref.partition(":")[0] for record in records.values() for xref, sure in record.xrefs.items() if sure}
        id_of = {}
        for name, links in self._ids_of.items():
            for term_id, ids in () if self.config.sources[name].own_ids else links.items():
                entity_id, xref = self.redirects.get(ids[0], ids[0]), normalize_xref(term_id)
                if entity_id in records and xref in records[entity_id].xrefs:
                    id_of[xref] = entity_id
        for entity_id, record in records.items():
            kept = (item for item in record.xrefs.items() if item[1] or item[0].partition(":")[0] not in own)
            record.xrefs = {xref: sure for xref, sure in kept if id_of.get(xref, entity_id) == entity_id}

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
        rules = {rule: one.count for rule, one in self.rules.items()}
        return {"name": self.config.name, "licence": self.config.licence, "rules": rules, "sources": sources}

    def _add_ontology(self, name: str, source: MergeSource) -> None:
        terms, links, curated = self._terms[name], self._ids_of[name], self._curated[name]
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
                names = term.names(("exact",))
                if owners is not None and entity_id in known:  # a new id keeps its names: it needs one
                    names = self._unshared(names, entity_id, owners, counts)
                if source.names and term.name in names:
                    record.add_label(name, term.name)
                own, others = (term.xrefs, []) if source.own_ids else ([term_id], term.xrefs)
                types = [kind] if kind else term.types
                self._describe(name, record, term_id, names, term.definition, types, term.name, own, others)
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
        label: str,
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
        for own, given in ((True, own_xrefs), (False, xrefs)) if source.xrefs and self._vocabularies else ():
            codes = [xref for xref in map(normalize_xref, given) if xref.partition(":")[0] in self._vocabularies]
            record.add_xrefs(codes, own=own, label=label)

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

    def _joins(
        self, source: MergeSource, entities: Sequence[Entity], owners: Mapping[str, set[str]]
    ) -> Callable[[str], str]:
        """A function from a code of a source to an id: that of the only entity so far with this code, with a cross
        reference that the code's entity has in a vocabulary of ``join``, or with its preferred name, if ``join_names``;
        else the code with the vocabulary as its prefix."""
        ids: dict[str, set[str]] = defaultdict(set)
        for entity_id, record in self._records.items():
            for xref in record.xrefs:
                ids[xref].add(entity_id)

        def only(*found: set[str]) -> str:
            return next((next(iter(one)) for one in found if len(one) == 1), "")

        joined: dict[str, str] = {}
        for entity in entities:
            xrefs = [xref for xref in _xrefs(source, entity) if xref.partition(":")[0] in source.join]
            codes = [code_xref(source.vocabulary, entity.concept_id), *xrefs]
            called = self._called(source.type, entity, owners)
            joined[entity.concept_id] = only(*(ids.get(xref, set()) for xref in codes), called)

        def id_of(code: str) -> str:
            xref = code_xref(source.vocabulary, code)
            return joined.get(code) or only(ids.get(xref, set())) or xref

        return id_of

    def _is_taken(self, entity: Entity, owners: Mapping[str, set[str]]) -> bool:
        """Is any of its names one of the owners', in any number or spelling?"""
        forms = map(self._normalized, (entity.canonical_name, *entity.aliases))
        return any(one in owners for form in forms for one in (form, *variants(form)))

    def _called(self, kind: str, entity: Entity, owners: Mapping[str, set[str]]) -> set[str]:
        """The ids that are called as an entity is, and may be of its kind."""
        found, groups = owners.get(self._normalized(entity.canonical_name), set()), (type_group([kind]), "")
        return {one for one in found if type_group(self._records[one].all_types) in groups}

    def _open(self, name: str, source: MergeSource) -> tuple[Any, Iterable[Entity]]:
        """The reader of a source, and what it reads."""
        make = registry.resolve_short("pel_kb_readers", source.reader or "")
        try:
            reader = make(**source.settings)
        except TypeError as err:  # a setting that it lacks
            got = f"merge.sources.{name}.settings: {err}"
            raise PelError(Errors.E142.format(path=self.config.path, got=got)) from err
        return reader, reader([self.data / path for path in source.files]) if source.files else ()

    def _add_entities(self, name: str, source: MergeSource) -> None:
        reader, entities = self._heard.pop(name) if name in self._heard else self._open(name, source)
        counts = self.report[name] = defaultdict(int)
        owners = self._owners() if source.join_names or not source.homonyms else {}
        id_of: Callable[[str], str] = str
        if source.vocabulary:
            entities = list(entities)
            id_of = self._joins(source, entities, owners if source.join_names else {})
        # an older release of RxNorm says what is in a brand, a newer one lists all that is related to its ingredients
        settled = {key for key, record in self._records.items() if source.join and record.parents}
        called = {entity.concept_id: entity.canonical_name for entity in entities} if source.join else {}
        for entity in entities:
            given_id = id_of(entity.concept_id)
            entity_id = self.redirects.get(given_id, given_id)
            is_known = entity_id in self._records
            is_new = not is_known and entity_id not in self._passed_over
            may_name = source.names and (not source.only_known or entity_id in self._witnesses.annotated)
            unwanted = not (is_known or may_name) or source.only_new and not is_new
            names: Sequence[str] = (entity.canonical_name, *entity.aliases)
            if not source.homonyms:
                names = self._unshared(names, entity_id, owners, counts)
            # one that could be several others is not one more
            unsure = entity.canonical_name not in names or is_new and source.only_new and self._is_taken(entity, owners)
            if unwanted or source.join_names and not is_known and unsure or not self._valid(entity_id):
                counts["left_out"] += 1
                continue
            record = self._record(entity_id, name)
            if source.forms:
                record.forms += tuple(names)
                kept = self._names_among(record, names)
                counts["forms_left_out"] += len(names) - len(kept)
                names = kept
            if source.names and not source.forms and entity.canonical_name in names:
                record.add_label(name, entity.canonical_name)
            types = [source.type] if source.type else entity.types
            codes = [code_xref(source.vocabulary, entity.concept_id)] if source.vocabulary else []
            label, xrefs = entity.canonical_name, [*codes, *_xrefs(source, entity)]
            self._describe(name, record, entity_id, names, entity.definition, types, label, xrefs)
            if entity_id not in settled:
                record.parents.update(dict.fromkeys(map(id_of, own_ingredients(entity.parents, called))))
        self._read[name] = reader.source
        self.redirects.update(
            (old, self.redirects.get(new, new))
            for old, new in ((id_of(old), id_of(new)) for old, new in reader.redirects.items())
            if old not in self._records and old not in self.redirects
        )
        self._finish(name)

    def _names_among(self, record: MergeRecord, forms: Sequence[str]) -> list[str]:
        """The forms in annotated text that are names: those that look like a name of the entity from elsewhere,
        in the plural, inflected or in another spelling; the commonest if it has no other."""
        if not record.named:
            return next(([form] for form in forms if plain_name(form)), [])
        names = list(map(self._normalized, record.named.values()))
        return [form for form in forms if any(_resembles(self._normalized(form), name) for name in names)]


def _resembles(form: str, name: str) -> bool:
    """Whether the words of two names in normal form are alike: "fevers", "tumor", but not "hypertension" and
    "hypotension", nor "hepatitis b" and "hepatitis c"."""
    pairs = list(zip_longest(form.split(), name.split(), fillvalue=""))
    return all(a[:4] == b[:4] and Indel.normalized_similarity(a, b) >= _ALIKE for a, b in pairs)


def _xrefs(source: MergeSource, entity: Entity) -> list[str]:
    """The cross references of an entity of a reader, with their vocabulary before them."""
    return [xref if ":" in xref else source.xref_prefix + xref for xref in entity.xrefs]


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
        for term in read_terms(path) if columns is None else read_table(path, columns, source):
            found[term.id].append(term)
    return {term.id: term for term in map(merged, found.values()) if not (term.obsolete or is_obsolete(term.name))}
