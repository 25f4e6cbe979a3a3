"""The Image page's trace: one forward pass over one picture, held for the browser."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viz.api import registry
from viz.api.entries import Patches, TraceEntry
from viz.api.registry import Held
from viz.pages import shared
from viz.pages.image import cost, network
from viz.pages.image.network import ViTChoice
from viz.pages.picture import How, encoded, fitted
from viz.pages.shared import BUILT
from viz.pages.widgets import cards, snippet

if TYPE_CHECKING:
    from PIL.Image import Image

    from models.progress import Progress
    from models.trace import Trace


@dataclass(frozen=True)
class Input:
    """Everything a trace depends on.

    Attributes:
        choice: the network.
        device: on which it runs.
        digest: SHA-256 of the picture's file.
        fit: fit mode of a picture that is not square.
    """

    choice: ViTChoice
    device: str
    digest: str
    fit: How


def fitted_image(request: Input, data: bytes) -> "tuple[Image, tuple[str, ...]]":
    """The preprocessed picture, with notes on its preprocessing."""
    size = request.choice.size
    return fitted(request.digest, size, size, request.fit, data)


def shown(
    request: Input, data: bytes, name: str, progress: "Progress | None" = None
) -> Held[TraceEntry]:
    """The registry entry of a trace.

    Args:
        request: everything the trace depends on.
        data: contents of the picture's file.
        name: file name in the Python code.
        progress: of the pass; see `models.progress`.
    """
    return registry.once(
        key_of(request, name),
        lambda: _run(request, data, name, progress),
        meanwhile=shared.waiting(progress),
    )


def key_of(request: Input, name: str) -> tuple[Any, ...]:
    """What the entry depends on."""
    return ("image", request, name)


def _run(request: Input, data: bytes, name: str, progress: "Progress | None") -> TraceEntry:
    from models.progress import no_progress
    from models.run import trace

    choice = request.choice
    image, _ = fitted_image(request, data)
    model = network.opened(choice, request.device)
    long = cost.is_long(choice, request.device)
    with shared.forward_pass(model, long=long, progress=progress):
        found = trace(model, image, progress=progress or no_progress)

    def code(site: int, head: int | str) -> str:
        return _code(request, name, snippet.weights_of(found, site, head))

    cut = choice.patch, choice.dim, choice.order
    return TraceEntry(
        found, code, patches=Patches(encoded(image), *cut, mark=_place(choice.model, found))
    )


def _place(model: str, trace: "Trace") -> tuple[int, int] | None:
    """Row and column of the patch that a trained network answers."""
    card = cards.card(model)
    if card is None or not card.place:
        return None
    sizes = [len(question.classes) for question in card.questions]
    parts = trace.output.values[0].split(sizes)
    col, row = (int(parts[question].argmax()) for question in card.place)
    return row, col


def _code(request: Input, name: str, weights: str) -> str:
    """Python code that opens and fits the picture, builds the network, and reads the weights."""
    choice = request.choice
    fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
    built = choice.model == BUILT
    source = f"ViTConfig({fields})" if built else repr(choice.model)
    imports = "\nfrom models.vit import ViTConfig" if built else ""
    return f"""from pathlib import Path

from models.image import fit_image, open_image
from models.run import load, trace{imports}

picture = open_image(Path({name!r}))
image, note = fit_image(picture, {choice.size}, {choice.size}, {request.fit!r})
t = trace(load({source}), image)
{weights}  # query × key"""
