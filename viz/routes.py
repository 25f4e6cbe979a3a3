"""Everything that a result can be asked for, over HTTP and from a notebook."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from viz.api import compared, corpus, over_corpora, requests
from viz.api import routes as served
from viz.api.endpoint import BOTH, CORPUS, HEAD, SITE, WHOLE, Endpoint, options
from viz.api.requests import one_of, word
from viz.export import responses
from viz.export.answers import ANSWERS
from viz.selection import OF_FILES, OF_VIEWS
from viz.values import FLAG, TEXT
from viz.views import FORM

if TYPE_CHECKING:
    from starlette.routing import Route

FIGURE = {**HEAD, "form": one_of(*FORM)}
FIGURE_OPTIONS = {
    **options(*OF_FILES),
    "shown": OF_VIEWS["shown"].kind,
    "words": FLAG,  # whether title and caption are drawn
    "second": word,  # the id of what is beside it on a page, and what is shown of that
    "second_site": WHOLE,
    "second_head": requests.head,
    "second_token": WHOLE,
    "label": TEXT,  # of both figures side by side
    "second_label": TEXT,
    "there": OF_VIEWS["there"].kind,
    "both": one_of("second", "edits"),  # figures side by side
}
TOKENS = {"key": corpus.token_list, "query": corpus.token_list}
OF_RUN = {**SITE, "head": WHOLE}
ENDPOINTS = (
    *ANSWERS,
    Endpoint("overview", CORPUS, corpus.overview),
    Endpoint("head", CORPUS, corpus.head, OF_RUN),
    Endpoint("alike", CORPUS, corpus.alike, OF_RUN),
    Endpoint("corpora", BOTH, over_corpora.corpora, OF_RUN),
    Endpoint("changes", CORPUS, compared.changes, optional={"number": word}),
    Endpoint("attending", CORPUS, corpus.attending, optional=TOKENS),
    Endpoint(
        "export",
        BOTH,
        responses.export,
        {**FIGURE, "format": one_of(*responses.KINDS)},
        FIGURE_OPTIONS,
    ),
    Endpoint("python", BOTH, responses.python, FIGURE, FIGURE_OPTIONS),
)


def routes(allowed_hosts: Callable[[], Iterable[str]]) -> "list[Route]":
    """The routes, for the app's server.

    Args:
        allowed_hosts: returns the allowed host names; empty for all.
    """
    return served.routes(allowed_hosts, ENDPOINTS)
