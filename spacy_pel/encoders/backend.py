"""What a backend is: a way to run a tower on numpy arrays."""

from typing import Any, Callable, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# (ids, mask), both (batch, length) -> (batch, width)
EncodeBatch = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]


@runtime_checkable
class Backend(Protocol):
    """Turns a tower (a torch module: ids, mask -> vectors) into a function on numpy arrays."""

    def prepare(self, tower: Any) -> EncodeBatch: ...
