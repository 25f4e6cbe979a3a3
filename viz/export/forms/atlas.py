"""All layers and heads as thumbnails."""

from viz.drawing.scene import Scene
from viz.export.paper import Paper
from viz.export.request import Request, caption, site_name

THUMB = 60  # cells along a side of a thumbnail


def _atlas(request: Request) -> Scene:
    from analysis.overview import thumbnails
    from viz.drawing.atlas import atlas

    rows = [
        (
            site_name(site, request.sites),
            thumbnails(request.view, site, size=THUMB).numpy(force=True),
        )
        for site in request.sites
    ]
    description = (
        "One thumbnail for each head: rows are queries, columns are keys; large ones are pooled."
    )
    return atlas(
        rows, caption(request, description), top=None if request.selection.scale == "own" else 1.0
    )


PAPER = Paper(draws=_atlas)
