"""The API of the views over HTTP: origin, pools, cancellation, refusals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from viz.api import figures, requests
from viz.api.endpoint import Endpoint, body_of, work_of
from viz.api.entries import Download
from viz.api.pool import BusyError, Pool
from viz.api.registry import GoneError, Held, UnknownError, registry
from viz.api.requests import ForeignError, QuestionError
from viz.api.visitors import visitor_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    Handler = Callable[[Request], Awaitable[Response]]

PROGRESS = "progress"  # the name of the route that tells how far a request is
LOG = logging.getLogger(__name__)
HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Encoding": "identity",  # compressing a map takes longer than computing it
}
FIGURE_HEADERS = {**HEADERS, "Cache-Control": "private, max-age=60"}  # their code may change


def routes(
    allowed_hosts: Callable[[], Iterable[str]], endpoints: Sequence[Endpoint]
) -> "list[Route]":
    """The routes, for the app's server.

    Args:
        endpoints: what a result can be asked for.
        allowed_hosts: returns the allowed host names; empty for all.
    """
    from starlette.responses import Response
    from starlette.routing import Route

    quick = Pool(prepare=_one_thread)
    slow = Pool(prepare=_one_thread)

    async def trace(request: "Request") -> "Response":
        if request.path_params["name"] == PROGRESS:
            return _progress(request, (quick, slow))
        held = await _held_result(request.path_params["id"])
        if held is None:
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        is_slow, work = _work(endpoints, held, request)
        name = _name(held.id, _path(request))
        return await _answered(request, slow if is_slow else quick, work, name)

    async def figure(request: "Request") -> "Response":
        path = request.path_params["name"]
        work = figures.numbers(path, request.query_params.multi_items())
        return await _answered(request, quick, work, f"figure/{_path(request)}", FIGURE_HEADERS)

    return [
        Route("/api/trace/{id}/{name}", guarded(trace, allowed_hosts), methods=["GET"]),
        Route("/api/figure/{name}", guarded(figure, allowed_hosts), methods=["GET"]),
    ]


def guarded(answer: "Handler", allowed_hosts: Callable[[], Iterable[str]]) -> "Handler":
    """The same handler for requests of this app alone; whatever it raises becomes one line."""

    async def endpoint(request: "Request") -> "Response":
        return await _or_refusal(request, answer, allowed_hosts())

    return endpoint


async def _or_refusal(
    request: "Request", answer: "Handler", allowed_hosts: Iterable[str]
) -> "Response":
    """The response, or a status with one line for everything that can be refused."""
    try:
        requests.check_origin(request.headers, allowed_hosts)
        return await answer(request)
    except ForeignError as error:
        return _refusal(403, error)
    except GoneError:
        return _refusal(410, "this result is no longer held")
    except UnknownError:
        return _refusal(404, "there is no such result or route")
    except QuestionError as error:
        return _refusal(400, error)
    except BusyError:
        return _refusal(429, "too many requests are waiting; try again in a moment")
    except ValueError as error:
        return _refusal(500, error)
    except Exception:
        LOG.exception("no answer to %s", request.url)
        return _refusal(500, "this could not be computed")


async def _held_result(id: str) -> Held | None:
    """The result with this id; waits for one that is being computed.

    Returns:
        None if the computation was interrupted or failed: no fault of the request, and the page
        says why, or expects the result again.
    """
    expected = registry.expected(id)
    if expected is not None and not await asyncio.shield(asyncio.wrap_future(expected.settled)):
        return None
    return registry.get(id)


def _progress(request: "Request", pools: Sequence[Pool]) -> "Response":
    """How much of a running request is done: {"done", "total"}, or {} if it has not said."""
    from starlette.responses import JSONResponse

    id = request.path_params["id"]
    if registry.expected(id) is None:
        registry.get(id)
    asked = requests.parse_query(request.query_params.multi_items(), {"of": requests.sentence}, {})
    name = _name(id, asked["of"])
    share = next((state for pool in pools if (state := pool.share(name)) is not None), None)
    state = {} if share is None else dict(zip(("done", "total"), share, strict=True))
    return JSONResponse(state, headers={"Cache-Control": "no-store"})


def _name(id: str, path: str) -> str:
    """The name of a request's job."""
    return f"{id}/{path}"


def _one_thread() -> None:
    """Limits PyTorch to one thread: responses are small, more threads would only add overhead."""
    import torch

    torch.set_num_threads(1)


def _work(
    endpoints: Sequence[Endpoint], held: Held, request: "Request"
) -> tuple[bool, Callable[[], Any]]:
    """Whether a response is slow and the function that computes it, after validation."""
    name, query = request.path_params["name"], request.query_params.multi_items()
    is_slow, work = work_of(endpoints, held.value, name, query)

    def counted() -> Any:
        answers = held.value.answers
        before = answers.changes
        try:
            return work()
        finally:
            if answers.changes != before:
                registry.counted(held)

    return is_slow, counted


def _path(request: "Request") -> str:
    """The last segment of a request's path, with its query."""
    path = request.path_params["name"]
    return f"{path}?{request.url.query}" if request.url.query else path


async def _answered(
    request: "Request",
    pool: Pool,
    work: Callable[[], Any],
    name: str,
    headers: Mapping[str, str] = HEADERS,
) -> "Response":
    """The response, computed in the pool; cancelled when the browser disconnects."""
    from starlette.responses import Response

    job = asyncio.ensure_future(pool.run(visitor_of(request), work, name))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({job, gone}, return_when=asyncio.FIRST_COMPLETED)
        return _response(job.result(), headers) if job.done() else Response(status_code=499)
    finally:
        gone.cancel()
        job.cancel()


async def _disconnected(request: "Request") -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _response(answer: Any, headers: Mapping[str, str]) -> "Response":
    from starlette.responses import Response

    body, kind = body_of(answer)
    if isinstance(answer, Download):
        headers = {**headers, "Content-Disposition": f'attachment; filename="{answer.name}"'}
    return Response(body, media_type=kind, headers=headers)


def _refusal(status: int, message: object) -> "Response":
    from starlette.responses import PlainTextResponse

    line = " ".join(str(message).split())
    return PlainTextResponse(line, status, headers={"Cache-Control": "no-store"})
