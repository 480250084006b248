"""Nothing hidden shows: two games that differ only in what a player has never seen look the same to that player.

What has been seen is counted here with the reference engine, not with the package.
"""

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import REWARDS, TIERS, dead_position, environment
from reference import PACK, Reference
from strategies import SEEDS, endgame_positions, rules_dicts, shuffled_pack, weight, whole_position

FAIR_TIERS = ("screen", "recall")
STEPS = 60


def shown(outcome, env, *, without=()):
    """All that a player is given, but for the code, which names the deal: as something that can be compared."""
    *rest, info = outcome
    told = {key: value for key, value in info.items() if key != "code" and key not in without}
    told["action_mask"] = told["action_mask"].tolist()
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in rest], told, board(env)


def board(env):
    """The render, without the first line's code."""
    title, *lines = env.render().splitlines()
    parts = title.split(" · ")
    return [parts[0], *parts[2:]], lines


def play(env, options, choose):
    """What a game shows from its reset on; ``choose(env)`` picks each action and ends the game with None."""
    history = [shown(env.reset(options=options), env)]
    actions = []
    while (action := choose(env)) is not None:
        actions.append(action)
        outcome = env.step(action)
        history.append(shown(outcome, env))
        if outcome[2]:
            break
    return actions, history


def replay(env, options, actions):
    remaining = iter(actions)
    _, history = play(env, options, lambda env: next(remaining, None))
    return history


def shuffled_among_themselves(deal, cards, dice):
    """The deal with these cards in one another's places."""
    places = [place for place, card in enumerate(deal) if card in cards]
    moved = [deal[place] for place in places]
    dice.shuffle(moved)
    other = list(deal)
    for place, card in zip(places, moved, strict=True):
        other[place] = card
    return other


@pytest.mark.parametrize("tier", FAIR_TIERS)
@given(rules_dicts(), SEEDS, st.integers(0, STEPS), st.sampled_from(REWARDS))
@settings(max_examples=40)
def test_what_was_never_seen_does_not_show(tier, rules, seed, steps, reward):
    """A deal is played; then the cards not seen by its end change places, and the same actions show the same, to
    the end and in the way it ends."""
    dice = random.Random(seed)
    deal = shuffled_pack(seed)
    env = environment(rules, observation=tier, reward=reward, render_mode="ansi")
    reference = Reference.deal(deal, rules)
    # A person at the table sees what the recall tier shows, at any time; a reserve card in a column too.
    seen = set(reference.visible("recall"))
    left = iter(range(steps))

    def choose(env):
        if next(left, None) is None:
            return None
        moves = sorted(reference.legal_moves())
        text = dice.choices(moves, [weight(move) for move in moves])[0] if moves else None
        if text is None:
            return None
        action = env.action_of(text)
        reference.play(text)
        seen.update(reference.visible("recall"))
        return action

    actions, history = play(env, {"deal": deal}, choose)
    unseen = [card for card in deal if card not in seen]
    for _ in range(3):
        other = shuffled_among_themselves(deal, unseen, dice)
        env = environment(rules, observation=tier, reward=reward, render_mode="ansi")
        assert replay(env, {"deal": other}, actions) == history


@pytest.mark.parametrize("tier", FAIR_TIERS)
@given(rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), endgame_positions(rules))), SEEDS)
@settings(max_examples=60)
def test_what_a_position_hides_does_not_show(tier, rules_and_position, seed):
    """From a position, the same; its ``redeals`` say whether the stock has been seen."""
    rules, data = rules_and_position
    dice = random.Random(seed)
    env = environment(rules, observation=tier, render_mode="ansi")
    reference = Reference.from_position(data, rules)
    known = reference.visible("recall")
    hidden = {"reserve": [card for card in data["reserve"] if card not in known]}
    hidden["stock"] = [card for card in data["stock"] if card not in known]
    both = hidden["reserve"] + hidden["stock"]
    dice.shuffle(both)
    other = {
        **data,
        "reserve": both[: len(hidden["reserve"])] + data["reserve"][len(hidden["reserve"]) :],
        "stock": both[len(hidden["reserve"]) :] if hidden["stock"] else data["stock"],
    }
    other_env = environment(rules, observation=tier, render_mode="ansi")
    one = env.reset(options={"position": whole_position(data, rules)})
    two = other_env.reset(options={"position": whole_position(other, rules)})
    assert shown(one, env) == shown(two, other_env)
    for _ in range(25):
        moves = sorted(reference.legal_moves())
        if not moves:
            break
        text = dice.choices(moves, [weight(move) for move in moves])[0]
        action = env.action_of(text)
        reference.play(text)
        if any(card in reference.visible("recall") for card in both):
            break  # a hidden card has been turned up
        one, two = env.step(action), other_env.step(action)
        assert shown(one, env) == shown(two, other_env)
        if one[2]:
            break


