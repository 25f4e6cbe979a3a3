"""Why a head attends, as a tree: a score unfolded head by head down to tokens.

A score is a sum over what components wrote at the query, and over what they wrote at the key (see
`analysis.split`). What a head wrote is a sum over the tokens that it attended to, and what it read
at each of them was written by components again:

    head at token p = Σ_j A_pj · v_j W_O,   v_j = norm(Σ_part x_part) W_V + b

With the weights of attention and the deviations of norms held at their values on this input, all of
it is linear: the branches of every node sum to it. A check cuts one edge, in a pass of its own, and
reads the score again. There the rest of the row takes over the weight, so it need not be the share.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.split import side_shares
from analysis.stack import check_no_cache
from models.attention import Edit
from models.attention.fitted_rotation import alike
from models.attention.pattern import expand_heads
from models.stream import Normed, Stream, Write
from models.trace import BIASES, Site, Trace, Where

HEAD = re.compile(r"layer (\d+), head (\d+)")
Path = tuple[str | int, ...]  # components and tokens, from the outermost to the innermost


@dataclass(frozen=True)
class Branch:
    """A part of a score.

    Attributes:
        name: of a component, such as "layer 3, head 2"; "token 5" of a token that a head read.
        value: the share of the score; the values of its branches sum to it.
        token: where the component wrote, or which token was read.
        branches: () where it is not unfolded further.
        edge: layer, head, query and key of a token that a head read; else None.
        after: the score with this edge cut; None where that was not checked.
    """

    name: str
    value: float
    token: int
    branches: tuple["Branch", ...] = ()
    edge: tuple[int, int, int, int] | None = None
    after: float | None = None

    def walk(self) -> "Sequence[Branch]":
        """It and every branch below."""
        return [self, *(each for branch in self.branches for each in branch.walk())]


@torch.no_grad()
def unfold(
    trace: Trace,
    layer: int | Site | Where,
    head: int,
    query: int,
    key: int,
    *,
    side: Literal["query", "key"] = "key",
    depth: int = 1,
    width: int = 3,
    item: int = 0,
) -> Branch:
    """The score of a query and a key as a tree over what wrote one of them.

    Each layer of the trace that is unfolded takes one more pass.

    Args:
        trace: of a network with one tower of self-attention.
        layer: which layer; one of the trace's sites; or its address.
        head: of the layer.
        query: which of the item's tokens attends.
        key: which it attends to.
        side: "query" or "key", whose components are unfolded.
        depth: how often the largest heads are unfolded to tokens and these to components.
        width: how many of the largest heads of a node, and tokens of a head, are unfolded.
        item: index in the batch.

    Raises:
        ValueError: as `analysis.split.split`, and where heads are not added to the stream as they
            are.
    """
    site = trace.site(layer)
    check_no_cache(trace, trace.sites)
    token = query if side == "query" else key
    reader = _Reader(trace, item)
    opened: dict[Path, None] = {}

    def shares() -> dict[Path, float]:
        parts = reader.parts(site, token, opened)
        paths = {BIASES if path == (BIASES,) else str(path): path for path in parts}
        named = {name: parts[path] for name, path in paths.items()}
        shares_by_name = side_shares(trace, site, head, query, key, side, named, item)
        return {paths.get(name, (name,)): share for name, share in shares_by_name.items()}

    for _ in range(2 * depth):  # heads to tokens, tokens to components
        opened |= dict.fromkeys(_next(shares(), opened, width))
    return _tree(f"{side} {token}", token, shares(), ())


def check_edges(
    root: Branch,
    score: Callable[[Trace], float],
    run: Callable[[Sequence[Edit]], Trace],
    cut: Callable[[int, int, int, int], Edit],
) -> Branch:
    """The tree with the score after each edge is cut, one pass an edge.

    Args:
        root: from `unfold`.
        score: reads the score off a trace.
        run: traces the same input with edits.
        cut: makes the edit that cuts the edge of a layer, head, query and key.
    """
    branches = tuple(check_edges(each, score, run, cut) for each in root.branches)
    after = None if root.edge is None else score(run([cut(*root.edge)]))
    return replace(root, branches=branches, after=after)


@dataclass(frozen=True, eq=False)
class _Reader:
    """Streams of a trace, one pass a layer, with some heads unfolded."""

    trace: Trace
    item: int
    streams: dict[Site, Stream] = field(default_factory=dict)

    def parts(
        self, site: Site, token: int, opened: Mapping[Path, None], at: Path = ()
    ) -> dict[Path, Float[Tensor, " dim"]]:
        """The parts of the stream at a token where a site reads it, by their paths.

        Args:
            site: that reads.
            token: which one.
            opened: paths of the heads that are unfolded to tokens, and of those of these that are
                unfolded to components.
            at: path of the stream itself.
        """
        if site not in self.streams:
            count = len(self.trace.queries(site)[self.item])
            self.streams[site] = self.trace.stream(site, range(count), item=self.item)
        whole, steps = self.streams[site], list[Write | Normed]()
        names: dict[str, Path] = {}
        for step in whole.steps:
            if not isinstance(step, Write):
                steps.append(step)
                continue
            finer = {(*at, step.name): step.vectors[token : token + 1]}
            if (*at, step.name) in opened:
                finer = self._by_token(step, token, opened, at)
            for path, vector in finer.items():
                name = BIASES if path == (*at, BIASES) else str(path)
                names[name] = path
                steps.append(Write(name, vector))
        parts_by_name = replace(
            whole, steps=tuple(steps), state=whole.state[token : token + 1]
        ).parts()
        return {names.get(name, (*at, name)): part[0] for name, part in parts_by_name.items()}

    def _by_token(
        self, step: Write, token: int, opened: Mapping[Path, None], at: Path
    ) -> dict[Path, Float[Tensor, "1 dim"]]:
        """What a head wrote at a token, by the tokens that it read, and what they were made of."""
        layer, head = (int(number) for number in re.findall(r"\d+", step.name))
        site = self.trace.site(layer)
        maps, pattern = self.trace.projections(site), self.trace.pattern(site)
        weights = self.trace.effective_weights(site, head, rows=[token], item=self.item)[0].double()
        v = expand_heads(pattern.v[self.item : self.item + 1], pattern.heads, slice(None))[0, head]
        _, keys = self.trace.positions(site, self.item)
        v = v[keys.to(v.device)].double()
        output = maps.output[head].double()
        if self.trace.gates(site, self.item) is not None or not alike(
            (weights @ v @ output).to(step.vectors.dtype), step.vectors[token]
        ):
            raise ValueError(f"{step.name}: expected it to be added to the stream as it is")
        matrices = maps.head(head)
        parts_by_path: dict[Path, Tensor] = {}
        for source, weight in enumerate(weights.tolist()):
            path: Path = (*at, step.name, source)
            if path not in opened:
                parts_by_path[path] = (weight * v[source] @ output)[None]
                continue
            parts = self.parts(site, source, opened, path)
            if maps.norm is not None:
                whole = torch.stack(list(parts.values())).sum(0)
                parts = {name: maps.norm.linear(part, whole) for name, part in parts.items()}
            values = {name: part @ matrices.value.double() for name, part in parts.items()}
            rest = v[source] - torch.stack(list(values.values())).sum(
                0
            )  # biases of norm and values
            values[(*path, BIASES)] = values.get((*path, BIASES), 0) + rest
            parts_by_path |= {name: (weight * part @ output)[None] for name, part in values.items()}
        return parts_by_path


def _next(shares: Mapping[Path, float], opened: Mapping[Path, None], width: int) -> list[Path]:
    """The largest heads of each node that are not unfolded, and the largest tokens of each head."""
    nodes: dict[Path, list[Path]] = {}
    for path in shares:
        if isinstance(path[-1], int) or HEAD.fullmatch(path[-1]):
            nodes.setdefault(path[:-1], []).append(path)
    done = {path[:-1] for path in opened}
    return [
        path
        for node, paths in nodes.items()
        if node not in done
        for path in sorted(paths, key=lambda path: -abs(shares[path]))[:width]
    ]


def _tree(name: str, place: int, shares: Mapping[Path, float], at: Path) -> Branch:
    """The branch at a path, which stands at a token, with those below it."""
    steps = dict.fromkeys(path[len(at)] for path in shares if path[: len(at)] == at != path)
    branches = []
    for step in steps:
        if isinstance(step, str):
            branches.append(_tree(step, place, shares, (*at, step)))
            continue
        match = HEAD.fullmatch(str(at[-1]))
        subtree = _tree(f"token {step}", step, shares, (*at, step))
        edge = None if match is None else (int(match[1]), int(match[2]), place, step)
        branches.append(replace(subtree, edge=edge))
    value = shares.get(at, 0.0) + sum(branch.value for branch in branches)
    order = tuple(sorted(branches, key=lambda branch: -abs(branch.value)))
    return Branch(name, value, place, order)
