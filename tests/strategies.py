"""Hypothesis strategies: rules, packs and valid positions, as plain data made with the reference engine only.

Each example hangs on a few integers (seeds and counts), so drawing one is cheap and it shrinks towards few
moves. Positions are dicts in the format of design.md without `rules` and `draw_count`; `whole_position` adds
both.
"""

import random

from hypothesis import strategies as st

from reference import PACK, PRESETS, RANKS, SUITS, Reference

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def whole_position(position, rules):
    """The dict with its rules in it, as `Position.from_dict` of the package reads it."""
    return {"rules": dict(rules), "draw_count": rules["draw_count"], **position}


# --- rules --------------------------------------------------------------------------------------------------


def rules_dicts():
    """All ten fields: a preset, a preset that draws 1, or any mix of valid values."""
    presets = st.sampled_from([{**rules, "draw_count": n} for rules in PRESETS.values() for n in (3, 1)])
    return st.one_of(presets, rules_mixes()).map(dict)  # a fresh dict each, the caller may change it


def rules_mixes():
    return st.fixed_dictionaries(
        {
            "draw_count": st.sampled_from([3, 1]),
            "column_moves": st.sampled_from(["tail", "whole"]),
            "auto_fill": st.booleans(),
            "empty_column": st.sampled_from(["any", "waste"]),
            "take_back": st.booleans(),
            "build_past_base": st.booleans(),
            "max_redeals": st.sampled_from([None, 0, 1, 2, 3, 4]),
            "undo_limit": st.sampled_from([None, 0, 1, 2, 3, 4, 5]),
            "score": st.sampled_from(["app", "casino", "andr"]),
            "deck_price": st.sampled_from([50, 52, 0, 1, 100]),
        }
    )


# --- packs --------------------------------------------------------------------------------------------------


def decks():
    """The 52 card texts in any deal order."""
    return SEEDS.map(shuffled_pack)


def shuffled_pack(seed):
    cards = list(PACK)
    random.Random(seed).shuffle(cards)
    return cards


# --- positions ----------------------------------------------------------------------------------------------


def endgame_positions(rules):
    """Valid positions under `rules`, never a won one: played from a deal, built, or built and played on."""
    return st.one_of(played_positions(rules), built_positions(rules), built_and_played_positions(rules))


def played_positions(rules):
    """Some moves into a game, most of them no draws."""

    def play(seed, moves):
        game = Reference.deal(shuffled_pack(seed), rules)
        play_randomly(game, moves, random.Random(seed + 1))
        return game.position()

    return st.builds(play, SEEDS, st.integers(min_value=0, max_value=120))


def built_positions(rules):
    """Positions put together card by card: long columns, empty ones, a short stock, few cards left, …"""
    return SEEDS.map(lambda seed: built_position(rules, random.Random(seed)))


def built_and_played_positions(rules):
    def play(seed, moves):
        game = Reference.from_position(built_position(rules, random.Random(seed)), rules)
        play_randomly(game, moves, random.Random(seed + 1))
        return game.position()

    return st.builds(play, SEEDS, st.integers(min_value=1, max_value=40))


def play_randomly(game, moves, dice):
    """Up to so many random legal moves, foundations and other plays before draws, stopping short of a win."""
    for _ in range(moves):
        legal = sorted(game.legal_moves())
        if not legal:
            return
        text = dice.choices(legal, [weight(text) for text in legal])[0]
        if game.foundation_cards == 51 and text.endswith(">F"):
            return
        game.play(text)


def weight(text):
    if text == "D":
        return 4
    if text.endswith(">F"):
        return 20
    if text[0] == "F":
        return 0.5  # take-backs
    if text[0] == "T":
        return 1.5  # column to column, which can go to and fro
    return 10


def built_position(rules, dice):
    """A valid position made of nothing but dice: foundations first, columns from what is left, then the rest.

    What comes out against a limit is thrown away and made again.
    """
    while True:
        base_rank = dice.randrange(13)
        kind = dice.choice(["short", "short", "long", "27 or more", "52 at most", "some empty", "some empty"])
        counts = built_foundations(rules, kind, dice)
        left = [RANKS[(base_rank + step) % 13] + suit for suit in SUITS for step in range(counts[suit], 13)]
        dice.shuffle(left)
        columns = built_columns(rules, base_rank, kind, left, dice)
        reserve, stock, waste = built_rest(rules, columns, left, dice)
        if len(stock) + len(waste) <= 34 and sum(counts.values()) < 52:
            break
    most_redeals = 3 if rules["max_redeals"] is None else min(3, rules["max_redeals"])
    return {
        "base_rank": RANKS[base_rank],
        "foundations": counts,
        "reserve": reserve,
        "columns": columns,
        "stock": stock,
        "waste": waste,
        "redeals": dice.randint(0, most_redeals),
    }


