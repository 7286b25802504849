"""The command ``teach``: corrected mentions into a pipeline's memory, what is in it, and undoing it."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from ..corpora.formats.tables import open_table
from ..errors import Errors, PelError, Warnings, quoted
from ..types import NIL
from ..util import counted_form, locked, logger, numbered_jsonl
from ..util.files import ending_of
from ._app import pel_cli
from ._options import Pipeline, argument, check_needs, flag, option
from ._output import emit, message, plain, text_table

_SHOWN = 20  # forms that decide in their own texts only


@pel_cli.command("teach", rich_help_panel="Link")
def teach(
    ctx: typer.Context,
    pipeline: Pipeline,
    corrections: Annotated[
        Path | None,
        argument(
            "CORRECTIONS",
            'JSON lines {"text": …, "start": 0, "end": 4, "kb_id": id or "NIL"}, or a .csv or .tsv with these columns; '
            '"mention" instead of the offsets, where it is in the text once; "term" instead of all three.',
        ),
    ] = None,
    always: Annotated[bool, flag("--always", "They decide in all texts, whatever annotated text says.")] = False,
    by: Annotated[str, option("NAME", "Who corrected them, for the log.")] = "",
    list_learned: Annotated[bool, flag("--list", "List the corrections in effect; change nothing.")] = False,
    undo: Annotated[list[int] | None, option("ID", "Undo this correction (repeatable).")] = None,
) -> None:
    """Make corrected mentions count at once, without training. List or undo them.

    From now on, a mention with the same surface form gets the corrected answer: in the same text, and in others
    unless annotated text uses the form for another entity more often. The log keeps who corrected what, when,
    and up to 60 characters of text on each side.

    Example: spacy-pel teach my_pipeline short_forms.csv --always --by "A. Curator"
    """
    from ..index.annotated_text import AliasPriors
    from ..kb import KnowledgeBase
    from ..pipeline.linker_data import save_memory, saved_memory
    from ..pipeline.saved import check_may_change
    from ._saved_pipeline import learned_path, read_learned

    if corrections is None:
        check_needs(ctx, "CORRECTIONS", "always", *(["by"] if list_learned else []))
    tasks = sum([corrections is not None, list_learned, bool(undo)])
    if tasks != 1:
        raise PelError(Errors.E673.format(got="more than one" if tasks else "none"))
    folder = learned_path(pipeline).parent
    if not list_learned:
        check_may_change(pipeline)
    if corrections is not None:
        emit(_learn(pipeline, corrections, by, always=always))
        return
    with locked(pipeline):  # nobody replaces the folder meanwhile
        read_learned(pipeline)  # checks the folder
        memory = saved_memory(folder)  # neither encoder nor detector is loaded
        if undo:
            n_lines = len(memory.log)
            undone = memory.undo(undo, by=by)
            save_memory(folder, memory, n_lines=n_lines)
            result = {"undone": len(undone), "in_effect": len(memory), "pipeline": str(pipeline)}
            emit(result)
            return
        priors = AliasPriors.from_disk(folder / "index") if (folder / "index").exists() else None
        known = memory.learned_mentions(KnowledgeBase.from_disk(folder / "kb"), priors)
        listed = [asdict(entry) | asdict(known.reach(entry.id)) for entry in memory.learned]
    emit({"learned": listed}, _table)


def _learn(pipeline: Path, path: Path, by: str, *, always: bool) -> dict[str, Any]:
    from ..pipeline.gold import not_found, queries_of, query_maker
    from ..pipeline.linker_data import save_memory
    from ..pipeline.saved import load_pipeline

    corrections = read_corrections(path, always=always)
    nlp, name, component = load_pipeline(pipeline)
    queries = queries_of(corrections, query_maker(nlp, name=name))
    memory = component.linker.memory
    n_lines, n = len(memory.log), len(corrections)
    learned = component.linker.learn(queries, corrections, by=by)
    same = [mention for mention in learned if mention.before == mention.after]
    here = _here_only(component.linker, learned)
    if learned:
        save_memory(pipeline / name, memory, n_lines=n_lines)
        if missing := not_found(nlp, corrections, name=name):
            logger.warning(Warnings.W510.format(n=len(missing), of=n, example=quoted(missing[0].surface)))
        if n_confirmed := sum(not mention.always for mention in same):
            logger.warning(Warnings.W551.format(n=n_confirmed, of=len(learned)))
        for text in here[:_SHOWN]:
            logger.warning(text)
        if len(here) > _SHOWN:
            message(f"{len(here) - _SHOWN:,} more forms decide in their own texts only: spacy-pel teach --list")
    else:
        message("All corrections were already known. Nothing has changed")
    ids = [mention.id for mention in learned]
    counts = {"corrections": n, "learned": len(learned), "nil": sum(mention.after == NIL for mention in learned)}
    span = f"{ids[0]}-{ids[-1]}" if len(ids) > 1 else str(ids[0]) if ids else "none"
    state = {"ids": span, "in_effect": len(memory), "pipeline": str(pipeline)}
    return {**counts, "changed": len(learned) - len(same), "here_only": len(here), **state}


def _here_only(linker: Any, learned: list[Any]) -> list[str]:
    """A warning for each form whose correction has no effect in other texts."""
    texts = {}
    for mention in learned:
        reach = linker.learned_mentions.reach(mention.id)
        if reach.decides == "here":
            why = "another correction of it decides always"
            if reach.rival is not None:
                name = linker.kb[reach.rival].canonical_name
                why = f"annotated text names {name} ({reach.rival}) {reach.n_rival:,} times"
            texts[counted_form(mention.form)] = Warnings.W552.format(form=mention.form, why=why)
    return list(texts.values())


def read_corrections(path: Path, *, always: bool = False) -> list[Any]:
    """The corrections of JSON lines or a table.

    Args:
        path: the file.
        always: whether those decide in all texts that do not say it.

    Raises:
        PelError: if a line is not a correction, or there is none.
    """
    is_table = ending_of(path) in (".csv", ".tsv")
    records = _rows(path) if is_table else numbered_jsonl(path)
    corrections = [
        _correction({"always": always, **record}, f"{path}, line {number}", strict=not is_table)
        for number, record in records
    ]
    if not corrections:
        raise PelError(Errors.E674.format(path=path))
    return corrections


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table as lines; its column "id" is that of the entity, unless "kb_id" is."""
    for number, row in open_table(path, "text")[1]:
        cells: dict[str, Any] = {name.lower(): cell for name, cell in row.items() if cell}
        if "kb_id" not in cells and "id" in cells:
            cells["kb_id"] = cells.pop("id")
        yield number, cells | {"kb_id": cells["kb_id"].strip()} if "kb_id" in cells else cells


