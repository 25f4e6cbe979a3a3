"""One number of a card, as the sum or the function that it is: its terms, and the steps to it.

    a product of matrices   row · column = Σ x w, then what is added
    a norm                  (x − mean) / √(variance + ε) · γ + β
    a weight                e^score / Σ e^score
    a sum, a gate           a + b, a · b

Every operation is computed here once more, in float64, and has to give the number that the network
gave. Where it does not, the number is shown without an operation, and a sentence says why.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from analysis.pair import Step, Strip, pair
from models.attention.pattern import expand_heads
from models.attention.relative import RelativePositions
from models.trace import Trace
from viz.build.card import Card, Matrix
from viz.build.flow import FUNCTIONS
from viz.build.picture import Picture, linear_weight
from viz.build.recording import Call
from viz.build.titles import kind_of, scheme_of

TOLERANCE = 1e-4  # relative to the largest term: what the network rounds


@dataclass(frozen=True, eq=False)
class Number:
    """One number of a card, and where it comes from.

    Attributes:
        title: what it is.
        value: as the network computed it.
        strips: what is multiplied and summed, element by element.
        steps: from there to the number.
        leads_to: what reads it, in words; "" where that is not said.
        closed: why its operation is not shown; "" where it is.
        opens: link of the cell that gives it, such as "m:PATH/n:output:3:4"; "" for none.
    """

    title: str
    value: float
    strips: tuple[Strip, ...] = ()
    steps: tuple[Step, ...] = ()
    leads_to: str = ""
    closed: str = ""
    opens: str = ""


def number(
    picture: Picture,
    address: str,
    name: str,
    row: int,
    col: int,
    word: Callable[[int], str] = lambda id: "",
) -> Number:
    """The number at a row and a column of a matrix of a card; `word` names a token or a class.

    Raises:
        ValueError: for a number that is not there.
    """
    card = picture.card(address)
    matrix = next((each for each in card.matrices if each.name == name), None)
    if matrix is None:
        raise ValueError(f"there is no matrix {name[:40]!r} on this card")
    high, wide = matrix.values.shape
    if not (0 <= row < high and 0 <= col < wide):
        raise ValueError(f"expected a cell of {high} × {wide}, received {row}, {col}")
    value = float(matrix.values[row, col])
    try:
        strips, steps = _operation(picture, card, matrix, row, col)
        result = steps[-1].value if steps else float(strips[-1].values.sum())
        scale = max((float(each.values.abs().max()) for each in strips), default=1.0)
        if math.isfinite(value) and abs(result - value) > TOLERANCE * max(scale, abs(value), 1e-6):
            raise ValueError(
                f"the operation gives {result:.4g}, and the network {value:.4g}: it does more here"
            )
    except ValueError as error:
        opens = _origin(picture, card, matrix, row, col)
        return Number(_title(card, matrix, row, col, word), value, closed=str(error), opens=opens)
    leads_to = LEADS_TO.get(name, "") if address.startswith("h:") else ""
    if name == "output" and matrix.cols != "feature":
        leads_to = f"into the softmax, which gives it {_share(matrix.values[row], col)}"
    title = _title(card, matrix, row, col, word)
    return Number(title, value, tuple(strips), tuple(steps), leads_to)


def _share(logits: Tensor, col: int) -> str:
    return f"{100 * float(logits.double().softmax(-1)[col]):.2g} %"


def _origin(picture: Picture, card: Card, matrix: Matrix, row: int, col: int) -> str:
    """The cell of another card that has the same number; "" where none is known."""
    address, path = picture.origins.get((card.address, matrix.name), ""), card.address[2:]
    while not address and matrix.name == "input" and path:  # that of the module around it
        path = path.rpartition(".")[0]
        address = picture.origins.get((f"m:{path}", "input"), "")
    col_there = col
    if address.endswith(":"):
        index = int(address.split(":")[1])
        head, col_there = divmod(col, picture.patterns[index].v.shape[-1])
        address = f"{address}{head}"
    for there in picture.card(address).matrices if address else ():
        high, wide = there.values.shape
        is_given = there.name in ("output", "result") and row < high and col_there < wide
        if is_given and torch.isclose(there.values[row, col_there], matrix.values[row, col]):
            return f"{address}/n:{there.name}:{row}:{col_there}"
    return ""


LEADS_TO = {  # by the matrix of a head
    "queries": "into every score of its row",
    "keys": "into every score of its column",
    "scores": "into the softmax of its row",
    "weights": "times one row of the values",
    "values": "into every output, by the weights of its column",
    "output": "through W_O into the layer's output",
    "written": "into the sum over all heads",
}
Operation = tuple[Sequence[Strip], Sequence[Step]]


def _title(card: Card, matrix: Matrix, row: int, col: int, word: Callable[[int], str]) -> str:
    labels = card.keys if matrix.rows == "key" else card.rows
    first = f"“{labels[row]}”" if row < len(labels) else f"row {row}"
    name = word(col) if matrix.cols != "feature" else ""
    second = f"{matrix.cols} “{name}”" if name else f"{matrix.cols} {col}"
    if matrix.rows == "feature":
        return f"{matrix.title}: from feature {row} to {second}"
    if matrix.name in ("scores", "weights") and col < len(card.keys):
        return f"{matrix.title}: {first} reads “{card.keys[col]}”"
    return f"{matrix.title}: {first}, {second}"


def _operation(picture: Picture, card: Card, matrix: Matrix, row: int, col: int) -> Operation:
    if card.address.startswith("h:"):
        return _of_head(picture, card, matrix.name, row, col)
    if card.address.startswith("i:"):
        return _joined(picture, card, matrix.name, row, col)
    call = picture.calls[card.address]
    if matrix.name == "weight":
        return [], [Step("learned", float(matrix.values[row, col]), "a weight of the network")]
    if matrix.name == "input":
        raise ValueError("it is the output of the part before")
    kind = kind_of(call.module)
    inputs = next((each.values for each in card.matrices if each.name == "input"), None)
    if inputs is not None and len(inputs) != len(matrix.values):
        raise ValueError("its input has other rows than its output: none belongs to this one")
    if kind == "linear" and inputs is not None:
        return _product(inputs[row], linear_weight(call)[:, col], _bias(call, col), call)
    if kind == "norm" and inputs is not None:
        return _norm(call.module, inputs[row], col, float(matrix.values[row, col]))
    if kind == "activation" and inputs is not None:
        x = inputs[row, col].double()
        name = type(call.module).__name__
        return [], [
            Step("input", float(x), "what the part reads"),
            Step(name, float(call.module(x[None].float())[0]), "a function of this number alone"),
        ]
    if kind == "positions":
        return _of_positions(card, call, matrix, row, col)
    if kind == "embedding":
        at = int(call.reads[0].reshape(-1)[row])
        table = call.module.get_parameter("weight").detach()
        if at >= len(table):
            raise ValueError("the part finds the row of its table by its own code")
        steps = [Step("table", float(table[at, col]), f"row {at} of the table, feature {col}")]
        largest = int(table[at].abs().argmax())
        factor = float(matrix.values[row, largest] / table[at, largest])
        if abs(factor - 1) > TOLERANCE:
            value = factor * float(table[at, col])
            steps.append(Step(f"× {factor:.4g}", value, "the same factor for every number"))
        return [], steps
    if kind == "convolution":
        return _convolution(call, row, col)
    if inputs is not None and inputs.shape == matrix.values.shape:
        return _scaled(call.module, inputs[row], float(matrix.values[row, col]), col)
    raise ValueError(card.closed or "it is computed by the part's own code")


def _of_positions(card: Card, call: Call, matrix: Matrix, row: int, col: int) -> Operation:
    """A number of a position: a wave at one place, a weight, a bias; a sum, or a cosine."""
    matrices = {each.name: each.values for each in card.matrices}
    if matrix.name == "output":
        terms = [matrices["input"][row, col], matrices["positions"][row, col]]
        return _terms(["input", "position"], terms)
    if matrix.name == "similarity":
        a, b = (matrices["positions"][n].double() for n in (row, col))
        strips, steps = _product(a, b, None)
        lengths = float(a.norm() * b.norm()) or 1.0  # of a token without a position
        cosine = Step("÷ lengths", float(a @ b) / lengths, f"of the two vectors: {lengths:.4g}")
        return strips, [*steps, cosine]
    value, scheme = float(matrix.values[row, col]), scheme_of(call.module)
    base = float(card.address.rpartition(":")[2]) or 10_000.0
    width = matrix.values.shape[1]
    if scheme == "sinusoidal":
        wave, angle = ("sin", "cos")[col % 2], row / base ** ((col - col % 2) / width)
    elif scheme == "rotary" and isinstance(call.module, RelativePositions):
        wave = "cos" if col < width // 2 else "sin"
        angle = row / base ** (2 * (col % (width // 2)) / width)
    else:
        words = {"alibi": "the head's slope times the distance", "relative": "of its distance"}
        return [], [Step("table", value, words.get(scheme, f"row {row} of its table"))]
    how = f"of position {row} times a frequency: {angle:.4g}"
    return [], [Step(wave, getattr(math, wave)(angle), how)]


def _product(x: Tensor, w: Tensor, bias: float | None, call: Call | None = None) -> Operation:
    """A row times a column."""
    x, w = x.detach().double().cpu(), w.detach().double().cpu()
    total = float(x @ w)
    steps = [Step("sum", total, f"of {len(x)} products")]
    scale = getattr(call.module, "scale", 1.0) if call is not None else 1.0
    if isinstance(scale, float) and scale != 1:
        total *= scale
        steps.append(Step(f"× {scale:.4g}", total, "the layer's own factor"))
    if bias is not None:
        steps.append(Step("+ bias", total + bias, f"the bias is {bias:.4g}"))
    return [Strip("x", x), Strip("w", w), Strip("x · w", x * w)], steps


def _bias(call: Call, col: int) -> float | None:
    bias = getattr(call.module, "bias", None)
    return None if bias is None else float(bias.detach()[col])


def _terms(names: Sequence[str], values: Sequence[Tensor]) -> Operation:
    total, steps = 0.0, []
    for name, value in zip(names, values, strict=True):
        total += float(value)
        steps.append(Step(name if not steps else f"+ {name}", total, f"{float(value):.4g}"))
    return [], steps


def _joined(picture: Picture, card: Card, name: str, row: int, col: int) -> Operation:
    """A sum, a gate or a function between two modules."""
    joint = picture.joined[card.address]
    *terms, result = card.matrices
    if name != "result":
        raise ValueError("it is the output of the part before")
    values = [each.values for each in terms]
    if joint.kind == "rearranged":
        return [], [Step("moved", float(result.values[row, col]), "a number from another place")]
    if not values:
        raise ValueError(card.closed)
    if joint.kind == "row":
        place = 0 if joint.name == "first" else -1
        value = float(values[0][place, col])
        return [], [Step(joint.name, value, f"the {joint.name} token of all")]
    if joint.kind == "mean":
        terms_of = values[0][joint.name != "all" :, col].double().cpu()
        mean = Step("÷ tokens", float(terms_of.mean()), f"there are {len(terms_of)}")
        return [Strip("tokens", terms_of)], [Step("sum", float(terms_of.sum()), "of them"), mean]
    broadcast = [each[min(row, len(each) - 1)][min(col, each.shape[1] - 1)] for each in values]
    if joint.kind == "prefixed":
        return _prefixed(terms, result, int(joint.name), row, col)
    if joint.kind == "sum":
        return _terms([each.title for each in terms], broadcast)
    first = broadcast[0].double()
    steps = [Step(terms[0].title, float(first), "what it reads")]
    if joint.kind in ("function", "gate"):
        first = FUNCTIONS[joint.name](first[None])[0]
        steps.append(Step(joint.name, float(first), "a function of this number alone"))
    if joint.kind == "scaled":
        steps.append(Step(f"× {joint.name}", float(result.values[row, col]), "the same for all"))
    if joint.kind in ("gate", "product"):
        second = float(broadcast[1])
        steps.append(Step(f"× {terms[1].title}", float(first) * second, f"{second:.4g}"))
    return [], steps


def _prefixed(terms: Sequence[Matrix], result: Matrix, more: int, row: int, col: int) -> Operation:
    """A number of a token that stands before the others, or of one behind it."""
    if row < more:
        value = float(result.values[row, col])
        return [], [Step("learned", value, f"feature {col} of learned token {row}")]
    behind = next(each for each in terms if len(each.values) + more == len(result.values))
    table = [each for each in terms if each is not behind]
    values = [behind.values[row - more, col], *(each.values[row, col] for each in table)]
    return _terms([behind.title, *(each.title for each in table)], values)


def _scaled(module: nn.Module, x: Tensor, value: float, col: int) -> Operation:
    """A vector of one learned factor for each feature."""
    learned = [each.detach() for each in module.parameters()]
    if len(learned) != 1 or learned[0].shape != x.shape:
        raise ValueError("it is computed by the part's own code")
    factor = float(learned[0][col])
    result = float(x[col]) * factor
    if abs(result - value) > TOLERANCE * max(1e-6, abs(value)):
        raise ValueError("it is computed by the part's own code")
    steps = [Step("input", float(x[col]), "what the part reads")]
    return [], [*steps, Step("× factor", result, f"a learned factor of this feature: {factor:.4g}")]


def _norm(module: nn.Module, x: Tensor, col: int, value: float) -> Operation:
    """A norm over the features of a token: LayerNorm, or RMSNorm with a factor γ or 1 + γ."""
    x = x.detach().double().cpu()
    eps = next((getattr(module, n) for n in ("eps", "variance_epsilon") if hasattr(module, n)), 0.0)
    eps = torch.finfo(torch.float32).eps if eps is None else float(eps)
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is not None and weight.shape != x.shape:
        raise ValueError("this norm is not over the features of a token")
    gamma = 1.0 if weight is None else float(weight.detach()[col])
    beta = 0.0 if bias is None else float(bias.detach()[col])
    mean = float(x.mean())
    for centre, words in ((mean, "deviation"), (0.0, "root of the mean square")):
        root = math.sqrt(float((x - centre).square().mean()) + eps)
        normed = (float(x[col]) - centre) / root
        for factor in (gamma, 1 + gamma):
            result = normed * factor + beta
            if abs(result - value) <= 1e-4 * max(1.0, abs(value)):
                steps = [Step("x", float(x[col]), "what the norm reads")]
                if centre:
                    steps.append(Step("− mean", float(x[col]) - mean, f"the mean is {mean:.4g}"))
                steps.append(Step("÷ " + words, normed, f"{root:.4g}, over {len(x)} features"))
                steps.append(Step("× γ", normed * factor, f"the learned factor is {factor:.4g}"))
                if bias is not None:
                    steps.append(Step("+ β", result, f"the learned offset is {beta:.4g}"))
                return [Strip("x", x)], steps
    raise ValueError("this norm is neither a LayerNorm nor an RMSNorm")


def _convolution(call: Call, row: int, col: int) -> Operation:
    """One number of a patch: the pixels under it times a kernel."""
    module, x = call.module, call.reads[0][:1].detach().double().cpu()
    if not isinstance(module, nn.Conv2d) or module.groups != 1:
        raise ValueError("only convolutions over two axes, without groups, are opened")
    size: tuple[int, int] = module.kernel_size  # pyright: ignore[reportAssignmentType]
    unfold = nn.Unfold(size, module.dilation, module.padding, module.stride)  # pyright: ignore
    pixels = unfold(x)[0, :, row]
    return _product(pixels, module.weight.detach()[col].flatten(), _bias(call, col))


def traced(picture: Picture) -> Trace:
    """The trace of a picture; a ValueError where nothing has run."""
    if picture.trace is None:
        raise ValueError("the network has not run: there are no numbers")
    return picture.trace


# --- heads ----------------------------------------------------------------------------------------


def _of_head(picture: Picture, card: Card, name: str, row: int, col: int) -> Operation:
    trace = traced(picture)
    _, index, head = card.address.split(":")
    site, number = trace.sites[int(index)], int(head)
    matrices = {each.name: each.values for each in card.matrices}
    if name in ("scores", "weights"):
        steps = pair(trace, site, number, row, col)
        if name == "weights":
            return steps.strips, steps.steps
        before = [s for s in steps.steps if s.name not in ("e^(score − largest)", "weight")]
        return steps.strips, [s for s in before if s.name != "edited weight"]
    if name == "output":
        weights = trace.effective_weights(site, number, rows=[row])[0].double().cpu()
        v = matrices["values"][:, col].double().cpu()
        strips = [Strip("weight", weights), Strip("value", v), Strip("weight · value", weights * v)]
        return strips, [Step("sum", float(weights @ v), f"over {len(v)} keys")]
    if name == "written":
        matrix = picture.output_of(int(index), number)
        if matrix is None:
            raise ValueError("the matrix that the output is multiplied with is not known")
        return _product(matrices["output"][row], matrix[:, col], None)
    return _projected(picture, int(index), number, name, row, col)


def _projected(picture: Picture, index: int, head: int, name: str, row: int, col: int) -> Operation:
    """A number of a query, key or value: the token's vector times a column of its matrix."""
    trace = traced(picture)
    which = {"queries": "Query", "keys": "Key", "values": "Value"}[name]
    joint, call = picture.map_of(index, head, which), picture.maker(index, which)
    if joint is None or call is None:
        raise ValueError(f"the matrix that makes the {which.lower()} is not known here")
    matrix, bias = joint
    site, pattern = trace.sites[index], trace.patterns[index]
    at = trace.positions(site)[min("QKV".index(which[0]), 1)][row]
    reads = call.reads[0][0] if call.reads[0].ndim == 3 else call.reads[0]
    if len(reads) != (pattern.queries, pattern.keys)[which != "Query"]:
        raise ValueError("the layer reads its tokens in windows, in an order of its own")
    x = reads[int(at)]
    strips, steps = _product(x, matrix[:, col], None if bias is None else float(bias[col]))
    stored = {"Query": pattern.q, "Key": pattern.k, "Value": pattern.v}[which][:1]
    there = expand_heads(stored, pattern.heads, slice(head, head + 1))[0, 0, at].detach().double()
    whole = x.double() @ matrix.double()
    projected = whole if bias is None else whole + bias.double()
    return strips, [*steps, *_changed(projected.cpu(), there.cpu(), col)]


def _changed(projected: Tensor, there: Tensor, col: int) -> list[Step]:
    """What happens to a query or key between its projection and the comparison."""
    largest, value = float(there.abs().max()), float(there[col])
    if float((projected - there).abs().max()) <= TOLERANCE * largest:
        return []
    at = int(projected.abs().argmax())
    factor = float(there[at] / projected[at])
    if float((projected * factor - there).abs().max()) <= TOLERANCE * largest:
        return [Step(f"× {factor:.4g}", value, "the layer's own factor")]
    if abs(float(projected.norm() - there.norm())) <= TOLERANCE * float(projected.norm()):
        how = "rotated by its position: two features turn together, and the length stays"
        return [Step("rotated", value, how)]
    how = "changed before it is compared: normalised, or rotated by its position, or both"
    return [Step("as compared", value, how)]
