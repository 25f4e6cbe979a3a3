"""The route that takes an uploaded file: one request a file, answered with its SHA-256."""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterable
from typing import TYPE_CHECKING

from viz.api.requests import QuestionError
from viz.api.routes import guarded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/api/upload"
MIB = 1 << 20


def route(
    allowed_hosts: Callable[[], Iterable[str]],
    most: Callable[[], int],
    keep: Callable[[bytes], str],
) -> "Route":
    """The route, for the app's server.

    Args:
        allowed_hosts: returns the allowed host names; empty for all.
        most: returns the size of the largest file, in MiB.
        keep: stores a file; returns its SHA-256.
    """
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def upload(request: "Request") -> "Response":
        data = await body_of(request.stream(), most())
        digest = await asyncio.to_thread(keep, data)
        return JSONResponse({"digest": digest}, headers={"Cache-Control": "no-store"})

    return Route(PATH, guarded(upload, allowed_hosts), methods=["POST"])


async def body_of(stream: AsyncIterable[bytes], most: int) -> bytes:
    """The body of a request; reading stops once it is too large.

    Args:
        stream: its chunks.
        most: its largest size, in MiB.

    Raises:
        QuestionError: it is empty or too large.
    """
    body = bytearray()
    async for part in stream:
        body += part
        if len(body) > most * MIB:
            raise QuestionError(f"expected a file of at most {most} MB")
    if not body:
        raise QuestionError("the file is empty")
    return bytes(body)
