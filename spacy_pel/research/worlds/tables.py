"""Comparing two systems over several worlds (wikis, ontologies)."""

from typing import Any, Dict

from ...evaluation.metrics.group_recall import GroupTable, with_intervals

POLICY = (
    "recall@k of a world: share of its mentions whose gold entity is in the world's KB that have it among "
    "the first k distinct candidates. macro: mean over the worlds, each counts the same. micro: over all "
    "mentions. Intervals: 95 % bootstrap, documents drawn with replacement; a document with mentions of "
    "several worlds is drawn for all of them together. Differences are taken within each draw (paired)."
)


def world_difference(
    ours: GroupTable, theirs: GroupTable, *, n_samples: int = 1000, seed: int = 0
) -> Dict[str, Any]:
    """How much better is the first of two systems on the same mentions?

    ours, theirs (GroupTable): a group is a world.
    RETURNS (Dict[str, Any]): as ``group_metrics``, of the differences.
    """
    left, right = ours.draws(n_samples, seed), theirs.draws(n_samples, seed)
    recall, macro, micro = (mine - other for mine, other in zip(left, right, strict=True))
    by_world = ours.recall() - theirs.recall()
    return {
        "groups": {
            world: with_intervals(ours.ks, by_world[:, w], recall[:, :, w])
            for w, world in enumerate(ours.groups)
        },
        "macro": with_intervals(ours.ks, by_world.mean(axis=1), macro),
        "micro": with_intervals(ours.ks, ours.micro() - theirs.micro(), micro),
    }
