"""Figures on paper, drawn by matplotlib: the parts that the views' figures are made of.

A figure is one axes whose unit is a point (1/72 inch), with y downwards. Parts are drawn below each
other, then the title above them and the caption below. Matplotlib's state is global, so one figure
is drawn at a time, with settings of its own.
"""

import io
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar

os.environ["MPLCONFIGDIR"] = os.environ.get("MPLCONFIGDIR") or (
    "" if os.access(os.path.expanduser("~"), os.W_OK) else tempfile.mkdtemp()
)

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox, TransformedBbox

from viz import SOFTWARE
from viz.caption import Caption
from viz.colours import INK, Scale
from viz.letters import FIRST, clean, families, width, wrapped

PAGE = 468.0  # width of a figure: a page of letter paper within one-inch margins
MARGIN = 6.0
WIDE = PAGE - 2 * MARGIN
TITLE, BODY, SMALL = 10.0, 7.5, 6.5  # type sizes
LINE = 1.35  # from one line to the next, in type sizes
DPI = 300
PER_INCH = 216  # pixels of a picture that is embedded, at least
MOST = 12_000_000  # pixels; a larger figure has fewer of them an inch
STYLE = {
    "agg.path.chunksize": 20_000,
    "figure.facecolor": INK.background,
    "font.sans-serif": FIRST,
    "font.size": SMALL,
    "hatch.linewidth": 0.4,
    "image.composite_image": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "headscope",
    "text.hinting": "none",
    "text.parse_math": False,
}
_ONE_AT_A_TIME = RLock()

Draw = Callable[["Page"], None]
T = TypeVar("T")


@contextmanager
def style() -> Iterator[None]:
    """Settings of matplotlib while a figure is drawn and written, whatever the user's own are."""
    with _ONE_AT_A_TIME, matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = STYLE | {"font.family": families()}
        matplotlib.rcParams.update(settings)
        yield


def file(pages: Sequence[tuple[Draw, Caption]], suffix: str, dpi: float = DPI) -> bytes:
    """Figures in a row as the contents of a file: .svg, .pdf or .png."""
    figure, captions = sheet(pages), [caption for _, caption in pages]
    title = clean(" | ".join(dict.fromkeys(caption.title for caption in captions)))
    about = clean(" | ".join(" ".join(caption.lines) for caption in captions))
    metadata = {
        ".svg": {"Title": title, "Description": about, "Creator": SOFTWARE, "Date": None},
        ".pdf": {"Title": title, "Subject": about, "Creator": SOFTWARE, "CreationDate": None},
        ".png": {"Title": title, "Description": about, "Software": SOFTWARE},
    }
    wide, high = figure.get_size_inches()
    dpi, content = min(dpi, int(math.sqrt(MOST / (wide * high)))), io.BytesIO()
    with style():
        figure.savefig(content, format=suffix[1:], dpi=dpi, metadata=metadata[suffix])
    return content.getvalue()


def sheet(pages: Sequence[tuple[Draw, Caption]]) -> Figure:
    """Figures in a row, each with its own title and caption."""
    if not pages:
        raise ValueError("expected at least one figure, received none")
    with style():
        figure = Figure()
        axes = figure.add_axes((0, 0, 1, 1))
        _draw(axes, pages)
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        figure.set_size_inches((right - left) / 72, (bottom - top) / 72)
    return figure


def on(axes: Axes, draw: Draw, caption: Caption) -> Figure:
    """A figure on somebody's own axes, which it fits: smaller, with type as much smaller."""
    with style():
        _draw(axes, [(draw, caption)])
        axes.set_aspect("equal", "box")
        size = np.array(axes.bbox.size) / axes.figure.dpi * 72
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        share = min(size[0] / (right - left), size[1] / (bottom - top))
        for text in axes.findobj(Text):
            text.set_fontsize(text.get_fontsize() * share)
    if (figure := axes.get_figure(root=True)) is None:
        raise ValueError("ax: expected axes of a figure, received some of none")
    return figure


def _draw(axes: Axes, pages: Sequence[tuple[Draw, Caption]]) -> None:
    axes.set_axis_off()
    axes.set_autoscale_on(False)
    left, top, bottom = 0.0, 0.0, 0.0
    for draw, caption in pages:
        page = Page(axes, caption, left)
        draw(page)
        above, below = page.finish()
        left, top, bottom = left + page.wide, min(top, above), max(bottom, below)
    axes.set_xlim(0, left)
    axes.set_ylim(bottom, top)


