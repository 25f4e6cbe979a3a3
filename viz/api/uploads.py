"""The route that takes an uploaded file: one request a file, answered with its SHA-256."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from viz.api.pool import Turns
from viz.api.requests import QuestionError
from viz.api.routes import NO_STORE, guarded
from viz.api.visitors import visitor_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/api/upload"
MIB = 1 << 20
EACH, IN_ALL = 3, 16  # uploads that are received at a time; others wait
LONGEST = 300.0  # seconds that one may take


def route(most: Callable[[], int], keep: Callable[[bytes, str], str]) -> "Route":
    """The route, for the app's server.

    Args:
        most: returns the size of the largest file, in MiB.
        keep: stores a file of a visitor; returns its SHA-256.
    """
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    turns = Turns(EACH, IN_ALL)

    async def upload(request: "Request") -> "Response":
        size = request.headers.get("content-length", "0")  # the server reads no more
        if not 0 < int(size) <= most() * MIB:
            largest = f"expected a file of at most {most()} MB"
            raise QuestionError(largest if int(size) else "the file is empty")
        visitor = visitor_of(request)
        try:
            async with turns.of(visitor):
                async with asyncio.timeout(LONGEST):
                    data = await request.body()
                digest = await asyncio.to_thread(keep, data, visitor)
        except TimeoutError as error:
            raise QuestionError("the file did not arrive in time: send it again") from error
        except ClientDisconnect:
            return Response(status_code=499)
        return JSONResponse({"digest": digest}, headers=NO_STORE)

    return Route(PATH, guarded(upload), methods=["POST"])
