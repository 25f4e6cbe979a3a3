"""The route that takes an uploaded file: one request a file, answered with its SHA-256."""

import asyncio
from collections.abc import AsyncIterable, Callable
from tempfile import SpooledTemporaryFile
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
SILENCE = 20.0  # seconds without a byte after which an upload is given up
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
        visitor = visitor_of(request)
        try:
            async with turns.of(visitor):
                data = await body_of(request.stream(), most())
                digest = await asyncio.to_thread(keep, data, visitor)
        except ClientDisconnect:
            return Response(status_code=499)
        return JSONResponse({"digest": digest}, headers=NO_STORE)

    return Route(PATH, guarded(upload), methods=["POST"])


async def body_of(stream: AsyncIterable[bytes], most: int) -> bytes:
    """The body of a request; reading stops once it is too large, or nothing more comes.

    Args:
        stream: its chunks, which wait on disk until all are there.
        most: its largest size, in MiB.

    Raises:
        QuestionError: it is empty, too large or too slow.
    """
    now = asyncio.get_running_loop().time
    end = now() + LONGEST
    with SpooledTemporaryFile(MIB) as body:
        try:
            async with asyncio.timeout(SILENCE) as limit:
                async for part in stream:
                    limit.reschedule(min(now() + SILENCE, end))
                    body.write(part)
                    if body.tell() > most * MIB:
                        raise QuestionError(f"expected a file of at most {most} MB")
        except TimeoutError as error:
            raise QuestionError("the file did not arrive in time: send it again") from error
        if not body.tell():
            raise QuestionError("the file is empty")
        body.seek(0)
        return body.read()
