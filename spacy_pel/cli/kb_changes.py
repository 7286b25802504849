"""The commands ``kb build``, ``kb add``, ``kb edits`` and ``kb migrate``: a KB from source files, and its changes."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import Errors, PelError
from ..types import NIL
from ..util import atomic_path, locked, read_lines, write_json
from ..util.console import now
from ..util.files import unexpected
from . import _options as options
from ._app import kb_cli
from ._kb import open_kb, reader_of_all, recorded, source_record
from ._options import Below, NewKB, Settings, Texts, argument, flag, option
from ._output import count_with_examples, emit, key_values, message, plain
from ._settings import make_reader, parse_settings, split_names

if TYPE_CHECKING:
    from ..kb import KnowledgeBase

_READERS = (
    "jsonl, csv, obo, umls, rxnorm, rf2 (SNOMED CT), loinc, mesh, medic, zeshel, corpusnames, saved (a KB folder), or "
    "a registered one."
)

Reader = Annotated[str | None, option("NAME", f"The format. Default: by the file's name. {_READERS}")]
Types = Annotated[Texts, option("NAME", "Only entities of these types, separated by commas, or st21pv.")]
Sources = Annotated[Texts, option("NAME", "Only these source vocabularies, separated by commas (umls, rxnorm).")]
Languages = Annotated[Texts, option("NAME", "Only names in these languages, separated by commas (umls, rf2).")]
SourceName = Annotated[
    str | None, option("NAME", "Of which source FILE is a release. Default: as the files say, or the file's name.")
]
IdPrefix = Annotated[str, option("TEXT", "Only entities whose id starts with this.", show_default=False)]
_N_LISTED = 20  # ids of each kind in the result
_PATIENCE = 600.0  # seconds: another command may be embedding many names


def _settings_of(settings: Texts, filters: dict[str, Any]) -> dict[str, Any]:
    """Of a reader. Filters that are lists have items separated by commas; empty ones are left out."""
    of_reader = parse_settings(settings or [])
    for name, value in filters.items():
        if value:
            of_reader[name] = split_names(",".join(value)) if isinstance(value, list) else value
    return of_reader


def _as_before(record: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The settings with which a source was read before, and those that are given now, which count first. Both are
    said in a line."""
    before = {**record.get("settings", {}), "below": record.get("below", [])}
    kept = {name: value for name, value in before.items() if value and name not in given}
    other = {name: value for name, value in given.items() if record and before.get(name) != value}
    said = [f"as before {plain(kept)}"] if kept else []
    said += [f"now {name} {plain(value)}, before {plain(before.get(name))}" for name, value in other.items()]
    if said:
        message(f"How {record['name']} is read: {'; '.join(said)}")
    return {**before, **given}


@kb_cli.command("build")
def kb_build(
    out: NewKB,
    files: Annotated[list[Path], argument("FILE", "The source files; for umls the META folder.")],
    reader: Reader = None,
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    below: Below = None,
    settings: Settings = None,
    licence: options.Licence = None,
) -> None:
    """Build a knowledge base from source files.

    Example: spacy-pel kb build corpus/umls --reader umls 2024AA/META --types st21pv --languages ENG
    """
    from ..kb.from_files import build_kb

    filters = {"types": types, "sources": sources, "languages": languages, "id_prefix": id_prefix}
    of_reader = _settings_of(settings, filters)
    made = make_reader("pel_kb_readers", reader := reader or reader_of_all(files), of_reader)
    about = source_record(reader, of_reader, licence)
    kb = build_kb(made, files, out, about=about, below=below or (), show_progress=True)
    repairs = {**kb.source["repairs"], **kb.meta["report"]}
    result = {**kb.meta["counts"], "repairs": repairs, "fingerprint": kb.fingerprint}
    emit(result)


