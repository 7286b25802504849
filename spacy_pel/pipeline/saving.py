"""The component on disk and as bytes: a folder for the KB and each part that there is, and ``cfg.json``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable

import srsly

from ..candidates.loading import check_origin as check_generator_origin
from ..errors import Errors, PelError
from ..index import EntityIndex
from ..index.folder import check_origin
from ..kb import KnowledgeBase
from ..util import read_json, write_json
from .calibration import learned_state, load_learned_state
from .folder_bytes import check_size, folder_from_bytes, folder_to_bytes

if TYPE_CHECKING:
    from .proxy_entity_linker import ProxyEntityLinker

_LEARNED = "cfg.json"


def component_to_disk(component: "ProxyEntityLinker", path: Path, exclude: Iterable[str]) -> None:
    """Write the component's folder.

    exclude (Iterable[str]): any of "kb", "encoder", "index", "generator", "reranker", "cfg".
    RAISES (PelError): if the component is not initialised, or the files cannot be written.
    """
    linker = component.linker
    parts = {"kb": linker.kb, **_parts(component)}
    if linker.index is not None:
        parts["index"] = linker.index
    path.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        if name not in exclude:
            part.to_disk(path / name)
    if "cfg" not in exclude:
        write_json(path / _LEARNED, learned_state(linker))


def component_from_disk(component: "ProxyEntityLinker", path: Path, exclude: Iterable[str]) -> None:
    """Read the component's folder. What is excluded stays as it was.

    RAISES (PelError): if a part is missing or damaged, the index is not of this KB and encoder, or the
        generator not of this KB.
    """
    kb = component.kb if "kb" in exclude else KnowledgeBase.from_disk(path / "kb")
    for name, read in _readers(component, kb).items():
        if name not in exclude:
            read(path / name)
    index = None
    if component.encoder is not None:
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
        "cfg": lambda: learned_state(linker),
        **{key: partial(folder_to_bytes, part.to_disk, name=name) for key, part in _parts(component).items()},
    }
    if linker.index is not None:
        parts["index"] = linker.index.to_bytes
    data = {key: make() for key, make in parts.items() if key not in exclude}
    check_size(sum(_size(value) for value in data.values()), name=name)
    return srsly.msgpack_dumps(data)


def component_from_bytes(component: "ProxyEntityLinker", data: bytes, exclude: Iterable[str]) -> None:
    """Read what ``component_to_bytes`` gave. What is excluded, here or there, stays as it was.

    RAISES (PelError): if these are no bytes of a component.
    """
    saved = {key: value for key, value in _unpack(component, data).items() if key not in exclude}
    kb = KnowledgeBase.from_bytes(saved["kb"]) if "kb" in saved else component.kb
    for name, read in _readers(component, kb).items():
        if name in saved:
            folder_from_bytes(saved[name], read)
    index = None
    if component.encoder is not None:
        if "index" in saved:
            index = EntityIndex.from_bytes(saved["index"])
            check_origin(index.meta, Path("the given bytes"), kb, component.encoder)
        else:
            index = component.index
    component.set_data(kb, index)
    if "cfg" in saved:
        load_learned_state(component.linker, saved["cfg"], name=component.name)


def _parts(component: "ProxyEntityLinker") -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): name -> part that is there and reads and writes a folder; the KB and the
    index, which are made anew when they are read, are not among them."""
    parts = {
        "encoder": component.encoder,
        "generator": component.generator,
        "reranker": component.reranker and component.reranker.ranker,
    }
    return {name: part for name, part in parts.items() if part is not None}


def _readers(component: "ProxyEntityLinker", kb: KnowledgeBase) -> Dict[str, Callable[[Path], Any]]:
    """RETURNS (Dict[str, Callable]): name -> reads the part's folder; a generator must be of this KB."""
    readers = {name: part.from_disk for name, part in _parts(component).items()}
    generator = component.generator
    if generator is None:
        return readers

    def read_generator(path: Path) -> None:
        check_generator_origin(path, kb)
        generator.from_disk(path)

    return {**readers, "generator": read_generator}


def _unpack(component: "ProxyEntityLinker", data: bytes) -> Dict[str, Any]:
    try:
        saved = srsly.msgpack_loads(data)
    except ValueError as err:
        raise PelError(Errors.E508.format(name=component.name, got=str(err) or "broken bytes")) from err
    if not isinstance(saved, dict):
        raise PelError(Errors.E508.format(name=component.name, got=type(saved).__name__))
    return saved


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(len(content) for content in value.values() if isinstance(content, bytes))
    return len(value)
