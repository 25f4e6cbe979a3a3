"""Attention weights of a ViT here against those of timm, with the same numbers in both.

    python -m benchmarks.timm_weights [--json] [--packages FOLDER]

timm and torchvision stay out of the app's environment: install them into a folder of their own,

    pip install --no-deps --target FOLDER timm==1.0.31 torchvision==0.29.2 pyyaml

which the option names; it is read after everything that is installed here. Torchvision's compiled
operators are not used: where they do not fit this PyTorch, their names are defined, so that
torchvision can be imported without them.

Pictures of the size that the network was built for must agree to rounding. For other sizes timm
resamples positions with antialiasing, the original code of Dosovitskiy et al. 2021 and transformers
without: the last column gives both networks timm's positions.
"""

import argparse
import sys
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import as_json, machine, machine_line, table
from models.run import as_model, trace
from models.vit import ViT, ViTConfig

PATCH, DIM, DEPTH, HEADS, CLASSES = 16, 192, 12, 3, 10  # ViT-Ti/16
CASES = (  # the size that the network is built for, and that of the picture
    ((224, 224), (224, 224)),
    ((160, 288), (160, 288)),
    ((224, 224), (160, 288)),
    ((224, 224), (320, 320)),
)
ROUNDING = 1e-6  # of a weight, after twelve blocks in float32
OPERATORS = ("nms", "qnms")
PARTS = {
    "norm1": "before_attention",
    "norm2": "before_feed_forward",
    "attn.proj": "attention.out",
    "mlp.fc1": "feed_forward.up",
    "mlp.fc2": "feed_forward.down",
}
OUTER = {
    "patch_embed.proj": "patches.project",
    "norm": "norm",
    "head": "head.layers.0",
}


def main(arguments: list[str] | None = None) -> int:
    """Compares and prints. Returns the exit status: 1 if weights differ beyond rounding."""
    parser = argparse.ArgumentParser(description="Weights of a ViT against timm's.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--packages", help="the folder with timm and torchvision")
    options = parser.parse_args(arguments)
    if options.packages:
        sys.path.append(options.packages)
    try:
        timm = opened()
    except ImportError as error:
        print(f"{error}: see the beginning of benchmarks/timm_weights.py", file=sys.stderr)
        return 2
    results = [compared(timm, built, read) for built, read in CASES]
    report = {
        "benchmark": "timm_weights",
        "machine": machine(("torch",)),
        "timm": timm.__version__,
        "aim": ROUNDING,
        "results": results,
    }
    print(as_json(report) if options.json else text(report))
    return int(max(each["with timm's positions"] for each in results) > ROUNDING)


def opened() -> Any:
    """timm, imported beside a torchvision whose operators may be missing.

    Raises:
        ImportError: without either.
    """
    missing = [name for name in OPERATORS if not hasattr(torch.ops.torchvision, name)]
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in missing:
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import timm  # pyright: ignore[reportMissingImports]
    import timm.layers  # pyright: ignore[reportMissingImports]
    import timm.models.vision_transformer  # pyright: ignore[reportMissingImports]

    timm.layers.set_fused_attn(False)
    return timm


def compared(timm: Any, built: tuple[int, int], read: tuple[int, int]) -> dict[str, Any]:
    """The largest differences of a weight, over all layers, heads, queries and keys."""
    torch.manual_seed(0)
    theirs = timm.models.vision_transformer.VisionTransformer(
        img_size=built,
        patch_size=PATCH,
        embed_dim=DIM,
        depth=DEPTH,
        num_heads=HEADS,
        num_classes=CLASSES,
        dynamic_img_size=True,
    ).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():  # wide enough that heads differ
            parameter.add_(0.05 * torch.randn_like(parameter))
    pixels = torch.randn(1, 3, *read)
    expected, logits = their_weights(theirs, pixels)
    positions = timm.layers.resample_abs_pos_embed(
        theirs.pos_embed,
        new_size=[side // PATCH for side in read],
        old_size=[side // PATCH for side in built],
        num_prefix_tokens=1,
    )
    apart = {}
    tables = (("as it is", built, theirs.pos_embed), ("with timm's positions", read, positions))
    for name, size, table_of in tables:
        network = converted(theirs.state_dict() | {"pos_embed": table_of}, size)
        t = trace(as_model(network), pixels)
        weights = torch.stack([t.weights(site) for site in t.sites])
        apart[name] = float((weights - expected).abs().max())
        apart[f"logits {name}"] = float((t.output.values - logits).abs().max())
    sizes = {"built for": " × ".join(map(str, built)), "picture": " × ".join(map(str, read))}
    return {**sizes, "tokens": expected.shape[-1], **apart}


@torch.no_grad()
def their_weights(network: Any, pixels: Tensor) -> tuple[Tensor, Tensor]:
    """timm's weights `layer head query key`, as they go into its dropout, and its logits."""
    weights: list[Tensor] = []

    def keep(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        weights.append(args[0][0])

    hooks = [block.attn.attn_drop.register_forward_pre_hook(keep) for block in network.blocks]
    logits = network(pixels)
    for hook in hooks:
        hook.remove()
    return torch.stack(weights), logits


def converted(state: dict[str, Tensor], size: tuple[int, int]) -> ViT:
    """Our network with timm's numbers."""
    config = ViTConfig(
        image=size,
        patch=PATCH,
        dim=DIM,
        depth=DEPTH,
        heads=HEADS,
        mlp=4 * DIM,
        classes=CLASSES,
        patches="conv",
        eps=1e-6,
    )
    network = ViT(config).eval()
    ours = {"prefix": state["cls_token"][0], "positions.table": state["pos_embed"][0]}
    for name, value in state.items():
        stem, _, kind = name.rpartition(".")
        if stem in OUTER:
            ours[f"{OUTER[stem]}.{kind}"] = value
        elif stem.startswith("blocks."):
            _, layer, part = stem.split(".", 2)
            if part == "attn.qkv":
                for each, piece in zip(("query", "key", "value"), value.chunk(3), strict=True):
                    ours[f"blocks.{layer}.attention.{each}.{kind}"] = piece
            else:
                ours[f"blocks.{layer}.{PARTS[part]}.{kind}"] = value
    network.load_state_dict(ours)
    return network


def text(report: dict[str, Any]) -> str:
    """The report as a table."""
    names = list(report["results"][0])
    rows = [
        [
            f"{each[name]:.1e}" if isinstance(each[name], float) else str(each[name])
            for name in names
        ]
        for each in report["results"]
    ]
    aim = f"timm {report['timm']}; aim: a weight differs by at most {ROUNDING:.0e}"
    return "\n".join([machine_line(report["machine"]), aim, "", table(names, rows)])


if __name__ == "__main__":
    sys.exit(main())
