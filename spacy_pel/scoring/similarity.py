"""What a similarity is."""

from typing import TYPE_CHECKING, Any, Dict, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

Metric = Literal["inner_product", "euclidean"]


@runtime_checkable
class Similarity(Protocol):
    """s(m, e) of pooled vectors; the higher, the more alike.

    registered_name (str): its name in the registry "pel_similarities".
    unit_vectors (bool): whether an encoder scales its vectors to length 1.
    metric (str): what an index has to rank by, so that it agrees with the similarity.
    """

    registered_name: str
    unit_vectors: bool
    metric: Metric

    @property
    def settings(self) -> Dict[str, Any]: ...

    def __call__(self, mentions: "Tensor", entities: "Tensor") -> "Tensor": ...  # (n, d), (m, d) -> (n, m)
