"""How many of a mention's negatives are hard for this mention, and not for another one of its batch."""

from typing import Any

from spacy_pel.training.negatives import NegativeSampler


def own_hard_negatives(sampler: NegativeSampler, batch_size: int) -> float | None:
    """The entities that were mined for a mention and are drawn for it. Where one draw serves the whole batch,
    each mention contributes a part of the hard negatives, and the rest are the nearest to other mentions.

    Args:
        sampler: draws from the knowledge base, or is composed of such samplers.
        batch_size: mentions in a batch.

    Returns:
        The mean over the mentions; 0 without mining, None for a sampler of another kind.
    """
    if not sampler.mined_depth:
        return 0.0
    parts: dict[str, Any] | None = getattr(sampler, "parts", None)
    if parts is not None:
        counts = [own_hard_negatives(part, batch_size) for part in parts.values()]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None
    n_hard = getattr(sampler, "n_hard", None)
    if n_hard is None:
        return None
    return n_hard / batch_size if getattr(sampler, "shared", False) else float(n_hard)
