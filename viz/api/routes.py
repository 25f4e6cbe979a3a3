"""The API of the views over HTTP: pools, cancellation, refusals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from viz.api import figures
from viz.api.endpoint import Download, QuestionError, UnknownError, body_of, parse_query, work_of
from viz.api.pool import Pool, Turns, visitor_of
from viz.api.registry import GoneError, registry
from viz.values import TEXT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    Handler = Callable[[Request], Awaitable[Response]]

PROGRESS = "progress"  # the name of the route that tells how far a request is
LOG = logging.getLogger(__name__)
STATUS = {GoneError: 410, UnknownError: 404, QuestionError: 400, ValueError: 500}
NO_STORE = {"Cache-Control": "no-store"}
HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Encoding": "identity",  # compressing a map takes longer than computing it
}
UPLOAD = "/api/upload"
MIB = 1 << 20
EACH, IN_ALL = 3, 16  # uploads that are received at a time; others wait
LONGEST = 300.0  # seconds that one may take
FIGURE_HEADERS = {**HEADERS, "Cache-Control": "private, max-age=60"}  # their code may change


def routes() -> "list[Route]":
    """The routes, for the app's server."""
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    quick, slow = Pool(prepare=_one_thread), Pool(prepare=_one_thread)

    async def trace(request: "Request") -> "Response":
        held, name = registry.get(request.path_params["id"]), request.path_params["name"]
        query = request.query_params.multi_items()
        if name == PROGRESS:
            asked = f"{held.id}/{parse_query(query, {'of': TEXT})['of']}"
            done = quick.share(asked) or slow.share(asked) or ()
            return JSONResponse(dict(zip(("done", "total"), done, strict=False)), headers=NO_STORE)
        if not await asyncio.shield(asyncio.wrap_future(held.settled)):
            # no fault of the request: the page says why, or expects the result again
            return Response(status_code=204, headers=NO_STORE)
        is_slow, work = work_of(held.value, name, query)
        return await _answered(request, slow if is_slow else quick, work, held.id)

    async def figure(request: "Request") -> "Response":
        query = request.query_params.multi_items()
        work = figures.numbers(request.path_params["name"], query)
        return await _answered(request, quick, work, "figure", FIGURE_HEADERS)

    return [
        Route("/api/trace/{id}/{name}", guarded(trace), methods=["GET"]),
        Route("/api/figure/{name}", guarded(figure), methods=["GET"]),
    ]


def guarded(answer: "Handler") -> "Handler":
    """The same handler; whatever it raises becomes a status with one line."""
    from starlette.responses import PlainTextResponse

    async def endpoint(request: "Request") -> "Response":
        try:
            return await answer(request)
        except tuple(STATUS) as error:
            status = next(number for kind, number in STATUS.items() if isinstance(error, kind))
            return PlainTextResponse(" ".join(str(error).split()), status, NO_STORE)
        except Exception:
            LOG.exception("no answer to %s", request.url)
            return PlainTextResponse("this could not be computed", 500, NO_STORE)

    return endpoint


def _one_thread() -> None:
    """Limits PyTorch to one thread: responses are small, more threads would only add overhead."""
    import torch

    torch.set_num_threads(1)


async def _answered(
    request: "Request",
    pool: Pool,
    work: Callable[[], Any],
    about: str,
    headers: Mapping[str, str] = HEADERS,
) -> "Response":
    """The response, computed in the pool; cancelled when the browser disconnects."""
    from starlette.responses import Response

    path, query = request.path_params["name"], request.url.query
    name = f"{about}/{path}?{query}" if query else f"{about}/{path}"
    job = asyncio.ensure_future(pool.run(visitor_of(request), work, name))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({job, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not job.done():
            return Response(status_code=499)
        body, kind = body_of(answer := job.result())
        if isinstance(answer, Download):
            attached = f'attachment; filename="{answer.name}"'
            headers = {**headers, "Content-Disposition": attached}
        return Response(body, media_type=kind, headers=headers)
    finally:
        gone.cancel()
        job.cancel()


async def _disconnected(request: "Request") -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def upload_route(most: Callable[[], int], keep: Callable[[bytes, str], str]) -> "Route":
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

    return Route(UPLOAD, guarded(upload), methods=["POST"])
