"""The commands ``kb info``, ``kb show``, ``kb check`` and ``kb diff``, which print what a KB holds."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Errors, PelError
from ..pipeline.saved import saved_part
from ..util import read_json
from ._app import kb_cli
from ._kb import open_kb
from ._options import CurrentKB, KBOrPipeline, OldKB, Texts, argument, flag, option
from ._output import count_with_examples, emit, first_rows, key_values, message, text_table, type_rows
from ._settings import parse_settings

if TYPE_CHECKING:
    from ..kb import KnowledgeBase


@kb_cli.command("info")
def kb_info(kb: KBOrPipeline) -> None:
    """Show counts, types, source, licence and fingerprint of a knowledge base.

    With it come how many codes of each other vocabulary there are, and how many abbreviations a pipeline knows.

    Example: spacy-pel kb info corpus/kb
    """
    result = kb_facts(open_kb(kb))
    if (kb / "config.cfg").is_file() and (index := saved_part(kb, "index")) is not None:
        result["abbreviations"] = read_json(index / "meta.json").get("abbreviations", 0)
    emit(result, kb_text)


def kb_facts(kb: "KnowledgeBase") -> dict[str, Any]:
    """What a knowledge base holds, as JSON data."""
    return {**kb.meta, "sources": kb.sources, "codes": kb.vocabularies(), "types": kb.types()}


def kb_text(result: dict[str, Any]) -> str:
    """The text of ``kb_facts``."""
    from ..kb.sources import source_line

    rows = dict(result["counts"])
    if "abbreviations" in result:
        rows["abbreviations"] = result["abbreviations"]
    rows.update({"fingerprint": result["fingerprint"], "format": f"{result['format']} {result['version']}"})
    rows.update({f"from {source['name']}": source_line(source) for source in result["sources"]})
    for key, value in result["source"].items():
        if key not in ("sources", "added", "entities") and value not in ("", None, [], {}):
            rows[f"source: {key}"] = value
    rows.update({f"repaired: {kind}": count for kind, count in result["report"].items()})
    return key_values({**rows, **first_rows("code", result["codes"]), **type_rows(result["types"])})


@kb_cli.command("licences")
def kb_licences(
    kb: KBOrPipeline,
    allow: Annotated[
        Texts, option("NAME", "This source may be passed on, though its licence is not known (repeatable).")
    ] = None,
) -> None:
    """Show whose names are in a knowledge base, and fail if a licence forbids that they are passed on or is not known.

    `make package` asks this first.

    Example: spacy-pel kb licences my_pipeline --allow codes.csv
    """
    from ..kb.sources import check_may_be_passed_on, source_line

    sources = open_kb(kb).sources
    lines = {source["name"]: source_line(source) for source in sources}
    emit({"sources": sources}, lambda _: key_values(lines))
    check_may_be_passed_on(sources, allow or ())


@kb_cli.command("show")
def kb_show(
    kb: KBOrPipeline,
    entity_id: Annotated[
        str, argument("ID", "An id, live or retired; or a name or code, such as MESH:D001241, that one entity has.")
    ],
) -> None:
    """Show an entity: names, types, definition, codes of other vocabularies, and its place among broader and
    narrower ones. A retired id shows its successor, or what it was. Of a pipeline, also what annotated text calls it.

    Example: spacy-pel kb show corpus/kb C0004057
    """
    from ..index.annotated_text import AliasPriors, FormsInText
    from ..kb.compare import did_you_mean_id

    opened = open_kb(kb)
    is_retired = entity_id not in opened and opened.is_retired(entity_id)
    if entity_id not in opened and not is_retired:
        ids = opened.ids(entity_id) or opened.ids_of_xref(entity_id)
        if len(ids) != 1:
            raise PelError(Errors.E127.format(text=entity_id, hint=did_you_mean_id(opened, entity_id)))
        entity_id = ids[0]
    entity = opened.entity_at(int(opened.find_ids([entity_id])[0])) if is_retired else opened[entity_id]
    names = {id_: opened[id_].canonical_name if id_ in opened else None for id_ in entity.parents}
    below = [] if is_retired else opened.children(entity.concept_id)
    children = {id_: opened[id_].canonical_name for id_ in below}
    result = {**entity.to_json(), "parent_names": names, "children": children}
    if (kb / "config.cfg").is_file() and (index := saved_part(kb, "index")) is not None:
        result["forms"] = asdict(FormsInText.of(AliasPriors.from_disk(index), opened, entity))
    if entity.concept_id != entity_id:
        result["successor_of"] = entity_id
    if is_retired:
        result["retired"] = "without a successor"
    emit(result, _entity_text)


def _entity_text(result: dict[str, Any]) -> str:
    from ..index.annotated_text import FormsInText
    from ..types.semantic_types import type_label

    children, retired = result["children"], result.get("successor_of")
    rows = {
        "retired": result.get("retired"),
        "successor of": retired and f"{retired}, which is retired",
        "types": " · ".join(map(type_label, result["types"])),
        "definition": result["definition"],
        "parents": " · ".join(_named(result["parent_names"])),
        "children": children and count_with_examples(len(children), _named(children)),
        "names": " · ".join((result["canonical_name"], *result["aliases"])),
        "in annotated text": result.get("forms") and str(FormsInText(**result["forms"])),
        "codes": " · ".join(result.get("xrefs", ())),
    }
    shown = key_values({key: text for key, text in rows.items() if text})
    return f"{result['concept_id']}  {result['canonical_name']}\n{shown}".rstrip()


def _named(names: dict[str, str | None]) -> list[str]:
    """Ids with their names; an id that the KB lacks has none."""
    return [f"{entity_id} {name or ''}".rstrip() for entity_id, name in names.items()]


@kb_cli.command("check")
def kb_check(
    kb: KBOrPipeline,
    strict: Annotated[bool, flag("--strict", "Exit with 1 if there is an error.")] = False,
    most: Annotated[Texts, option("KIND=N", "Exit with 1 if there are more of this kind (repeatable).")] = None,
    top: Annotated[int, option("N", "How many of the worst cases of each kind to list.", min=0)] = 10,
) -> None:
    """Look for what is wrong with a knowledge base: names and codes that several entities have, damaged names, too many
    names, circles, and redirects that lead nowhere.

    Exit code 1: there is an error with --strict, or more of a kind than --most allows, also of an error.

    Example: spacy-pel kb check corpus/kb --strict --most twins=100
    """
    from ..kb.check import KINDS, check

    bounds = parse_settings(most or [])
    if wrong := [kind for kind, n in bounds.items() if kind not in KINDS or type(n) is not int]:
        raise PelError(Errors.E129.format(got=f"{wrong[0]}={bounds[wrong[0]]}", known=", ".join(KINDS)))
    findings = check(open_kb(kb), top=top, show_progress=True)
    emit({"findings": list(map(asdict, findings))}, _check_text)
    bounds = {one.kind: 0 for one in findings if strict and one.level == "error"} | bounds
    if above := [f"{one.kind} {one.count:,}" for one in findings if one.count > bounds.get(one.kind, one.count)]:
        message(f"Too many: {', '.join(above)}")
        raise typer.Exit(1)


def _check_text(result: dict[str, Any]) -> str:
    findings = result["findings"]
    rows = [[one["kind"], one["level"], f"{one['count']:,}", one["title"], one["detail"]] for one in findings]
    parts = [text_table(["kind", "level", "count", "what", "more"], rows, numbers=False)]
    for one in [one for one in findings if one["worst"]]:
        rows = [[f"{case['n']:,}", case["what"], " · ".join(_named(case["entities"]))] for case in one["worst"]]
        says_nothing = all(row[:2] == ["1", ""] for row in rows)
        shown = slice(2, None) if says_nothing else slice(None)
        table = text_table(["n", "what", "entities"][shown], [row[shown] for row in rows], numbers=False)
        parts.append(f"{one['kind']}: {one['title']}. {one['todo']}\n{table}")
    return "\n\n".join(parts)


@kb_cli.command("diff")
def kb_diff(
    old: OldKB,
    new: CurrentKB,
    limit: Annotated[int, option("N", "Maximum number of ids printed of each kind.", min=0)] = 20,
) -> None:
    """Show which entities were added, removed or changed, by id.

    Example: spacy-pel kb diff corpus/kb_2023 corpus/kb_2024 --json
    """
    from ..kb.compare import diff

    before, after = open_kb(old), open_kb(new)
    update = diff(before, after, show_progress=True)
    changes: dict[str, Any] = {"added": update.added, "removed": update.retired, "changed": update.changed}
    counts = {f"n_{kind}": len(ids) for kind, ids in changes.items()}
    result = {**counts, "n_edits": {"old": len(before.edits), "new": len(after.edits)}, **changes}

    def name(entity_id: str) -> str:
        names = [kb[entity_id].canonical_name for kb in (before, after) if kb.resolve(entity_id) == entity_id]
        return " -> ".join(dict.fromkeys(names))

    emit(result, lambda shown: _diff_text(shown, limit, name))


def _diff_text(result: dict[str, Any], limit: int, name: Callable[[str], str]) -> str:
    notes: dict[str, str] = {old: f" -> {new}" for old, new in result["removed"].items() if new}
    notes |= {entity_id: f" ({', '.join(fields)})" for entity_id, fields in result["changed"].items()}
    lines: list[str] = []
    for sign, kind in (("+", "added"), ("-", "removed"), ("~", "changed")):
        ids = list(result[kind])
        lines.append(f"{len(ids):,} {kind}")
        lines += [f"{sign} {entity_id} {name(entity_id)}{notes.get(entity_id, '')}" for entity_id in ids[:limit]]
        if len(ids) > limit:
            lines.append(f"  … and {len(ids) - limit:,} more (--limit, --json)")
    if any(result["n_edits"].values()):
        lines.append("edits: {old:,} in OLD, {new:,} in NEW".format(**result["n_edits"]))
    return "\n".join(lines)
