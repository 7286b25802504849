"""Output written in parts, so that an interrupted run can be resumed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..util import read_json, read_jsonl, write_json, write_jsonl
from .finished import changed_settings

_SETTINGS = "settings.json"


class PartFiles:
    """Numbered files of records next to the output, which is written from them at the end.

    Args:
        output: the output.
        settings: what the parts depend on; parts written with other settings are
            refused.
        resume: continue with the existing parts.

    Raises:
        PelError: if existing parts cannot be used.
    """

    def __init__(self, output: Path, settings: dict[str, Any], *, resume: bool) -> None:
        self.output = Path(output)
        self.folder = _folder_of(self.output)
        self.check_resumed(self.output, resume=resume)
        if (self.folder / _SETTINGS).is_file():
            changed = changed_settings(read_json(self.folder / _SETTINGS), settings)
            if changed:
                raise PelError(Errors.E644.format(folder=self.folder, changed=changed))
        else:
            # without settings, parts are what is left of a folder that was being removed
            shutil.rmtree(self.folder, ignore_errors=True)
            write_json(self.folder / _SETTINGS, settings)

    @staticmethod
    def check_resumed(output: Path, *, resume: bool) -> None:
        """What can be checked before the settings are known.

        Raises:
            PelError: if there are parts, and the run is not to be resumed.
        """
        folder = _folder_of(output)
        if not resume and (folder / _SETTINGS).is_file():
            raise PelError(Errors.E643.format(folder=folder))

    def paths(self) -> list[Path]:
        """The complete parts, without gaps."""
        paths: list[Path] = []
        while (path := self._path(len(paths))).is_file():
            paths.append(path)
        return paths

    def write(self, number: int, records: list[dict[str, Any]]) -> None:
        """Write a part atomically."""
        write_jsonl(self._path(number), records)

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of the complete parts."""
        for path in self.paths():
            yield from read_jsonl(path)

    def n_records(self) -> int:
        """The number of records in the complete parts."""
        count = 0
        for path in self.paths():
            with path.open("rb") as file:
                count += sum(1 for _ in file)
        return count

    def remove(self) -> None:
        """Remove the parts, once the output is written."""
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:06}.jsonl"


def _folder_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts")
