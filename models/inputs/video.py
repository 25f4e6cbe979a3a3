"""Videos as Qwen2-VL, 2.5 and 3 read them: tubes of patches of frames that follow each other.

transformers' own video processors need torchvision. Here the frames are resized by Pillow to the
size that those choose, the model's image processor scales each one and cuts it into patches, and
the patches of frames that share a token are joined. Every frame is read: none is left out to reach
a number of frames a second, as the processor of Qwen3-VL does with files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from models.image import frame_count, open_image

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST_FRAMES, MOST_FRAMES = 2, 64
ASSUMED = 24  # frames a second, where nothing states it
FAMILIES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe")
TIMED = ("qwen3_vl", "qwen3_vl_moe")  # whose size of a frame depends on the number of frames
LEVELS = ("image_mean", "image_std", "do_normalize", "do_rescale", "rescale_factor")
SIZES = {  # least and most pixels that the library's processors take by default
    False: {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768},
    True: {"shortest_edge": 128 * 32 * 32, "longest_edge": 32 * 32 * 768},
}


@dataclass(frozen=True, eq=False)
class Video:
    """A video without sound, for a model that reads videos.

    Attributes:
        frames: an animated GIF, WebP or PNG (a path, or the bytes of the file), or a list of
            pictures of one size.
        fps: frames a second; None for what the file states, else what the library assumes (24).
    """

    frames: Any
    fps: float | None = None


def read_video(video: Video) -> Video:
    """The same, with RGB pictures of one size as frames and the rate that the file states.

    Raises:
        ValueError: in one line, for a file or list that is no such video.
    """
    given, fps = video.frames, video.fps
    listed = isinstance(given, list | tuple)
    data = b"" if listed else _contents(given)
    count = len(given) if listed else frame_count(data)
    if not LEAST_FRAMES <= count <= MOST_FRAMES:
        expected = f"expected {LEAST_FRAMES} to {MOST_FRAMES} frames, received {count}"
        raise ValueError(f"video: {expected}")
    if listed:
        images = [open_image(Path(each) if isinstance(each, str) else each).image for each in given]
    else:
        images, stated = _animation(data, count)
        fps = fps or stated
    sizes = list(dict.fromkeys(f"{image.width} × {image.height}" for image in images))
    if len(sizes) > 1:
        received = " and ".join(sizes[:2])
        raise ValueError(f"video: expected frames of one size, received {received}")
    if fps is not None and not 0 < fps <= 1000:
        raise ValueError(f"video: expected 0 to 1000 frames a second, received {fps}")
    return Video(tuple(images), fps)


def _contents(given: Any) -> bytes:
    """The bytes of an animated picture."""
    if not isinstance(given, str | Path | bytes):
        kind = type(given).__name__
        raise ValueError(f"video: expected an animated picture or a list of them, received {kind}")
    if not isinstance(given, bytes) and not Path(given).is_file():
        raise ValueError(f"expected a video file, received {Path(given).name}: there is none")
    data = given if isinstance(given, bytes) else Path(given).read_bytes()
    if data[4:8] == b"ftyp" or data[:4] == b"\x1aE\xdf\xa3":  # MP4, MOV; WebM, MKV
        expected = "expected an animated GIF, WebP or PNG, or a list of pictures"
        raise ValueError(f"video: no decoder of films here: {expected}")
    return data


def _animation(data: bytes, count: int) -> tuple[list["Image"], float | None]:
    """The frames of an animated picture, whole, and how many there are a second on the mean; None
    if it states no durations."""
    from PIL import Image as Pillow

    images, total = list["Image"](), 0.0
    with Pillow.open(BytesIO(data)) as opened:
        for number in range(count):
            try:
                opened.seek(number)
                images.append(open_image(opened.convert("RGBA")).image)
            except Exception as error:  # a damaged frame can make a decoder raise anything
                raise ValueError(f"frame {number + 1} of the video is damaged") from error
            total += opened.info.get("duration", 0)  # milliseconds
    return images, 1000 * count / total if total > 0 else None


class FrameProcessor:
    """Stands for the library's video processor in a model's processor.

    Args:
        images: the model's image processor.
        family: the model type, one of `FAMILIES`.
        settings: of the video processor; what they leave out is as for pictures.
    """

    def __init__(self, images: Any, family: str, settings: Mapping[str, Any]) -> None:
        self.images, self.timed = images, family in TIMED
        sides = ("patch_size", "merge_size", "temporal_patch_size")
        self.patch_size, self.merge_size, self.temporal_patch_size = (
            int(settings.get(name, getattr(images, name))) for name in sides
        )
        self.levels = {name: settings[name] for name in LEVELS if name in settings}
        self.resample = settings.get("resample", images.resample)
        size = {**SIZES[self.timed], **(settings.get("size") or {})}
        self.least = int(settings.get("min_pixels") or size["shortest_edge"])
        self.most = int(settings.get("max_pixels") or size["longest_edge"])

    def __call__(self, videos: Sequence[Sequence["Image"]], **more: Any) -> dict[str, Any]:
        """Patches of all videos, one after another, and their grids."""
        pixels, grids = zip(*map(self._patches, videos), strict=True)
        return {
            "pixel_values_videos": torch.cat(pixels),
            "video_grid_thw": torch.tensor(grids),
            "video_metadata": more["video_metadata"],
        }

    def size_of(self, width: int, height: int, frames: int) -> tuple[int, int]:
        """Width and height that frames are resized to, by the library's own rule."""
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize as plain
        from transformers.models.qwen3_vl.video_processing_qwen3_vl import smart_resize as timed

        limits = self.patch_size * self.merge_size, self.least, self.most
        high, wide = (
            timed(frames, height, width, self.temporal_patch_size, *limits)
            if self.timed
            else plain(height, width, *limits)
        )
        return wide, high

    def _patches(
        self, frames: Sequence["Image"]
    ) -> tuple[Float[Tensor, "patch value"], tuple[int, int, int]]:
        """The tubes of a video, and how many there are in time, rows and columns.

        The last frame is repeated where it shares no token with another.
        """
        depth = self.temporal_patch_size
        size = self.size_of(*frames[0].size, len(frames))
        resized = [frame.resize(size, self.resample) for frame in frames]
        resized += resized[-1:] * (-len(resized) % depth)
        each = self.images(
            resized,
            do_resize=False,
            patch_size=self.patch_size,
            merge_size=self.merge_size,
            temporal_patch_size=1,
            return_tensors="pt",
            **self.levels,
        )
        _, rows, cols = each["image_grid_thw"][0].tolist()
        tubes = rearrange(
            each["pixel_values"],
            "(tube frame place) (channel pixel) -> (tube place) (channel frame pixel)",
            frame=depth,
            place=rows * cols,
            channel=3,
        )
        return tubes, (len(resized) // depth, rows, cols)
