"""The state of one running trace of a transformers model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from models.attention import Edit, Pattern
from models.inputs.sequences import InputSequence
from models.picture_grid import WHOLE, Part
from models.pretrained.attention_modules import AttentionModule, AttentionModules, ancestors
from models.pretrained.axes import (
    axis_of,
    block_axes,
    cells_axis,
    numbered_axis,
    over_parts,
    padding_of_argument,
    reduced_axis,
    tiles_axis,
)
from models.pretrained.block_outputs import BlockStates
from models.pretrained.masks import LazyMask, MaskAndBias, parse_mask
from models.pretrained.module_edits import ModuleEdit
from models.pretrained.packed import Packing, packed_axis
from models.pretrained.sources import Sources, key_states
from models.pretrained.windows import Blocks
from models.progress import Progress, no_progress
from models.trace import TokenAxis
from models.where import Where

Axes = tuple[TokenAxis, TokenAxis]
GRIDS = ("image_grid_thw", "video_grid_thw", "grid_thw", "image_grid_hw")  # of packed images


@dataclass(frozen=True, eq=False)
class Entry:
    """One run of an attention layer's forward.

    Attributes:
        place: the layer.
        module: the layer itself.
        path: its path in this block, of a layer that several blocks share.
        layer: number of the block.
        part: how often its tower had run before.
        cross: whether its keys come from other states than its queries.
        source: input sequence of the queries.
        keys: input sequence of the keys.
    """

    place: AttentionModule
    module: nn.Module
    path: str
    layer: int
    part: int = 0
    cross: bool = False
    source: str | None = None
    keys: str | None = None

    def where(self, kind: str) -> Where:
        """The full address of a call, given its kind of attention."""
        return Where(self.layer, kind, self.place.tower, self.path, self.part)


@dataclass(frozen=True, eq=False)
class Call:
    """One recorded attention call.

    Attributes:
        entry: the run of the layer that called.
        kind: "self", "causal" or "cross".
        pattern: its recipe.
        axes: the tokens of its rows and columns.
        last: values of its last query, in its last head.
        blocks: how the blocks were merged, if the library attended block by block.
        packing: where the items lay in one sequence, if the library packed them.
    """

    entry: Entry
    kind: str
    pattern: Pattern
    axes: Axes
    last: Tensor
    blocks: Blocks | None = None
    packing: Packing | None = None

    @property
    def where(self) -> Where:
        """Its full address."""
        return self.entry.where(self.kind)


@dataclass(eq=False)
class Recording:
    """The state of one running trace.

    Attributes:
        modules: the attention layers of the network.
        arguments: of the model's forward.
        sequences: input sequences by name.
        config: of the model.
        items: size of the batch.
        edits: edits of attention.
        module_edits: edits of what other modules read or return.
        changed: those of them that were made, in order.
        progress: called before each attention layer.
        sources: of the tensors so far.
        calls: attention calls so far, in order.
        windows: each block of shifted windows, and the rows and columns of its image, by path.
        states: those between the blocks, where hidden states are recorded.
        parts: what the vision tower sees of the pictures of a prompt.
        references: weights of the library's eager attention by path, where verification runs it.
    """

    modules: AttentionModules
    arguments: Mapping[str, Any]
    sequences: Mapping[str, InputSequence]
    config: Any
    items: int
    edits: Sequence[Edit] = ()
    progress: Progress = no_progress
    sources: Sources = field(default_factory=Sources)
    calls: list[Call] = field(default_factory=list)
    windows: dict[str, tuple[Any, tuple[int, int]]] = field(default_factory=dict)
    states: BlockStates | None = None
    parts: Sequence[Part] = ()
    references: dict[str, list[Tensor]] = field(default_factory=dict)
    module_edits: Sequence[ModuleEdit] = ()
    changed: list[ModuleEdit] = field(default_factory=list)
    _entries: dict[int, Entry] = field(default_factory=dict)
    _runs: Counter = field(default_factory=Counter)
    _repeated: set[tuple[str, int]] = field(default_factory=set)
    _readings: dict[int, tuple[Tensor, MaskAndBias]] = field(default_factory=dict)
    _axes: dict[tuple, TokenAxis | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sources = Sources.of(self.arguments)

    # --- where the pass is ---

    def enter_container(
        self, path: str, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]
    ) -> None:
        """A module that contains attention layers is called."""
        self._runs[path] += 1
        self.sources.enter(path, module, args, kwargs)

    def enter_attention(self, module: nn.Module, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """An attention layer is called."""
        self.report()
        place = self.modules.of(module)
        part = next((self._runs[up] - 1 for up in ancestors(place.path) if self._runs[up]), 0)
        path, layer = self._block(place, part)
        source = self.sources.queries(path)
        alone = (not args and not kwargs) or _by_name_self(path)
        states = None if alone else key_states(module, args, kwargs)
        keys = source if states is None else self.sources.keys(states, source)
        self._entries[id(module)] = Entry(
            place, module, path, layer, part, states is not None, source, keys
        )

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

    def _block(self, place: AttentionModule, part: int) -> tuple[str, int]:
        """Path and number of the block that runs now.

        A layer that runs again within one run of its tower belongs to a further block: to the
        next of those that share it, or, where the network repeats its blocks, to one more.
        """
        stack, by_path = (place.rivals, part), ("path", place.path, part)
        times, before = self._runs[by_path], self._runs[stack]
        self._runs[by_path] += 1
        self._runs[stack] += 1
        again, which = divmod(times, len(place.paths))
        path = place.paths[which]
        if again:
            self._repeated.add(stack)
        return path, before if stack in self._repeated else self.modules.layers[path]

    def entry(self, module: nn.Module) -> Entry:
        """The run of an attention layer that calls now."""
        if id(module) in self.modules.alone:
            self.enter_attention(module, (), {})
        place = self.modules.of(module)
        return self._entries.get(id(module), Entry(place, module, place.path, place.layer))

    def runs(self, block: str, layer: int | None) -> bool:
        """Whether a block runs as this layer: as its attention, if it has any, that ran last does.

        None means that no attention of it has run.
        """
        inside = [e for e in self._entries.values() if e.path.startswith(f"{block}.")]
        has = any(path.startswith(f"{block}.") for path in self.modules.layers)
        if layer is None or not has:
            return not inside
        return bool(inside) and inside[-1].layer == layer

    def padding_of(self, block: str, x: Tensor) -> Tensor | None:
        """True at padding, in states of the tokens that a block reads; None without any."""
        inside = [call for call in self.calls if call.entry.path.startswith(f"{block}.")]
        rows = inside[-1].axes[0] if inside else None
        if rows is None or (inside[-1].pattern.batch, inside[-1].pattern.queries) != x.shape[:2]:
            rows = self._axis(self.sources.queries(f"{block}."), x.shape[1], len(x))
        return self._padding(rows, x.shape[1])

    def silent(self) -> Iterator[tuple[str, str]]:
        """Layers that ran and did not attend: class and path.

        One whose run is told by its call alone ran if the stack that it belongs to did.
        """
        called = {path for call in self.calls for path in call.entry.place.paths}
        places, above = self.modules, self.modules.containers
        ran = {each.path: each.place for each in self._entries.values()}
        for key in places.alone - self._entries.keys():
            place = places.modules[key]
            if self._runs[next((up for up in ancestors(place.path) if up in above), "")]:
                ran[place.path] = place
        yield from ((place.kind, path) for path, place in ran.items() if path not in called)

    # --- what a call is given ---

    def reading(
        self, matrix: Tensor | None, entry: Entry, sizes: tuple[int, int, int]
    ) -> MaskAndBias:
        """A mask parsed; a matrix shared by several layers is parsed once.

        Args:
            matrix: as the library passes it.
            entry: of the layer.
            sizes: batch, queries and keys of the call.
        """
        batch, queries, keys = sizes
        if matrix is None or isinstance(matrix, LazyMask):
            return parse_mask(matrix, batch, keys)
        known = self._readings.get(id(matrix))
        if known is None or known[0] is not matrix:
            axis, padding = self._axis(entry.source, queries, batch), None
            if axis is not None or entry.cross:
                padding = self._padding(axis, queries)
                none = torch.zeros(batch, queries, dtype=torch.bool)
                padding = none if padding is None else padding
            known = matrix, parse_mask(matrix, batch, keys, padding)
            self._readings[id(matrix)] = known
        return known[1]

    def packed_items(self, length: int) -> Sequence[int]:
        """Tokens of each image or video of a packed sequence; all if nothing tells."""
        grid = self.packed_grid(length)
        return [length] if grid is None else grid.prod(-1).tolist()

    def packed_grid(self, length: int) -> Tensor | None:
        """Frames, rows and columns of each image of a packed sequence, if an argument tells."""
        for name in GRIDS:
            grid = self.arguments.get(name)
            if isinstance(grid, Tensor) and int(grid.prod(-1).sum()) == length:
                return grid
        return None

    def packed_axis(self, entry: Entry, packing: Packing) -> TokenAxis | None:
        """The patches of packed images, in the order of the tower's squares and windows.

        None for a tower that states no squares, or has windows in an order of its own.
        """
        towers = self.modules.towers
        tower = next((towers[up]() for up in ancestors(entry.path) if up in towers), None)
        grid = self.packed_grid(sum(packing.lengths))
        if tower is None or grid is None or len(packing.lengths) != len(grid):
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
        video = grid is self.arguments.get("video_grid_thw")
        return packed_axis(grid.tolist(), merge, window, depth, video=video)

    def blocks(self, entry: Entry, recipe: Pattern) -> Blocks | None:
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
                blocks = Blocks.of_image(rows, cols, int(block.window_size), shift)
                fits = blocks.positions.shape[1] == recipe.queries
                return blocks if fits and recipe.batch % blocks.count == 0 else None
        return None

    # --- what its axes are ---

    def axes(
        self,
        entry: Entry,
        whole: Pattern,
        blocks: Blocks | None,
        packing: Packing | None = None,
    ) -> Axes:
        """The tokens of rows and columns of a call."""
        patches = None if packing is None else self.packed_axis(entry, packing)
        if patches is not None:
            return patches, patches
        if blocks is not None:
            return block_axes(blocks, whole.batch, self.arguments.get("pixel_values"), self.config)
        if reads_channels(entry, whole):
            channels = numbered_axis("channel", whole.queries, whole.batch, None)
            return channels, channels
        square = whole.queries == whole.keys and not entry.cross
        hidden = whole.mask.padding
        if self._within_window(entry):
            rows = self._numbered("window token", whole.queries, whole.batch, None)
            keys = self._numbered("window token", whole.keys, whole.batch, hidden)
            return rows, rows if square else keys
        packed = packing is not None and entry.source == "image"  # its pixels are no picture
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
            stated = padding_of_argument(self.arguments, entry.keys)
            stated = (
                hidden if stated is None or stated.shape != (whole.batch, whole.keys) else stated
            )
            keys = self._numbered(entry.keys, whole.keys, whole.batch, stated)
        return rows, keys

    def with_padding(self, whole: Pattern, axes: Axes) -> Pattern:
        """The recipe, which tells edits what queries and keys are an item's own tokens."""
        queries = self._padding(axes[0], whole.queries)
        keys = self._padding(axes[1], whole.keys)
        hidden = whole.mask.padding
        if queries is None and hidden is not None:
            queries = torch.zeros(whole.batch, whole.queries, dtype=torch.bool)
        if queries is None and keys is None:
            return whole
        device = whole.q.device
        mask = replace(
            whole.mask,
            query_padding=None if queries is None else queries.to(device),
            key_padding=None if keys is None else keys.to(device),
        )
        return replace(whole, mask=mask)

    def forget_axes(self) -> None:
        """Forgets the axes so far, of sequences that have become others."""
        self._axes.clear()

    def _axis(self, source: str | None, length: int, batch: int) -> TokenAxis | None:
        key = source, length, batch
        if key not in self._axes:
            axis = axis_of(source, self.sequences, length, batch, self.config)
            if axis is None and source == "image" and source not in self.sequences:
                overlapping = self.modules.overlapping
                axis = cells_axis(self.arguments, length, batch, overlapping=overlapping)
                axis = axis or tiles_axis(self.parts, length, batch, self.config)
            if axis is not None and source == "image":
                image = self.sequences.get("image")
                covering = axis.grid or (image and image.layout)
                axis = over_parts(axis, self.parts, covering.box if covering else WHOLE)
            self._axes[key] = axis
        return self._axes[key]

    def _crosses(self, entry: Entry, whole: Pattern) -> bool:
        """Whether a layer attends to the tokens of a sequence as they are.

        To patches if there are as many as in the image, or in a layer of its own tower: those of a
        resampler are others, and so are those that learned queries were added to.
        """
        image = self.sequences.get("image")
        if not entry.cross or entry.keys != "image" or image is None:
            return entry.cross
        calls = (
            call for call in self.calls if call.entry.source == "image" and call.kind != "cross"
        )
        lengths = {image.length, *(call.pattern.queries for call in calls)}
        return whole.keys in lengths

    def _within_window(self, entry: Entry) -> bool:
        """Whether the layer sees one window of an image at a time."""
        return bool(self.windows) and any(up in self.windows for up in ancestors(entry.path))

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
        sound = self.sequences.get("sound")
        if source is None and getattr(self.config, "num_queries", None) == length:
            source = "object query"
        elif source is None and list(self.sequences) == ["sound"]:
            source = "sound"
        duration = None if sound is None else sound.duration
        if padding is not None:
            return numbered_axis(source, length, batch, padding, duration)
        key = source, length, batch, "numbered"
        axis = self._axes.get(key) or numbered_axis(source, length, batch, None, duration)
        self._axes[key] = axis
        return axis


def reads_channels(entry: Entry, recipe: Pattern) -> bool:
    """Whether a layer attends among channels: each is a vector over all tokens.

    Source: Ding et al. 2022 (DaViT), section 3.2.
    """
    return "channel" in type(entry.module).__name__.lower() and recipe.queries == recipe.keys


def _by_name_self(path: str) -> bool:
    """Whether a layer calls itself self-attention."""
    return "self_att" in path.lower() or "selfatt" in path.lower()
