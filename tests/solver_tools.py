"""What the solver's tests share: small endgames, and a search over the reference engine that leaves nothing out."""

import random

from canfield_env import Position
from reference import PRESETS, RANKS, SUITS, Reference
from strategies import built_column, built_position, whole_position

FIELDS = {
    "draw_count": (1, 3),
    "column_moves": ("tail", "whole"),
    "auto_fill": (True, False),
    "empty_column": ("any", "waste"),
    "take_back": (True, False),
    "build_past_base": (True, False),
    "max_redeals": (None, None, None, 0, 1, 2),
}


def random_rules(dice):
    """All ten fields: a preset, or any mix of what the solver minds."""
    rules = {**dice.choice(list(PRESETS.values())), "draw_count": dice.choice([1, 3])}
    if dice.random() < 0.7:
        rules |= {name: dice.choice(values) for name, values in FIELDS.items()}
    return rules


def endgame(rules, dice, most):
    """A position of at most ``most`` cards that are not on foundations."""
    while True:
        if dice.random() < 0.3:
            position = built_position(rules, dice)
        else:
            position = like_a_deal(rules, dice, most)
        in_talon = len(position["stock"]) + len(position["waste"])
        if in_talon <= 34 and 52 - sum(position["foundations"].values()) <= most:
            return position


def like_a_deal(rules, dice, most):
    """Few cards left, lying as after a deal: short columns, a reserve, the rest in the stock. Often unwinnable."""
    base_rank = dice.randrange(13)
    left_of = dict.fromkeys(SUITS, 0)
    for _ in range(dice.randint(4, most)):
        suit = dice.choice([suit for suit in SUITS if left_of[suit] < 13])
        left_of[suit] += 1
    if not rules["take_back"] and all(count == 13 for count in left_of.values()):
        left_of["C"] = 12
    left = [RANKS[(base_rank + step) % 13] + suit for suit in SUITS for step in range(13 - left_of[suit], 13)]
    dice.shuffle(left)
    columns = [built_column(rules, base_rank, dice.choice([1, 1, 1, 2, 4]), left, dice) for _ in range(4)]
    reserve_size = min(dice.choice([0, 2, 4, 6, 8, 10]), len(left)) if all(columns) else 0
    reserve, rest = left[:reserve_size], left[reserve_size:]
    drawn = dice.randint(0, len(rest)) if dice.random() < 0.3 else 0
    return {
        "base_rank": RANKS[base_rank],
        "foundations": {suit: 13 - left_of[suit] for suit in SUITS},
        "reserve": reserve,
        "columns": columns,
        "stock": rest[drawn:],
        "waste": rest[:drawn],
        "redeals": 0,
    }


def endgames(seed, number, most):
    """So many (position dict, rules dict, Position), the same ones for a seed."""
    dice = random.Random(seed)
    for _ in range(number):
        rules = random_rules(dice)
        position = endgame(rules, dice, most)
        yield position, rules, Position.from_dict(whole_position(position, rules))


def state_of(game):
    """What makes a reference game's position, without the columns' order."""
    redeals = game.redeals if game.rules["max_redeals"] is not None else 0
    counts = tuple(len(game.foundations[suit]) for suit in SUITS)
    columns = tuple(sorted(tuple(column) for column in game.columns))
    return counts, len(game.reserve), columns, tuple(game.stock), tuple(game.waste), redeals


def brute_force(position, rules, most):
    """The verdict by visiting every position that the reference engine's moves lead to; None if these are more than
    ``most``."""
    start = Reference.from_position(position, rules)
    seen, todo = {state_of(start)}, [start]
    while todo:
        game = todo.pop()
        if game.won:
            return "won"
        if len(seen) > most:
            return None
        for move in sorted(game.drag_moves(), key=lambda move: (move.endswith(">F"), move != "D")):
            after = Reference.from_position(game.position(), rules)
            after.play(move)
            if state_of(after) not in seen:
                seen.add(state_of(after))
                todo.append(after)
    return "unwinnable"