@contextmanager
def changed_kb(path: Path) -> "Iterator[tuple[KnowledgeBase, Any | None]]":
    """Open a KB, or the one of a pipeline, and save the changes. Meanwhile no other command changes it.

    Args:
        path: the folder of a KB or of a pipeline.

    Yields:
        The KB, and the pipeline's component if there is one.

    Raises:
        PelError: if it is part of a pipeline, whose index would not follow, or of an installed package; or if
            another command does not end in ten minutes.
    """
    from ..pipeline.linker_data import CALIBRATION
    from ..pipeline.saved import check_may_change, load_pipeline

    path = path.resolve()  # "." has no parent, and a link cannot be replaced by a folder
    in_pipeline = (path / "config.cfg").is_file()
    if not in_pipeline and (path.parent / CALIBRATION).is_file():
        raise PelError(Errors.E655.format(path=path, pipeline=path.parents[1]))
    # of a pipeline a file that corrections do not wait for
    with locked(path / "config.cfg" if in_pipeline else path, patience=_PATIENCE):
        if in_pipeline:
            check_may_change(path)
            nlp, name, component = load_pipeline(path)
            yield component.linker.kb, component
            # what does not change is not written: another command may have changed it meanwhile
            component.to_disk(path / name, exclude=("encoder", "reranker", "memory", "cfg"))
            write_json(path / "meta.json", nlp.meta)
            return
        kb = open_kb(path)
        before = kb.fingerprint
        yield kb, None
        kb.to_disk(path)
    if kb.fingerprint != before:
        message("Indexes of this KB are now out of date. Rebuild them with: spacy-pel index KB MODEL OUT")


@kb_cli.command("add")
def kb_add(
    kb: options.KBOrPipeline,
    files: Annotated[
        list[Path], argument("FILE", "JSON lines, a table, another format of `kb build`, or abbreviations.")
    ],
    reader: Reader = None,
    types: Types = None,
    id_prefix: IdPrefix = "",
    below: Below = None,
    settings: Settings = None,
    source_name: SourceName = None,
    licence: options.Licence = None,
    retire_missing: Annotated[bool, flag("--retire-missing", "FILE is a whole release: retire what it lacks.")] = False,
    replace: Annotated[bool, flag("--replace", "Replace known entities by what FILE says of them.")] = False,
    as_edits: Annotated[bool, flag("--as-edits", "Record your own changes, which later releases do not undo.")] = False,
) -> None:
    """Add, replace and retire entities, from a release of the source or a file of changes.

    An entity with a new id is added. Rows of a known id, in a table or JSON lines, add their names, types, codes and
    parents to it. A release (UMLS, an ontology, a KB folder, any FILE with --retire-missing) replaces what its source
    said of an entity before; what other sources say stays. Entities that were edited in the KB stay as they are, see
    `kb edits`; the summary lists them.

    A source is read with the filters and settings of the last time, unless others are given.

    A line of FILE.jsonl is an entity with the keys concept_id and canonical_name and, optionally, definition and
    the lists aliases, types, xrefs and parents. Or it retires an id: {"concept_id": "A1", "retired": true,
    "successor": "B2"}, where the successor is optional. A table has a header: code, name, synonyms (separated
    by |), type. --id-prefix also limits the ids that are retired; --types and --below do not.

    An id that FILE calls obsolete, deleted or merged is retired, in favour of its successor if FILE names
    one. So is an alternative id of an entity (alt_id of an ontology, the other ids of MEDIC's lines).
    Entities that FILE lacks are counted; --retire-missing retires them.

    A table of `corpus abbreviations` adds what short forms stand for. Its long forms are linked by the pipeline.

    The folder is replaced in one step at the end, so a failure leaves it unchanged. If KB is a pipeline, new
    names are embedded into its index, without training.

    Example: spacy-pel kb add my_pipeline hp.obo --retire-missing
    """
    from ..abbreviations.inventory import is_inventory
    from ..kb.from_files import apply_changes, read_changes
    from ..kb.sources import BUILT

    if reader is None and is_inventory(files[0]):
        if any((types, id_prefix, below, settings, source_name, licence, retire_missing, replace, as_edits)):
            raise PelError(Errors.E687.format(path=files[0]))
        emit(_add_abbreviations(kb, files))
        return
    reader = reader or reader_of_all(files)
    given = _settings_of(settings, {"types": types, "id_prefix": id_prefix}) | ({"below": below} if below else {})
    with changed_kb(kb) as (opened, component):  # which says how the source was read before: nobody changes it now
        known = recorded(opened.source, reader, files, source_name)
        of_reader = _as_before(known, given)
        below = of_reader.pop("below")
        made = make_reader("pel_kb_readers", reader, of_reader)
        changes = read_changes(made, files, below=below)
        name = source_name or known.get("name") or changes.source.get("name") or files[0].name
        is_build = name == opened.source.get("name")
        adds = not (retire_missing or replace or getattr(made, "is_release", True))
        how = {"retire_missing": retire_missing, "adds": adds, "replaces": replace, "as_edits": as_edits}
        update = apply_changes(opened, changes, source=BUILT if is_build else name, **how)
        if not as_edits:
            about = source_record(reader, of_reader, licence or changes.source.get("licence"))
            about |= {"name": name, "below": list(below), "added_on": now()[:10]}
            opened.note_source({**changes.source, **about}, is_build=is_build, adds=adds)
    if as_edits and not (update.added or update.changed or update.retired):
        message("The KB says so already. Nothing has changed")
    learned = component.learned if component is not None else ()
    missing = [] if retire_missing or as_edits else update.missing  # own edits are no release
    result = {
        "added": len(update.added),
        "extended": len(update.extended),
        "updated": len(update.changed) - len(update.extended),
        "unchanged": update.unchanged,
        "retired": len(update.retired),
        "successors": {old: opened.resolve(old) for old in list(update.retired)[:_N_LISTED]},
        "n_without_successor": len(update.obsolete),
        "perhaps": {old: list(ids) for old, ids in update.obsolete.items() if ids},
        "n_missing": len(missing),
        "missing": missing[:_N_LISTED],
        "n_others": update.n_others,
        "edited": {entity_id: opened.edits[entity_id].kind for entity_id in update.edited},
        "conflicts": update.conflicts,
        "corrections_without_entity": [one.id for one in learned if one.after != NIL and one.after not in opened],
        "repairs": changes.repairs,
        "entities": len(opened),
        "fingerprint": opened.fingerprint,
    }
    emit(result, _update_text)