def built_foundations(rules, kind, dice):
    """How many cards each foundation holds. Only a take-back can leave all four empty."""
    counts = dict.fromkeys(SUITS, 0)
    if kind in ("27 or more", "52 at most"):  # one column needs most cards: one suit a colour stays whole
        for suit in (dice.choice("DH"), dice.choice("CS")):
            counts[suit] = dice.choice([0, 0, 1, 2, 5])
    else:
        least, most = dice.choice([(0, 3), (0, 13), (6, 13), (11, 13)])
        for suit in SUITS:
            counts[suit] = 13 if dice.random() < 0.1 else dice.randint(least, most)
    if not any(counts.values()) and not rules["take_back"]:
        counts[dice.choice(SUITS)] = 1
    return counts


def built_columns(rules, base_rank, kind, left, dice):
    """Four columns taken out of `left`, as long as its kind wants them where the cards allow it."""
    columns = [[], [], [], []]
    places = dice.sample(range(4), 4)
    if kind == "short":
        lengths = [dice.randint(1, 6) for _ in places]
    elif kind == "long":
        lengths = [dice.randint(13, 15), dice.choice([1, 5, 14]), dice.randint(1, 14), dice.randint(0, 14)]
    elif kind == "some empty":
        lengths = [dice.choice([0, 0, 0, 1, 2, 6]) for _ in places]
    else:
        lengths = [dice.choice([26, 27, 27, 28, 30]) if kind == "27 or more" else 52, 0, 0, 0]
    for place, length in zip(places, lengths, strict=True):
        columns[place] = built_column(rules, base_rank, length, left, dice)
    if kind in ("27 or more", "52 at most"):
        add_twin(columns, places, left)
        for place in places[1:]:
            if not columns[place] and dice.random() < 0.7:
                columns[place] = built_column(rules, base_rank, dice.choice([1, 1, 2, 6]), left, dice)
    return columns


def built_column(rules, base_rank, length, left, dice):
    """A column of that length, or the longest of a few tries, taken out of `left`."""
    best = []
    for _ in range(4):
        if len(best) < length and left:
            best = max(best, chain(rules, base_rank, dice.choice(left), left)[:length], key=len)
    for card in best:
        left.remove(card)
    return best


def chain(rules, base_rank, first, left):
    """Cards of `left` from `first` on, each on the one before (§1, build_past_base), till none fits."""
    column = [first]
    while rules["build_past_base"] or RANKS.index(column[-1][0]) != base_rank:
        rank = RANKS[RANKS.index(column[-1][0]) - 1]
        colour = "CS" if column[-1][1] in "DH" else "DH"
        fitting = [card for card in left if card[0] == rank and card[1] in colour and card not in column]
        if not fitting:
            break
        column.append(fitting[0])
    return column


def add_twin(columns, places, left):
    """Makes a column one card, on which both the whole long column and its tail 26 shorter fit.

    That is the other card of the same rank and colour as the long column's 26th, and there is no further one:
    of tails both short of the whole, the only two cards they fit on lie in the long column themselves.
    """
    long_column = columns[places[0]]
    if len(long_column) >= 27:
        rank, suit = long_column[25]
        twin = rank + {"C": "S", "S": "C", "D": "H", "H": "D"}[suit]
        if twin in left:
            left.remove(twin)
            columns[places[1]] = [twin]


def built_rest(rules, columns, left, dice):
    """Reserve, stock and waste out of the cards left; no reserve beside an empty column it should fill."""
    reserve_size = dice.choice([0, 0, 1, 2, dice.randint(0, 13)])
    reserve_size = min(13, len(left), max(reserve_size, len(left) - 34))
    if rules["auto_fill"] and not all(columns):
        reserve_size = 0
    reserve, rest = left[:reserve_size], left[reserve_size:]
    stock_size = dice.choice([0, 0, 1, 2, 3, 4, 5, dice.randint(0, 34), dice.randint(0, 34)])
    return reserve, rest[:stock_size], rest[stock_size:]
