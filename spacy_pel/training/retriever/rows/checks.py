"""What training on rows does not go together with."""

from ....errors import Errors, PelError
from ...negatives.in_batch_negatives import InBatchNegatives
from ..settings import PelSettings


def check_rows(pel: PelSettings, *, processes: int) -> None:
    """Raises:
    PelError: if another setting has no meaning beside [pel.rows], or there are several processes,
        each of which would keep vectors of its own.
    """
    similarity = pel.encoder.similarity
    in_batch = isinstance(pel.negatives, InBatchNegatives)
    reasons = {
        "[pel.regularizer] perturbs the entities of a batch": pel.regularizer is not None,
        "[pel.mixing] mixes the entities of a batch": pel.mixing is not None,
        "[pel.negatives] is not spacy-pel.InBatchNegatives.v1, and draws more than rows": not in_batch,
        f"{similarity.registered_name} is not the cosine": not similarity.unit_vectors,
        f"there are {processes} processes, and the vectors of rows are kept by one": processes > 1,
    }
    for why, applies in reasons.items():
        if applies:
            raise PelError(Errors.E355.format(why=why))
