"""What a server accepts: each request is for this host, from this site, JSON, small and fast before the app sees it.

A page of another site can send requests to a server on the same machine, and with a name that resolves to it
(DNS rebinding) also read the answers. So a request needs a known Host, an Origin that is the same, if it has
one, and a type that browsers do not let other sites send.
"""

import asyncio
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from ..errors import Errors, PelError, quoted
from ..util import logger

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_WITH_BODY = ("POST", "PUT", "PATCH")
_MOST_VALUES = 50_000  # in a body: more than all texts and ids together, mostly for "meta"
_STRING = re.compile(rb'"[^"]*"')
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes:
        max_chars: characters of a text.
        max_texts: texts or corrections of a request; ids may be 16 times as many.
        max_bytes: of the body of a request.
        timeout: seconds for the answer to a request, waiting included. A text that is being linked is not
            interrupted, but the next ones of the same request are dropped.
        receive_timeout: seconds in which a client has to send the body of a request.
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

    def check_number(self, what: str, n: int) -> None:
        """Raises:
        RequestError: if a request has too many texts, documents, corrections or ids, or none.
        """
        most = self.max_texts * (16 if what == "ids" else 1)
        if not n and what != "ids":
            raise RequestError(Errors.E011.format(expected=f"at least one of the {what}", got="none"))
        if n > most:
            raise RequestError(Errors.E727.format(most=most, what=what, got=n), status=413)

    def check_text(self, text: str, where: str) -> None:
        """Raises:
        RequestError: if a text is too long.
        """
        if len(text) > self.max_chars:
            raise RequestError(Errors.E726.format(most=self.max_chars, got=len(text), where=where[:100]), status=413)


class RequestError(PelError):
    """A request that cannot be answered.

    Args:
        text: an error text, filled in.
        status: of HTTP; 400 = wrong data.
        retry_after: seconds after which the same request may be answered; None = never.
    """

    def __init__(self, text: str = "", *, status: int = 400, retry_after: int | None = None):
        super().__init__(text)
        self.status = status
        self.headers = {} if retry_after is None else {"retry-after": str(retry_after)}


def error_response(err: PelError) -> JSONResponse:
    """The answer with an error: an object with "detail", a text."""
    status, headers = (err.status, err.headers) if isinstance(err, RequestError) else (400, {})
    return JSONResponse({"detail": str(err)}, status_code=status, headers=headers)


class Guard:
    """An ASGI app around another one.

    Args:
        app: gets the requests that are as they must be, with their whole body.
        limits: of body and time.
        host: where the server listens.
        allowed_hosts: other names of it.
    """

    def __init__(self, app: App, *, limits: Limits, host: str, allowed_hosts: Collection[str] = ()):
        self.app = app
        self.limits = limits
        self.hosts: frozenset[str] = _LOCAL | {name.lower() for name in (host, *allowed_hosts)}
        self.is_local = is_local(host)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server has no web sockets
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_origin(headers)
            if scope["method"] in _WITH_BODY:
                self._check_head(headers)
                body = await asyncio.wait_for(self._body(receive), self.limits.receive_timeout)
                receive = _replayed(body, receive)
        except (asyncio.TimeoutError, RequestError) as err:
            too_slow = RequestError(Errors.E732.format(seconds=f"{self.limits.receive_timeout:g}"), status=408)
            fault = err if isinstance(err, RequestError) else too_slow
            await error_response(fault)(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        except Exception:  # the app has answered with 500
            # quoted: a path may hold line ends
            logger.exception("Error in %s %s", scope["method"], quoted(scope["path"]))

    def _check_host(self, headers: Headers) -> None:
        got = headers.get("host", "")
        name = host_name(got)
        # an attacker's page has the attacker's name, never an address
        if name not in self.hosts and (self.is_local or not _is_address(name)):
            raise RequestError(Errors.E730.format(got=repr(got[:100])))

    def _check_head(self, headers: Headers) -> None:
        kind = headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise RequestError(Errors.E729.format(got=repr(kind[:100]) if kind else "none"), status=415)
        if "content-encoding" in headers:
            raise RequestError(Errors.E740.format(got=repr(headers["content-encoding"][:100])), status=415)
        if int(headers.get("content-length", 0)) > self.limits.max_bytes:
            raise RequestError(Errors.E728.format(most=self.limits.max_bytes), status=413)

    async def _body(self, receive: Receive) -> bytes:
        body = bytearray()  # not a list of parts, which may be of one byte each
        is_whole = False
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise asyncio.TimeoutError
            body += message.get("body", b"")
            if len(body) > self.limits.max_bytes:
                raise RequestError(Errors.E728.format(most=self.limits.max_bytes), status=413)
            is_whole = not message.get("more_body")
        _check_values(bytes(body))
        return bytes(body)


def _check_values(body: bytes) -> None:
    """Count the values of JSON before it is parsed: one of two bytes would take a hundred. Each but the first follows
    one of three signs."""
    if json.detect_encoding(body) not in ("utf-8", "utf-8-sig"):
        raise RequestError(Errors.E011.format(expected="JSON in UTF-8", got="another encoding"))
    plain = _STRING.sub(b"", body.replace(rb"\\", b"").replace(rb"\"", b""))
    if (n_values := 1 + sum(map(plain.count, (b",", b"[", b"{")))) > _MOST_VALUES:
        raise RequestError(Errors.E727.format(most=_MOST_VALUES, what="values", got=n_values), status=413)


def is_local(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    if _is_address(host.lower()):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() in _LOCAL


def host_name(header: str) -> str:
    """The name or address in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _check_origin(headers: Headers) -> None:
    origin = headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != headers.get("host", "").lower():
        raise RequestError(Errors.E731.format(got=repr(origin[:100])), status=403)
    is_link = headers.get("sec-fetch-mode") == "navigate"  # to the page, from anywhere
    if headers.get("sec-fetch-site") == "cross-site" and not is_link:
        raise RequestError(Errors.E731.format(got="an unknown one"), status=403)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read, and then what comes."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
