"""What a worker process of an engine holds: one pipeline, and a bound on its threads."""

import threading
from collections.abc import Iterable
from pathlib import Path

from ..pipeline.saved import LoadedPipeline, load_pipeline
from ..util.config import import_code
from ..util.processes import bound_threads

_pipelines: dict[str, LoadedPipeline] = {}
_loading = threading.Lock()


def process_pipeline(
    path: str | Path, *, threads: int | None = None, device: str | None = None, code: Iterable[str] = ()
) -> LoadedPipeline:
    """The pipeline of a path in this process; the first call loads it, and with it declares its extension
    attributes.

    Args:
        path: its folder, or the name of an installed pipeline package.
        threads: threads that this process may use, from its first call on; None = as it is.
        device: torch device to move its encoder and its ranker to, e.g. "cuda"; None = do not.
        code: Python files to import first, with parts of the user's own.

    Returns:
        The same one at each call; the settings of later calls do not count.

    Raises:
        PelError: if it or the code cannot be loaded.
    """
    with _loading:
        if str(path) not in _pipelines:
            if threads is not None:
                bound_threads(threads)
            import_code(code)
            loaded = load_pipeline(Path(path))
            if device is not None:
                _move(loaded, device)
            if threads is not None:
                bound_threads(threads)  # of the libraries that the pipeline has imported
            _pipelines[str(path)] = loaded
        return _pipelines[str(path)]


def _move(loaded: LoadedPipeline, device: str) -> None:
    linker = loaded.component.linker
    parts = [loaded.component.encoder, linker.encoder, linker.reranker and linker.reranker.ranker]
    for part in parts:
        if getattr(part, "towers", None) is not None:
            part.towers.to(device)
            part.changed()
