"""The picture of a pass: a network, a block, a head or a single part, with what flows through it.

A card is opened by its address:

    ""                       the whole network
    m:PATH                   a module
    m:PATH:CALL              its second call, or a later one, where stacks share it
    p:PATH:LENGTH:BASE       positions, 0 for those of the network and its input
    i:PATH:INDEX             what stands between two modules of a card, such as a sum
    h:SITE:HEAD              one head of one attention layer
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from einops import rearrange
from torch import Tensor, nn

from analysis.target import kind_of as predicts
from models.attention import Additive, Bilinear, Pattern
from models.attention.pattern import expand_heads
from models.projections import HeadProjections
from models.trace import Trace
from viz.build import positions
from viz.build.card import Card, Item, Matrix
from viz.build.flow import Relation, candidates, given_by, relation, transposed
from viz.build.recording import Call, Network, is_passive, parameters
from viz.build.titles import description_of, kind_of, scheme_of, title_of

Known = list[tuple[str, Tensor]]


@dataclass(frozen=True, eq=False)
class Picture:
    """A pass, opened card by card.

    Attributes:
        network: that ran.
        patterns: of its attention layers.
        trace: of the pass; None for shapes alone.
        cards: that were opened, by address.
        calls: of the modules whose cards are single parts.
        joined: what stands between modules, by address.
        outputs: what reads the heads of each attention layer.
        origins: address of the card that gives a matrix, by the address of its card and its name;
            that of heads ends in ":", without a number.
    """

    network: Network
    patterns: Sequence[Pattern]
    trace: Trace | None = None
    cards: dict[str, Card] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    joined: dict[str, Relation] = field(default_factory=dict)
    outputs: dict[int, Call] = field(default_factory=dict)
    origins: dict[tuple[str, str], str] = field(default_factory=dict)

    @staticmethod
    def of(trace: Trace) -> "Picture":
        """The picture of a trace; a ValueError says why there is none."""
        return Picture(Network.of(trace), trace.patterns, trace)

    def card(self, address: str) -> Card:
        """The card at an address.

        Raises:
            ValueError: for an address that leads nowhere.
        """
        if address not in self.cards:
            kind, _, rest = address.partition(":")
            path, _, last = rest.rpartition(":")
            if not address:
                self.cards[address] = self._whole()
            elif kind == "m":
                self.cards[address] = self._module(address, rest)
            elif kind == "p":
                self.cards[address] = self._positions(address, rest)
            elif kind == "h" and path.isdecimal() and last.isdecimal():
                self.cards[address] = self._head(address, int(path), int(last))
            elif kind == "i":
                self.card(f"m:{path}" if path else "")  # makes it on the way
            if address not in self.cards:
                raise ValueError(f"there is nothing at {address[:60]!r}")
        return self.cards[address]

    # --- the whole network, and its modules -------------------------------------------------------

    def _whole(self) -> Card:
        network = self.network
        items = tuple(self._in_layers(self._linked(self._items("", network.whole, None))))
        return Card(
            "",
            "The whole network",
            "Click a box to open it; arrow keys and Enter do it too, Backspace closes.",
            items=items,
            rows=self._rows(items),
            parameters=parameters(network.root),
            flops=self.flops(""),
            source=type(network.root),
        )

    def _linked(self, items: Iterable[Item]) -> list[Item]:
        """The items, once it is noted which of them gives what another reads."""
        listed, given = [*items], {}
        for item in listed:
            is_box = item.kind == "box"
            for name in item.of:
                if name in given:
                    self.origins[item.opens, "input" if is_box else name] = given[name]
            joined = f" of {' and '.join(item.of)}" if item.of and not is_box else ""
            of_heads = item.inner[0].opens.rpartition(":")[0] + ":" if item.inner else ""
            name = "heads" if of_heads else f"{item.title}{joined}"
            given[name.lower() if is_box else name] = of_heads or item.opens
        return listed

    def _in_layers(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items, with the blocks of each stack as one item."""
        stack: list[Item] = []
        for item in (*items, Item("", "")):
            of = item.opens[2:].rpartition(".")[0] if item.opens[2:] in self.network.blocks else ""
            if stack and of != stack[0].opens[2:].rpartition(".")[0]:
                numbered = tuple(
                    replace(each, title=each.opens.rpartition(".")[2]) for each in stack
                )
                yield replace(
                    stack[-1],
                    kind="layers",
                    title="1 layer" if len(stack) == 1 else f"{len(stack)} layers",
                    opens="",
                    parameters=sum(each.parameters for each in stack),
                    flops=sum(each.flops for each in stack),
                    inner=numbered,
                )
                stack = []
            if of:
                stack.append(item)
            elif item.kind:
                yield item

    def _module(self, address: str, path: str) -> Card:
        path, _, number = path.partition(":")
        outer, inner = self._calls(path, int(number) if number.isdecimal() else 0)
        card = replace(self._card_of(address, outer), **self._pixels(outer))
        if all(map(is_passive, inner)) and path not in self.network.sites:
            self.calls[address] = outer
            return self._part(card, outer)
        items = tuple(self._linked(self._items(path, inner, outer)))
        return replace(card, items=items, rows=self._rows(items, path))

    def _card_of(self, address: str, call: Call) -> Card:
        """What a card says of a module: its name, shape and size."""
        return Card(
            address,
            self._title(call.path, call.module),
            description_of(call.path, call.module),
            shape=shape_of(call),
            parameters=parameters(call.module),
            flops=self.flops(call.path),
            source=type(call.module),
        )

    def _pixels(self, call: Call) -> dict[str, Any]:
        """The picture that a module reads, and how many patches it gives."""
        x = call.reads[0] if call.reads else None
        grid = None if self.trace is None else self.trace.grid
        if x is None or x.ndim != 4 or x.shape[1] > 4 or x.is_meta or grid is None:
            return {}
        return {"pixels": x[0].detach().float(), "cuts": grid}

    def _calls(self, path: str, number: int = 0) -> tuple[Call, list[Call]]:
        """The call of a module, and of what runs inside; of a part that stacks share, any call.

        Raises:
            ValueError: for a module that is not there, or does not run in this pass.
        """
        network = self.network
        try:
            children = [*network.children(path)]
        except AttributeError:
            raise ValueError(f"the network has no module {path[:60]!r}") from None
        if not children and path not in network.sites:
            kept = [call for call in network.whole if call.path == path]
            if kept and number >= len(kept):
                raise ValueError(f"{path} runs {len(kept)} times in this pass, counted from 0")
            if kept:
                return kept[number], []
        *inner, outer = network.inside(path) or [None]
        if outer is None or outer.path != path or not outer.gives:
            raise ValueError(f"{path} does not run in this pass")
        return outer, inner

    def _items(self, path: str, calls: Sequence[Call], outer: Call | None) -> Iterator[Item]:
        """The boxes of a card, and what stands between them.

        Args:
            path: of the module that they are in.
            calls: of the modules inside, in order.
            outer: of the module itself; None for the whole network.
        """
        reads = () if outer is None else outer.reads
        known: Known = [(f"input {n}" if n else "input", x) for n, x in enumerate(reads)]
        known += self._tables(path)
        waiting = [n for n, site in enumerate(self.network.sites) if path and within(site, path)]
        stacks, seen = self.network.stacks, Counter[str]()
        times = Counter(call.path for call in calls)
        for call in calls:
            number = seen[call.path]  # of the call, where stacks share the module
            seen[call.path] += 1
            is_positions = bool(scheme_of(call.module))
            if not (call.reads and call.gives) and not is_positions:
                continue
            source = None
            is_shared = times[call.path] > 1 and len(stacks) > 1
            at = f"{stacks[-1 if number else 0]}.0" if is_shared else call.path
            tower = "" if path else self._tower(at)
            is_table = kind_of(call.module) == "embedding"  # which reads ids
            if call.reads and call.reads[0].is_floating_point() and not is_table:
                if outer is None and call is calls[0]:
                    known.append(("input", call.reads[0]))
                before = waiting[:1]
                yield from self._read(path, call.reads[0], known, waiting, call.path, tower)
                source = given_by(call.reads[0], known)
                if before != waiting[:1]:
                    self.outputs[before[0]] = call
            if is_passive(call) and not is_positions:  # what it returned is what it read
                name = given_by(call.reads[0], known)
                if name and not given_by(call.gives[0], known):
                    known.append((name, call.gives[0]))
                continue
            title = self._title(call.path, call.module)
            is_later = number and not path and call.path not in self.network.blocks
            suffix = f":{number}" if is_later else ""
            yield Item(
                "box",
                title,
                f"p:{call.path}:0:0" if is_positions else f"m:{call.path}{suffix}",
                shape_of(call),
                parameters(call.module),
                self.flops(call.path),
                of=(source,) if source and len(call.reads) == 1 else (),
                tower=tower,
                values=first_item(call.gives[0]) if call.gives else None,
            )
            known += [(title.lower(), each) for each in call.gives[:1]]
        if outer is not None:
            yield from self._read(path, outer.gives[0], known, waiting, path)
        yield from map(self._heads, waiting)

    def _tables(self, path: str) -> Known:
        """A module's own parameters with a row for each token, such as learned positions."""
        module = self.network.root.get_submodule(path)
        return [
            (name.replace("_", " "), table[None] if table.ndim == 2 else table)
            for name, each in module.named_parameters(recurse=False)
            if (table := each.detach()).ndim > 1 and table.numel()
        ]

    def _read(
        self, path: str, x: Tensor, known: Known, waiting: list[int], reader: str, tower: str = ""
    ) -> Iterator[Item]:
        """What computes a tensor that a module reads, where no module gave it."""
        if given_by(x, known):
            return
        # a shape alone may be that of the stream, too
        may_be_heads = waiting and (not x.is_meta or within(reader, self.network.sites[waiting[0]]))
        if may_be_heads and self._writes(waiting[0], x):
            yield self._heads(waiting.pop(0))
            known.append(("heads", x))
            return
        link = relation(x, known)
        if link.kind == "unknown" and x.is_meta:
            return
        address = f"i:{path}:{len(known)}"
        titles = {"sum": "+", "product": "×", "gate": f"{link.name} ×", "function": link.name}
        titles |= {"scaled": f"× {link.name}", "row": f"{link.name} token", "unknown": "…"}
        titles |= {"mean": f"mean of {link.name}"}
        titles |= {"prefixed": f"+ {link.name} in front", "rearranged": "reordered"}
        title = titles[link.kind]
        tensors = (*candidates(x, known), *transposed(x, known))
        terms = {name: value for name, value in tensors if name in link.of}
        item = Item(
            link.kind,
            title,
            address,
            tuple(x.shape[1:]),
            of=link.of,
            tower=tower,
            values=first_item(x[:1] if link.kind in ("row", "mean") else x),
        )
        known.append((f"{title} of {' and '.join(link.of)}" if link.of else title, x))
        self.joined[address] = link
        self.cards[address] = self._between(item, terms, path)
        yield item

    def _between(self, item: Item, terms: dict[str, Tensor], path: str) -> Card:
        """The card of what stands between two modules, with the numbers that it joins."""
        descriptions = {
            "sum": "A residual connection: what a part wrote is added to what it read.",
            "gate": "A gate: one vector decides, number by number, how much of another passes.",
            "function": "A non-linear function of each number.",
            "product": "A product, number by number.",
            "scaled": "Every number times one factor.",
            "row": "The next part reads the vector of one token alone.",
            "mean": "The next part reads the mean of the tokens' vectors.",
            "prefixed": "Learned tokens are put in front of the others.",
            "rearranged": "The same numbers in another order.",
        }
        ends = [m for n, value in terms.items() if (m := matrix_of(n, n, value))]
        result = matrix_of("result", "result", item.values)
        matrices = (*ends, *([result] if result else []))
        sign = {"sum": "+", "gate": "×", "product": "×"}.get(item.kind, item.title)
        joins = (*[sign] * (len(ends) - 1), "=" if len(ends) > 1 else sign)
        closed = "" if ends else "Code between two modules computes it, by a rule not tried here."
        rows = self.labels(item.shape[0] if len(item.shape) == 2 else 0, path)
        names = {"row": "One token", "mean": "The mean", "unknown": "Not recognised"}
        title = names.get(item.kind, item.title)
        return Card(
            item.opens,
            title,
            descriptions.get(item.kind, ""),
            matrices=matrices,
            joins=joins,
            rows=rows,
            shape=item.shape,
            closed=closed,
        )

    # --- heads ------------------------------------------------------------------------------------

    def _heads(self, index: int) -> Item:
        """All heads of an attention layer."""
        pattern, trace = self.patterns[index], self.trace
        flops = attention_flops(pattern)
        inner = tuple(
            Item(
                "head",
                str(head),
                f"h:{index}:{head}",
                (pattern.queries, pattern.v.shape[-1]),
                flops=flops // pattern.heads,
                values=trace and trace.weights(trace.sites[index], head),
            )
            for head in range(pattern.heads)
        )
        scoring = sum(each.numel() for each in _scoring(pattern))
        shape = pattern.heads, pattern.queries, pattern.v.shape[-1]
        count = "1 head" if pattern.heads == 1 else f"{pattern.heads} heads"
        kind = ", cross-attention" if self.network.kinds[index] == "cross" else ""
        return Item("heads", count + kind, "", shape, scoring, flops, inner=inner)

    def _head(self, address: str, index: int, head: int) -> Card:
        if not (index < len(self.patterns) and head < self.patterns[index].heads):
            raise ValueError(f"there is no head {head} in attention layer {index}")
        pattern = self.patterns[index]
        card = Card(
            address,
            f"Head {head}",
            "Which tokens each token attends to, and what it takes from them.",
            shape=(pattern.queries, pattern.v.shape[-1]),
            parameters=self._of_head(index, head),
            flops=attention_flops(pattern) // pattern.heads,
            source=type(self.network.root.get_submodule(self.network.sites[index])),
        )
        if self.trace is None:
            return replace(card, closed="Press “Run it” to see its matrices.")
        trace, site = self.trace, self.trace.sites[index]
        rows, keys = trace.positions(site)
        at, among = rows.to(pattern.device), keys.to(pattern.device)
        k, v = (
            expand_heads(each[:1], pattern.heads, slice(head, head + 1))[0, 0, among]
            .detach()
            .float()
            for each in (pattern.k, pattern.v)
        )
        counted, weights = trace.effective_weights(site, head), trace.weights(site, head)
        output = counted @ v
        matrices = [
            Matrix("queries", "queries", pattern.q[0, head, at].detach().float()),
            Matrix("keys", "keys", k, "key"),
            Matrix("scores", "scores", trace.scores(site, head)),
            Matrix("weights", "weights", weights, shares=True),
            Matrix("values", "values", v, "key"),
            Matrix("output", "weights · values", output),
        ]
        joins = ["·", f"{scale_words(pattern)} →", "softmax →", "·", "="]
        is_edited = not torch.allclose(counted, weights, atol=1e-6)
        reason = "An edit changes these weights: the output is of the changed ones." * is_edited
        matrix = self.output_of(index, head)
        if matrix is None:
            reason = "The matrix by which it writes into the layer's output is not known here."
        elif not _is_identity(matrix):
            matrices.append(Matrix("written", "what it writes", output @ matrix.to(output)))
            joins.append("· W_O =")
        return replace(
            card,
            matrices=tuple(matrices),
            joins=tuple(joins),
            rows=trace.query_labels(site),
            keys=trace.key_labels(site),
            closed=reason,
        )

    def _of_head(self, index: int, head: int) -> int:
        """How many parameters are a head's own; 0 where its matrices are not known."""
        maps = [self.map_of(index, head, which) for which in ("Query", "Key", "Value")]
        output = self.output_of(index, head)
        if output is None or None in maps:
            return 0
        of_maps = sum(m.numel() + (0 if b is None else b.numel()) for m, b in filter(None, maps))
        return of_maps + (0 if _is_identity(output) else output.numel())

    def output_of(self, index: int, head: int) -> Tensor | None:
        """What the output of a head is multiplied with; None where no module is that product."""
        self._opened_around(index)
        call = self.outputs.get(index)
        if call is not None and kind_of(call.module) != "linear":
            inner = [c for c in self.network.inside(call.path) if kind_of(c.module) == "linear"]
            call = next((c for c in inner if c.reads[0].equal(call.reads[0])), None)
        if call is None:
            maps = self._maps(index, head)
            return None if maps is None else maps.output.detach().float()
        return linear_weight(call).unflatten(0, (self.patterns[index].heads, -1))[head]

    def map_of(self, index: int, head: int, which: str) -> tuple[Tensor, Tensor | None] | None:
        """The matrix and the bias that make a head's "Query", "Key" or "Value"; None where the
        network has none."""
        call, pattern = self.maker(index, which), self.patterns[index]
        vectors = {"Query": pattern.q, "Key": pattern.k, "Value": pattern.v}[which]
        heads, width = vectors.shape[1], vectors.shape[-1]
        if call is None or call.gives[0].shape[-1] != heads * width:
            maps = self._maps(index, head)
            place = ("Query", "Key", "Value").index(which)
            return None if maps is None else _detached(maps[place], maps[4 + place])
        at = head * heads // pattern.heads * width
        bias = getattr(call.module, "bias", None)
        of_head = None if bias is None else bias.detach().float()[at : at + width]
        return linear_weight(call)[:, at : at + width], of_head

    def _maps(self, index: int, head: int) -> HeadProjections | None:
        """The linear maps of a head, found by a pass over a few tokens; None for none."""
        if self.trace is None:
            return None
        try:
            return self.trace.projections(self.trace.sites[index]).head(head)
        except ValueError:
            return None

    def maker(self, index: int, which: str) -> Call | None:
        """The linear layer that makes the queries, keys or values of an attention layer, alone or
        together."""
        calls = self.network.inside(self.network.sites[index])
        return next(
            (
                call
                for call in calls
                if kind_of(call.module) == "linear"
                and title_of(call.path, call.module) in (which, "Query, key, value")
            ),
            None,
        )

    def _opened_around(self, index: int) -> None:
        """Opens the block around an attention layer, to find the module that reads its heads."""
        site = self.network.sites[index]
        self.card(f"m:{self.network.block_of(site) or site}")

    def _writes(self, index: int, x: Tensor) -> bool:
        """Whether a tensor holds the outputs of all heads of a layer, judged by two of its rows."""
        pattern = self.patterns[index]
        width = pattern.heads * pattern.v.shape[-1]
        if x.shape[-1] != width or x.ndim != 3:
            return False
        if self.trace is None:
            return x.shape[-2] == pattern.queries
        rows = torch.tensor(sorted({0, pattern.queries - 1}))
        weights = pattern.effective_weights(rows=rows, item=0)
        v = expand_heads(pattern.v[:1], pattern.heads, slice(None))[0].float()
        merged = rearrange(weights @ v, "head row value -> row (head value)")
        merged = merged.detach()
        rounding = max(1e-5, 8 * torch.finfo(x.dtype).eps) * merged.abs().max().clamp(min=1e-12)
        there = x.detach().flatten(0, -2).float()  # windows have rows of their own
        apart = [(there - row).abs().amax(-1).min() for row in merged]
        return max(map(float, apart)) <= float(rounding)

    # --- single parts -----------------------------------------------------------------------------

    def _part(self, card: Card, call: Call) -> Card:
        """A module without modules inside: what it reads, its matrix, and what it gives."""
        kind, module = kind_of(call.module), call.module
        x = matrix_of("input", "input", call.reads[0] if call.reads else None)
        y = matrix_of("output", "output", call.gives[0])
        y = y and replace(y, cols=self._columns(y.values))
        ends = [each for each in (x, y) if each is not None]
        joins: tuple[str, ...] = ("→",) * (len(ends) - 1)
        closed = ""
        if kind == "linear" and x and y:
            weight = Matrix("weight", "W", linear_weight(call), "feature", cols=y.cols)
            biased = getattr(module, "bias", None) is not None
            ends, joins = [x, weight, y], ("·", "+ b =" if biased else "=")
        elif kind == "embedding" and y:
            ends, joins = [y], ()
        elif not kind and card.parameters:
            closed = "Code computes it, without modules: its input and its output are exact."
        tokens = y.values.shape[0] if y else 0
        rows = self.labels(tokens, call.path)
        return replace(card, matrices=tuple(ends), joins=joins, rows=rows, closed=closed)

    def _columns(self, values: Tensor) -> str:
        """What the columns of an output are: tokens or classes of logits, or features."""
        kind = "nothing" if self.trace is None else predicts(self.trace.output)
        if self.trace is None or kind not in ("tokens", "classes"):
            return "feature"
        logits = first_item(self.trace.logits)
        is_logits = logits is not None and values.shape == logits.shape and values.equal(logits)
        return {"tokens": "token", "classes": "class"}[kind] if is_logits else "feature"

    def _positions(self, address: str, rest: str) -> Card:
        """Positions, of so many or with another base."""
        path, length, base = [*rest.rsplit(":", 2), "", ""][:3]
        if not (length.isdecimal() and base.replace(".", "", 1).isdecimal()):
            raise ValueError("expected p:PATH:LENGTH:BASE")
        call = next((each for each in self.network.whole if each.path == path), None)
        if call is None:
            call = self._calls(path)[0]
        if not scheme_of(call.module):
            raise ValueError(f"{path} holds no positions")
        self.calls[address] = call
        labels = self.labels(shape_of(call)[0] if call.gives else 0, path)
        card = replace(self._card_of(address, call), rows=labels)
        return positions.opened(card, call, int(length), float(base))

    # --- labels and sums --------------------------------------------------------------------------

    def labels(self, count: int, path: str = "") -> list[str]:
        """Labels of so many tokens: those of the attention around a module, or of the input."""
        trace = self.trace
        if trace is None or not count:
            return []
        block = self.network.block_of(path) or path
        near = [s for s in trace.sites if block and within(s.module or "", block)]
        for labels in (
            *(trace.query_labels(site) for site in near),
            *(trace.key_labels(site) for site in near),
            trace.labels,
            *([] if trace.target_tokens is None else [trace.target_tokens[0].labels]),
        ):
            if len(labels) == count:
                return list(labels)
        return []

    def _rows(self, items: Sequence[Item], path: str = "") -> list[str]:
        """Labels of the tokens that boxes give."""
        counts = {item.shape[0] for item in items if len(item.shape) == 2}
        return next((labels for n in counts if (labels := self.labels(n, path))), [])

    def flops(self, path: str) -> int:
        """Of the matrix products of a module, and of the attention in it."""
        products = sum(n for at, n in self.network.products.items() if within(at, path))
        sites = zip(self.network.sites, self.patterns, strict=True)
        return products + sum(attention_flops(p) for at, p in sites if within(at, path))

    def _title(self, path: str, module: nn.Module) -> str:
        """The name of a module; of one that is a number in a list of different ones, its class."""
        if path.rpartition(".")[2].isdigit() and path not in self.network.blocks:
            return " ".join(re.findall("[A-Z][a-z]+|[A-Z0-9]+(?![a-z])", type(module).__name__))
        return title_of(path, module)

    def _tower(self, path: str) -> str:
        """The stack that a module belongs to, where there are several."""
        parents = {stack.rpartition(".")[0] for stack in self.network.stacks}
        if len(parents) < 2:
            return ""
        tower = max((each for each in parents if within(path, each)), key=len, default="")
        sites = zip(self.network.sites, self.network.kinds, strict=True)
        crosses = any(kind == "cross" and within(site, tower) for site, kind in sites)
        if crosses and tower in parents:
            return f"{tower or 'decoder'}, whose cross-attention reads the other stack"
        return tower


