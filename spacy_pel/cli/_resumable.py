"""Output written in parts, so that an interrupted run can be resumed."""

import gzip
import shutil
from pathlib import Path
from typing import Any, Dict, List

from ..errors import Errors, PelError
from ..util import atomic_path, read_json, read_jsonl, write_json, write_jsonl

_SETTINGS = "settings.json"
_KINDS = (".jsonl", ".jsonl.gz", ".parquet")


class PartFiles:
    """Numbered files of records next to the output, joined at the end.

    output (Path): a .jsonl, .jsonl.gz or .parquet file.
    settings (Dict[str, Any]): what the parts depend on; parts written with other settings are
        refused.
    resume (bool): continue with the existing parts.
    RAISES (PelError): if the output's type is unknown, or existing parts cannot be used.
    """

    def __init__(self, output: Path, settings: Dict[str, Any], *, resume: bool) -> None:
        self.output = Path(output)
        if not self.output.name.endswith(_KINDS):
            raise PelError(Errors.E642.format(path=output, known=", ".join(_KINDS)))
        self.folder = self.output.with_name(self.output.name + ".parts")
        if (self.folder / _SETTINGS).is_file():
            if not resume:
                raise PelError(Errors.E643.format(folder=self.folder))
            if (found := read_json(self.folder / _SETTINGS)) != settings:
                changed = ", ".join(key for key in settings if settings[key] != found.get(key))
                raise PelError(Errors.E644.format(folder=self.folder, changed=changed))
        else:
            write_json(self.folder / _SETTINGS, settings)

    def paths(self) -> List[Path]:
        """RETURNS (List[Path]): the complete parts, without gaps."""
        paths: List[Path] = []
        while (path := self._path(len(paths))).is_file():
            paths.append(path)
        return paths

    def write(self, number: int, records: List[Dict[str, Any]]) -> None:
        """Write a part atomically."""
        write_jsonl(self._path(number), records)

    def finish(self) -> None:
        """Join the parts and remove them."""
        with atomic_path(self.output) as target:
            if self.output.suffix == ".parquet":
                _to_parquet(self.paths(), target)
            else:
                with gzip.open(target, "wb") if target.suffix == ".gz" else target.open("wb") as file:
                    for path in self.paths():
                        with path.open("rb") as part:
                            shutil.copyfileobj(part, file)  # type: ignore[misc]
        shutil.rmtree(self.folder)

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:06}.jsonl"


def _to_parquet(paths: List[Path], target: Path) -> None:
    """One row per document, its mentions as a list of structures."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    candidate = pa.struct([("id", pa.string()), ("score", pa.float32())])
    mention = pa.struct(
        [
            *((name, pa.int64()) for name in ("start", "end")),
            *((name, pa.string()) for name in ("text", "label", "kb_id", "name")),
            *((name, pa.float32()) for name in ("score", "nil_score")),
            ("candidates", pa.list_(candidate)),
        ]
    )
    schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("mentions", pa.list_(mention))])
    with pq.ParquetWriter(target, schema) as writer:
        for path in paths:
            rows = list(read_jsonl(path))
            for row in rows:
                for found in row["mentions"]:
                    found["candidates"] = [{"id": key, "score": score} for key, score in found["candidates"]]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
