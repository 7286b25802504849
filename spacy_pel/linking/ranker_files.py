"""Loading the ranker in a folder, of whatever kind."""

from pathlib import Path
from typing import Any

from ..registry import registry
from ..types import Ranker
from ..util.saved_folder import read_part

_OF_ENCODER = "spacy-pel.DualEncoder.v1"


def load_ranker(path: Path, **settings: Any) -> Ranker:
    """Read a ranker from a folder; its ``ranker.json`` names the registered part.

    Args:
        path: a model folder of a ranker, or of an encoder, which then serves as a DualEncoder.
        settings: settings that are not saved in the folder, e.g. ``top_k`` and ``mix``.

    Returns:
        With weights.

    Raises:
        PelError: if the folder holds no ranker, or one that is not registered.
    """
    path = Path(path)
    make = registry.pel_rankers.get(read_ranker(path)["ranker"])
    return make(**settings).from_disk(path)  # type: ignore[no-any-return]


def read_ranker(path: Path, name: str | None = None) -> dict[str, Any]:
    """Check a folder and read which part it holds.

    Args:
        path: a model folder.
        name: the expected ranker; None = any.

    Returns:
        ``ranker.json``: the registered name as "ranker", settings and fingerprint;
        of an encoder's folder the name alone.

    Raises:
        PelError: if the folder holds no ranker, or another one.
    """
    if is_encoder(path) and name in (None, _OF_ENCODER):
        return {"ranker": _OF_ENCODER}
    return read_part(path, kind="ranker", name=name)


def is_encoder(path: Path) -> bool:
    """Whether an encoder wrote the folder."""
    return (path / "encoder.json").is_file()
