"""Load whichever encoder a folder holds."""

from pathlib import Path
from typing import Any, Optional

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Encoder

# each encoder writes one file of its own; its name says who can read the folder
_FILES = {"bi_encoder.json": "spacy-pel.BiEncoder.v1", "hash_embed.json": "spacy-pel.HashEmbed.v1"}


def is_bi_encoder(path: Path) -> bool:
    """RETURNS (bool): whether the folder is one that a bi-encoder wrote."""
    return (Path(path) / "bi_encoder.json").is_file()


def load_encoder(path: Path, *, backend: Optional[Any] = None) -> Encoder:
    """Read an encoder from a folder.

    path (Path): a model folder.
    backend (Optional[Backend]): how inference shall run, for encoders that have a choice.
    RETURNS (Encoder): with weights.
    RAISES (PelError): if the folder holds no encoder.
    """
    path = Path(path)
    for file, name in _FILES.items():
        if (path / file).is_file():
            make = registry.pel_encoders.get(name)
            encoder = make(backend=backend) if backend and file == "bi_encoder.json" else make()
            return encoder.from_disk(path)
    found = "no folder" if not path.is_dir() else ", ".join(sorted(p.name for p in path.iterdir())[:5])
    raise PelError(Errors.E306.format(path=path, found=found or "nothing", known=", ".join(_FILES)))