def _add_abbreviations(path: Path, files: list[Path]) -> dict[str, Any]:
    """Link the long forms of inventories, and add them to the index of a pipeline."""
    from ..abbreviations.inventory import link_long_forms, read_inventory

    entries = [entry for file in files for entry in read_inventory(file)]
    with changed_kb(path) as (_, component):
        if component is None or (index := component.linker.index) is None:
            raise PelError(Errors.E688.format(path=path))
        uses = ((entry.short_form, entry.long_form, entry.uses) for entry in entries)
        index.add_abbreviations(link_long_forms(component.linker, uses, show_progress=True))
    return {"long_forms": len(entries), "short_forms_in_all": index.meta["abbreviations"]}


def _update_text(result: dict[str, Any]) -> str:
    retired = [f"{old} -> {new}" if new else old for old, new in result["successors"].items()]
    perhaps = [f"{old} (perhaps {', '.join(new)})" for old, new in result["perhaps"].items()]
    edited = [f"{entity_id} {kind}" for entity_id, kind in result["edited"].items()]
    lost = list(map(str, result["corrections_without_entity"]))
    titles = {"added": "added", "extended": "given more", "updated": "replaced", "unchanged": "unchanged"}
    rows = {title: result[key] for key, title in titles.items()}
    for title, n, examples, note in (
        ("retired", result["retired"], retired, ""),
        ("without successor", result["n_without_successor"], perhaps, ""),
        ("not in the release", result["n_missing"], result["missing"], "; retire them with --retire-missing"),
        ("from other sources", result["n_others"], [], ", not retired"),
        ("edits kept", len(edited), edited, ""),
        ("corrections without an entity", len(lost), lost, ""),
    ):
        if n or title == "retired":
            rows[title] = count_with_examples(n, examples) + note
    rows |= {key: result[key] for key in ("repairs", "entities", "fingerprint")}
    lines = [key_values(rows)]
    for one, change in result["conflicts"].items():
        lines.append(f"conflict: {one} {result['edited'][one]} here, {change} in the release")
    return "\n".join(lines)


@kb_cli.command("edits")
def kb_edits(
    kb: options.KBOrPipeline, drop: Annotated[Texts, option("ID", "Undo the edits of this entity (repeatable).")] = None
) -> None:
    """List the entities that were edited: added, replaced, renamed or retired in Python or with
    `kb add --as-edits`. Edits outlast later releases of the source.

    Example: spacy-pel kb edits my_pipeline --drop HP:0012832
    """
    if not drop:
        opened = open_kb(kb)
        edits = [_edit_record(opened, entity_id) for entity_id in opened.edits]
        emit({"edits": edits}, lambda _: "\n".join(map(_line, edits)) or "no edits")
        return
    with changed_kb(kb) as (changed, _):
        dropped = [_edit_record(changed, edited) for edited in dict.fromkeys(drop) if edited in changed.edits]
        changed.withdraw(drop)
    lines = [*(f"dropped  {_line(edit)}" for edit in dropped), f"edits left: {len(changed.edits):,}"]
    emit({"dropped": dropped, "n_edits": len(changed.edits)}, lambda _: "\n".join(lines))


