"""What each request must be before the app sees it: for this host, from this site, JSON, small and fast.

A page of another site can send requests to a server on the same machine, and with a name that resolves to it
(DNS rebinding) also read the answers. So a request needs a known Host, an Origin that is the same, if it has
one, and a type that browsers do not let other sites send.
"""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders

from ..errors import Errors, quoted
from ..util import logger
from .errors import RequestError, error_response
from .limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_WITH_BODY = ("POST", "PUT", "PATCH")
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
        self.hosts: frozenset[str] = _LOCAL | {host.lower()} | {name.lower() for name in allowed_hosts}
        self.is_local = is_local(host)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket
            await send({"type": "websocket.close", "code": 1008})
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
                self._check_body(headers)
                receive = replayed(await self._body(receive), receive)
        except RequestError as err:
            await error_response(err)(scope, receive, send_with_headers)
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

    def _check_body(self, headers: Headers) -> None:
        kind = headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise RequestError(Errors.E729.format(got=repr(kind[:100]) if kind else "none"), status=415)
        if "content-encoding" in headers:
            raise RequestError(Errors.E740.format(got=repr(headers["content-encoding"][:100])), status=415)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.limits.max_bytes:
            raise RequestError(Errors.E728.format(most=self.limits.max_bytes), status=413)

    async def _body(self, receive: Receive) -> bytes:
        loop = asyncio.get_running_loop()
        end = loop.time() + self.limits.receive_timeout
        too_slow = RequestError(Errors.E732.format(seconds=f"{self.limits.receive_timeout:g}"), status=408)
        body = bytearray()  # not a list of parts, which may be of one byte each
        while True:
            try:
                message = await asyncio.wait_for(receive(), max(0.0, end - loop.time()))
            except asyncio.TimeoutError as err:
                raise too_slow from err
            if message["type"] == "http.disconnect":
                raise too_slow
            body += message.get("body", b"")
            if len(body) > self.limits.max_bytes:
                raise RequestError(Errors.E728.format(most=self.limits.max_bytes), status=413)
            if not message.get("more_body"):
                return bytes(body)


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
    if origin is not None and _place_of(origin) != headers.get("host", "").lower():
        raise RequestError(Errors.E731.format(got=repr(origin[:100])), status=403)
    is_link = headers.get("sec-fetch-mode") == "navigate"  # to the page, from anywhere
    if headers.get("sec-fetch-site") == "cross-site" and not is_link:
        raise RequestError(Errors.E731.format(got="an unknown one"), status=403)


def _place_of(origin: str) -> str | None:
    """Name and port in an Origin header; None = there are none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # "http://["
        return None


def replayed(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read, and then what comes."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
