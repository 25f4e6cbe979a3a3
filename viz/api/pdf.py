"""The route that makes a PDF of a figure drawn in the browser, which sends it as SVG."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from viz import SOFTWARE
from viz.api.pool import FairPool
from viz.api.requests import QuestionError
from viz.api.routes import guarded
from viz.api.uploads import body_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/api/pdf"
MOST = 1  # MiB of an SVG


def route(allowed_hosts: Callable[[], Iterable[str]]) -> "Route":
    """The route, for the app's server.

    Args:
        allowed_hosts: returns the allowed host names; empty for all.
    """
    from starlette.responses import Response
    from starlette.routing import Route

    pool = FairPool(workers=1, per_session=8, in_all=64)

    async def pdf(request: "Request") -> "Response":
        svg = await body_of(request.stream(), MOST)
        session = request.client.host if request.client else ""
        document = await pool.run(session, lambda: pdf_of(svg))
        return Response(
            document, media_type="application/pdf", headers={"Cache-Control": "no-store"}
        )

    return Route(PATH, guarded(pdf, allowed_hosts), methods=["POST"])


def pdf_of(svg: bytes) -> bytes:
    """The PDF of a figure.

    Raises:
        QuestionError: for what is no such figure.
    """
    from viz.drawing.pdf import pdf
    from viz.drawing.svg_reader import read

    try:
        scene = read(svg, SOFTWARE)
    except ValueError as error:
        raise QuestionError(str(error)) from error
    return pdf(scene)
