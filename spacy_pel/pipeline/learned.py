"""What a component has learned beside the weights: the calibration, as JSON."""

from typing import Any, Dict, Union

from ..errors import Warnings
from ..linking import Linker
from ..types import Combiner, NilModel
from ..util import logger


def learned_state(linker: Linker) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): the content of ``cfg.json``. Settings are not in it: they come
    from the config, so that ``spacy.load(config=...)`` can set them.
    """
    return {
        "calibrated_threshold": linker.calibrated_threshold,
        "combiner": _state(linker.combiner),
        "nil_model": _state(linker.nil_model),
    }


def load_learned_state(linker: Linker, saved: Dict[str, Any], *, name: str) -> None:
    """Give a linker what another one has learned.

    A combiner of another kind than the saved one starts afresh, and with it NIL model and
    threshold, which were fitted on its scores; a warning is logged. So for the NIL model.

    linker (Linker): built from the config.
    saved (Dict[str, Any]): from ``learned_state``.
    name (str): the component's name, for the warning.
    """
    for key, part in (("combiner", linker.combiner), ("nil_model", linker.nil_model)):
        if saved[key]["kind"] != type(part).__name__:
            logger.warning(Warnings.W501.format(name=name, saved=saved[key]["kind"], now=type(part).__name__))
            return
        part.load_state(saved[key]["state"])
    linker.calibrated_threshold = saved["calibrated_threshold"]


def _state(part: Union[Combiner, NilModel]) -> Dict[str, Any]:
    return {"kind": type(part).__name__, "state": part.state()}
