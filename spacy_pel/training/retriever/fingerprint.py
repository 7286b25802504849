"""The fingerprint of a bi-encoder's training: a checkpoint of another run is refused."""

from ...encoders.tower_files import FILE
from ...kb import KnowledgeBase
from ...util import fingerprint, open_text
from ..describe import describe
from ..settings import NOT_FINGERPRINTED
from .settings import RunSettings


def run_fingerprint(settings: RunSettings, kb: KnowledgeBase) -> str:
    """Mining settings count only where negatives are mined.

    Returns:
        Of settings, initial weights and data.

    Raises:
        PelError: if a file is missing.
    """
    pel, paths = settings.pel, settings.paths
    mines = pel.negatives.mined_depth > 0
    training = pel.training.model_dump(exclude=NOT_FINGERPRINTED if mines else {*NOT_FINGERPRINTED, "mining"})
    chosen = (pel.loss, pel.negatives, pel.regularizer, pel.mixing)
    parts = [describe(part) for part in chosen if part is not None]
    rows = [] if pel.rows is None else [pel.rows.model_dump()]
    teacher = []
    if pel.teacher is not None:  # the file has the fingerprint of the weights
        teacher = [pel.teacher.model_dump(exclude={"path"}), pel.teacher.path / FILE]
    mined = [paths.negatives] if mines and paths.negatives else []
    for path in (paths.required("train"), *mined):
        open_text(path).close()  # raises our error for a missing file
    return fingerprint(
        settings.seed,
        training,
        pel.positives.model_dump(),
        *parts,
        *rows,
        *teacher,
        pel.encoder.fingerprint,
        kb.fingerprint,
        paths.required("train"),
        *mined,
    )
