"""Finished runs: their tables, and what finds heads in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.corpus.files import manifest_of, read_table
from analysis.corpus.results import NAMES
from analysis.descriptions import claim, corpus_of
from analysis.measures import MEASURES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NAMED = {  # what people call tokens
    "comma": ",",
    "full stop": ".",
    "period": ".",
    "colon": ":",
    "semicolon": ";",
    "question mark": "?",
    "exclamation mark": "!",
    "quotation mark": '"',
    "apostrophe": "'",
    "hyphen": "-",
}
SHARED = [each.key for each in MEASURES if (each.low, each.high) == (0, 1)]
ADDRESS = ["layer", "kind", "tower", "module", "part", "head"]


def open_corpus(folder: str | Path) -> "Run":
    """Opens the folder of a run.

    Raises:
        ValueError: for a folder that holds none, or whose files are not those of a run.
        OSError: for a folder that is not there.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    manifest = manifest_of(folder)
    missing = [name for name in NAMES if not (folder / f"{name}.parquet").exists()]
    if missing:
        raise ValueError(
            f"{folder.name}: {missing[0]}.parquet is not there: the run has no results"
        )
    return Run(folder, manifest)


@dataclass(frozen=True, eq=False)
class Run:
    """The results of a run.

    Attributes:
        folder: where they lie.
        manifest: model, corpora and settings.
    """

    folder: Path
    manifest: Mapping[str, Any]

    def __repr__(self) -> str:
        return (
            f"Run({self.manifest['model']['name']!r}: {self.manifest['heads']} heads over"
            f" {self.manifest['texts']:,} texts, {self.manifest['status']})"
        )

    def table(self, name: str) -> "pa.Table":
        """One of the tables; see `analysis.corpus.results`.

        Raises:
            ValueError: for a table that there is not, or a file that is none.
        """
        if name not in NAMES:
            raise ValueError(f"expected one of {', '.join(NAMES)}, received {name!r}")
        if name not in self._tables:
            self._tables[name] = read_table(self.folder / f"{name}.parquet")
        return self._tables[name]

    @cached_property
    def _tables(self) -> "dict[str, pa.Table]":
        """Those that were read."""
        return {}

    def rows(self, name: str, head: int) -> list[dict[str, Any]]:
        """The rows of a head in a table."""
        import pyarrow.compute as pc

        return self.table(name).filter(pc.field("id") == head).to_pylist()

    def _frame(self, name: str, columns: Sequence[str]) -> Any:
        """A table as a data frame, its columns checked."""
        table = self.table(name)
        if not set(columns) <= set(table.column_names):
            lacking = sorted(set(columns) - set(table.column_names))
            raise ValueError(f"{name}.parquet is not of a run: it has no column {lacking[0]!r}")
        return table.to_pandas()

    @cached_property
    def heads(self) -> Any:
        """A data frame, a row for each head: address, sentence, and the mean of every number.

        Heads of a network with random weights have no sentence.
        """
        said = {}
        if self.manifest["model"].get("trained", True):
            over = corpus_of(self.manifest)
            for head, rows in self.measures.groupby("id"):
                said[head] = claim(rows.set_index("measure")[["count", "mean"]].T.to_dict(), over)
        means = self.measures.pivot(index="id", columns="measure", values="mean")
        sentences = self._addresses.index.to_series().map(said).astype(object)
        return self._addresses.assign(sentence=sentences.where(sentences.notna(), None)).join(means)

    @cached_property
    def _addresses(self) -> Any:
        """The table of heads, by their number."""
        return self._frame("heads", ["id", *ADDRESS]).set_index("id")

    @cached_property
    def measures(self) -> Any:
        """A data frame, a row for each head and number: its address, count, mean, variance, 95 %
        interval."""
        frame = self._frame("measures", ["id", "measure", "count", "mean", "variance"])
        numbers = frame.drop(columns=ADDRESS, errors="ignore")  # older files have no layer and head
        return numbers.join(self._addresses[ADDRESS], on="id")

    @cached_property
    def corners(self) -> np.ndarray:
        """Mean weights of the first 16 tokens of every head, row by row; 0 where none are."""
        return np.nan_to_num(np.stack(self._frame("maps", ["id", "corner"])["corner"].to_list()))

    @cached_property
    def drawn(self) -> Any:
        """A data frame, the share of each head's weight that tokens draw, by their labels."""
        frame = self._frame("tokens", ["id", "role", "label", "share"])
        keys = frame[frame["role"] == "key"]
        shares = keys.pivot_table(index="id", columns="label", values="share", aggfunc="sum")
        return shares.reindex(self.heads.index).fillna(0.0)

    def head(self, layer: int, head: int, **address: Any) -> int:
        """The number of a head.

        Args:
            layer: of the head.
            head: in its layer.
            address: "kind", "tower", "module" or "part", where a layer has several sites.

        Raises:
            ValueError: if there is no such head, or more than one.
        """
        wanted = {"layer": layer, "head": head} | address
        rows = self.heads
        for name, value in wanted.items():
            rows = rows[rows[name] == value]
        if len(rows) != 1:
            raise ValueError(f"expected one head at {wanted}, received {len(rows)}")
        return int(rows.index[0])

    # --- finding heads ---

    def top(self, measure: str, count: int = 10, *, lowest: bool = False) -> "pd.DataFrame":
        """The heads with the largest mean of a number, with its interval.

        Raises:
            ValueError: for a number that the run does not have.
        """
        rows = self.measures[self.measures["measure"] == measure]
        if rows.empty:
            known = ", ".join(sorted(set(self.measures["measure"])))
            raise ValueError(f"expected one of {known}, received {measure!r}")
        ranked = rows.sort_values(["mean", "id"], ascending=[lowest, True], kind="stable")
        return ranked.head(count).join(self.heads["sentence"], on="id")

    def attending_to(self, key: str = "", count: int = 10, *, query: str = "") -> "pd.DataFrame":
        """The heads that give the largest share of their weight to a token, from one, or both.

        A token is given in any case, or as people call it: "commas". Several, separated by commas,
        count together: "is, are". With a key alone, the share is of all weight; with a query alone,
        of all weight on plain keys. With both, it is of the weight of the sampled queries that are
        this token, where the key draws most of it. What a run does not list counts as 0.

        Args:
            key: the tokens that draw weight; "" for any.
            count: how many heads, at most.
            query: the tokens that give it; "" for any.

        Raises:
            ValueError: without both, and for pairs of a run of an earlier version.
        """
        if key.strip() and query.strip():
            shares = self._pair_shares(query, key)
        else:
            shares = self._token_shares("key" if key.strip() else "query", key or query)
        ranked = shares.sort_values(ascending=False, kind="stable").rename("share")
        return ranked.head(count).to_frame().join(self.heads[[*ADDRESS, "sentence"]]).reset_index()

    def _token_shares(self, role: str, text: str) -> Any:
        """The share of each head's weight that some tokens draw or give, by head."""
        wanted = tokens_of(text)
        if not wanted:
            raise ValueError("expected a token to attend to, one to attend from, or both")
        frame = self._frame("tokens", ["id", "role", "label", "share"])
        same = _are(frame["label"], wanted)
        return frame[same & (frame["role"] == role)].groupby("id")["share"].sum()

    def _pair_shares(self, query: str, key: str) -> Any:
        """The share of the weight of some tokens that goes to others, by head."""
        columns = ["id", "query", "query_label", "key_label", "weight", "queries"]
        frame = self._frame("pairs", columns)
        sampled = frame[_are(frame["query_label"], tokens_of(query))]
        queries = sampled.groupby("query")["queries"].max().sum()
        chosen = sampled[_are(sampled["key_label"], tokens_of(key))]
        return chosen.groupby("id")["weight"].sum() / queries

    def like_head(self, head: int, count: int = 10, *, of: "Run | None" = None) -> "pd.DataFrame":
        """The heads that are most like one, in this run.

        How alike two heads are, 0 to 1, is the mean of what they share of three things: the mean
        weights of the first 16 tokens and the weight that each token draws (Σ min / Σ max of
        both), and the numbers that lie between 0 and 1 and are defined for both (1 − the mean
        difference).

        Args:
            head: number of a head.
            count: how many heads, at most.
            of: the run that the head belongs to; None for this one, where it is left out itself.
        """
        theirs = self if of is None else of
        parts = [_overlap(self.corners, theirs.corners[head])]
        if not (self.drawn.empty and theirs.drawn.empty):
            mine, one = self.drawn.align(theirs.drawn.loc[head], axis=1, fill_value=0.0)
            parts.append(_overlap(mine.to_numpy(), one.to_numpy()))
        names = [name for name in SHARED if name in self.heads and name in theirs.heads]
        gaps = (self.heads[names] - theirs.heads.loc[head, names].astype(float)).abs()
        alike = (sum(parts) + 1 - gaps.mean(axis=1).fillna(0)) / (len(parts) + 1)
        others = alike.rename("likeness").drop(head if of is None else [])
        ranked = others.sort_values(ascending=False, kind="stable").head(count)
        return ranked.to_frame().join(self.heads[[*ADDRESS, "sentence"]]).reset_index()

    # --- two runs ---

    def compare(self, other: "Run") -> "pd.DataFrame":
        """The difference of every number of every head that two runs share, the surest first.

        Returns:
            For each, the mean here and there, the difference (there − here), its 95 % interval
            (Newcombe's, from those of both means), and the difference in widths of it.

        Raises:
            ValueError: if no head of one has an address in the other.

        Source: Newcombe 1998, "Interval Estimation for the Difference between Independent
            Proportions", method 10.
        """
        columns = ["id", *ADDRESS, "measure", "count", "mean", "variance", "low", "high"]
        sides = [run.measures[columns].fillna({"tower": "", "module": ""}) for run in (self, other)]
        both: Any = sides[0].merge(sides[1], on=[*ADDRESS, "measure"], suffixes=("_here", "_there"))
        if both.empty:
            raise ValueError("the two runs have no head in common: expected one network's heads")
        both["difference"] = both["mean_there"] - both["mean_here"]
        here, there = (
            {end: (both[f"{end}_{side}"] - both[f"mean_{side}"]).abs() for end in ("low", "high")}
            for side in ("here", "there")
        )
        both["low"] = both["difference"] - np.hypot(there["low"], here["high"])
        both["high"] = both["difference"] + np.hypot(there["high"], here["low"])
        width = both["high"] - both["low"]
        both["sureness"] = both["difference"].abs() / width.where(width > 0)
        return both.sort_values("sureness", ascending=False, kind="stable").reset_index(drop=True)

    def examples(self, head: int) -> "pd.DataFrame":
        """The examples of a head, the strongest interval first, with their texts."""
        frame = self._frame("examples", ["id", "from", "text", "query", "keys", "weights"])
        mine = frame[frame["id"] == head].sort_values(
            ["from", "text", "query"], ascending=[False, True, True], kind="stable"
        )
        return mine.merge(self._frame("texts", ["text", "source", "content"]), on="text")


def tokens_of(text: str) -> set[str]:
    """The tokens of a text in which commas separate them; of a comma alone, the comma."""
    return {token_of(part) for part in text.split(",") if part.strip()} or {*text.strip()}


def _are(labels: Any, tokens: set[str]) -> Any:
    """Where labels are some of the tokens that are looked for."""
    return labels.str.strip().str.casefold().isin(tokens)


def token_of(text: str) -> str:
    """A token as it is looked for: without spaces and case, or what people call it."""
    wanted = text.strip().casefold()
    return NAMED.get(wanted, NAMED.get(wanted.removesuffix("s"), wanted))


def _overlap(others: np.ndarray, one: np.ndarray) -> np.ndarray:
    """What rows of numbers from 0 on have in common with one: Σ min / Σ max."""
    return np.minimum(one, others).sum(1) / np.maximum(np.maximum(one, others).sum(1), 1e-30)
