"""The config of a merged knowledge base: ``[merge]``, and ``[merge.sources.NAME]`` for each source."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import model_validator

from ..errors import Errors
from ..registry import registry
from .settings import Strict, explained


class MergeSource(Strict):
    """One source of a merge.

    A source is one of three: an ontology, whose terms find their ids by cross references, mapping
    tables or another source's mappings; with ``reader``, the output of a KB reader whose
    ids are already those of the merged knowledge base; with ``own_ids``, tables with facts about these ids, which
    are added last and name no new ids. Readers before all ontologies are the base:
    cross references to their retired ids lead to the successors, and none of their ids is merged
    with another.

    Attributes:
        files: paths below the data folder; several files may describe the same terms.
        reader: short or full name of a KB reader, e.g. "corpusnames".
        settings: the KB reader's settings.
        vocabulary: of the reader's ids, if they are codes, e.g. "RXNORM": a code that exactly one entity of the
            earlier sources has as a cross reference is that entity, others become ids such as "RXNORM:161".
        id_xref: prefixes of the cross references that give ids.
        mappings: SSSOM files from this source's terms to ids; terms that they map need no
            cross references.
        via: the name of an earlier source: terms get the ids of that source's terms ...
        via_mappings: ... that these SSSOM files map to them, or (without) that have the same term ids.
        id_prefix: the terms' own prefix, e.g. "MESH:"; given to ids that lack it.
        join: more vocabularies of cross references by which the reader's entities are those of earlier sources,
            e.g. "UNII".
        join_names: so does a preferred name that one entity of the same semantic group alone has. A new id whose
            preferred name is taken is left out: it could be any of those that are called so. With ``only_new``, so
            is one with any name that is taken, in any number or spelling.
        columns: for tables: file name -> what its columns hold.
        header: do the tables begin with a line of column names?
        where: for tables: name of a column -> the values whose lines are read.
        separator: for tables: between the texts of a cell.
        xref_prefix: for tables and readers: prepended to cross references that lack it.
        own_ids: the tables' ids are already those of the merged knowledge base.
        names: take the names; without them a source adds to known ids only.
        homonyms: take names that another id has from an earlier source, too. Without them an ontology
            whose cross references are loose does not make names ambiguous; only ids that no earlier source has
            keep all their names, since they need one. With a reader, a new id whose names are all taken is left
            out: a brand called "Relief".
        xrefs: take the cross references, and an ontology's own ids as such.
        only_known: name only ids that an earlier source has; with a reader, or annotated text (``forms``).
        only_new: name only ids that no earlier source has, nor an ontology as another id of one of its terms.
        shared_name: a link that is not from ``mappings`` needs a name that another source gives the id, if any does.
        forms: the names are surface forms of annotated text. They are evidence, which the index counts, and become
            names only if they look like one of the entity's names, or if it has none.
        type: the type that the entities get; "" = their own, if they have any.
        types_below: type -> ids of terms: they and the terms below them get it instead of ``type``. The nearest of
            these ancestors counts.
        weak_type: use the types only for entities that get no other type from a source without this setting, nor
            from an earlier source with it.
        licence, origin, version: written to meta.json.
    """

    files: list[str] = []
    reader: str | None = None
    settings: dict[str, Any] = {}
    vocabulary: str = ""
    id_xref: list[str] = []
    mappings: list[str] = []
    via: str | None = None
    via_mappings: list[str] = []
    id_prefix: str = ""
    columns: dict[str, list[str | None]] = {}
    header: bool = True
    where: dict[str, list[str]] = {}
    separator: str = "|"
    xref_prefix: str = ""
    join: list[str] = []
    join_names: bool = False
    own_ids: bool = False
    names: bool = True
    homonyms: bool = True
    xrefs: bool = True
    only_known: bool = False
    only_new: bool = False
    shared_name: bool = False
    forms: bool = False
    type: str = ""
    types_below: dict[str, list[str]] = {}
    weak_type: bool = False
    licence: str = ""
    origin: str = ""
    version: str = ""


class MergeConfig(Strict):
    """What to merge.

    Attributes:
        id_pattern: a regular expression for the ids, e.g. "C[0-9]{7}"; others are left out.
        sources: in order of preference for names and definitions.
        most_names: of an entity; 0 = any number. The later ones of permutations are left out.
        xrefs: the vocabularies whose cross references are kept, in their usual spelling, e.g. ["MESH", "ICD10CM"].
            Those of an ontology to another vocabulary are left out where a surer source gives any of that
            vocabulary: its own ontology, a reader, or a table with ``own_ids``.
        name, licence: written to meta.json.
    """

    xrefs: list[str] = []
    sources: dict[str, MergeSource]
    id_pattern: re.Pattern[str] = re.compile(".+")
    most_names: int = 0
    name: str = ""
    licence: str = ""
    path: Path | str = "in memory"  # of the file, for errors

    @model_validator(mode="after")
    def _sources_fit(self) -> "MergeConfig":
        earlier: list[str] = []
        for name, source in self.sources.items():
            if not (source.reader or source.own_ids or source.id_xref or source.mappings or source.via):
                fault = "one of reader, own_ids, id_xref, mappings and via must say how its terms get their ids"
                raise ValueError(f"sources.{name}: {fault}")
            if source.via is not None and source.via not in earlier:
                fault = f"'{source.via}' is not an ontology before this one (a source with a reader has no terms)"
                raise ValueError(f"sources.{name}.via: {fault}")
            if source.vocabulary and not (source.reader and source.vocabulary in self.xrefs):
                fault = "only with a reader, and only a vocabulary that merge.xrefs lists, as others are not kept"
                raise ValueError(f"sources.{name}.vocabulary: {fault}")
            if (source.only_new or source.forms) and not source.reader:
                raise ValueError(f"sources.{name}: only_new and forms are for sources with a reader")
            if (source.join or source.join_names) and not source.vocabulary:
                raise ValueError(f"sources.{name}: join and join_names need the vocabulary of the reader's ids")
            if source.join_names and not source.type:
                raise ValueError(f"sources.{name}: join_names needs the type, as names of other kinds do not count")
            if source.reader:
                registry.resolve_short("pel_kb_readers", source.reader)
            elif not source.own_ids:
                earlier.append(name)
        return self


def parse_merge_config(section: Mapping[str, Any], path: Path | str = "in memory") -> MergeConfig:
    """Check the section ``[merge]`` of a config.

    Args:
        section: the filled section.
        path: the file that it is from, for errors.

    Returns:
        Its settings.

    Raises:
        PelError: for an unknown setting or reader, a value of the wrong type, or a source without
            ids.
    """
    with explained(Errors.E142, path):
        return MergeConfig.model_validate({**section, "path": path})
