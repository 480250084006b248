"""Players: what they choose, and how they are found by name."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from canfield_env import Game, Rules
from canfield_env.evaluation import make_env
from canfield_env.players import GreedyPlayer, PlayerName, RandomPlayer, check_player, load_player

APP = Rules()


def position(**changes):
    """A position dict with few cards in play: the others lie deep in the reserve and in the stock."""
    base = {"rules": "app", "base_rank": "A", "foundations": {"C": 0, "D": 0, "H": 0, "S": 1}, "redeals": 1}
    data = base | {"reserve": [], "columns": [["5C"], ["5D"], ["5H"], ["5S"]], "waste": []} | changes
    used = {card for pile in (data["reserve"], data["waste"], *data["columns"]) for card in pile}
    ranks = "A23456789TJQK"
    used |= {ranks[k] + suit for suit, count in data["foundations"].items() for k in range(count)}
    rest = [rank + suit for suit in "CDHS" for rank in ranks if rank + suit not in used]
    deep = 13 - len(data["reserve"])
    return data | {"reserve": rest[:deep] + data["reserve"], "stock": rest[deep:]}


def choice(player, data, rules="app"):
    """The move, as text, that ``player`` chooses in a position."""
    env = make_env(Rules.read(rules), player.observation, "cards")
    observation, info = env.reset(options={"position": data})
    action = player.act(observation, info["action_mask"].astype(bool))
    return str(Game.from_position(data).move_of(action))


@pytest.mark.parametrize(
    ("changes", "move"),
    [
        ({"reserve": ["9C", "2S"], "columns": [["5C"], ["5D"], ["AH"], ["5S"]]}, "R>F"),
        ({"reserve": ["4H"], "columns": [["5C"], ["5D"], ["AH"], ["5S"]], "waste": ["2S"]}, "T3>F"),
        ({"reserve": ["4H"], "waste": ["2S"]}, "W>F"),
        ({"reserve": ["4H"], "waste": ["4C"]}, "R>T1"),
        ({"reserve": ["9H"], "waste": ["4C"], "columns": [["5C"], ["5D"], ["6H"], ["5S"]]}, "W>T2"),
        ({"reserve": ["9H"], "columns": [["5C"], ["5D"], ["6H"], ["8S"]]}, "T1>T3"),
        # A part of a column, though it fits, and a take-back stay undone.
        ({"reserve": ["9H"], "columns": [["6C", "5D"], ["6S"], ["9C"], ["9D"]]}, "D"),
        ({"reserve": ["9H"], "columns": [["2H"], ["9C"], ["9S"], ["9D"]]}, "D"),
    ],
)
def test_greedy_order(changes, move):
    assert choice(GreedyPlayer(), position(**changes)) == move


def test_greedy_without_a_draw_plays_what_is_left():
    data = position(columns=[["6C", "5D"], ["6S"], ["9C"], ["9D"]], reserve=["9H"])
    data |= {"rules": {"preset": "app", "max_redeals": 1}, "waste": data["stock"], "stock": []}
    assert choice(GreedyPlayer(), data, {"preset": "app", "max_redeals": 1}) == "T1>T2"


def test_random_player_follows_its_seed_and_the_mask():
    player = RandomPlayer()
    mask = np.zeros(95, bool)
    mask[[0, 7, 94]] = True
    observation = np.zeros(82, np.uint8)

    def choices(seed):
        player.begin(APP, seed)
        return [player.act(observation, mask) for _ in range(200)]

    first = choices(5)
    assert first == choices(5) != choices(6)
    assert set(first) == {0, 7, 94}
    assert all(type(action) is int for action in first)


@pytest.mark.parametrize("rules", ["app", "hoyle", "andr", "app,draw_count=1,build_past_base=false"])
@pytest.mark.parametrize("name", ["random", "greedy"])
def test_players_choose_legal_actions_only(name, rules):
    player = load_player(name)
    env = gym.make("Canfield-v0", rules=Rules.read(rules).to_plain(), strict=True, disable_env_checker=True)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        player.begin(Rules.read(rules), seed)
        ended = False
        while not ended:
            action = player.act(observation, info["action_mask"].view(bool))
            observation, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated


def test_names():
    assert isinstance(load_player("random"), RandomPlayer)
    assert isinstance(load_player("canfield_env.players:GreedyPlayer"), GreedyPlayer)
    assert PlayerName.read("a.b:C:d:e") == PlayerName("a.b:C:d:e", "a.b", "C", "d:e")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "no player 'nobody': the players are random, greedy"),
        ("learned:runs/x.zip", "no player 'learned:runs/x.zip'"),
        ("", "no player ''"),
        ("no_such_module:Player", "no module 'no_such_module'"),
        ("canfield_env.players:Nobody", "has no class 'Nobody'"),
        ("canfield_env.players:load_player", "has no class 'load_player'"),
        ("greedy:fast", "'greedy:fast' takes no argument"),
        ("canfield_env.game:Game", "needs an argument"),
        ("collections:OrderedDict", "has no method begin"),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(ValueError, match=message):
        load_player(name)


def test_a_player_must_have_its_methods():
    class Odd(RandomPlayer):
        observation = "all"

    class Lazy:
        def begin(self, rules, seed):
            pass

    with pytest.raises(ValueError, match="observation is 'all', but must be one of screen, recall, thoughtful"):
        check_player(Odd(), "odd")
    with pytest.raises(ValueError, match="no method act"):
        check_player(Lazy(), "lazy")


def test_own_player_is_found_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "my_players_here.py").write_text(
        "class Mine:\n    def begin(self, rules, seed): pass\n    def act(self, o, m): return int(m.argmax())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if path != ""])
    assert type(load_player("my_players_here:Mine")).__name__ == "Mine"
