"""What the search leaves out loses nothing: with and without each reduction it finds the same, and its moves are the
rules' moves."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canfield_env import Position
from canfield_env import solver as solver_module
from canfield_env.kernel import episode
from canfield_env.kernel import solve as kernel
from canfield_env.kernel.state import COLUMN, FOUNDATION, RESERVE, STOCK, WASTE
from canfield_env.positions import new_record
from canfield_env.solver import solve
from solver_tools import endgame, endgames, random_rules
from strategies import whole_position

COMBINATIONS = [
    kernel.TAILS,
    kernel.SAFE,
    kernel.LIFT,
    kernel.POINTER,
    kernel.TAILS | kernel.SAFE,
    kernel.TAILS | kernel.LIFT,
]


@pytest.mark.parametrize("seed", range(6))
def test_endgames_come_out_the_same_with_and_without_each_reduction(seed):
    found = {"won": 0, "unwinnable": 0, "unknown": 0}
    for _, _, position in endgames(100 + seed, 400, 20):
        plain = solve(position, features=0, max_nodes=20_000).verdict
        found[plain] += 1
        if plain != "unknown":
            for features in (kernel.ALL_FEATURES, COMBINATIONS[seed % len(COMBINATIONS)]):
                assert solve(position, features=features, max_nodes=200_000).verdict in (plain, "unknown"), str(
                    position
                )
    assert found["won"] > 100
    assert found["unwinnable"] > 10


@given(st.integers(0, 2**32 - 1), st.integers(4, 24), st.sampled_from([*COMBINATIONS, kernel.ALL_FEATURES]))
@settings(max_examples=300, deadline=None)
def test_any_endgame_comes_out_the_same_with_and_without_reductions(seed, most, features):
    dice = random.Random(seed)
    rules = random_rules(dice)
    position = Position.from_dict(whole_position(endgame(rules, dice, most), rules))
    verdicts = {solve(position, features=each, max_nodes=50_000).verdict for each in (0, features)}
    assert len(verdicts - {"unknown"}) <= 1


# --- The moves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_moves_without_reductions_are_those_of_the_rules(seed):
    """From a position the search, draws folded in, reaches what the kernel's ``try_move`` reaches: every play now,
    and every play of a waste top that draws and at most one redeal turn up."""
    for _, _, position in endgames(200 + seed, 150, 40):
        problem, row = solver_module._problem(position, 0)
        kids = np.empty((kernel.KIDS, kernel.WORDS), np.int64)
        moves = np.empty(kernel.KIDS, np.int64)
        row[kernel.COLUMN : kernel.COLUMN + 4].sort()
        found = {read_key(problem, position, *kid[kernel.KEY : kernel.KEY + 2].tolist())
                 for kid in kids[: kernel.successors(problem, row, kids, moves)]}  # fmt: skip
        assert found == reached(position), str(position)


def read_key(problem, position, first, second):
    """The position that a key stands for, read back from nothing but its 128 bits and the root's piles."""
    id_of = {number: card for card, number in enumerate(solver_module._numbers(position.base_rank))}
    counts = [second >> 34 + 4 * solver_module._FOUNDATION_OF_SUIT[suit] & 15 for suit in range(4)]
    reserve = second >> 50 & 15
    talon_cards = [int(number) for number in problem[kernel.TALON_CARDS : kernel.TALON_CARDS + 34]]
    talon = [id_of[talon_cards[k]] for k in range(34) if second >> k & 1]
    up = {suit * 13 + (position.base_rank + k) % 13 for suit in range(4) for k in range(counts[suit])}
    number_of = {card: number for number, card in id_of.items()}
    in_columns = {number_of[card] for card in set(range(52)) - up - set(talon) - set(position.reserve[:reserve])}
    firsts = [(first >> shift & 63) - 1 for shift in (26, 32, 38, 44)]
    columns = []
    for card in firsts:
        column = []
        while card >= 0:
            column.append(id_of[card])
            p = (card % 26 + 1) % 26
            card = p + 26 * ((card >= 26) ^ (first >> p & 1))
            if card not in in_columns or card in firsts:
                card = -1
        columns.append(tuple(column))
    assert sum(map(len, columns)) == len(in_columns)
    return tuple(counts), reserve, tuple(sorted(columns)), tuple(talon), second >> 54 & 63, first >> 50 & 63


def reached(position):
    """The same of all positions that the kernel's moves lead to."""
    here = new_record(position.rules)
    position.write(here, 0)
    found, seen_tops = set(), set()
    for draws in range(80):
        record = here.copy()
        for source in range(STOCK):
            for target in (FOUNDATION, *range(COLUMN, COLUMN + 4)):
                if source == WASTE:
                    top = int(record["talon"][0, record["waste_count"][0] - 1])
                    if record["waste_count"][0] == 0 or top in seen_tops:
                        continue
                elif draws > 0:
                    continue
                lengths = record["length"][0]
                most = int(lengths[source - COLUMN]) if source >= COLUMN else 1
                for count in range(1, most + 1):
                    after = record.copy()
                    if episode.try_move(after, 0, source, target, count):
                        found.add(describe(after, position.rules))
        if record["waste_count"][0] > 0:
            seen_tops.add(int(record["talon"][0, record["waste_count"][0] - 1]))
        if not episode.try_move(here, 0, STOCK, STOCK, 1) or here["redeals"][0] > position.redeals + 1:
            break
    return found


def describe(states, rules):
    after = Position.read(states, 0, rules)
    waste, talon = len(after.waste), after.waste + after.stock
    left = 0
    if rules.max_redeals is None:
        if rules.draw_count == 1 or waste % 3 == 0 or not after.stock:
            waste = 0
    else:
        left = min(rules.max_redeals - after.redeals, 34)
    return after.foundations, len(after.reserve), tuple(sorted(after.columns)), talon, waste, left


def test_numbers_of_reserve_and_waste_as_sources():
    """``reached`` goes through all piles as sources by their numbers."""
    assert (WASTE, RESERVE, FOUNDATION, COLUMN, STOCK) == (0, 1, 2, 6, 10)
