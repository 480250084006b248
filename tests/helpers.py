"""What several test files share: positions laid out by hand, and games that play themselves."""

import functools
import random
from pathlib import Path

from canfield_env import CanfieldEnv, Deal, Position
from reference import PACK, RANKS, SUITS

DATA = Path(__file__).parent / "data"
PUBLISHED_CODE = "CF1-D3-AAAAACL"

TIERS = ("screen", "recall", "thoughtful")
REWARDS = ("cards", "app", "casino", "andr", "win")
IDS = ("Canfield-v0", "CanfieldDraw1-v0", "CanfieldHoyle-v0", "CanfieldAndr-v0")


def lay_out(
    columns,
    *,
    foundations="",
    reserve="",
    waste="",
    stock="",
    base="7",
    rest="stock",
    rules="app",
    redeals=0,
    **changes,
):
    """A position laid out by hand; the cards that are named nowhere go where ``rest`` says.

    Args:
        columns: The four columns, such as ``["6C", "KH QC", "", ""]``.
        foundations: Top cards, such as ``"8H KS"``; a foundation without one is empty.
        reserve, waste: From the bottom to the top, such as ``"2C 9D"``.
        stock: The next drawn first.
        base: The base rank.
        rest: ``"stock"``: under the stock's cards; ``"waste"``: under the waste's; ``"reserve"``: under the
            reserve's. What is more than a pile can hold goes under the reserve, and then under the stock.
        rules, redeals, changes: A preset with changed fields, and the redeals made.
    """
    piles = {"reserve": reserve.split(), "waste": waste.split(), "stock": stock.split()}
    counts = dict.fromkeys(SUITS, 0)
    used = set()
    for top in foundations.split():
        counts[top[1]] = (RANKS.index(top[0]) - RANKS.index(base)) % 13 + 1
        used |= {RANKS[(RANKS.index(base) + k) % 13] + top[1] for k in range(counts[top[1]])}
    used |= {card for column in columns for card in column.split()}
    used |= {card for pile in piles.values() for card in pile}
    left = [card for card in PACK if card not in used]
    named_talon = len(piles["waste"]) + len(piles["stock"])
    room = {"reserve": 13 - len(piles["reserve"]), "waste": 34 - named_talon, "stock": 34 - named_talon}
    first, left = left[: room[rest]], left[room[rest] :]
    if rest == "reserve":
        piles["stock"] += left
    else:
        piles["reserve"] = left + piles["reserve"]
    if rest == "stock":
        piles["stock"] += first
    else:
        piles[rest] = first + piles[rest]
    return Position.from_dict(
        {
            "rules": {"preset": rules, **changes},
            "base_rank": base,
            "foundations": counts,
            "columns": [column.split() for column in columns],
            "redeals": redeals,
            **piles,
        }
    )


def texts(moves):
    """The texts of moves, as a set."""
    return {str(move) for move in moves}


def long_column(length, first="KC"):
    """The first ``length`` cards of a column that uses clubs and diamonds, then spades and hearts."""
    rank, suits = RANKS.index(first[0]), {"C": "CDSH", "D": "DCHS"}[first[1]]
    cards = []
    for k in range(length):
        lap = k // 13
        # 13 is odd, so the colours of a second lap are the other way round: of 52 cards each comes once.
        pair = suits[0:2] if lap in (0, 1) else suits[2:4]
        cards.append(RANKS[(rank - k) % 13] + pair[k % 2])
    return cards


def column_text(column):
    """A column of card ids as text."""
    return " ".join(PACK[card] for card in column)


def environment(rules="app", **settings):
    """A bare environment, without the wrappers of ``gym.make``."""
    return CanfieldEnv(rules=rules, **settings)


@functools.cache
def dead_position(preset):
    """A position in which the player can know that no play will ever come, and only draw: found by playing."""
    env = environment({"preset": preset, "take_back": False}, end_when_stuck=False)
    for number in range(1000):
        dice = random.Random(number)
        _, info = env.reset(options={"deal": Deal.from_number(number)})
        for _ in range(120):
            plays = [action for action in range(1, 95) if info["action_mask"][action]]
            _, _, _, _, info = env.step(plays[0] if plays and dice.random() < 0.9 else 0)
            if info["stuck"] and info["action_mask"].tolist() == [1] + [0] * 94:
                return env.position()
    raise AssertionError("no dead position found")


def published_winning_line():
    """The moves of a win of the published deal."""
    return (DATA / "winning_line.txt").read_text(encoding="utf-8").split()
