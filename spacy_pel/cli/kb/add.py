"""The command ``kb add``: add, replace and retire entities of a knowledge base."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Dict, Iterator, List, Optional

import typer

from ...errors import Errors, PelError
from ...pipeline.saved import load_pipeline
from .._app import kb_cli
from .._kb import reader_of_all
from .._output import JSON, emit, key_values, message
from ._source import READERS, IdPrefix, Languages, Settings, Sources, Strict, Types, kb_source

if TYPE_CHECKING:
    from ...kb import KnowledgeBase


@kb_cli.command("add")
def kb_add(
    kb: Annotated[
        Path,
        typer.Argument(
            metavar="KB", help="The KB folder to change, or a pipeline folder: its KB and its index."
        ),
    ],
    files: Annotated[
        List[Path],
        typer.Argument(
            metavar="FILE...", help="JSON lines, a table, or what another reader of `kb build` reads."
        ),
    ],
    reader: Annotated[
        Optional[str],
        typer.Option(metavar="NAME", help=f"The format; default: by the file's name. One of {READERS}"),
    ] = None,
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    settings: Settings = None,
    strict: Strict = False,
    as_json: bool = JSON,
) -> None:
    """Add, replace and retire entities.

    An entity with a new id is added; one with an id that the KB has replaces that entity, names and all.

    A line of FILE.jsonl is an entity with the keys concept_id, canonical_name, aliases (a list), types (a
    list) and definition, the first two of them required; or it retires an id: {"concept_id": "A1",
    "retired": true, "successor": "B2"}, the successor being optional. A table has a header: code, name,
    synonyms (with | between them), type. --id-prefix chooses ids to retire, too; --types does not.

    An alternative id of an entity (alt_id of an ontology, the other ids of MEDIC's lines) retires the entity
    that has this id in the KB, in favour of the one that names it.

    The folder is replaced in one step at the end; a failure leaves it unchanged. Names of new entities
    are embedded into the index of a pipeline, without training.

    Example: spacy-pel kb add corpus/kb changes.jsonl
    """
    from ...kb.change_lines import apply_changes, changes_from_reader

    source = kb_source(
        reader or reader_of_all(files),
        types=types,
        sources=sources,
        languages=languages,
        id_prefix=id_prefix,
        settings=settings,
        strict=strict,
    )
    changes = changes_from_reader(source.reader, files)
    with _opened(kb) as opened:
        counts = apply_changes(opened, changes)
    result = {
        **counts,
        "repairs": changes.repairs,
        "entities": len(opened),
        "fingerprint": opened.fingerprint,
    }
    emit(result, as_json=as_json, text=_text)


def _text(result: Dict[str, Any]) -> str:
    # "updated" could mean that names were added to those that an entity has
    return key_values({"replaced" if key == "updated" else key: value for key, value in result.items()})


@contextmanager
def _opened(path: Path) -> "Iterator[KnowledgeBase]":
    """Open a KB, or the one of a pipeline, and save what was changed.

    RAISES (PelError): if it is part of a pipeline, whose index would not follow.
    """
    from ...kb import KnowledgeBase
    from ...pipeline.linker_data import CALIBRATION

    path = path.resolve()  # "." has no parent, and a link cannot be replaced by a folder
    if (path / "config.cfg").is_file():
        nlp, name, component = load_pipeline(path)
        yield component.linker.kb
        # what does not change is not written: another command may have changed it meanwhile
        component.to_disk(path / name, exclude=("encoder", "reranker", "memory", "cfg"))
        return
    if (path.parent / CALIBRATION).is_file():
        raise PelError(Errors.E655.format(path=path, pipeline=path.parents[1]))
    kb = KnowledgeBase.from_disk(path)
    before = kb.fingerprint
    yield kb
    kb.to_disk(path)
    if kb.fingerprint != before:
        message("Its indexes are out of date now. Rebuild them with: spacy-pel index KB MODEL OUT")
