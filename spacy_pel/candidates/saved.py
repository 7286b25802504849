"""The folder of a generator: ``generator.json`` and what the generator writes beside it. No pickle."""

import json
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..types import CandidateGenerator
from ..util import atomic_path, read_json, write_json

META = "generator.json"
FORMAT = 1


def write_folder(
    generator: CandidateGenerator, path: Path, fill: Callable[[Path], None], *, kb_fingerprint: str
) -> None:
    """Write a generator to a folder; what was there is replaced once all is written.

    generator (CandidateGenerator): what is written.
    path (Path): the folder.
    fill (Callable): writes its files into a folder.
    kb_fingerprint (str): of the knowledge base that it belongs to.
    RAISES (PelError): if there is no room.
    """
    with atomic_path(path) as part:
        part.mkdir()
        fill(part)
        files = {
            file.relative_to(part).as_posix(): file.stat().st_size
            for file in sorted(part.rglob("*"))
            if file.is_file()
        }
        meta = {
            "generator": generator.registered_name,
            "settings": generator.settings,
            "format": FORMAT,
            "fingerprint": generator.fingerprint,
            "kb_fingerprint": kb_fingerprint,
            "files": files,
        }
        write_json(part / META, meta)


def read_meta(path: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): ``generator.json``, with "generator" and "settings" at least.

    RAISES (PelError): if there is none, or it holds something else.
    """
    if not (path / META).is_file():
        raise damaged(path, META, f"a folder without {META}" if path.is_dir() else "no folder")
    meta = read_json(path / META)
    wanted = {"generator": str, "settings": dict}
    if not isinstance(meta, dict) or not all(isinstance(meta.get(key), of) for key, of in wanted.items()):
        raise damaged(path, f"{META} with the name and the settings of a generator", "something else")
    return meta


def read_folder(path: Path, registered_name: str) -> Dict[str, Any]:
    """Check the folder that ``write_folder`` wrote.

    path (Path): the folder.
    registered_name (str): of the generator that reads it.
    RETURNS (Dict[str, Any]): ``generator.json``.
    RAISES (PelError): if it belongs to another kind of generator, or a file is missing or cut off.
    """
    meta = read_meta(path)
    if meta["generator"] != registered_name:
        raise PelError(Errors.E442.format(path=path, expected=registered_name, got=meta["generator"]))
    if meta.get("format") != FORMAT:
        raise damaged(path, f"{META} of format version {FORMAT}", f"version {meta.get('format')}")
    with reading(path):
        for name, size in meta["files"].items():
            file = path / name
            got = f"{file.stat().st_size} bytes" if file.is_file() else "no such file"
            if got != f"{size} bytes":
                raise damaged(path, f"{name} with {size} bytes", got)
        meta["fingerprint"], meta["kb_fingerprint"]  # noqa: B018
    return meta


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """RAISES (PelError): if what is read from the folder inside cannot be read, or does not fit."""
    try:
        yield
    except PelError:
        raise
    except (OSError, ValueError, LookupError, TypeError, EOFError, AttributeError, BadZipFile) as err:
        got = (str(err) or type(err).__name__).strip().splitlines()[0]
        raise damaged(path, "readable files that belong together", got) from err


def damaged(path: Path, expected: str, got: str) -> PelError:
    """RETURNS (PelError): the error to raise."""
    return PelError(Errors.E441.format(expected=expected, path=path, got=got))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as an .npz file."""
    with path.open("wb") as file:
        np.savez(file, **arrays)


def read_arrays(path: Path) -> Dict[str, NDArray[Any]]:
    """RETURNS (Dict[str, NDArray]): the arrays of an .npz file; pickled ones are refused."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def write_strings(path: Path, strings: List[str]) -> None:
    """Write strings as one JSON list."""
    path.write_text(json.dumps(strings, ensure_ascii=False), encoding="utf8", errors="surrogatepass")


def read_strings(path: Path) -> List[str]:
    """RETURNS (List[str]): from what ``write_strings`` wrote.

    RAISES (ValueError): if the file holds something else.
    """
    strings = json.loads(path.read_text(encoding="utf8", errors="surrogatepass"))
    if not isinstance(strings, list) or not all(isinstance(one, str) for one in strings):
        raise ValueError(f"{path.name} holds no list of strings")
    return strings
