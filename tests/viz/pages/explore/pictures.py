"""What the tests of pictures share: files to drop, and what the page then shows."""

import io

import numpy as np
from PIL import Image

from tests.viz.pages import helpers
from viz.api import registry
from viz.pages.state import attachments

SMALL = {"model": "built-vit", "size": "64", "heads": "2", "dim": "16", "depth": "2"}


def opened(**query):
    """The page, opened by a link."""
    return helpers.run("explore", query)


def small(**query):
    """The page with a small network that is built there."""
    return opened(**SMALL | query)


def drop(app, data, name="mine.png"):
    return helpers.upload(app, "explore_upload", {name: data})


def entry(app):
    """The registry entry of the view."""
    return registry.get(helpers.view(app, "image")["trace"]).value


def shown(app):
    """The picture under the weights."""
    return Image.open(io.BytesIO(entry(app).cut.picture.data))


def captions(app):
    return " ".join(e.value.replace("\\", "").replace("&#58;", ":") for e in app.caption)


def forget():
    """Drops all attachments, as another process has none."""
    attachments._kept.clear()


def file_of(kind="PNG", size=(60, 40), mode="RGB", **options):
    file = io.BytesIO()
    down, right = np.mgrid[0 : size[1], 0 : size[0]]
    pixels = np.stack([right * 4, down * 6, right + down], -1).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(file, kind, **options)
    return file.getvalue()
