"""Runs that are finished, remembered: resuming one of them is no error."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from ..util import fingerprint
from ..util.files import JSON_ERRORS
from ..util.verified_files import cache_folder

_KEPT = 500  # runs that are kept when the list has become twice as long
_COUNTS = ("documents", "mentions", "nil", "left_out")


class Finished(NamedTuple):
    """A finished run.

    Attributes:
        settings: what its output depends on.
        counts: "documents", "mentions", "nil" and "left_out".
    """

    settings: dict[str, Any]
    counts: dict[str, int]


def remember_finished(output: Path, run: Finished) -> None:
    """Remember the run that wrote an output, in the user's cache folder; where that cannot be written, it is
    forgotten."""
    folder = cache_folder()
    if folder is None:
        return
    path = folder / "finished_links.jsonl"
    try:
        line = json.dumps({"output": _key(output), **run._asdict()}) + "\n"
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf8") as file:  # other runs may end at the same time
            file.write(line)
        lines = _lines()
        if len(lines) > 2 * _KEPT:
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text("".join(f"{one}\n" for one in lines[-_KEPT:]), encoding="utf8")
            os.replace(part, path)
    except OSError:
        pass


def finished_run(output: Path) -> Finished | None:
    """The run that wrote an output, if it is remembered and the output has not
    changed."""
    try:
        key = _key(output)
    except OSError:
        return None
    for line in reversed(_lines()):
        try:
            record = json.loads(line)
            settings, counts = record["settings"], [record["counts"][name] for name in _COUNTS]
            is_whole = isinstance(settings, dict) and all(type(number) is int for number in counts)
            if is_whole and record["output"] == key:
                return Finished(settings, dict(zip(_COUNTS, counts, strict=True)))
        except (*JSON_ERRORS, LookupError, TypeError):  # a damaged line
            continue
    return None


def changed_settings(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Which settings of a run changed, and from what to what, except for fingerprints, which
    say nothing to a reader; empty if none did."""
    changed = []
    for key in new:
        if new[key] != old.get(key):
            shown = [str(one) for one in (old.get(key, "none"), new[key])]
            is_short = all(len(one) < 20 for one in shown)
            changed.append(f"{key} changed from {shown[0]} to {shown[1]}" if is_short else f"{key} changed")
    return ", ".join(changed)


def _key(output: Path) -> list[Any]:
    """Differs once the output, or a file in its folder, has changed."""
    files = sorted(output.iterdir()) if output.is_dir() else [output]
    stats = [(file, file.stat()) for file in files]
    changes = [[file.name, stat.st_ino, stat.st_size, stat.st_mtime_ns] for file, stat in stats]
    return [str(output.resolve()), fingerprint(changes)]


def _lines() -> list[str]:
    folder = cache_folder()
    try:
        path = folder / "finished_links.jsonl" if folder else None
        return path.read_text(encoding="utf8", errors="replace").splitlines() if path else []
    except OSError:
        return []
