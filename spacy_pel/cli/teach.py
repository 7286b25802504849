"""The command ``teach``: corrected mentions into a pipeline's memory, what is in it, and undoing it."""

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError, Warnings, quoted
from ..types import NIL, Document, Mention
from ..util import logger, numbered_jsonl
from ._app import pel_cli
from ._output import JSON, emit, key_values, message

_REQUIRED = {"text": str, "start": int, "end": int, "kb_id": str}
_OPTIONAL = {"id": str, "label": str, "mention": str}
_HEAD = ("id", "when", "by", "document", "mention", "before", "after", "context")


@pel_cli.command("teach")
def teach(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder; its memory is changed.")],
    corrections: Annotated[
        Path | None,
        typer.Argument(
            metavar="CORRECTIONS.jsonl",
            help='Corrected mentions, one per line: {"text": …, "start": 0, "end": 4, "kb_id": id or "NIL"}.',
        ),
    ] = None,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who corrected them, for the log.")] = "",
    list_learned: Annotated[
        bool, typer.Option("--list", help="List what is learned and in effect; nothing is changed.")
    ] = False,
    undo: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="Undo this entry of the list (repeatable).")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Make corrected mentions count at once, without training; list them, or undo them.

    From now on, a mention of the same surface form in a similar context gets the corrected answer. The log
    keeps who corrected what, when, and up to 60 characters of text on each side.

    Example: spacy-pel teach my_pipeline corrections.jsonl --by "A. Curator"
    """
    given = [corrections is not None, list_learned, bool(undo)]
    if sum(given) != 1:
        raise PelError(Errors.E673.format(got="none" if not any(given) else "more than one"))
    if corrections is not None:
        emit(_learn(pipeline, corrections, by), as_json=as_json, text=key_values)
        return
    from ..pipeline.linker_data import save_memory

    folder, memory = _open(pipeline)
    if undo:
        n_lines = len(memory.log)
        undone = memory.undo(undo, by=by)
        save_memory(folder, memory, n_lines=n_lines)
        result: dict[str, Any] = {"undone": len(undone), "in_effect": len(memory), "pipeline": str(pipeline)}
        emit(result, as_json=as_json, text=key_values)
        return
    learned = [one.to_json() for one in memory.learned]
    emit({"learned": learned}, as_json=as_json, text=_table)


def _learn(pipeline: Path, path: Path, by: str) -> dict[str, Any]:
    from ..linking import Correction
    from ..pipeline.corrections import not_found
    from ..pipeline.gold import query_maker
    from ..pipeline.linker_data import save_memory
    from ..pipeline.saved import load_pipeline
    from ._saved_pipeline import learned_path

    learned_path(pipeline)  # of a folder: an installed package cannot be changed
    read = [_correction(record, f"{path}, line {number}") for number, record in numbered_jsonl(path)]
    if not read:
        raise PelError(Errors.E674.format(path=path))
    nlp, name, component = load_pipeline(pipeline)
    ask = query_maker(nlp, name=name)
    queries: list[Any] = []
    given: list[Correction] = []
    for (text, doc), group in groupby(read, key=lambda one: (one.text, one.doc)):
        of_text = list(group)
        mentions = [Mention(one.start, one.end, one.label) for one in of_text]
        queries += ask(Document(doc, text, mentions))
        given += of_text
    memory = component.linker.memory
    n_lines = len(memory.log)
    learned = component.linker.learn(queries, given, by=by)
    if learned:
        save_memory(pipeline / name, memory, n_lines=n_lines)
        missing = not_found(nlp, given, name=name)
        if missing:
            text, of = quoted(missing[0].surface), len(given)
            some = f"{len(missing)} of the {of} corrected mentions in their own texts, for example {text}"
            what = some if of > 1 else f"the corrected mention {text} in its own text"
            logger.warning(Warnings.W510.format(what=what))
        if n_same := sum(one.before == one.after for one in learned):
            logger.warning(Warnings.W551.format(n=n_same, of=len(learned)))
    else:
        message("All corrections were already known; nothing has changed")
    return {
        "corrections": len(given),
        "learned": len(learned),
        "nil": sum(one.after == NIL for one in learned),
        "changed": sum(one.before != one.after for one in learned),
        "ids": _ranges([one.id for one in learned]),
        "in_effect": len(memory),
        "pipeline": str(pipeline),
    }


def _correction(record: dict[str, Any], where: str) -> Any:
    """Of a line. RAISES (PelError): if it is none; names the line."""
    from ..linking import Correction

    for key, kind in {**_REQUIRED, **_OPTIONAL}.items():
        value = record.get(key)
        if (value is None and key in _OPTIONAL) or (isinstance(value, kind) and not isinstance(value, bool)):
            continue
        keys = f"the keys {quoted(sorted(record))} without '{key}'"
        got = f"{key}: {quoted(value)}" if key in record else keys
        raise PelError(Errors.E672.format(where=where, got=got))
    text, start, end = record["text"], record["start"], record["end"]
    surface = record.get("mention")
    if surface is not None and text[max(0, start) : max(0, end)] != surface:
        got = f"the mention {quoted(surface)}, but {quoted(text[max(0, start) : max(0, end)])} at its offsets"
        raise PelError(Errors.E672.format(where=where, got=got))
    doc, label = record.get("id") or "", record.get("label") or ""
    return Correction(text, start, end, record["kb_id"], label, doc, where)


def _open(pipeline: Path) -> tuple[Path, Any]:
    """The folder of the component, and its memory; nothing else is loaded.

    Raises:
        PelError: if this is not a pipeline with a linker, or its folder is damaged.
    """
    from ..pipeline.linker_data import KIND, VERSION, saved_memory
    from ..util.saved_folder import check_folder
    from ._saved_pipeline import learned_path

    folder = learned_path(pipeline).parent
    check_folder(folder, kind=KIND, version=VERSION)
    return folder, saved_memory(folder)


def _ranges(ids: list[int]) -> str:
    """Consecutive ids, e.g. "3-7"."""
    return "none" if not ids else str(ids[0]) if len(ids) == 1 else f"{ids[0]}-{ids[-1]}"


def _table(result: dict[str, Any]) -> str:
    from ..util.text_layout import aligned

    keys = ("id", "at", "by", "doc", "text", "before", "after", "context")
    rows = [[str(one[key]) for key in keys] for one in result["learned"]]
    return "\n".join(aligned(_HEAD, rows, longest=60)) if rows else "Nothing is learned."
