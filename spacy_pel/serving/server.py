"""The HTTP server: one process, one event loop, connections that end."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
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


class TimedProtocol(H11Protocol):
    """HTTP 1.1 with an end to waiting for a request that does not arrive and for a client that does not read.

    Uvicorn itself only limits the pause between two requests.
    """

    seconds = Limits.receive_timeout
    _receiving: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.max_size = _READ  # of asyncio's own loop
        self._receiving = self.loop.call_later(self.seconds, self._hang_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # DONE, MUST_CLOSE, CLOSED and ERROR: nothing more has to arrive
        is_waiting = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not is_waiting:
            self._end_receiving()
        elif self._receiving is None:
            self._receiving = self.loop.call_later(self.seconds, self._hang_up)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:  # from now on, the pause between requests is limited
            self._end_receiving()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self._writing or self.loop.call_later(self.seconds, self._hang_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_receiving()
        self._end_writing()
        super().connection_lost(exc)

    def _end_receiving(self) -> None:
        _end(self._receiving)
        self._receiving = None

    def _end_writing(self) -> None:
        _end(self._writing)
        self._writing = None

    def _hang_up(self) -> None:
        self.transport.abort()


def _end(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Server:
    """Serves an app until it is stopped.

    Args:
        app: the app.
        taken: from ``listen``.
        limits: of time and connections.
    """

    def __init__(self, app: App, taken: socket.socket, *, limits: Limits):
        seconds = limits.receive_timeout + _GRACE
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            loop="asyncio",
            http=type("Protocol", (TimedProtocol,), {"seconds": seconds}),
            ws="none",
            lifespan="on",
            log_config=None,
            log_level="error",
            access_log=False,  # a search is in the address
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limits.n_connections,
            timeout_graceful_shutdown=int(limits.timeout) + 1,
        )
        self.taken = taken
        self._server = uvicorn.Server(config)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.taken.getsockname()[1])

    @property
    def has_started(self) -> bool:
        """Whether it accepts connections."""
        return self._server.started

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or ``stop``. What was accepted is answered first; a second SIGINT ends
        the waiting."""
        with _signals_end_quietly():
            self._server.run(sockets=[self.taken])

    def stop(self) -> None:
        """Have ``run`` end, from another thread."""
        self._server.should_exit = True


@contextmanager
def _signals_end_quietly() -> Iterator[None]:
    """Uvicorn raises the signals that stopped it again when it is done; that end was asked for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stops = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda *_: None) for one in stops}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
