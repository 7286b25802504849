"""Opening a KB, or the one of a pipeline, to change it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Errors, PelError
from ...pipeline.saved import load_pipeline
from .._output import message

if TYPE_CHECKING:
    from ...kb import KnowledgeBase


@contextmanager
def changed_kb(path: Path) -> "Iterator[tuple[KnowledgeBase, Any | None]]":
    """Open a KB, or the one of a pipeline, and save what was changed.

    Args:
        path: the folder of a KB or of a pipeline.

    Yields:
        And the pipeline's component.

    Raises:
        PelError: if it is part of a pipeline, whose index would not follow.
    """
    from ...kb import KnowledgeBase
    from ...pipeline.linker_data import CALIBRATION

    path = path.resolve()  # "." has no parent, and a link cannot be replaced by a folder
    if (path / "config.cfg").is_file():
        nlp, name, component = load_pipeline(path)
        yield component.linker.kb, component
        # what does not change is not written: another command may have changed it meanwhile
        component.to_disk(path / name, exclude=("encoder", "reranker", "memory", "cfg"))
        return
    if (path.parent / CALIBRATION).is_file():
        raise PelError(Errors.E655.format(path=path, pipeline=path.parents[1]))
    kb = KnowledgeBase.from_disk(path)
    before = kb.fingerprint
    yield kb, None
    kb.to_disk(path)
    if kb.fingerprint != before:
        message("Its indexes are out of date now. Rebuild them with: spacy-pel index KB MODEL OUT")
