"""Building a knowledge base folder with a KB reader."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...types import Entity, KBReader
from ..knowledge_base import KnowledgeBase, PathLike


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

    reader (KBReader): streams the entities; its source, its redirects and its repairs are
        written to the folder too.
    paths (Sequence[Path]): what the reader reads.
    out (Union[str, Path]): the folder to write.
    source (Mapping[str, Any]): JSON data for meta.json, e.g. the reader's name and settings.
    strict (bool): treat faults that the reader did not report as errors.
    show_progress (bool): show a progress bar.
    RETURNS (KnowledgeBase): opened.
    """
    redirects: dict[str, str] = {}
    facts: dict[str, Any] = {}

    def entities() -> Iterator[Entity]:
        yield from reader(paths)
        # a reader knows these only at the end of its files
        redirects.update(reader.redirects)
        facts.update({**reader.source, **source, "repairs": dict(reader.report)})

    return KnowledgeBase.build(
        entities(), out, source=facts, redirects=redirects, strict=strict, show_progress=show_progress
    )
