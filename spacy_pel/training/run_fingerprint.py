"""What decides a training, as one short text: a checkpoint of another run is refused."""

from typing import Any, Dict, List

from ..kb import KnowledgeBase
from ..util import fingerprint, open_text
from .retriever.settings import RunSettings

# These end a training or look at it, and may change when it goes on.
_NO_MATTER = {"eval_frequency", "patience", "max_epochs", "max_steps"}


def run_fingerprint(settings: RunSettings, kb: KnowledgeBase) -> str:
    """How negatives are mined counts only where they are.

    RETURNS (str): of settings, first weights and data.
    RAISES (PelError): if a file is missing.
    """
    pel, paths = settings.pel, settings.paths
    mines = pel.negatives.mined_depth > 0
    training = pel.training.model_dump(exclude=_NO_MATTER if mines else {*_NO_MATTER, "mining"})
    chosen = (pel.loss, pel.negatives, pel.regularizer, pel.mixing)
    parts = [describe(part) for part in chosen if part is not None]
    mined = [paths.negatives] if mines and paths.negatives else []
    for path in (paths.required("train"), *mined):
        open_text(path).close()  # a missing file is named in our words
    return fingerprint(
        settings.seed,
        training,
        pel.positives.model_dump(),
        *parts,
        pel.encoder.fingerprint,
        kb.fingerprint,
        paths.required("train"),
        *mined,
    )


def describe(part: Any) -> str:
    """RETURNS (str): a part's type and settings, those of the parts in it too."""
    text = type(part).__name__ + repr(sorted(_plain(part).items()))
    inner: List[Any] = [value for value in vars(part).values() if isinstance(value, dict)]
    return text + "".join(
        f"{name}={describe(each)}"
        for parts in inner
        for name, each in sorted(parts.items())
        if hasattr(each, "sample")
    )


def _plain(part: Any) -> Dict[str, Any]:
    """A part's settings: its public attributes of plain types. One that came later does not count
    while it has the value that all trainings before it had."""
    later = {"offset": 0.0}
    return {
        key: value
        for key, value in vars(part).items()
        if isinstance(value, (int, float, str)) and key[0] != "_" and later.get(key) != value
    }
