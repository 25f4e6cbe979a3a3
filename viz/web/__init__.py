"""The browser's code: the folders that hold it, and the path at which the app serves them."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Mount, Route

VIZ = Path(__file__).parents[1]
WEB = VIZ / "web"  # what the views share; Streamlit's component holds the entry alone
ROOTS = tuple(folder for name in ("web", "views", "course") if (folder := VIZ / name).is_dir())
UNCHANGING = {"Cache-Control": "public, immutable, max-age=31536000"}
SERVED = (".js", ".css", ".png")  # what a browser asks for; beside it lie Python and types


def files() -> Iterator[Path]:
    """Every file of `ROOTS` that is served, without written copies of `generated_modules`."""
    there = (path for root in ROOTS for path in sorted(root.rglob("*")) if path.suffix in SERVED)
    yield from (
        path for path in there if path.relative_to(VIZ).as_posix() not in generated_modules()
    )


def generated_modules() -> Mapping[str, str]:
    """The text of every module that no file holds, by its path in viz."""
    from viz.declared import modules

    return modules()


@cache
def path() -> str:
    """The URL path below which `files` and `generated_modules` lie; it contains a hash of them.

    A browser can therefore cache them for good and never mixes two versions. At the path that
    Streamlit gives a component, each page would fetch every module again.
    """
    digest = hashlib.sha256()
    for file in files():
        digest.update(file.relative_to(VIZ).as_posix().encode())
        digest.update(file.read_bytes())
    digest.update(repr(generated_modules()).encode())
    return f"/assets/{digest.hexdigest()[:16]}"


def routes() -> "list[Mount | Route]":
    """Serves the browser's code as immutable: its path changes when it does."""
    from starlette.responses import Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    def serve(request: "Request") -> Response:
        text = generated_modules()[request.url.path.removeprefix(f"{path()}/")]
        return Response(text, headers=UNCHANGING, media_type="text/javascript")

    class Unchanging(StaticFiles):
        def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
            return super().lookup_path(path) if path.endswith(SERVED) else ("", None)

        def file_response(self, *args: Any, **kwargs: Any) -> "Response":
            response = super().file_response(*args, **kwargs)
            response.headers.update(UNCHANGING)
            return response

    folders = [(f"{path()}/{root.name}", Unchanging(directory=root)) for root in ROOTS]
    routes = [Route(f"{path()}/{name}", serve) for name in generated_modules()]
    return [*routes, *(Mount(place, folder) for place, folder in folders)]
