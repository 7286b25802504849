"""The HTTP server: one process, one event loop, and connections that end."""

import signal
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import Errors, PelError
from .guard import App
from .limits import Limits

_READ = 8192  # bytes at once: if each is a chunk of its own, others wait until all are parsed
_GRACE = 1.0  # seconds more than the guard waits for a body: it can answer, this only hangs up


def listen(host: str, port: int) -> socket.socket:
    """Take a port.

    Args:
        host: a name or address of this machine.
        port: 0 = any that is free.

    Returns:
        Listening; connections wait until a server has it.

    Raises:
        PelError: if that is not possible.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(family, kind, proto)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(address)
            taken.listen()  # before that, another process can bind the same address
        except BaseException:
            taken.close()
            raise
    except OSError as err:
        raise PelError(Errors.E721.format(host=host, port=port, got=err.strerror or str(err))) from err
    return taken


class Server(uvicorn.Server):
    """Serves an app until it is stopped. Clients that do not send a request or read an answer in time are hung up
    on; uvicorn itself only limits the pause between two requests.

    Args:
        app: the app.
        taken: from ``listen``.
        limits: of time and connections.
    """

    def __init__(self, app: App, taken: socket.socket, *, limits: Limits):
        engine: Any = {"loop": "asyncio", "http": _Connection, "ws": "none", "lifespan": "on"}
        # no log of accesses: a search is in the address
        quiet: Any = {"log_config": None, "log_level": "error", "access_log": False}
        quiet |= {"server_header": False, "proxy_headers": False}
        bounds: Any = {"limit_concurrency": limits.n_connections, "timeout_graceful_shutdown": int(limits.timeout) + 1}
        super().__init__(uvicorn.Config(app, **engine, **quiet, **bounds))  # type: ignore[arg-type]
        self.taken = taken
        self._seconds = limits.receive_timeout + _GRACE
        self._waiting: dict[Any, tuple[Any, float]] = {}  # connection -> its request, and since when it waits

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.taken.getsockname()[1])

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until SIGINT, SIGTERM or ``should_exit``. What was accepted is answered first; a second SIGINT
        ends the waiting."""
        with _signals_end_quietly():
            super().run(sockets=sockets or [self.taken])

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
        now = time.monotonic()
        waiting = {}
        connections: Iterable[Any] = self.server_state.connections
        for connection in connections:
            # DONE, MUST_CLOSE, CLOSED and ERROR: nothing more has to arrive
            is_receiving = connection.conn.their_state in (h11.IDLE, h11.SEND_BODY)
            if is_receiving or connection.flow.write_paused:
                request, since = self._waiting.get(connection, (None, now))
                waiting[connection] = connection.cycle, since if request is connection.cycle else now
        for connection, (_, since) in waiting.items():
            if now - since > self._seconds:
                connection.transport.abort()
        self._waiting = waiting
        return await super().on_tick(counter)


class _Connection(H11Protocol):
    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.max_size = _READ  # of asyncio's own loop


@contextmanager
def _signals_end_quietly() -> Iterator[None]:
    """Uvicorn raises the signals that stopped it again when it is done; that end was asked for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stops = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in stops}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