def _detached(matrix: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
    return matrix.detach().float(), None if bias is None else bias.detach().float()


def within(path: str, around: str) -> bool:
    """Whether a module is another, or is in it."""
    return not around or f"{path}.".startswith(f"{around}.")


def first_item(x: Tensor | None) -> Tensor | None:
    """The first matrix of a batch; None for a tensor of another shape, or without numbers."""
    if x is None or x.is_meta or not x.is_floating_point() or not 2 <= x.ndim <= 3:
        return None
    return (x[0] if x.ndim == 3 else x).detach().float()


def matrix_of(name: str, title: str, x: Tensor | None) -> Matrix | None:
    """The first item of a tensor as a matrix of a card; None where that is no matrix."""
    values = first_item(x)
    return None if values is None else Matrix(name, title, values)


def shape_of(call: Call) -> tuple[int, ...]:
    """The shape of what a call gives, without the batch."""
    shape = tuple(call.gives[0].shape) if call.gives else ()
    return shape[1:] if len(shape) > 2 else shape


def _is_identity(output: Tensor) -> bool:
    """Whether a head's rows of W_O are those of an identity: the layer has no output projection."""
    if output.is_meta:  # a learned one: another is found in numbers alone
        return False
    return bool((output.count_nonzero(1) == 1).all() and (output.amax(1) == 1).all())


def linear_weight(call: Call) -> Tensor:
    """The matrix of a linear layer: input features down, output features across."""
    if type(call.module).__name__ == "Conv1D":
        return call.module.get_parameter("weight").detach().float()
    tied = call.reads[1] if len(call.reads) > 1 and call.module.weight is None else None
    weight = call.module.weight if tied is None else tied
    return weight.detach().float().T


def attention_flops(pattern: Pattern) -> int:
    """Of the scores and the weighted values of all heads; masked cells count."""
    pairs = pattern.heads * pattern.queries * pattern.keys
    width = pattern.k.shape[-1] + pattern.v.shape[-1]
    matrix = pattern.score.matrix.numel() if isinstance(pattern.score, Bilinear) else 0
    return 2 * (pairs * width + pattern.queries * matrix)


def scale_words(pattern: Pattern) -> str:
    """What scores are divided by, such as "÷ √16", or the name of another score."""
    score, width = pattern.score, pattern.q.shape[-1]
    scale = getattr(score, "scale", None)
    if isinstance(score, Additive | Bilinear):
        return type(score).__name__.lower()
    if scale is None or abs(scale * width**0.5 - 1) < 1e-6:
        return f"÷ √{width}"
    return "" if scale == 1 else f"× {scale:.3g}"


def _scoring(pattern: Pattern) -> Iterator[Tensor]:
    """The learned tensors of a score."""
    for name in ("matrix", "vector", "query", "key"):
        value = getattr(pattern.score, name, None)
        if isinstance(value, Tensor):
            yield value
