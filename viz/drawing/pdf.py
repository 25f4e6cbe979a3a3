"""A scene as PDF: vectors, with the letters it uses embedded."""

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime

from PIL import Image

from viz.drawing.letters import Face, runs, width
from viz.drawing.scene import BOLD, Anchor, Fill, Item, Raster, Scene, Stroke, Text, enlarged

EPOCH = datetime(1980, 1, 1, tzinfo=UTC)  # a file made twice is the same
SHARES: dict[Anchor, float] = {"start": 0, "middle": 0.5, "end": 1}


def pdf(scene: Scene) -> bytes:
    """The file."""
    from fpdf import FPDF

    file = FPDF(unit="pt", format=(scene.width, scene.height))
    file.set_creation_date(EPOCH)
    file.set_title(scene.title)
    file.set_subject(scene.description)
    file.set_creator(scene.software)
    file.set_auto_page_break(False)
    file.set_margin(0)
    file.add_page()
    page = Page(file)
    page.draw(Fill(((0, 0, scene.width, scene.height),), scene.background))
    for item in scene.items:
        page.draw(item)
    return bytes(file.output())


class Page:
    """A page that is being drawn."""

    def __init__(self, file) -> None:
        self.file = file
        self.fonts: dict[Face, str] = {}

    def draw(self, item: Item) -> None:
        match item:
            case Fill(boxes, colour, opacity):
                with self.file.local_context(fill_opacity=opacity):
                    self.file.set_fill_color(colour)
                    for x, y, wide, high in boxes:
                        self.file.rect(x, y, wide, high, "F")
            case Stroke(segments, colour, thickness, opacity):
                with self.file.local_context(stroke_opacity=opacity):
                    self.file.set_draw_color(colour)
                    self.file.set_line_width(thickness)
                    for segment in segments:
                        self.file.line(*segment)
            case Text(x, y, _, _, _, _, angle):
                with self.file.rotation(-angle, x, y) if angle else nullcontext():
                    self._write(item)
            case Raster((x, y, wide, high)):
                self.file.image(Image.fromarray(enlarged(item)), x, y, wide, high)

    def _write(self, text: Text) -> None:
        x = text.x - SHARES[text.anchor] * width(text.text, text.size)
        self.file.set_text_color(text.colour)
        with self._styled(text):
            for face, run in runs(text.text):
                self.file.set_font(self._font(face), size=text.size)
                self.file.text(x, text.y, run)
                x += text.size * sum(face.advances[letter] for letter in run)

    def _styled(self, text: Text) -> AbstractContextManager[None]:
        """Within it, letters may be bold."""
        if not text.bold:
            return nullcontext()
        from fpdf.enums import TextMode

        return self.file.local_context(
            text_mode=TextMode.FILL_STROKE,
            draw_color=text.colour,
            line_width=BOLD * text.size,
        )

    def _font(self, face: Face) -> str:
        """The name of an embedded font."""
        if face not in self.fonts:
            self.fonts[face] = f"font{len(self.fonts)}"
            self.file.add_font(self.fonts[face], fname=face.path, collection_font_number=face.index)
        return self.fonts[face]
