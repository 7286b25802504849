"""Errors of a server, with their HTTP status."""

from ..errors import PelError


class RequestError(PelError):
    """A request that cannot be answered: wrong data."""

    status = 400


class Refused(RequestError):
    """From elsewhere, or to another name."""

    status = 403


class NotFound(RequestError):
    status = 404


class SlowClient(RequestError):
    status = 408


class Conflict(RequestError):
    status = 409


class TooLarge(RequestError):
    status = 413


class WrongType(RequestError):
    status = 415


class NotSaved(RequestError):
    """The disk is full, or may not be written."""

    status = 507


class Stopped(RequestError):
    status = 503


class TooSlow(RequestError):
    status = 504


class Busy(RequestError):
    """The queue is full.

    Args:
        retry_after: seconds.
    """

    status = 503

    def __init__(self, text: str = "", *, retry_after: int = 1):
        super().__init__(text)
        self.retry_after = retry_after
