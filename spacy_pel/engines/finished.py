"""Runs that are finished, remembered: resuming one of them is no error."""

import json
import os
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

from ..util.files import JSON_ERRORS
from ..util.verified_files import cache_folder

_KEPT = 500  # runs


class Finished(NamedTuple):
    """A finished run.

    settings (Dict[str, Any]): what its output depends on.
    counts (Dict[str, int]): "documents", "mentions" and "nil".
    """

    settings: Dict[str, Any]
    counts: Dict[str, int]


def remember_finished(output: Path, run: Finished) -> None:
    """Remember the run that wrote an output, in the user's cache folder; where that cannot be written, it is
    forgotten."""
    folder = cache_folder()
    if folder is None:
        return
    line = json.dumps({"output": _key(output), **run._asdict()})
    part = folder / f"finished_links.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text("\n".join([*_lines()[-_KEPT + 1 :], line]) + "\n", encoding="utf8")
        os.replace(part, folder / "finished_links.jsonl")
    except OSError:
        pass


def finished_run(output: Path) -> Optional[Finished]:
    """RETURNS (Optional[Finished]): the run that wrote an output, if it is remembered and the output has not
    changed."""
    key = _key(output)
    for line in reversed(_lines()):
        try:
            record = json.loads(line)
            if record["output"] == key:
                return Finished(record["settings"], record["counts"])
        except (*JSON_ERRORS, KeyError, TypeError):
            continue
    return None


def changed_settings(old: Dict[str, Any], new: Dict[str, Any]) -> str:
    """RETURNS (str): which settings of a run changed, and from what to what, except for fingerprints, which
    say nothing to a reader; empty if none did."""
    changed = []
    for key in new:
        if new[key] != old.get(key):
            shown = [str(one) for one in (old.get(key, "none"), new[key])]
            is_short = all(len(one) < 20 for one in shown)
            changed.append(f"{key} changed from {shown[0]} to {shown[1]}" if is_short else f"{key} changed")
    return ", ".join(changed)


def _key(output: Path) -> List[Any]:
    status = output.stat()
    return [str(output.resolve()), status.st_ino, status.st_size, status.st_mtime_ns]


def _lines() -> List[str]:
    folder = cache_folder()
    try:
        return (folder / "finished_links.jsonl").read_text(encoding="utf8").splitlines() if folder else []
    except (OSError, UnicodeDecodeError):
        return []
