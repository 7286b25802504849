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

    Args:
        reader: streams the entities; its source, its redirects and its repairs are
            written to the folder too.
        paths: what the reader reads.
        out: the folder to write.
        source: JSON data for meta.json, e.g. the reader's name and settings.
        strict: treat faults that the reader did not report as errors.
        show_progress: show a progress bar.

    Returns:
        opened.
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