def _edit_record(kb: Any, entity_id: str) -> dict[str, Any]:
    """An edit; "was" and "is" are null for an entity that was or is not there."""
    edit, is_live = kb.edits[entity_id], kb.resolve(entity_id) == entity_id
    was = edit.release.entity.to_json() if edit.release.live else None
    record = {"concept_id": entity_id, "edit": edit.kind, "at": edit.at, "was": was}
    return {**record, "is": kb[entity_id].to_json() if is_live else None, "successor": edit.successor}


def _line(edit: dict[str, Any]) -> str:
    was, new = (edit[key] and edit[key]["canonical_name"] for key in ("was", "is"))
    change = " -> ".join(dict.fromkeys(filter(None, (was, new or edit["successor"]))))
    return f"{edit['at']}  {edit['concept_id']}  {edit['edit']}  {change}"


@kb_cli.command("migrate")
def kb_migrate(
    links: Annotated[
        Path, argument("LINKS", "JSON lines, Parquet, a table or a folder that `link` wrote, or a corpus.")
    ],
    old: options.OldKB,
    new: options.CurrentKB,
    output: Annotated[Path | None, option("FILE", "[default: LINKS with .migrated in its name]")] = None,
) -> None:
    """Replace retired ids in old results by their successors.

    An id without a successor, retired or unknown to both KBs, is left unchanged and listed. A mention whose
    kb_id changes gets the name and the codes of the new entity. Everything else stays the same.

    Example: spacy-pel kb migrate linked.jsonl kb_2023 kb_2024 --output linked_2024.jsonl
    """
    from ..engines.output import output_format
    from ..kb.compare import Migration

    is_folder = links.is_dir()
    name = f"{links.name}.migrated" if is_folder else links.name.replace(".", ".migrated.", 1)
    target = output or links.with_name(name)
    files = sorted(links.glob("part-*")) if is_folder else [links]
    if not files:
        raise unexpected(links, "part-* files that `link` wrote", "none", "Check the path.")
    if links.resolve() in target.resolve().parents:  # a copy of itself within itself has no end
        raise unexpected(target, f"an output outside of {links}", "one within it", "Choose another.")
    migration = Migration(open_kb(old), open_kb(new))
    with atomic_path(target) as part:
        if is_folder:
            shutil.copytree(links, part)
        for file in files:
            to = output_format("auto", file if is_folder else target)
            _migrate_file(migration, file, part / file.name if is_folder else part, to)
    counts = {"documents": migration.n_documents, "mentions": migration.n_mentions, "changed": migration.n_changed}
    retired, unknown = (dict(counter.most_common()) for counter in (migration.retired, migration.unknown))
    ids = {"replaced": migration.replaced, "retired": retired, "unknown": unknown}
    emit({**counts, **ids, "output": str(target)}, _migration_text)


def _migrate_file(migration: Any, links: Path, target: Path, to: str) -> None:
    from ..corpora import read_links
    from ..corpora.formats.tables import write_rows
    from ..engines.output import write_links
    from ..util.files import ending_of
    from ..util.parsing import guarded, read_cells
    from ..util.writing import write_text

    if to in ("csv", "tsv") and ending_of(links) in (".csv", ".tsv"):
        lines = read_cells(links, read_lines(links), delimiter="\t" if ending_of(links) == ".tsv" else ",")
        rows = guarded(migration.rows(row for _, row in lines), "kb migrate", [links])
        with write_text(target) as file:
            write_rows(file, rows, "\t" if to == "tsv" else ",")
        return
    mentions = (mention for record in read_links(links) for mention in record.get("mentions") or ())
    codes = next(guarded((list(mention.get("codes") or ()) for mention in mentions), "kb migrate", [links]), [])
    write_links(target, guarded(migration(read_links(links)), "kb migrate", [links]), to, codes)


def _migration_text(result: dict[str, Any]) -> str:
    replaced = [f"{old} -> {new}" for old, new in result["replaced"].items()]
    rows = {**result, "replaced": count_with_examples(len(replaced), replaced)}
    for key in ("retired", "unknown"):
        examples = (f"{entity_id} ({n:,} mention{'s' * (n > 1)})" for entity_id, n in result[key].items())
        rows[key] = count_with_examples(len(result[key]), examples)
    return key_values(rows)