class Page:
    """A figure that is being drawn; its content starts at y = 0.

    Attributes:
        y: where the next part goes.
        wide: of the figure; parts may widen it.
        room: width of what is drawn, between the margins.
    """

    def __init__(self, axes: Axes, caption: Caption, left: float = 0.0) -> None:
        self.axes, self.caption, self.left = axes, caption, left
        self.y, self.wide, self.room = 0.0, PAGE, WIDE

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = SMALL,
        colour: str = INK.text,
        anchor: str = "left",
        angle: float = 0.0,
    ) -> None:
        """One line of text; (x, y) is on its baseline, at its anchor."""
        look: dict[str, Any] = {"fontsize": size, "color": colour, "rotation": angle, "ha": anchor}
        look |= {"va": "baseline", "rotation_mode": "anchor"}
        self.axes.text(self.left + x, y, clean(text), **look)

    def lines(self, text: str, size: float = SMALL, colour: str = INK.text) -> None:
        """A paragraph."""
        for line in wrapped(clean(text), size, self.room):
            self.y += size * LINE
            self.text(MARGIN, self.y, line, size, colour)

    def columns(self, items: Sequence[T], count: int) -> Iterator[T]:
        """The items, the page each time moved to where the next of them is drawn."""
        left, room = self.left, self.room
        self.room = (room - 16 * (count - 1)) / count
        for start in range(0, len(items), count):
            top = bottom = self.y
            for place, item in enumerate(items[start : start + count]):
                self.y, self.left = top, left + place * (self.room + 16)
                yield item
                bottom = max(bottom, self.y)
            self.y = bottom
        self.left, self.room = left, room

    def heading(self, text: str) -> None:
        """The title of the part that follows."""
        self.y += 2
        self.lines(text, BODY)
        self.y += 4

    def box(self, x: float, y: float, wide: float, high: float, **look: Any) -> None:
        """A rectangle: an outline, or with `facecolor` a filled one."""
        look = {"fill": "facecolor" in look, "edgecolor": INK.line, "linewidth": 0.5} | look
        self.axes.add_patch(Rectangle((self.left + x, y), wide, high, **look))

    def strokes(self, segments: np.ndarray, colour: str, thick: float, opacity: float = 1) -> None:
        """Straight lines as one shape: "line 4" with x and y of both ends."""
        ends = np.asarray(segments).reshape(-1, 2) + np.array((self.left, 0))
        path = Path(ends, [Path.MOVETO, Path.LINETO] * len(segments))
        look: dict[str, Any] = {"edgecolor": colour, "linewidth": thick, "alpha": opacity}
        self.axes.add_patch(PathPatch(path, fill=False, capstyle="butt", **look))

    def image(self, x: float, y: float, wide: float, high: float, pixels: np.ndarray) -> None:
        """Pixels, uint8 "row col 3", scaled to a rectangle without smoothing.

        Each is repeated, so that viewers which smooth pictures keep cells sharp.
        """
        rows, cols = pixels.shape[:2]
        times = max(1, round(max(wide / cols, high / rows) * PER_INCH / 72))
        sharp = pixels.repeat(times, 0).repeat(times, 1)
        extent = (self.left + x, self.left + x + wide, y + high, y)
        self.axes.imshow(sharp, aspect="auto", interpolation="none", extent=extent)

    def plot(self, high: float, x: str, y: str) -> Axes:
        """Axes of numbers below what is there, as wide as the page, with a name along each."""
        left, right = self.left + MARGIN + 40, self.left + MARGIN + self.room - 10
        box, whole = Bbox([[left, self.y], [right, self.y + high]]), self.axes
        axes = whole.inset_axes((0, 0, 1, 1))

        def place(axes: Any, renderer: Any) -> Bbox:
            on_figure = whole.transData - whole.figure.transSubfigure
            return Bbox(TransformedBbox(box, on_figure).get_points())

        axes.set_axes_locator(place)
        axes.tick_params(labelsize=SMALL, colors=INK.muted, color=INK.line, length=2.5, width=0.5)
        axes.set_xlabel(x, fontsize=SMALL, color=INK.text, labelpad=2)
        axes.set_ylabel(y, fontsize=SMALL, color=INK.text, labelpad=3)
        axes.ticklabel_format(style="plain", useOffset=False)
        axes.locator_params(nbins=6)
        for spine in axes.spines.values():
            spine.set(color=INK.line, linewidth=0.5)
        self.y += high + 3 * SMALL + 8
        return axes

    def legend(self, axes: Axes) -> None:
        """The names of the lines of axes, below what is there."""
        handles, names = axes.get_legend_handles_labels()
        place = {"loc": "upper left", "bbox_to_anchor": (self.left + MARGIN + 40, self.y)}
        look = {"frameon": False, "fontsize": SMALL, "ncols": len(names), "borderpad": 0}
        how = {"handlelength": 1.6, "borderaxespad": 0, "columnspacing": 1.5}
        axes.legend(handles, names, bbox_transform=self.axes.transData, **place, **look, **how)
        self.y += SMALL * 1.6

    def bar(self, scale: Scale) -> None:
        """The colours of a scale, with numbers below and words beside it."""
        wide = self.room > 300  # else the words have no room beside
        x = MARGIN + (0 if scale.kind == "root" else 12)  # the first number is longer than a 0
        long, high = 180.0 if wide else min(180.0, self.room - 24), 7.0
        for i, colour in enumerate(scale.ramp[2::4] / 255):  # up to the end: there are no seams
            start = x + i * long / 64
            self.box(start, self.y, x + long - start, high, facecolor=colour, linewidth=0)
        self.box(x, self.y, long, high)
        free = x + long + 100.0  # of other numbers: from the last one, which is always written
        for value, text in reversed(scale.ticks()):
            at = x + long * float(scale.places(np.array(value)))
            half = width(text, SMALL) / 2 + 1
            if at + half <= free:
                self.text(at, self.y + high + SMALL + 1, text, SMALL, INK.muted, "center")
                free = at - half
        if wide:
            self.text(x + long + 14, self.y + 6, scale.words, SMALL, INK.muted)
        self.y += 20
        if not wide:
            self.lines(scale.words, colour=INK.muted)

    def finish(self) -> tuple[float, float]:
        """Draws title and caption; returns where the figure begins and ends."""
        top = -MARGIN
        if self.caption.written:
            self.room = self.wide - 2 * MARGIN
            title = wrapped(clean(self.caption.title), TITLE, self.room)
            top -= TITLE * LINE * len(title) + 2
            for i, line in enumerate(title):
                self.text(MARGIN, top + MARGIN + TITLE * (1 + LINE * i), line, TITLE)
            self.y += 4
            for line in self.caption.lines:
                self.lines(line, SMALL, INK.muted)
        return top, self.y + MARGIN
