"""The app: Streamlit with its own API and a strict Content-Security-Policy.

`make app`, `streamlit run app.py`, `uvicorn app:app` and `python app.py` all run this. Nothing here
imports torch: pages ask for it after their first output.
"""

import os
from collections.abc import Mapping
from pathlib import Path

# read when torch is imported: threads that wait must not keep a core from those that work
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import streamlit as st

from viz import stored, web
from viz.api import runs, server
from viz.api.routes import upload_route
from viz.pages.explore import old_links, opening
from viz.pages.frame import registry
from viz.pages.state import attachments
from viz.routes import routes
from viz.selection import OF_VIEWS
from viz.web import modules


def largest_upload() -> int:
    """In MiB."""
    return st.get_option("server.maxUploadSize")


def preloaded(name: str, query: Mapping[str, str]) -> list[str]:
    """URL paths of the modules of the view that a link opens, in its form."""
    kind = registry.kind_of(name, query)
    form = query.get("form", OF_VIEWS["form"].start) if kind == "text" else ""
    views = [modules.of_kinds().get(kind), modules.of_forms().get(form)]
    paths = modules.loaded_by(*filter(None, views), late=False)
    return [f"{web.path()}/{path}" for path in paths]


app = st.App(
    Path(__file__).parent / "viz" / "pages" / "frame" / "main.py",
    routes=[
        *routes(),
        upload_route(largest_upload, attachments.keep),
        *runs.route(),
        stored.route(opening.FILE),
        *server.page_routes(
            registry.ENTRIES,
            registry.FIRST,
            old_links.MOVED,
            registry.preview,
            f"{web.path()}/{registry.PICTURE}",
            preloaded,
        ),
        *web.routes(),
    ],
    middleware=server.middleware(st.get_option("server.allowedHosts")),
    lifespan=server.lifespan(registry.prepare),
)

if __name__ == "__main__":
    port = os.environ.get("PORT")
    app.run(config={"server.port": int(port)} if port else None)
