"""What a server accepts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes:
        max_chars: characters of a text.
        max_texts: texts or corrections of a request; ids may be 16 times as many.
        max_bytes: of the body of a request.
        timeout: seconds for the answer to a request, waiting included. A text that is being linked is not
            interrupted, but the next ones of the same request are dropped.
        receive_timeout: seconds in which a client has to send its request, or to read on.
        n_waiting: requests that may wait for the model. Another one is refused with 503.
        n_connections: open connections. Requests of others are refused with 503.
    """

    max_chars: int = 50_000
    max_texts: int = 64
    max_bytes: int = 4_000_000
    timeout: float = 60.0
    receive_timeout: float = 20.0
    n_waiting: int = 16
    n_connections: int = 128

    @property
    def max_ids(self) -> int:
        """Ids of a request."""
        return 16 * self.max_texts
