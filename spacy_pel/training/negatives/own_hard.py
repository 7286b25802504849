"""How many of a mention's negatives are hard for this mention, and not for another one of its batch."""

from .draw import NegativeSampler


def own_hard(sampler: NegativeSampler, batch_size: int) -> float | None:
    """The entities that were mined for a mention and are drawn for it. Where one draw serves the whole batch,
    each mention contributes a part of the hard negatives, and the rest are the nearest to other mentions.

    Args:
        sampler: if it mines, its method ``own_hard(batch_size)`` counts.
        batch_size: mentions in a batch.

    Returns:
        The mean over the mentions; 0 without mining, None if the sampler cannot tell.
    """
    if not sampler.mined_depth:
        return 0.0
    count = getattr(sampler, "own_hard", None)
    return None if count is None else count(batch_size)
