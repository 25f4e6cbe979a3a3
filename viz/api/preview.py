"""What other programs show of a link to the app: a title, a line and a picture (Open Graph)."""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

NAME = "Headscope"
ICON = Path(__file__).parents[1] / "icon.svg"
TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
FAVICON = re.compile(r'<link rel="shortcut icon"[^>]*>')


@dataclass(frozen=True)
class Preview:
    """A link in words.

    Attributes:
        title: what it leads to.
        description: one sentence.
    """

    title: str
    description: str


def with_preview(page: str, preview: Preview, picture: str) -> str:
    """An HTML page with the title, the icon and the tags of a link.

    Args:
        page: of any title and icon.
        preview: of the link.
        picture: absolute URL of a picture.
    """
    title = f"<title>{escape(f'{preview.title} · {NAME}')}</title>"
    page = TITLE.sub(lambda _: title + _tags(preview, picture), page, count=1)
    return FAVICON.sub(lambda _: f'<link rel="icon" href="{_icon()}" />', page, count=1)


def _tags(preview: Preview, picture: str) -> str:
    tags = {
        "name": {"description": preview.description, "twitter:card": "summary_large_image"},
        "property": {
            "og:type": "website",
            "og:site_name": NAME,
            "og:title": preview.title,
            "og:description": preview.description,
            "og:image": picture,
        },
    }
    return "".join(
        f'<meta {kind}="{name}" content="{escape(value)}" />'
        for kind, of_kind in tags.items()
        for name, value in of_kind.items()
    )


@cache
def _icon() -> str:
    """The icon as a data URL: browsers ask for it before anything else is there."""
    return f"data:image/svg+xml;base64,{b64encode(ICON.read_bytes()).decode()}"
