"""A quick player inside the kernel: plays with their draws folded in, judged by weights, and games played out.

A *play* is an action other than a draw, and the number of turned cards at which it is made: ``turned * 128 + action``.
The draws up to there go without saying, since with the stock seen they tell nothing and cost nothing; action 0 is one
draw. What the player looks at is what he may know: the tables, the reserve's top, and the order of a talon once seen.
"""

from __future__ import annotations

import numpy as np

from .actions import (
    COLUMN_TO_COLUMN,
    COLUMN_TO_FOUNDATION,
    FOUNDATION_TO_COLUMN,
    RESERVE_TO_COLUMN,
    RESERVE_TO_FOUNDATION,
    TAIL_TO_EMPTY,
    WASTE_TO_COLUMN,
    WASTE_TO_FOUNDATION,
    decode,
)
from .jit import entry, inner
from .play import (
    ALL_CARDS,
    FITS_ON,
    NO_CARD,
    column_card,
    column_takes,
    empty_column_takes,
    first_empty_column,
    foundation_top,
    foundations_take,
    play,
    redeal_left,
    tail_that_fits,
)
from .shuffle import next_state, output
from .state import RESERVE, WASTE, State

TURNED = 128  # a play is turned * TURNED + action
MAX_PLAYS = 160  # more than a position has
MAX_MOVES = 250  # after so many plays a game counts as lost

# Weights: of each kind of play, with cards in the reserve and without (+ EMPTY_RESERVE) ...
R_F, T_F, T_F_LAST, W_F, R_T, WHOLE, TAIL_FOUNDATION, TAIL_RESERVE, TAIL, W_T, W_EMPTY, EMPTY_FOUNDATION, TO_EMPTY = (
    range(13)
)
BACK, R_EMPTY, DRAW, EMPTY_RESERVE = 13, 14, 15, 16
# ... by how many cards its foundation still waits for before it takes the card that moves, and the one it covers ...
OWN, COVER = 32, 40
# ... and of what else can be said.
FITS_RESERVE, FITS_COLUMN, DRAWS, LAST, TARGET_LENGTH, COUNT, LAG, OTHER_TURN = range(48, 56)
WEIGHTS = 56

BUCKET = np.array([0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7], np.int8)

FITTED_WEIGHTS = np.array(
    [
        8.94, 7.21, 11.18, 8.08, 8.07, 8.49, 6.20, 4.44, -1.98, 2.93, 2.52, 6.43, -4.04, -0.96, 1.25, -0.23,
        10.50, 9.90, 10.07, 10.22, 7.23, 5.80, 6.84, 8.12, -3.16, 2.80, 4.57, 2.65, -1.36, -3.91, -1.69, 1.79,
        2.12, 0.17, 0.55, 0.57, 0.53, 0.55, 0.57, 0.59, -0.41, -0.63, -0.21, -0.04, 0.56, 1.29, 1.72, 0.66,
        2.93, 2.65, -0.09, -1.44, 0.15, -0.31, -0.50, -0.54,
    ]
)  # fmt: skip
"""Weights fitted to how often they win (docs/planner.md)."""


