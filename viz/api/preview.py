"""What other programs show of a link to the app: a title, a line and a picture (Open Graph)."""

import re
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import NamedTuple

NAME = "Headscope"
ICON = b64encode((Path(__file__).parents[1] / "icon.svg").read_bytes()).decode()
TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
FAVICON = re.compile(r'<link rel="shortcut icon"[^>]*>')


class Preview(NamedTuple):
    """A link in words: what it leads to, and one sentence."""

    title: str
    description: str


def with_preview(page: str, preview: Preview, picture: str) -> str:
    """An HTML page with the title, the icon and the tags of a link.

    Args:
        page: of any title and icon.
        preview: of the link.
        picture: absolute URL of a picture.
    """
    title, description, picture = map(escape, (*preview, picture))
    head = (
        f"<title>{title} · {NAME}</title>"
        f'<meta name="description" content="{description}" />'
        '<meta name="twitter:card" content="summary_large_image" />'
        '<meta property="og:type" content="website" />'
        f'<meta property="og:site_name" content="{NAME}" />'
        f'<meta property="og:title" content="{title}" />'
        f'<meta property="og:description" content="{description}" />'
        f'<meta property="og:image" content="{picture}" />'
    )
    # the icon comes with the page: browsers ask for it before anything else is there
    icon = f'<link rel="icon" href="data:image/svg+xml;base64,{ICON}" />'
    return FAVICON.sub(lambda _: icon, TITLE.sub(lambda _: head, page, count=1), count=1)
