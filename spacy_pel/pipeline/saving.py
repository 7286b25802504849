"""The component on disk and as bytes: folders kb, encoder, index and perhaps reranker, and ``cfg.json``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable

import srsly

from ..errors import Errors, PelError
from ..indexes import EntityIndex
from ..indexes.folder import check_origin
from ..kb import KnowledgeBase
from ..util import read_json, write_json
from .folder_bytes import check_size, folder_from_bytes, folder_to_bytes
from .learned import learned_state, load_learned_state

if TYPE_CHECKING:
    from .proxy_entity_linker import ProxyEntityLinker

_LEARNED = "cfg.json"


def component_to_disk(component: "ProxyEntityLinker", path: Path, exclude: Iterable[str]) -> None:
    """Write the component's folder.

    exclude (Iterable[str]): any of "kb", "encoder", "index", "reranker", "cfg".
    RAISES (PelError): if the component is not initialised, or the files cannot be written.
    """
    linker = component.linker
    parts: Dict[str, Callable[[], Any]] = {
        "kb": lambda: linker.kb.to_disk(path / "kb"),
        "encoder": lambda: component.encoder.to_disk(path / "encoder"),
        "index": lambda: linker.index.to_disk(path / "index"),
        "cfg": lambda: write_json(path / _LEARNED, learned_state(linker)),
    }
    if component.reranker is not None:
        ranker = component.reranker.ranker
        parts["reranker"] = lambda: ranker.to_disk(path / "reranker")
    path.mkdir(parents=True, exist_ok=True)
    for name, write in parts.items():
        if name not in exclude:
            write()


def component_from_disk(component: "ProxyEntityLinker", path: Path, exclude: Iterable[str]) -> None:
    """Read the component's folder. What is excluded stays as it was.

    RAISES (PelError): if a part is missing or damaged, or the index is not of this KB and encoder.
    """
    kb = component.kb if "kb" in exclude else KnowledgeBase.from_disk(path / "kb")
    if "encoder" not in exclude:
        component.encoder.from_disk(path / "encoder")
    if component.reranker is not None and "reranker" not in exclude:
        component.reranker.ranker.from_disk(path / "reranker")
    if "index" in exclude:
        index = component.index
    else:
        index = EntityIndex.from_disk(path / "index", kb=kb, encoder=component.encoder)
    component.set_data(kb, index)
    if "cfg" not in exclude:
        load_learned_state(component.linker, read_json(path / _LEARNED), name=component.name)


def component_to_bytes(component: "ProxyEntityLinker", exclude: Iterable[str]) -> bytes:
    """RETURNS (bytes): what ``component_to_disk`` writes.

    RAISES (PelError): if the component is not initialised, or holds more than 2 GiB.
    """
    linker, name = component.linker, component.name
    parts: Dict[str, Callable[[], Any]] = {
        "kb": linker.kb.to_bytes,
        "encoder": lambda: folder_to_bytes(component.encoder.to_disk, name=name),
        "index": linker.index.to_bytes,
        "cfg": lambda: learned_state(linker),
    }
    if component.reranker is not None:
        ranker = component.reranker.ranker
        parts["reranker"] = lambda: folder_to_bytes(ranker.to_disk, name=name)
    data = {key: make() for key, make in parts.items() if key not in exclude}
    check_size(sum(_size(value) for value in data.values()), name=name)
    return srsly.msgpack_dumps(data)


def component_from_bytes(component: "ProxyEntityLinker", data: bytes, exclude: Iterable[str]) -> None:
    """Read what ``component_to_bytes`` gave. What is excluded, here or there, stays as it was.

    RAISES (PelError): if these are no bytes of a component.
    """
    saved = {key: value for key, value in _unpack(component, data).items() if key not in exclude}
    kb = KnowledgeBase.from_bytes(saved["kb"]) if "kb" in saved else component.kb
    if "encoder" in saved:
        folder_from_bytes(saved["encoder"], component.encoder.from_disk)
    if component.reranker is not None and "reranker" in saved:
        folder_from_bytes(saved["reranker"], component.reranker.ranker.from_disk)
    if "index" in saved:
        index = EntityIndex.from_bytes(saved["index"])
        check_origin(index.meta, Path("the given bytes"), kb, component.encoder)
    else:
        index = component.index
    component.set_data(kb, index)
    if "cfg" in saved:
        load_learned_state(component.linker, saved["cfg"], name=component.name)


def _unpack(component: "ProxyEntityLinker", data: bytes) -> Dict[str, Any]:
    try:
        saved = srsly.msgpack_loads(data)
    except ValueError as err:
        raise PelError(Errors.E508.format(name=component.name, came=str(err) or "broken bytes")) from err
    if not isinstance(saved, dict):
        raise PelError(Errors.E508.format(name=component.name, came=type(saved).__name__))
    return saved


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(len(content) for content in value.values() if isinstance(content, bytes))
    return len(value)