@given(rules_dicts().flatmap(lambda rules: st.tuples(st.just(rules), endgame_positions(rules))), SEEDS)
@settings(max_examples=80)
def test_screen_does_not_show_what_the_table_does_not(rules_and_position, seed):
    """``screen``: cards seen before and covered now do not show either. (Only in ``stuck`` and in when a game ends,
    which design.md allows: the player has seen them.)"""
    rules, data = rules_and_position
    dice = random.Random(seed)
    reference = Reference.from_position(data, rules)
    visible = reference.visible("screen")
    covered = [card for pile in ("reserve", "waste", "stock") for card in data[pile] if card not in visible]
    mixed = iter(dice.sample(covered, len(covered)))
    other = {
        **data,
        **{
            pile: [card if card in visible else next(mixed) for card in data[pile]]
            for pile in ("reserve", "waste", "stock")
        },
    }
    envs = [environment(rules, observation="screen", render_mode="ansi", end_when_stuck=False) for _ in range(2)]
    outcomes = [
        env.reset(options={"position": whole_position(position, rules)})
        for env, position in zip(envs, (data, other), strict=True)
    ]
    for step in range(25):
        one, two = (shown(outcome, env, without=["stuck"]) for outcome, env in zip(outcomes, envs, strict=True))
        assert one == two, step
        moves = sorted(reference.legal_moves())
        if not moves:
            break
        text = dice.choices(moves, [weight(move) for move in moves])[0]
        action = envs[0].action_of(text)
        reference.play(text)
        if any(card in reference.visible("screen") for card in covered):
            break
        outcomes = [env.step(action) for env in envs]


@given(rules_dicts(), SEEDS, st.integers(0, 30))
@settings(max_examples=40)
def test_thoughtful_shows_it_all(rules, seed, steps):
    """The thoughtful tier hides nothing: any two cards in one another's places show."""
    dice = random.Random(seed)
    env = environment(rules, observation="thoughtful")
    env.reset(options={"deal": shuffled_pack(seed)})
    for _ in range(steps):
        env.step(dice.choice(np.flatnonzero(env.action_masks()).tolist()))
    position = env.position()
    if sum(position.foundations) == 52:
        return
    observation, _ = env.reset(options={"position": position})
    places = [(pile, k) for pile in ("reserve", "stock", "waste") for k in range(len(getattr(position, pile)))]
    for _ in range(5 if len(places) > 1 else 0):
        (pile, k), (other_pile, other_k) = dice.sample(places, 2)
        piles = {name: list(getattr(position, name)) for name in ("reserve", "stock", "waste")}
        piles[pile][k], piles[other_pile][other_k] = piles[other_pile][other_k], piles[pile][k]
        swapped = dataclasses.replace(position, **{name: tuple(cards) for name, cards in piles.items()})
        other, _ = env.reset(options={"position": swapped})
        assert (other != observation).any()


@pytest.mark.parametrize("tier", TIERS)
def test_what_each_tier_knows_of_a_deal(tier):
    """At the deal: the four columns, the base card and the reserve's top; thoughtful, everything."""
    env = environment(observation=tier)
    deal = shuffled_pack(1)
    observation, _ = env.reset(options={"deal": deal})
    known = {PACK[card] for card in np.flatnonzero(observation[:52])}
    assert known == (set(PACK) if tier == "thoughtful" else {deal[12], *deal[13:18]})


@pytest.mark.parametrize("tier", TIERS)
def test_a_game_cannot_end_before_the_stock_was_seen(tier):
    """Before that an ending would tell what lies in it."""
    position = dead_position("hoyle")
    talon = position.waste + position.stock
    for stock, waste, redeals, stuck in ((talon, (), 1, True), (talon, (), 0, False), ((), talon, 0, True)):
        env = environment("hoyle", observation=tier)
        start = dataclasses.replace(position, stock=stock, waste=waste, redeals=redeals)
        _, info = env.reset(options={"position": start})
        assert info["stuck"] is stuck
