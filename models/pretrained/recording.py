"""The state of one running trace of a transformers model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.attention import Edit, Pattern
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModule, AttentionModules, ancestors
from models.pretrained.axes import (
    axis_of,
    cells_axis,
    numbered_axis,
    over_parts,
    packed_axis,
    padding_of_argument,
    reduced_axis,
    tiles_axis,
    window_axes,
)
from models.pretrained.masks import MaskAndBias, parse_mask
from models.pretrained.sources import Sources, distinct, key_states
from models.pretrained.windows import Slots
from models.progress import Progress, no_progress
from models.trace import TokenAxis
from models.where import Where

if TYPE_CHECKING:
    from models.model import Model

Axes = tuple[TokenAxis, TokenAxis]
Change = Callable[[Tensor, Tensor | None], Tensor]
Key = tuple[str | None, int, int]
GRIDS = ("image_grid_thw", "video_grid_thw", "grid_thw", "image_grid_hw")  # of packed images


@dataclass(frozen=True, eq=False)
class Entry:
    """One run of an attention layer's forward.

    Attributes:
        place: the layer.
        module: the layer itself.
        layer: number of the block.
        part: how often its tower had run before.
        cross: whether its keys come from other states than its queries.
        source: input sequence of the queries.
        keys: input sequence of the keys.
    """

    place: AttentionModule
    module: nn.Module
    layer: int
    part: int = 0
    cross: bool = False
    source: str | None = None
    keys: str | None = None

    @property
    def path(self) -> str:
        """Of the layer."""
        return self.place.path

    def where(self, kind: str) -> Where:
        """The full address of a call, given its kind of attention."""
        return Where(self.layer, kind, self.place.tower, self.path, self.part)


@dataclass(frozen=True, eq=False)
class ModuleEdit:
    """An edit of what one module reads or returns: a hook that lives for one trace.

    Attributes:
        edit: that was asked for.
        path: of the module.
        change: makes the new tensor, given the old one and where it holds padding.
        block: path of the block, whose present run has to be the right one.
        layer: number of the block; None for any.
        reads: whether the first tensor that the module reads is changed, not what it returns.
    """

    edit: Any
    path: str
    change: Change
    block: str
    layer: int | None
    reads: bool = False

    def __repr__(self) -> str:
        return repr(self.edit)

    def hook(
        self,
        record: "Recording",
        module: nn.Module,
        args: tuple,
        kwargs: Mapping[str, Any],
        *output: Any,
    ) -> Any:
        """Called before the module if it changes what it reads, else after it."""
        if not record.runs(self.block, None if self.reads and self.layer == 0 else self.layer):
            return None
        if output:
            (whole,) = output
            if isinstance(whole, Tensor):
                return self._changed(record, whole)
            return type(whole)((self._changed(record, whole[0]), *whole[1:]))
        named = {**dict(enumerate(args)), **kwargs}
        first = next(name for name, each in named.items() if isinstance(each, Tensor))
        named[first] = self._changed(record, named[first])
        return tuple(named[i] for i in range(len(args))), {name: named[name] for name in kwargs}

    def _changed(self, record: "Recording", x: Tensor) -> Tensor:
        record.changed.append(self)
        if x.ndim != 3:
            raise ValueError(
                f"{self}: {self.path}: expected a row for each token, received {tuple(x.shape)}"
            )
        return self.change(x, record.padding_of(self.block, x))


@dataclass(frozen=True, eq=False)
class Call:
    """One recorded attention call.

    Attributes:
        entry: the run of the layer that called.
        kind: "self", "causal" or "cross".
        pattern: its recipe.
        axes: the tokens of its rows and columns.
        slots: where its tokens lay, if the library attended in windows or over a packed sequence.
    """

    entry: Entry
    kind: str
    pattern: Pattern
    axes: Axes
    slots: Slots | None = None

    @property
    def where(self) -> Where:
        """Its full address."""
        return self.entry.where(self.kind)

    @property
    def key(self) -> Key:
        """Path and number of its block, and which run of its tower it is in."""
        return self.entry.path, self.entry.layer, self.entry.part


@dataclass(eq=False)
class Recording:
    """The state of one running trace.

    Attributes:
        modules: the attention layers of the network.
        inputs: of the network.
        config: of the network.
        edits: edits of attention.
        module_edits: edits of what other modules read or return.
        progress: called before each attention layer.
        sources: of the tensors so far.
        calls: attention calls so far, in order.
        changed: edits of other modules that were made, in order.
        windows: each block of shifted windows, and the rows and columns of its image, by path.
        references: weights of the library's eager attention by path, where verification runs it.
    """

    modules: AttentionModules
    inputs: ModelInputs
    config: Any
    edits: Sequence[Edit]
    module_edits: Sequence[ModuleEdit]
    progress: Progress
    sources: Sources
    calls: list[Call] = field(default_factory=list)
    changed: list[ModuleEdit] = field(default_factory=list)
    windows: dict[str, tuple[Any, tuple[int, int]]] = field(default_factory=dict)
    references: dict[str, list[Tensor]] = field(default_factory=dict)
    _entries: dict[int, Entry] = field(default_factory=dict)
    _runs: dict[Any, int] = field(default_factory=dict)
    _repeated: set[tuple[str, int]] = field(default_factory=set)
    _readings: dict[int, tuple[Tensor, MaskAndBias]] = field(default_factory=dict)
    _axes: dict[tuple, TokenAxis | None] = field(default_factory=dict)

    @staticmethod
    def of(
        model: "Model",
        inputs: ModelInputs,
        edits: Sequence[Edit | ModuleEdit] = (),
        progress: Progress = no_progress,
    ) -> "Recording":
        """The state of a trace that is about to run."""
        inputs.arguments = distinct(inputs.arguments)
        return Recording(
            AttentionModules.find_in(model.network),
            inputs,
            model.network.config,
            [edit for edit in edits if not isinstance(edit, ModuleEdit)],
            [edit for edit in edits if isinstance(edit, ModuleEdit)],
            progress,
            Sources.of(inputs.arguments),
        )

    # --- where the pass is ---

    def enter_container(
        self, path: str, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]
    ) -> None:
        """A module that contains attention layers is called."""
        self._runs[path] = self._runs.get(path, 0) + 1
        self.sources.enter(path, module, args, kwargs)

    def enter_attention(self, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """An attention layer is called."""
        self.report()
        place = self.modules.of(module)
        runs = self._runs
        part = next((runs[up] - 1 for up in place.above if up in runs), 0)
        source = self.sources.queries(place.above)
        called_self = "selfatt" in place.path.lower().replace("_", "")
        may_be_cross = (args or kwargs) and not called_self
        states = key_states(module, args, kwargs) if may_be_cross else None
        keys = source if states is None else self.sources.keys(states, source)
        layer = self._layer(place, part)
        entry = Entry(place, module, layer, part, states is not None, source, keys)
        self._entries[id(module)] = entry

    def report(self) -> None:
        """Reports how many attention layers have run; one that runs again counts once."""
        self.progress(len(self._entries), len(self.modules.modules))

    def enter_windows(self, path: str, module: Any, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """A block of windows is called; the rows and columns of its image are noted."""
        given = [*args, *kwargs.values()]
        if hasattr(module, "shift_size") and len(given) > 1:
            size = kwargs["input_dimensions"] if "input_dimensions" in kwargs else args[1]
            self.windows[path] = module, (int(size[0]), int(size[1]))
        elif given and isinstance(given[0], Tensor) and given[0].ndim == 4:
            self.windows[path] = module, (given[0].shape[1], given[0].shape[2])

    def _layer(self, place: AttentionModule, part: int) -> int:
        """Number of the block that runs now: where a network repeats its blocks within one run of a
        tower, each time that a layer runs is one more."""
        stack, path = (place.rivals, part), (place.path, part)
        runs = self._runs
        before, again = runs.get(stack, 0), runs.get(path, 0)
        runs[stack], runs[path] = before + 1, again + 1
        if again:
            self._repeated.add(stack)
        return before if stack in self._repeated else place.layer

    def entry(self, module: nn.Module) -> Entry:
        """The run of an attention layer that calls now."""
        if id(module) in self.modules.alone:
            self.enter_attention(module, (), {})
        known = self._entries.get(id(module))
        if known is None:
            place = self.modules.of(module)
            known = Entry(place, module, place.layer)
        return known

    def runs(self, block: str, layer: int | None) -> bool:
        """Whether a block runs as this layer: as its attention, if it has any, that ran last does.

        None means that no attention of it has run.
        """
        inside = [e for e in self._entries.values() if e.path.startswith(f"{block}.")]
        has = any(each.path.startswith(f"{block}.") for each in self.modules.modules.values())
        if layer is None or not has:
            return not inside
        return bool(inside) and inside[-1].layer == layer

    def padding_of(self, block: str, x: Tensor) -> Tensor | None:
        """True at padding, in states of the tokens that a block reads; None without any."""
        inside = [call for call in self.calls if call.entry.path.startswith(f"{block}.")]
        rows = inside[-1].axes[0] if inside else None
        if rows is None or (inside[-1].pattern.batch, inside[-1].pattern.queries) != x.shape[:2]:
            source = self.sources.queries([block, *ancestors(block)])
            rows = self._axis(source, x.shape[1], len(x))
        return self._padding(rows, x.shape[1])

    def silent(self) -> Iterator[tuple[str, str]]:
        """Layers that ran and did not attend: class and path.

        One whose run is told by its call alone ran if the stack that it belongs to did.
        """
        called = {call.entry.path for call in self.calls}
        ran = [each.place for each in self._entries.values()]
        for key in self.modules.alone - self._entries.keys():
            place = self.modules.modules[key]
            if place.above and place.above[0] in self._runs:
                ran.append(place)
        yield from ((place.kind, place.path) for place in ran if place.path not in called)

    # --- what a call is given ---

    def reading(self, matrix: Tensor, batch: int, keys: int) -> MaskAndBias:
        """A mask parsed; a matrix shared by several layers is parsed once."""
        known = self._readings.get(id(matrix))
        if known is None or known[0] is not matrix:
            known = self._readings[id(matrix)] = matrix, parse_mask(matrix, batch, keys)
        return known[1]

    def packed(self, boundaries: Tensor) -> Slots:
        """The images or videos of a packed sequence; it is one item if nothing tells."""
        grid = self._packed_grid(int(boundaries[-1]))
        items = [int(boundaries[-1])] if grid is None else grid.prod(-1).tolist()
        return Slots.of_sequence(boundaries, items)

    def _packed_grid(self, length: int) -> Tensor | None:
        """Frames, rows and columns of each image of a packed sequence, if an argument tells."""
        for name in GRIDS:
            grid = self.inputs.arguments.get(name)
            if isinstance(grid, Tensor) and int(grid.prod(-1).sum()) == length:
                return grid
        return None

    def _packed_axis(self, entry: Entry, slots: Slots) -> TokenAxis | None:
        """The patches of packed images, in the order of the tower's squares and windows.

        None for a tower that states no squares, or has windows in an order of its own.
        """
        towers = self.modules.towers
        tower: Any = next((towers[up]() for up in ancestors(entry.path) if up in towers), None)
        grid = self._packed_grid(sum(slots.lengths))
        if tower is None or grid is None or len(slots.lengths) != len(grid):
            return None
        merge = int(tower.spatial_merge_size)
        if grid.shape[-1] != 3 or bool((grid[:, 1:] % merge).any()):
            return None
        window = None
        if hasattr(tower, "window_size"):
            if not hasattr(tower, "permute_input_for_window_attn"):
                return None
            from transformers.vision_utils import get_vision_window_index

            window, _ = get_vision_window_index(grid, merge, tower.window_size, tower.patch_size)
        depth = getattr(tower.config, "temporal_patch_size", None) or 1
        video = grid is self.inputs.arguments.get("video_grid_thw")
        return packed_axis(grid.tolist(), merge, window, depth, video=video)

    def cut(self, entry: Entry, recipe: Pattern) -> Slots | None:
        """How the items of the batch were cut into windows, if they were.

        Size and shift are read now, within the block: Swin adapts both to an image that is no
        larger than its window when the block begins.
        """
        if not self.windows or recipe.queries != recipe.keys:
            return None
        for above in ancestors(entry.path):
            if above in self.windows:
                block, (rows, cols) = self.windows[above]
                shift = int(getattr(block, "shift_size", 0))
                slots = Slots.of_windows(rows, cols, int(block.window_size), shift, recipe.batch)
                return slots if slots and slots.shape[1] == recipe.queries else None
        return None

    # --- what its axes are ---

    def axes(self, entry: Entry, whole: Pattern, slots: Slots | None) -> Axes:
        """The tokens of rows and columns of a call."""
        if slots is not None and slots.grid is not None:
            pixels = self.inputs.arguments.get("pixel_values")
            return window_axes(slots, whole.batch, pixels, self.config)
        patches = None if slots is None else self._packed_axis(entry, slots)
        if patches is not None:
            return patches, patches
        if reads_channels(entry, whole):
            channels = numbered_axis("channel", whole.queries, whole.batch, None)
            return channels, channels
        square = whole.queries == whole.keys and not entry.cross
        hidden = whole.mask.padding
        packed = slots is not None and entry.source == "image"  # its pixels are no picture
        rows = None if packed else self._axis(entry.source, whole.queries, whole.batch)
        if rows is None:
            padding = hidden if square else None
            rows = self._numbered(entry.source, whole.queries, whole.batch, padding)
        if square:
            return rows, rows
        keys = (
            self._axis(entry.keys, whole.keys, whole.batch) if self._crosses(entry, whole) else None
        )
        if not entry.cross and rows.grid is not None:
            keys = reduced_axis(rows.grid, whole.keys, whole.batch)
        if keys is None:
            stated = padding_of_argument(self.inputs.arguments, entry.keys)
            stated = (
                hidden if stated is None or stated.shape != (whole.batch, whole.keys) else stated
            )
            keys = self._numbered(entry.keys, whole.keys, whole.batch, stated)
        return rows, keys

    def with_padding(self, whole: Pattern, axes: Axes) -> Pattern:
        """The recipe, which tells edits what queries and keys are an item's own tokens."""
        queries = self._padding(axes[0], whole.queries)
        keys = self._padding(axes[1], whole.keys)
        if queries is None and whole.mask.padding is not None:
            queries = torch.zeros(whole.batch, whole.queries, dtype=torch.bool)
        if queries is None and keys is None:
            return whole
        queries, keys = (None if x is None else x.to(whole.device) for x in (queries, keys))
        return whole.derived(mask=replace(whole.mask, query_padding=queries, key_padding=keys))

    def _axis(self, source: str | None, length: int, batch: int) -> TokenAxis | None:
        key = source, length, batch
        if key not in self._axes:
            axis = axis_of(source, self.inputs.sequences, length, batch, self.config)
            if axis is None and source == "image" and source not in self.inputs.sequences:
                overlapping = self.modules.overlapping
                axis = cells_axis(self.inputs.arguments, length, batch, overlapping=overlapping)
                axis = axis or tiles_axis(self.inputs.parts, length, batch, self.config)
            if axis is not None and source == "image":
                image = self.inputs.sequences.get("image")
                patches = axis.grid or (image and image.layout)
                axis = over_parts(axis, self.inputs.parts, patches) if patches else axis
            self._axes[key] = axis
        return self._axes[key]

    def _crosses(self, entry: Entry, whole: Pattern) -> bool:
        """Whether a layer attends to the tokens of a sequence as they are.

        To patches if there are as many as in the image, or in a layer of its own tower: those of a
        resampler are others, and so are those that learned queries were added to.
        """
        image = self.inputs.sequences.get("image")
        if not entry.cross or entry.keys != "image" or image is None:
            return entry.cross
        calls = (
            call for call in self.calls if call.entry.source == "image" and call.kind != "cross"
        )
        lengths = {image.length, *(call.pattern.queries for call in calls)}
        return whole.keys in lengths

    def _padding(self, axis: TokenAxis | None, length: int) -> Tensor | None:
        if axis is None:
            return None
        short = any(len(tokens) < length for tokens in axis.tokens)
        return axis.padding(length) if short else None

    def _numbered(
        self,
        source: str | None,
        length: int,
        batch: int,
        padding: Tensor | None,
    ) -> TokenAxis:
        """An axis of numbers: object queries, times of sound, or positions of the source."""
        if source is None and getattr(self.config, "num_queries", None) == length:
            source = "object query"
        elif source is None and list(self.inputs.sequences) == ["sound"]:
            source = "sound"
        if padding is not None:
            return numbered_axis(source, length, batch, padding, self.inputs.sound)
        key = source, length, batch, "numbered"
        axis = self._axes.get(key) or numbered_axis(source, length, batch, None, self.inputs.sound)
        self._axes[key] = axis
        return axis


def check_changed(record: Recording) -> None:
    """Raises ValueError for an edit whose module did not run."""
    for each in record.module_edits:
        if not any(other is each for other in record.changed):
            raise ValueError(f"{each}: {each.path} did not run for layer {each.layer}")


def reads_channels(entry: Entry, recipe: Pattern) -> bool:
    """Whether a layer attends among channels: each is a vector over all tokens.

    Source: Ding et al. 2022 (DaViT), section 3.2.
    """
    return "channel" in type(entry.module).__name__.lower() and recipe.queries == recipe.keys