class _Line(BaseModel):
    """A line of a file of corrections."""

    text: str
    start: int
    end: int
    kb_id: str
    id: str | None = None
    label: str | None = None
    mention: str | None = None
    always: bool = False


def _correction(record: dict[str, Any], where: str, *, strict: bool) -> Any:
    """The correction of a line; the cells of a table are texts, so that it is not strict.

    Raises:
        PelError: if the line is not a correction.
    """
    from ..linking import Correction
    from ..pipeline.terms import find_term

    term = record.get("term")
    if isinstance(term, str) and "text" not in record:  # a term is its own text
        record = {**record, "text": term.strip(), "mention": term.strip()}
    text, mention = record.get("text"), record.get("mention")
    if isinstance(text, str) and isinstance(mention, str) and not {"start", "end"} & record.keys():
        found = find_term(mention, text)
        if len(found) != 1:
            got = f"{quoted(mention)} {len(found)} times in the text and no offsets"
            raise PelError(Errors.E672.format(where=where, got=got))
        record = {**record, "start": found[0], "end": found[0] + len(mention)}
    try:
        line = _Line.model_validate(record, strict=strict)
    except ValidationError as err:
        fault = err.errors()[0]
        got = f"'{fault['loc'][0]}' of {quoted(record)}: {fault['msg']}"
        raise PelError(Errors.E672.format(where=where, got=got)) from err
    given = line.text, line.start, line.end, line.kb_id, line.label or "", line.id or "", where
    correction = Correction(*given, always=line.always)
    if line.mention not in (None, correction.surface):
        got = f"the mention {quoted(line.mention)}, but {quoted(correction.surface)} at its offsets"
        raise PelError(Errors.E672.format(where=where, got=got))
    return correction


def _table(result: dict[str, Any]) -> str:
    keys = ("id", "at", "by", "doc", "text", "before", "after", "decides", "agreeing", "rival", "n_rival", "context")
    learned = [one | {"agreeing": f"{one['n_agreeing']} of {one['n_corrections']}"} for one in result["learned"]]
    rows = [[plain(mention[key]) for key in keys] for mention in learned]
    return text_table(keys, rows, numbers=False) if rows else "Nothing has been learned."
