"""The interface of similarities."""

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from ...types import Vectors

if TYPE_CHECKING:
    from torch import Tensor

Metric = Literal["inner_product", "euclidean"]
IndexSide = Literal["mention", "entity"]


@runtime_checkable
class Similarity(Protocol):
    """s(m, e); the higher, the more alike. It reads one vector of each text, (n, d), or where
    ``token_level`` is true one of each token: ``TokenVectors`` of (n, length, d).
    ``BiEncoder.represent_mentions`` and ``represent_entities`` give what it reads.

    An index compares inner products only: ``index_vectors`` returns vectors whose inner products rank as
    the similarity does (for tokens approximately: what the index finds is rescored).

    Attributes:
        registered_name: its name in the registry "pel_similarities".
        unit_vectors: whether only the direction of a vector counts; then an index takes vectors of
            length 1.
        token_level: whether it compares tokens.
        metric: what the pooled vectors are compared by: their inner product or their distance.
    """

    registered_name: str
    unit_vectors: bool
    token_level: bool
    metric: Metric

    @property
    def settings(self) -> dict[str, Any]: ...

    # both sides are an ``Encoded``: tensors, or TokenVectors
    def __call__(self, mentions: Any, entities: Any) -> "Tensor": ...  # n, m of them -> (n, m), all pairs

    def paired(self, mentions: Any, entities: Any) -> "Tensor": ...  # n, (n, k) of their own -> (n, k)

    def index_width(self, width: int) -> int: ...  # of the vectors for an index

    def index_vectors(self, vectors: Vectors, side: IndexSide) -> Vectors: ...  # (n, d) -> (n, index_width)
