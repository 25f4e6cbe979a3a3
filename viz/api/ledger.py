"""The memory that groups of results keep alive: all of it, and what each group holds alone."""

from collections import Counter

from viz.api.memory import Piece, Pieces


class Ledger:
    """Accounts of memory, by the group that holds it.

    Attributes:
        bytes: of everything that is held, networks aside; each piece counts once.
        networks: the bytes of each network.
        alone: bytes that are freed when a group goes, networks aside.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.networks: dict[Piece, int] = {}
        self.alone: Counter[str] = Counter()
        self._sizes: dict[Piece, int] = {}
        self._holders: dict[Piece, Counter[str]] = {}

    def enter(self, group: str, pieces: Pieces) -> None:
        """Adds what a result of a group holds."""
        for piece, size in pieces.items():
            holders = self._holders.setdefault(piece, Counter())
            if not holders:
                self._sizes[piece] = size
                if piece.kind == "network":
                    self.networks[piece] = size
                else:
                    self.bytes += size
            self._charge(piece, -1)
            holders[group] += 1
            self._charge(piece, 1)

    def leave(self, group: str, pieces: Pieces) -> None:
        """Takes away what a result of a group held, as it was entered."""
        for piece in pieces:
            holders = self._holders[piece]
            self._charge(piece, -1)
            holders[group] -= 1
            if not holders[group]:
                del holders[group]
            self._charge(piece, 1)
            if not holders:
                del self._holders[piece]
                size = self._sizes.pop(piece)
                if self.networks.pop(piece, None) is None:
                    self.bytes -= size

    def holders(self, piece: Piece) -> list[str]:
        """The groups that hold a piece."""
        return list(self._holders[piece])

    def _charge(self, piece: Piece, sign: int) -> None:
        """Adds a piece to what its only holder holds alone, or takes it away."""
        holders = self._holders[piece]
        if len(holders) == 1 and piece.kind != "network":
            (group,) = holders
            self.alone[group] += sign * self._sizes[piece]
            if not self.alone[group]:
                del self.alone[group]
