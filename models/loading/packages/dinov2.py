"""DINOv2: the backbone of an ONNX graph of saliency.

Initializers called "backbone.…" hold biases, norms, LayerScale and the patch projection. The
weights of a MatMul node are an initializer without a name of its own: the node's name tells what
they are, and they are stored transposed. Class token and grid have one table of positions each.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.files.errors import needs
from models.loading.packages import writing

BACKBONE = "backbone."
LINEAR = re.compile(r"/backbone/(encoder/layer\.\d+/.+)/MatMul")
EMBEDDINGS = "/backbone/embeddings/"


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    (file,) = files.values()
    writing.write("dinov2", backbone(file), folder)


def backbone(file: Path) -> dict[str, Tensor]:
    """The weights of the backbone under transformers' names."""
    with needs("models"):
        import onnx

    graph = onnx.load(file, load_external_data=False).graph
    stored = {each.name: each for each in graph.initializer}
    state = {
        name.removeprefix(BACKBONE): _tensor(each)
        for name, each in stored.items()
        if name.startswith(BACKBONE)
    }
    for node in graph.node:
        place = LINEAR.fullmatch(node.name)
        if place and node.op_type == "MatMul" and node.input[1] in stored:
            name = place[1].replace("/", ".")
            state[f"{name}.weight"] = _tensor(stored[node.input[1]]).T
    state["embeddings.position_embeddings"] = _positions(graph, stored)
    return state


def _tensor(stored: Any) -> Tensor:
    from onnx import numpy_helper

    return torch.from_numpy(numpy_helper.to_array(stored).copy()).float()


def _positions(graph: Any, stored: Mapping[str, Any]) -> Tensor:
    """The positions of the class token, then of the grid: `batch token dim`."""
    tensors = {
        node.op_type: _tensor(stored[node.input[0]])
        for node in graph.node
        if node.name.startswith(EMBEDDINGS)
        and node.op_type in ("Concat", "Reshape")
        and node.input[0] in stored
    }
    return torch.cat([tensors["Concat"], tensors["Reshape"]], dim=1)
