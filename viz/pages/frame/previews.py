"""What a link to a page of the app says of itself before it is opened."""

from collections.abc import Mapping

from viz import course
from viz.api.preview import Preview
from viz.pages.frame import registry
from viz.pages.lazy import Lazy
from viz.pages.state import params as link
from viz.pages.state.session import APP_NAMES

explore = Lazy("viz.pages.explore.page")
source = Lazy("viz.pages.explore.source")
PICTURE = "web/cards/share.png"
QUESTION = "Which words does each word look at?"
ABOUT = (
    "Every attention head of a model on your own text, picture or sound: what it looks at, what"
    " follows when it is switched off, and the numbers behind it."
)
MOST = 120  # characters of an input
POOLED = {"mean": "the mean of all heads", "max": "the maximum of all heads"}
READ = {"image": "a picture", "sound": "a recording"}


def of(name: str, query: Mapping[str, str]) -> Preview:
    """The preview of a link.

    Args:
        name: of the page.
        query: of the link.
    """
    lesson = course.find(name)
    if lesson is not None:
        return Preview(lesson.title, lesson.line)
    if name != registry.FIRST:
        return Preview(registry.ENTRIES[name].title, ABOUT)
    return _explore(query)


def _explore(query: Mapping[str, str]) -> Preview:
    """A link to Explore: model, layer and head where it chooses them, and the input."""
    params = explore.params_of(query)
    if not {each.name for each in params} - APP_NAMES & query.keys():
        return Preview(QUESTION, ABOUT)
    values, _ = link.read(params, query)
    place, layer, head = values["place"], values["layer"], values["head"]
    chosen = values[source.NAMES[place]]
    if not chosen:
        return Preview("A model of your own", "Open a checkpoint, and see what every head does.")
    title, where = source.titled(place, chosen), "every head"
    if place == "catalogue" and chosen in source.sizes.KINDS:
        title = "an untrained network"
    if layer is not None and head is not None:
        where = f"layer {layer}, {POOLED.get(head) or f'head {head}'}"
    reads = source.READS[chosen] if place == "catalogue" else "text"
    about = f"What {where} of {title} attends to"
    if reads != "text":
        about += f" in {READ[reads]}."
    elif place == "catalogue" or "input" in query:  # another model may read something else
        text = " ".join(values["input"].split())
        about += f": “{text}”" if len(text) <= MOST else f": “{text[:MOST]}…”"
    return Preview(f"{title} · {where}" if where != "every head" else title, about)


def kind(name: str, query: Mapping[str, str]) -> str:
    """The kind of view that a link opens, as far as it tells; "" for none.

    Args:
        name: of the page.
        query: of the link.
    """
    if name != registry.FIRST:
        return registry.ENTRIES[name].kind
    return "image" if source.READS.get(query.get("model", "")) == "image" else "text"
