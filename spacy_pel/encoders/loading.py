"""Loading the encoder in a folder, of whatever kind."""

from inspect import signature
from pathlib import Path
from typing import Any

from ..registry import registry
from ..types import Encoder
from ..util.saved_folder import read_part


def load_encoder(path: Path, *, backend: Any | None = None) -> Encoder:
    """Read an encoder from a folder; its ``encoder.json`` names the registered part.

    Args:
        path: a model folder.
        backend: how to run inference, for encoders that have a choice.

    Returns:
        With weights.

    Raises:
        PelError: if the folder holds no encoder, or one that is not registered.
    """
    path = Path(path)
    make = registry.pel_encoders.get(read_part(path, kind="encoder")["encoder"])
    choice = {"backend": backend} if backend and "backend" in signature(make).parameters else {}
    return make(**choice).from_disk(path)  # type: ignore[no-any-return]
