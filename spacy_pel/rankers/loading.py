"""Load whichever ranker a folder holds."""

from pathlib import Path
from typing import Any, Dict

from ..encoders.loading import is_bi_encoder
from ..errors import Errors, PelError
from ..registry import registry
from ..types import Ranker
from ..util import read_json

FILE = "ranker.json"
_OF_BI_ENCODER = "spacy-pel.DualEncoder.v1"


def load_ranker(path: Path, **settings: Any) -> Ranker:
    """Read a ranker from a folder.

    path (Path): a model folder of a ranker, or of a bi-encoder, which then serves as one.
    settings (Any): those that the folder does not hold, e.g. ``top_k`` and ``mix``.
    RETURNS (Ranker): with weights.
    RAISES (PelError): if the folder holds no ranker.
    """
    path = Path(path)
    name = read_saved(path)["ranker"]
    return registry.pel_rankers.get(name)(**settings).from_disk(path)


def read_saved(path: Path) -> Dict[str, Any]:
    """RETURNS (dict): what ``ranker.json`` holds: the registered name as "ranker", settings and
    fingerprint.

    RAISES (PelError): if the folder holds no ranker, or one that is not registered here.
    """
    if is_bi_encoder(path):
        return {"ranker": _OF_BI_ENCODER}
    if not (path / FILE).is_file():
        found = "no folder" if not path.is_dir() else f"a folder without {FILE}"
        raise PelError(Errors.E430.format(path=path, got=found))
    saved = read_json(path / FILE)
    if not isinstance(saved, dict) or "ranker" not in saved:
        raise PelError(Errors.E430.format(path=path, got=f"a {FILE} that names no ranker"))
    if saved["ranker"] not in registry.pel_rankers:
        got = f"the ranker '{saved['ranker']}', which is not registered here"
        raise PelError(Errors.E430.format(path=path, got=got))
    return saved
