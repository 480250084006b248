"""The state of one game as a fixed-size record, and the numbers its fields are made of.

All small fields are *signed* bytes: compiled, the difference of two unsigned ones would wrap around, and
in plain Python it would not. Kernel code reads a field as ``int(s["field"])``, which works both ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np

State = Any
"""A record of ``STATE_DTYPE`` (annotations of kernel functions are for readers; Numba infers types)."""

STATE_DTYPE = np.dtype(
    [
        # The cards.
        ("place", "i1", (52,)),  # where each card is: one of the codes below
        ("talon", "i1", (34,)),  # waste and stock in one: waste bottom ... waste top, next drawn ... last drawn
        ("reserve", "i1", (13,)),  # bottom ... top
        ("first", "i1", (4,)),  # a column is its first card, its length and a bit a card (suit_bits)
        ("length", "i1", (4,)),
        ("top", "i1", (4,)),  # each column's last card; what it says of an empty column means nothing
        ("foundation", "i1", (4,)),  # number of cards by suit
        ("foundation_cards", "i1"),  # their sum
        ("base_rank", "i1"),
        ("base_suit", "i1"),  # for the order in which the foundations are spoken; -1: not known
        ("reserve_count", "i1"),
        ("talon_count", "i1"),
        ("waste_count", "i1"),
        ("bonuses", "i1"),  # one-time bonuses gone: bit 0-3 a suit's completion, bit 4 the reserve
        # How the episode stands.
        ("stuck", "i1"),  # the player can know that no play will ever come again
        ("ended", "i1"),  # terminated: nothing can be done
        # The rules.
        ("draw_count", "i1"),
        ("whole_columns", "i1"),
        ("auto_fill", "i1"),
        ("waste_only", "i1"),  # an empty column takes only the waste's top card
        ("take_back", "i1"),
        ("build_past_base", "i1"),
        ("score_kind", "i1"),
        # The environment's settings.
        ("reward_kind", "i1"),
        ("tier", "i1"),
        ("end_when_stuck", "i1"),
        # Wider fields.
        ("redeals", "i4"),
        ("max_redeals", "i4"),  # -1: no limit
        ("app_score", "i4"),
        ("andr_points", "i4"),  # the andr score less what time and a win add
        ("seconds", "i4"),
        ("seconds_per_action", "i4"),
        ("attempt", "i4"),
        ("deck_price", "i4"),
        ("legal", "i8", (2,)),  # the legal actions as bits, 0-47 and 48-94, as of the last mask written
        ("full_pass", "i8"),  # bit c: card c is a waste top of a whole pass through the talon
        ("cards", "i8", (4,)),  # bit c: card c lies in the column
        ("suit_bits", "i8", (4,)),  # bit k: which of its colour's two suits the column's card k has
        ("number", "i8"),  # the deal's number, or -1
        ("stream", "u8"),  # state of the generator that deals
    ],
    align=True,
)

# Piles, as sources and targets of moves.
WASTE = 0
RESERVE = 1
FOUNDATION = 2  # + suit as a source; alone as a target: a card goes to its own suit's
COLUMN = 6  # + column, 0-3
STOCK = 10  # as a source: a draw, or a redeal

# Codes of ``place``: where a card is. Hidden reserve cards come last, and the talon's just before, so that
# what a player knows is a range of codes (observe.py).
PLACE_HIDDEN = 0  # in observations only
PLACE_FOUNDATION = 1
PLACE_RESERVE_TOP = 2
PLACE_COLUMN = 3  # + 4 * column + depth // 13
PLACE_TALON = 19  # + index in the talon
PLACE_RESERVE_BELOW = 52  # + how many reserve cards lie on it (1-12)
PLACE_CODES = 65

ACTIONS = 95

SCORE_APP, SCORE_CASINO, SCORE_ANDR = 0, 1, 2
REWARD_CARDS, REWARD_APP, REWARD_CASINO, REWARD_ANDR, REWARD_WIN = 0, 1, 2, 3, 4
TIER_SCREEN, TIER_RECALL, TIER_THOUGHTFUL = 0, 1, 2
