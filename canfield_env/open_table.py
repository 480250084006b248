"""What lies open on the table: all that a picture or a page is given, so that neither can show what is hidden."""

from __future__ import annotations

from dataclasses import dataclass

from .moves import Move
from .positions import Position

_PILE_NAMES = {"D": "stock", "W": "waste", "R": "reserve"}
_PILE_NAMES |= {"F": "foundation", "FC": "clubs", "FD": "diamonds", "FH": "hearts", "FS": "spades"}
_PILE_NAMES |= {f"T{number}": f"column {number}" for number in range(1, 5)}


@dataclass(frozen=True)
class OpenTable:
    """The open cards of a position, and the counts that everyone sees.

    Attributes:
        base_rank: Rank of the base card, 0 an ace to 12 a king.
        foundations: Number of cards on each foundation, in the order C D H S.
        reserve_count: Cards in the reserve.
        reserve_top: Its top card; None where it is empty.
        columns: Four tuples of card ids, first to last.
        stock_count: Cards in the stock.
        waste_count: Cards in the waste.
        fan: The waste's top cards, as many as a draw turns up, the topmost last.
        redeals: Redeals made.
    """

    base_rank: int
    foundations: tuple[int, ...]
    reserve_count: int
    reserve_top: int | None
    columns: tuple[tuple[int, ...], ...]
    stock_count: int
    waste_count: int
    fan: tuple[int, ...]
    redeals: int

    @classmethod
    def of(cls, position: Position) -> OpenTable:
        """What lies open in ``position``."""
        return cls(
            base_rank=position.base_rank,
            foundations=position.foundations,
            reserve_count=len(position.reserve),
            reserve_top=position.reserve[-1] if position.reserve else None,
            columns=position.columns,
            stock_count=len(position.stock),
            waste_count=len(position.waste),
            fan=position.waste[-position.rules.draw_count :],
            redeals=position.redeals,
        )

    def foundation_top(self, suit: int) -> int | None:
        """The top card of a suit's foundation; None where it is empty."""
        count = self.foundations[suit]
        return suit * 13 + (self.base_rank + count - 1) % 13 if count else None


def move_words(move: Move | str) -> str:
    """A move in words: ``"reserve to column 2"``, ``"draw"``."""
    move = Move.parse(move) if isinstance(move, str) else move
    if move.source == "D":
        return "draw"
    count = f", {move.count} cards" if move.count and move.count > 1 else ""
    return f"{_PILE_NAMES[move.source]} to {_PILE_NAMES[move.target]}{count}"
