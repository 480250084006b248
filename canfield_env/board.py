"""The table as text: what lies open on it, for the terminal and ``render_mode="ansi"``."""

from __future__ import annotations

from itertools import zip_longest

from .cards import RANKS, SUIT_SYMBOLS, card_symbol
from .positions import Position


def board_text(position: Position, code: str | None = None, score: int | None = None) -> str:
    """The open cards of ``position`` as lines of text: foundations, reserve with its count, stock, the fanned
    waste (its top cards, as many as a draw turns up) and the columns from their first cards down."""
    rules = position.rules
    title = [
        "Canfield",
        code or "from a position",
        f"{rules}, draw {rules.draw_count}",
        f"base {RANKS[position.base_rank]}",
    ]
    if score is not None:
        title.append(f"score {score}")
    foundations = [
        f"{card_symbol(suit * 13 + (position.base_rank + count - 1) % 13)} ({count})" if count else f"-{symbol}"
        for suit, (symbol, count) in enumerate(zip(SUIT_SYMBOLS, position.foundations, strict=True))
    ]
    reserve = f"{card_symbol(position.reserve[-1])} ({len(position.reserve)})" if position.reserve else "empty"
    fan = " ".join(card_symbol(card) for card in position.waste[-rules.draw_count :])
    waste = f"{fan} ({len(position.waste)})" if position.waste else "empty"
    lines = [
        " · ".join(title),
        "Foundations  " + "   ".join(foundations),
        f"Reserve      {reserve}",
        f"Stock        {len(position.stock)} face down, {position.redeals} redeals",
        f"Waste        {waste}",
        "",
        "  T1   T2   T3   T4",
    ]
    for row in zip_longest(*position.columns):
        lines.append(" ".join(f"{card_symbol(card) if card is not None else '':>4}" for card in row).rstrip())
    return "\n".join(lines)
