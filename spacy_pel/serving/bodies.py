"""Bodies of requests. A worker reads them: a large one would keep the event loop from answering others."""

import json
import math
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from ..errors import Errors
from ..util.parsing import check_unicode
from .errors import RequestError
from .limits import Limits

Body = TypeVar("Body", bound=BaseModel)
_SHOWN = 5  # faults in an answer
_MOST_VALUES = 200_000  # in a body: more than all texts and ids together, mostly for "meta"
_STRING = re.compile('"[^"]*"')


class _Unread(Request):
    async def json(self) -> Any:
        return await self.body()


class UnreadBodyRoute(APIRoute):
    """Passes the bytes of a body to a function whose parameter for it is ``SkipValidation[...]``."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        handle = super().get_route_handler()

        async def handle_unread(request: Request) -> Response:
            return await handle(_Unread(request.scope, request.receive))

        return handle_unread


def read_body(body: bytes, kind: type[Body], *, limits: Limits) -> Body:
    """Read a body. All values are counted before it is parsed, and the items of a list before they are
    validated: a value of two bytes would take a hundred, and have several faults.

    Args:
        body: JSON.
        kind: what it must be.
        limits: how long its lists may be.

    Returns:
        Of this kind.

    Raises:
        PelError: if it is not JSON that can be written again, or a list is too long.
        RequestValidationError: with the first faults, if it is of another kind.
    """
    try:
        text = body.decode("utf-8-sig")
        if (got := _n_values(text)) > _MOST_VALUES:
            raise RequestError(Errors.E727.format(most=_MOST_VALUES, what="values", got=got), status=413)
        data = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RequestError:
        raise
    except ValueError as err:
        raise RequestError(Errors.E733.format(expected="JSON", got=str(err))) from err
    for key, value in data.items() if isinstance(data, dict) else ():
        most = limits.max_ids if key == "ids" else limits.max_texts
        if isinstance(value, list) and len(value) > most:
            what = "texts" if key == "text" else key[:100]
            raise RequestError(Errors.E727.format(most=most, what=what, got=len(value)), status=413)
    check_unicode(data, "the request")
    try:
        return kind.model_validate(data)
    except ValidationError as err:
        faults = err.errors(include_url=False, include_context=False, include_input=False)
        shown = [{**fault, "loc": ("body", *fault["loc"])} for fault in faults[:_SHOWN]]
        raise RequestValidationError(shown) from err


def _n_values(text: str) -> int:
    """How many values JSON has at most: each but the first follows one of these signs."""
    plain = _STRING.sub("", text.replace(r"\\", "").replace(r"\"", ""))
    return 1 + sum(map(plain.count, ",[{"))


def _finite(text: str) -> float:
    """A number. RAISES (RequestError): if JSON cannot hold it, as 1e400 and NaN."""
    number = float(text)
    if not math.isfinite(number):
        raise RequestError(Errors.E733.format(expected="numbers that JSON has", got=text[:100]))
    return number
