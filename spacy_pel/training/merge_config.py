"""The config of a merged knowledge base: ``[merge]``, and ``[merge.sources.NAME]`` for each source."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import Errors, PelError
from ..registry import registry

Scope = Literal["exact", "related", "narrow", "broad"]


class MergeSource(BaseModel):
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
        scopes: the synonyms to take.
        id_xref: prefixes of the cross references that give ids.
        mappings: SSSOM files from this source's terms to ids; terms that they map need no
            cross references.
        via: the name of an earlier source: terms get the ids of that source's terms ...
        via_mappings: ... that these SSSOM files map to them, or that refer to them ...
        via_xref: ... by cross references of these prefixes, or (with neither) that
            have the same term ids.
        id_prefix: the terms' own prefix, e.g. "MESH:"; given to ids that lack it.
        columns: for tables: file name -> what its columns hold.
        header: do the tables begin with a line of column names?
        where: for tables: name of a column -> the values whose lines are read.
        separator: for tables: between the texts of a cell.
        xref_prefix: for tables: prepended to cross references that lack it.
        own_ids: the tables' ids are already those of the merged knowledge base.
        names: take the names; without them a source adds to known ids only.
        homonyms: take names that another id has from an earlier source, too. Without them an ontology
            whose cross references are loose does not make names ambiguous; only ids that no earlier source has
            keep all their names, since they need one. With a reader, a new id whose names are all taken is left
            out: a brand called "Relief".
        definitions: take the definitions.
        xrefs: take the cross references, and an ontology's own ids as such.
        parents: take is-a.
        only_known: name only ids that an earlier source has.
        type: the type that the entities get; "" = their own, if they have any.
        types_below: type -> ids of terms: they and the terms below them get it instead of ``type``. The nearest of
            these ancestors counts.
        weak_type: use the types only for entities that get no other type from a source without this setting, nor
            from an earlier source with it.
        licence, origin, version: written to meta.json.
    """

    model_config = ConfigDict(extra="forbid")

    files: list[str] = []
    reader: str | None = None
    settings: dict[str, Any] = {}
    vocabulary: str = ""
    scopes: list[Scope] = ["exact"]
    id_xref: list[str] = []
    mappings: list[str] = []
    via: str | None = None
    via_mappings: list[str] = []
    via_xref: list[str] = []
    id_prefix: str = ""
    columns: dict[str, list[str | None]] = {}
    header: bool = True
    where: dict[str, list[str]] = {}
    separator: str = "|"
    xref_prefix: str = ""
    own_ids: bool = False
    names: bool = True
    homonyms: bool = True
    definitions: bool = True
    xrefs: bool = True
    parents: bool = True
    only_known: bool = False
    type: str = ""
    types_below: dict[str, list[str]] = {}
    weak_type: bool = False
    licence: str = ""
    origin: str = ""
    version: str = ""


class MergeConfig(BaseModel):
    """What to merge.

    Attributes:
        id_pattern: a regular expression for the ids, e.g. "C[0-9]{7}"; others are left out.
        sources: in order of preference for names and definitions.
        definitions: False leaves out every source's definitions, for a KB of names, synonyms
            and ids only.
        xrefs: the vocabularies whose cross references are kept, in their usual spelling, e.g. ["MESH", "ICD10CM"].
            Those of an ontology to another vocabulary are left out where a surer source gives any of that
            vocabulary: its own ontology, a reader, or a table with ``own_ids``.
        name, licence: written to meta.json.
    """

    model_config = ConfigDict(extra="forbid")

    definitions: bool = True
    xrefs: list[str] = []
    sources: dict[str, MergeSource]
    id_pattern: str = ".+"
    name: str = ""
    licence: str = ""
    _described: str = "merge config"

    @property
    def described(self) -> str:
        """For errors: what this is, and the file if it is from one."""
        return self._described


def parse_merge_config(section: Mapping[str, Any], path: Path | None = None) -> MergeConfig:
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

    described = "merge config" if path is None else f"merge config at {path}"

    def invalid(where: str, fault: object) -> PelError:
        return PelError(Errors.E142.format(config=described, where=where, fault=fault))

    try:
        config = MergeConfig.model_validate(section)
    except ValidationError as err:
        first = err.errors()[0]
        where = ".".join(["merge", *map(str, first["loc"])])
        raise invalid(where, first["msg"]) from err
    try:
        re.compile(config.id_pattern)
    except (re.error, ValueError, RecursionError, OverflowError) as err:
        raise invalid("merge.id_pattern", err) from err
    earlier: list[str] = []
    for name, source in config.sources.items():
        where = f"merge.sources.{name}"
        if not (source.reader or source.own_ids or source.id_xref or source.mappings or source.via):
            fault = "one of reader, own_ids, id_xref, mappings and via must say how its terms get their ids"
            raise invalid(where, fault)
        if source.via is not None and source.via not in earlier:
            fault = f"'{source.via}' is not an ontology before this one (a source with a reader has no terms)"
            raise invalid(f"{where}.via", fault)
        if source.vocabulary and not (source.reader and source.vocabulary in config.xrefs):
            fault = "only with a reader, and only a vocabulary that merge.xrefs lists, as others are not kept"
            raise invalid(f"{where}.vocabulary", fault)
        if source.reader:
            try:
                registry.resolve_short("pel_kb_readers", source.reader)
            except PelError as err:
                raise invalid(f"{where}.reader", err) from err
        elif not source.own_ids:
            earlier.append(name)
    config._described = described
    return config
