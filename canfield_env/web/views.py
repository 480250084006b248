"""What the page is told: plain data of the open cards and of nothing else."""

from __future__ import annotations

from typing import Any

from ..cards import RANKS, SUITS, card_text
from ..game import Game
from ..kernel.state import COLUMN, FOUNDATION, STOCK, WASTE
from ..moves import Move
from ..open_table import OpenTable, move_words
from ..positions import Position
from ..rules import Rules


def table_view(position: Position) -> dict[str, Any]:
    """The open cards and public counts of ``position``, and the table in words."""
    table = OpenTable.of(position)
    return {
        "base_rank": RANKS[table.base_rank],
        "stock": table.stock_count,
        "waste": {"count": table.waste_count, "fan": [card_text(card) for card in table.fan]},
        "reserve": {"count": table.reserve_count, "top": _text(table.reserve_top)},
        "foundations": [
            {"suit": suit, "count": table.foundations[k], "top": _text(table.foundation_top(k))}
            for k, suit in enumerate(SUITS)
        ],
        "columns": [[card_text(card) for card in column] for column in table.columns],
        "redeals": table.redeals,
        "foundation_cards": sum(table.foundations),
        "speech": position.describe(),
    }


def rules_view(rules: Rules) -> dict[str, Any]:
    """The rules as the page shows them."""
    return {"rules": str(rules), "draw_count": rules.draw_count, "score_kind": rules.score}


def move_view(move: Move | str | None) -> dict[str, str] | None:
    """A move as text and in words."""
    return None if move is None else {"text": str(move), "words": move_words(move)}


def game_view(game: Game) -> dict[str, Any]:
    """A game that a person plays: the table, and what he can do."""
    drags = game.drags()
    return {
        **table_view(game.position()),
        **rules_view(game.rules),
        "code": game.code,
        "score": game.score,
        "won": game.won,
        "moves": len(game.moves),
        "last_move": move_view(game.moves[-1] if game.moves else None),
        "undos_left": game.undos_left,
        "has_undo": game.rules.undo_limit != 0,
        "can_draw": any(move.source == "D" for move in game.legal_moves()),
        "double_tap": game.double_tap,
        "drags": {card: {target: str(move) for target, move in moves.items()} for card, moves in drags.items()},
    }


def moved_card(position: Position, source: int, target: int, count: int) -> str | None:
    """The card that the kernel's move (source, target, count) moves, the first of a tail; None for a draw."""
    if source == STOCK:
        return None
    if source >= COLUMN:
        return card_text(position.columns[source - COLUMN][-count])
    if source >= FOUNDATION:
        return _text(OpenTable.of(position).foundation_top(source - FOUNDATION))
    return card_text((position.waste if source == WASTE else position.reserve)[-1])


def _text(card: int | None) -> str | None:
    return None if card is None else card_text(card)
