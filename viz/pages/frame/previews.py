"""What a link to a page of the app says of itself before it is opened."""

from collections.abc import Mapping

from viz import course
from viz.api.server import Preview
from viz.pages import Lazy
from viz.pages.frame import registry

source = Lazy("viz.pages.explore.source")
PICTURE = "web/cards/share.png"
QUESTION = "Which words does each word look at?"
ABOUT = (
    "Every attention head of a model on your own text, picture or sound: what it looks at, what"
    " follows when it is switched off, and the numbers behind it."
)


def of(name: str, query: Mapping[str, str]) -> Preview:
    """The preview of a link; one to Explore names the model of the list, layer and head.

    Args:
        name: of the page.
        query: of the link.
    """
    lesson = course.find(name)
    if lesson is not None:
        return Preview(lesson.title, lesson.line)
    if name != registry.FIRST:
        return Preview(registry.ENTRIES[name].title, ABOUT)
    title = source.TITLES.get(query.get("model", ""), QUESTION)
    named = [f"{each} {query[each]}" for each in ("layer", "head") if query.get(each, "").isdigit()]
    return Preview(" · ".join(filter(None, (title, ", ".join(named)))), ABOUT)


def kind(name: str, query: Mapping[str, str]) -> str:
    """The kind of view that a link opens, as far as it tells; "" for none.

    Args:
        name: of the page.
        query: of the link.
    """
    if name != registry.FIRST:
        return registry.ENTRIES[name].kind
    return "image" if source.READS.get(query.get("model", "")) == "image" else "text"
