"""A 2-D map of mentions and their entities by multi-dimensional scaling (Le & Nguyen 2023, Fig. 4)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.encoders.similarities import Similarity
from spacy_pel.errors import PelError
from spacy_pel.evaluation.figures import COLORS, new_panels, save_figure
from spacy_pel.types import Entity, MentionInText, Vectors

from ..errors import StudyErrors
from ..triplets.dual_encoder import represented
from ..triplets.encoder import Euclidean

Floats = NDArray[np.float64]
_COLORS = (*COLORS, "#b5a800")
_SHAPES = "osD^v"  # of mentions: the next one when the colours are used up


class EntityMap(NamedTuple):
    """Coordinates of mentions and entities under one model.

    Attributes:
        mentions: (n, 2).
        entities: (m, 2).
        stress: Kruskal's, how much the plane distorts the distances: 0 = not at all.
        nearest_own: share of mentions that are nearest to their own entity among these, by the
            original distances.
    """

    mentions: Floats
    entities: Floats
    stress: float
    nearest_own: float


def make_map(
    encoder: Any, mentions: Sequence[MentionInText], entities: Sequence[Entity], owners: Sequence[int]
) -> EntityMap:
    """Encode mentions and entities and project them to a plane.

    Args:
        encoder: with weights.
        mentions: (n,).
        entities: (m,).
        owners: (n,), which of the entities each mention means.

    Returns:
        The same for the same weights.

    Raises:
        PelError: if the encoder's similarity compares tokens.
    """
    if encoder.similarity.token_level:
        raise PelError(StudyErrors.E654.format(got=encoder.similarity.registered_name))
    sides = [represented(encoder, "mention", mentions), represented(encoder, "entity", entities)]
    apart = distances(encoder.similarity, np.concatenate([side.vectors for side in sides]))
    places, stress = in_a_plane(apart)
    n = len(mentions)
    nearest = apart[:n, n:].argmin(axis=1)
    return EntityMap(places[:n], places[n:], stress, float((nearest == np.asarray(owners)).mean()))


def distances(similarity: Similarity, vectors: Vectors) -> Floats:
    """(n, n), the distances that the similarity ranks by: its negative, or for an inner
    product s the length of the difference, the root of s(x, x) + s(y, y) - 2 s(x, y)."""
    import torch

    given = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float64))
    found = np.asarray(similarity(given, given).numpy(), dtype=np.float64)
    if isinstance(similarity, Euclidean):
        apart = -found
    else:
        own = np.diag(found)
        apart = np.sqrt(np.maximum(0.0, own[:, None] + own[None] - 2 * found))
    apart = np.maximum(0.0, (apart + apart.T) / 2)
    np.fill_diagonal(apart, 0.0)
    return apart


def in_a_plane(apart: Floats) -> "tuple[Floats, float]":
    """Multi-dimensional scaling by SMACOF, started from the classical solution, so that nothing is random.

    Args:
        apart: (n, n) distances.

    Returns:
        (n, 2), and the stress.
    """
    from sklearn.manifold import smacof

    n = len(apart)
    centre = np.eye(n) - 1.0 / n
    values, axes = np.linalg.eigh(-0.5 * centre @ apart**2 @ centre)
    start = np.zeros((n, 2))
    for column, place in enumerate(range(n - 1, max(-1, n - 3), -1)):
        axis = axes[:, place] * np.sign(axes[np.abs(axes[:, place]).argmax(), place])
        start[:, column] = axis * np.sqrt(max(0.0, values[place]))
    if n < 3 or not apart.any():
        return start, 0.0
    # its own normalised stress is for metric scaling in newer versions of scikit-learn only
    found, _ = smacof(apart, init=start, n_init=1, random_state=0, normalized_stress=False)
    places = np.asarray(found)
    return places, kruskal_stress(apart, places)


def kruskal_stress(apart: Floats, places: Floats) -> float:
    """Kruskal's stress-1: the root of the sum over all pairs of (distance - distance in the
    plane)^2 by the sum of (distance in the plane)^2; 0 if all points coincide."""
    shown = np.linalg.norm(places[:, None] - places[None], axis=-1)
    total = float((shown**2).sum())
    return float(np.sqrt(((apart - shown) ** 2).sum() / total)) if total else 0.0


def draw_maps(maps: dict[str, EntityMap], names: list[str], owners: Sequence[int], *paths: Path) -> None:
    """Draw maps side by side: dots are mentions, numbered stars their entities, in the same colour.

    Args:
        maps: title -> map of the same mentions and entities.
        names: of the entities.
        owners: which of the entities each mention means.
        paths: files to write, .png or .svg.
    """
    figure, panels = new_panels(len(maps), width=4.6 * len(maps) + 2.6, height=4.6)
    owner = np.asarray(owners)
    stars = []
    for axes, (title, found) in zip(panels, maps.items(), strict=True):
        for place in range(len(names)):
            color = _COLORS[place % len(_COLORS)]
            shape = _SHAPES[place // len(_COLORS) % len(_SHAPES)]
            own = found.mentions[owner == place]
            style: dict[str, Any] = {"color": color, "marker": shape, "s": 22, "alpha": 0.6, "linewidths": 0}
            axes.scatter(own[:, 0], own[:, 1], **style)
        for place in range(len(names)):  # above all dots
            color = _COLORS[place % len(_COLORS)]
            star = axes.scatter(
                [found.entities[place, 0]],
                [found.entities[place, 1]],
                color=color,
                marker="*",
                s=230,
                edgecolors="black",
                linewidths=0.9,
            )
            axes.annotate(
                str(place + 1),
                found.entities[place],
                xytext=(7, 5),
                textcoords="offset points",
                fontsize=8,
                fontweight="bold",
            )
            stars += [star] if axes is panels[0] else []
        axes.set_title(f"{title}\nnearest to their own: {100 * found.nearest_own:.0f}%", fontsize=10)
        axes.set_aspect("equal", adjustable="datalim")
        axes.tick_params(labelbottom=False, labelleft=False, length=0)
    short = [name if len(name) <= 30 else f"{name[:29]}…" for name in names]
    shown = [f"{number} {name}" for number, name in enumerate(short, start=1)]
    figure.legend(stars, shown, loc="outside right upper", frameon=False, fontsize=9)
    save_figure(figure, panels[0], *paths)
