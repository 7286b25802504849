"""Building a knowledge base folder with a reader of source files."""

import inspect
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Mapping, Sequence

from ..errors import Errors, PelError
from ..types import Entity, KBReader
from .knowledge_base import KnowledgeBase, PathLike


def make_reader(builder: Callable[..., KBReader], name: str, settings: Mapping[str, Any]) -> KBReader:
    """Make a reader, if it has the settings.

    builder (Callable): the registered function.
    name (str): the reader's name, for the error.
    settings (Mapping[str, Any]): e.g. {"types": ["T047"], "strict": True}.
    RETURNS (KBReader): the reader.
    RAISES (PelError): at a setting that this reader does not have.
    """
    known = inspect.signature(builder).parameters
    for setting in settings:
        if setting not in known:
            raise PelError(Errors.E113.format(name=name, setting=setting, known=", ".join(known)))
    return builder(**settings)


def build_from_reader(
    reader: KBReader,
    paths: Sequence[Path],
    out: PathLike,
    *,
    source: Mapping[str, Any],
    strict: bool = False,
    show_progress: bool = False,
) -> KnowledgeBase:
    """Read source files into a knowledge base folder.

    reader (KBReader): streams the entities; what it says of its source, its redirects and its
        repairs goes into the folder too.
    paths (Sequence[Path]): what the reader reads.
    out (Union[str, Path]): the folder to write.
    source (Mapping[str, Any]): JSON data for meta.json, e.g. the reader's name and settings.
    strict (bool): faults that the reader let pass are errors.
    show_progress (bool): show a progress bar.
    RETURNS (KnowledgeBase): opened.
    """
    redirects: Dict[str, str] = {}
    facts: Dict[str, Any] = {}

    def entities() -> Iterator[Entity]:
        yield from reader(paths)
        # a reader knows these only at the end of its files
        redirects.update(reader.redirects)
        facts.update({**reader.source, **source, "repairs": dict(reader.report)})

    return KnowledgeBase.build(
        entities(), out, source=facts, redirects=redirects, strict=strict, show_progress=show_progress
    )
