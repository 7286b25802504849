"""The errors of a server, with their HTTP status."""

from starlette.responses import JSONResponse

from ..errors import PelError


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
        self.retry_after = retry_after


def error_response(err: PelError) -> JSONResponse:
    """The answer with an error: an object with "detail", a text."""
    status, seconds = 400, None
    if isinstance(err, RequestError):
        status, seconds = err.status, err.retry_after
    headers = {} if seconds is None else {"retry-after": str(seconds)}
    return JSONResponse({"detail": str(err)}, status_code=status, headers=headers)