@inner
def waits(s: State, card: int) -> int:
    """Bucket of how many cards the card's foundation takes before it."""
    steps = (card % 13 - int(s["base_rank"]) + 13) % 13 - int(s["foundation"][card // 13])
    return int(BUCKET[max(steps, 0)])


@inner
def placing(s: State, weights: np.ndarray, card: int, column: int) -> float:
    """What is said for putting ``card`` on a column: what it covers, and what could go on it then."""
    value = weights[OWN + waits(s, card)]
    length = int(s["length"][column])
    if length > 0:
        value += weights[COVER + waits(s, int(s["top"][column]))] + weights[TARGET_LENGTH] * length
    return value


@inner
def fitting(s: State, weights: np.ndarray, card: int, column: int, reserve_top: int) -> float:
    """What is said for a waste card on a column, by what fits on it."""
    on_it = int(FITS_ON[card])
    value = weights[FITS_RESERVE] if (on_it >> reserve_top) & 1 else 0.0
    for other in range(4):
        if other != column and int(s["length"][other]) > 0 and (on_it >> int(s["first"][other])) & 1:
            value += weights[FITS_COLUMN]
    return value


@inner
def lag(s: State, card: int) -> int:
    """How far the card's foundation is ahead of the lowest one."""
    lowest = min(
        min(int(s["foundation"][0]), int(s["foundation"][1])), min(int(s["foundation"][2]), int(s["foundation"][3]))
    )
    return int(s["foundation"][card // 13]) - lowest


@inner
def next_turn(s: State, turned: int) -> int:
    """The number of turned cards after one more draw, from the last one a redeal and a draw; -1: none."""
    talon, count = int(s["talon_count"]), int(s["draw_count"])
    if turned < talon:
        return min(turned + count, talon)
    return min(count, talon) if redeal_left(s) else -1


@inner
def list_plays(s: State, weights: np.ndarray, wide: bool, folded: bool, plays: np.ndarray, values: np.ndarray) -> int:
    """List the position's plays and what the weights say of each; their number.

    ``wide``: those too that only a search has a use for. ``folded``: with the draws before them; else a draw is a
    play of its own.
    """
    n = 0
    talon, now = int(s["talon_count"]), int(s["waste_count"])
    reserve = int(s["reserve_count"])
    here = now * TURNED
    phase = 0 if reserve > 0 else EMPTY_RESERVE
    takes = foundations_take(s)
    reserve_top = int(s["reserve"][reserve - 1]) if reserve > 0 else NO_CARD
    empty = first_empty_column(s)
    f0, f1, f2, f3 = column_takes(s, 0), column_takes(s, 1), column_takes(s, 2), column_takes(s, 3)
    fits = (f0, f1, f2, f3)
    wanted = takes | f0 | f1 | f2 | f3
    waste_to_empty = empty >= 0 and empty_column_takes(s, WASTE)
    any_to_empty = empty >= 0 and empty_column_takes(s, RESERVE)
    if waste_to_empty:
        wanted = ALL_CARDS

    # The waste's tops: now, in the rest of this pass, and in the next one.
    reachable, seen = 0, 0
    turned, draws = now, 0
    fresh = False
    while turned >= 0:
        if turned > 0 and (seen >> turned) & 1 == 0:
            seen |= 1 << turned
            card = int(s["talon"][turned - 1])
            reachable |= 1 << card
            if (wanted >> card) & 1:
                at = turned * TURNED
                value = weights[DRAWS] * draws + (weights[LAST] if turned == talon else 0.0)
                if turned % int(s["draw_count"]) != 0 and turned != talon:
                    value += weights[OTHER_TURN]
                if (takes >> card) & 1:
                    plays[n] = at + WASTE_TO_FOUNDATION
                    values[n] = value + weights[phase + W_F] + weights[LAG] * lag(s, card)
                    n += 1
                for column in range(4):
                    if (fits[column] >> card) & 1:
                        plays[n] = at + WASTE_TO_COLUMN + column
                        values[n] = (
                            value
                            + weights[phase + W_T]
                            + placing(s, weights, card, column)
                            + fitting(s, weights, card, column, reserve_top)
                        )
                        n += 1
                if waste_to_empty:
                    plays[n] = at + WASTE_TO_COLUMN + empty
                    values[n] = (
                        value
                        + weights[phase + W_EMPTY]
                        + placing(s, weights, card, empty)
                        + fitting(s, weights, card, empty, reserve_top)
                    )
                    n += 1
        if not folded:
            break
        if turned == talon:
            if fresh:
                break
            fresh = True
            draws += 1
        turned = next_turn(s, turned)
        draws += 1
    if not folded:
        if now < talon or (talon > 0 and redeal_left(s)):
            plays[n] = here
            values[n] = weights[phase + DRAW]
            n += 1

    # The reserve's top.
    if reserve > 0:
        if (takes >> reserve_top) & 1:
            plays[n] = here + RESERVE_TO_FOUNDATION
            values[n] = weights[R_F] + weights[LAG] * lag(s, reserve_top)
            n += 1
        for column in range(4):
            if (fits[column] >> reserve_top) & 1:
                plays[n] = here + RESERVE_TO_COLUMN + column
                values[n] = weights[R_T] + placing(s, weights, reserve_top, column)
                n += 1
        if any_to_empty:
            plays[n] = here + RESERVE_TO_COLUMN + empty
            values[n] = weights[R_EMPTY] + placing(s, weights, reserve_top, empty)
            n += 1

    # Columns.
    useful = takes  # what a search wants to have uncovered, beside what takes one of these
    for column in range(4):
        length = int(s["length"][column])
        if length == 0:
            continue
        top = int(s["top"][column])
        if (takes >> top) & 1:
            plays[n] = here + COLUMN_TO_FOUNDATION + column
            values[n] = weights[phase + (T_F_LAST if length == 1 else T_F)] + weights[LAG] * lag(s, top)
            n += 1
        for other in range(4):
            if other == column or int(s["length"][other]) == 0:
                continue
            count = tail_that_fits(s, column, other)
            if count == 0:
                continue
            kind = WHOLE
            if count < length:
                kind = kind_of_tail(s, column, length - count, useful, reserve_top)
                if kind == TAIL and not wide:
                    continue
            plays[n] = here + COLUMN_TO_COLUMN + 3 * column + other - (1 if other > column else 0)
            values[n] = (
                weights[phase + kind]
                + weights[COVER + waits(s, int(s["top"][other]))]
                + weights[TARGET_LENGTH] * int(s["length"][other])
                + weights[COUNT] * count
            )
            n += 1
        if any_to_empty and int(s["whole_columns"]) == 0:
            for k in range(1, length):
                under = column_card(s, column, k - 1)
                to_foundation = (takes >> under) & 1 == 1
                if not to_foundation:
                    if not wide:
                        continue
                    if int(FITS_ON[under]) & (reachable | (1 << reserve_top)) == 0:
                        continue
                plays[n] = here + TAIL_TO_EMPTY + column_card(s, column, k)
                values[n] = weights[phase + (EMPTY_FOUNDATION if to_foundation else TO_EMPTY)] + weights[COUNT] * (
                    length - k
                )
                n += 1
    if wide and int(s["take_back"]) == 1:
        for suit in range(4):
            if int(s["foundation"][suit]) == 0:
                continue
            card = foundation_top(s, suit)
            if int(FITS_ON[card]) & (reachable | (1 << reserve_top) | firsts(s)) == 0:
                continue  # nothing would go on it
            for column in range(4):
                if (fits[column] >> card) & 1:
                    plays[n] = here + FOUNDATION_TO_COLUMN + 4 * suit + column
                    values[n] = weights[phase + BACK]
                    n += 1
    return n


@inner
def firsts(s: State) -> int:
    """The columns' first cards."""
    cards = 0
    for column in range(4):
        if int(s["length"][column]) > 0:
            cards |= 1 << int(s["first"][column])
    return cards


@inner
def kind_of_tail(s: State, column: int, k: int, useful: int, reserve_top: int) -> int:
    """What moving a column's cards from place ``k`` on, a part of it, uncovers."""
    under = column_card(s, column, k - 1)
    if (useful >> under) & 1:
        return TAIL_FOUNDATION
    return TAIL_RESERVE if (int(FITS_ON[under]) >> reserve_top) & 1 else TAIL


@inner
def make_play(s: State, code: int) -> None:
    """Make a play, with the draws before it."""
    turned, action = code // TURNED, code % TURNED
    if turned != int(s["waste_count"]):
        if turned < int(s["waste_count"]) or (turned - int(s["waste_count"])) % int(s["draw_count"]) != 0:
            if turned != int(s["talon_count"]) or turned < int(s["waste_count"]):
                s["redeals"] = int(s["redeals"]) + 1
        s["waste_count"] = turned
    source, target, count = decode(s, action)
    play(s, source, target, count)


@inner
def uniform(state: np.uint64) -> float:
    """A number from 0 to 1 from a state of the generator."""
    return np.float64(np.int64(output(state) >> np.uint64(11))) / 9007199254740992.0


@inner
def play_out(
    s: State, weights: np.ndarray, noise: float, stream: np.uint64, plays: np.ndarray, values: np.ndarray
) -> tuple[int, np.uint64]:
    """Play a game out, each time what the weights like best, up to ``noise``; foundation cards at the end, and the
    stream's new state."""
    for _ in range(MAX_MOVES):
        if int(s["foundation_cards"]) == 52:
            break
        n = list_plays(s, weights, False, True, plays, values)
        if n == 0:
            break
        best = 0
        if noise > 0.0:
            for k in range(n):
                stream = next_state(stream)
                values[k] += noise * uniform(stream)
        for k in range(1, n):
            if values[k] > values[best]:
                best = k
        make_play(s, plays[best])
    return int(s["foundation_cards"]), stream


@entry
def play_out_all(starts: np.ndarray, weights: np.ndarray, noise: float, stream: np.uint64, cards: np.ndarray) -> int:
    """Play a copy of each record out; ``cards`` gets its foundation cards at the end, and the wins are counted."""
    scratch = starts[:1].copy()
    plays, values = np.empty(MAX_PLAYS, np.int64), np.empty(MAX_PLAYS)
    wins = 0
    for i in range(len(starts)):
        scratch[0] = starts[i]
        cards[i], stream = play_out(scratch[0], weights, noise, stream, plays, values)
        wins += 1 if cards[i] == 52 else 0
    return wins
