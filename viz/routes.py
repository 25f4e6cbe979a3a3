"""Everything that a result can be asked for, over HTTP and from a notebook."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from viz import views
from viz.api import compared, corpus, over_corpora
from viz.api import routes as served
from viz.api.endpoint import BOTH, CORPUS, PARAMETERS, WHOLE, Endpoint
from viz.api.requests import one_of, word
from viz.export import responses
from viz.selection import OF_VIEWS
from viz.values import FLAG, TEXT

if TYPE_CHECKING:
    from starlette.routing import Route

FIGURE = {
    "form": one_of(*views.FORM),
    **{name: OF_VIEWS[name].kind for name in ("shown", "there")},
    "words": FLAG,
    "second": word,
    **{name: PARAMETERS[name] for name in ("second_site", "second_head", "second_token")},
    "label": TEXT,
    "second_label": TEXT,
    "both": one_of("second", "edits"),
}
ENDPOINTS = (
    *views.ENDPOINTS,
    Endpoint("overview", CORPUS, corpus.overview),
    Endpoint("head", CORPUS, corpus.head, head=WHOLE),
    Endpoint("alike", CORPUS, corpus.alike, head=WHOLE),
    Endpoint("corpora", BOTH, over_corpora.corpora, head=WHOLE),
    Endpoint("changes", CORPUS, compared.changes, number=word),
    Endpoint("attending", CORPUS, corpus.attending, key=corpus.token_list, query=corpus.token_list),
    Endpoint("export", BOTH, responses.export, format=one_of(*responses.KINDS), **FIGURE),
    Endpoint("python", BOTH, responses.python, explains=False, **FIGURE),
)


def routes(allowed_hosts: Callable[[], Iterable[str]]) -> "list[Route]":
    """The routes, for the app's server.

    Args:
        allowed_hosts: returns the allowed host names; empty for all.
    """
    return served.routes(allowed_hosts, ENDPOINTS)
