"""Pictures: what they show, that they hide what is hidden, and that they are what they were."""

from __future__ import annotations

import builtins
import subprocess
import sys
import time
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import canfield_env
from canfield_env import Game, Position
from canfield_env.open_table import OpenTable, move_words
from helpers import IDS, PUBLISHED_CODE, lay_out, long_column

pygame = pytest.importorskip("pygame", reason="pygame-ce is not installed")

from canfield_env import picture  # noqa: E402  (needs pygame)

GOLDEN = Path(__file__).parent / "data" / "pictures"
MEAN_DIFFERENCE, FAR, FAR_SHARE = 0.25, 48, 0.001
"""How far a picture may be from its golden one (versions of SDL and FreeType smooth edges a little differently): the
mean difference of a colour value (0-255), and the share of values that are further off than ``FAR``."""


def published(*moves):
    game = Game.from_code(PUBLISHED_CODE)
    for move in moves:
        game.play(move)
    return game


def golden_pictures():
    """What each golden picture shows."""
    game = published("R>T2", "R>F", "T2>T4", "D")
    twenty = lay_out([" ".join(long_column(20)), "", "", ""], base="2", rest="waste")
    won = lay_out(["", "", "", ""], base="7", foundations="6C 6D 6H 6S")
    return {
        "start": picture.draw(published().position(), PUBLISHED_CODE, 0),
        "middle": picture.draw(game.position(), game.code, game.score, "D"),
        "two_colours": picture.draw(game.position(), None, None, "T2>T4", palette="two"),
        "long_column": picture.draw(twenty, None, -45, "R>F"),
        "won": picture.draw(won, PUBLISHED_CODE, 255, "T1>F"),
    }


def save_golden_pictures():
    """Write the golden pictures anew: ``PYTHONPATH=. python tests/test_picture.py``. Look at them before committing."""
    GOLDEN.mkdir(exist_ok=True)
    for name, pixels in golden_pictures().items():
        pygame.image.save(pygame.surfarray.make_surface(np.swapaxes(pixels, 0, 1)), GOLDEN / f"{name}.png")


@pytest.fixture(scope="module")
def drawn():
    return golden_pictures()


@pytest.mark.parametrize("name", ["start", "middle", "two_colours", "long_column", "won"])
def test_golden(name, drawn):
    image = pygame.image.load(GOLDEN / f"{name}.png")
    golden = np.frombuffer(pygame.image.tobytes(image, "RGB"), np.uint8).reshape(drawn[name].shape)
    difference = np.abs(golden.astype(int) - drawn[name].astype(int))
    assert difference.mean() <= MEAN_DIFFERENCE
    assert (difference > FAR).mean() <= FAR_SHARE


def test_a_single_other_card_is_beyond_the_tolerance(drawn):
    """The golden tests would notice even one card drawn as another."""
    game = published("R>T2", "R>F", "T2>T4", "D")
    data = game.position().to_dict()
    data["waste"][-1], data["stock"][0] = data["stock"][0], data["waste"][-1]
    other = picture.draw(Position.from_dict(data), game.code, game.score, "D")
    difference = np.abs(other.astype(int) - drawn["middle"].astype(int))
    assert (difference > FAR).mean() > FAR_SHARE or difference.mean() > MEAN_DIFFERENCE


# --- What is hidden ------------------------------------------------------------------------------------------


def shuffled_twin(position, random):
    """A position that differs from ``position`` in nothing but the cards that do not lie open."""
    data = position.to_dict()
    fan = position.rules.draw_count
    hidden = data["reserve"][:-1] + data["waste"][:-fan] + data["stock"]
    random.shuffle(hidden)
    reserve, waste = len(data["reserve"][:-1]), len(data["waste"][:-fan])
    data["reserve"] = hidden[:reserve] + data["reserve"][-1:]
    data["waste"] = hidden[reserve : reserve + waste] + data["waste"][-fan:]
    data["stock"] = hidden[reserve + waste :]
    return Position.from_dict(data)


@settings(max_examples=25)
@given(st.integers(0, 2**35 - 1), st.sampled_from(IDS), st.integers(0, 60), st.randoms(use_true_random=False))
def test_hidden_cards_change_nothing(number, env_id, steps, random):
    env = gym.make(env_id, disable_env_checker=True).unwrapped
    _, info = env.reset(options={"deal": canfield_env.Deal.from_number(number)})
    for _ in range(steps):
        _, _, terminated, _, info = env.step(random.choice(np.flatnonzero(info["action_mask"]).tolist()))
        if terminated:
            break
    twin = shuffled_twin(env.position(), random)
    assert OpenTable.of(twin) == OpenTable.of(env.position())
    assert np.array_equal(picture.draw(twin, None, 5, "D"), picture.draw(env.position(), None, 5, "D"))


def test_an_open_card_changes_the_picture():
    game = published()
    data = game.position().to_dict()
    data["reserve"][-1], data["stock"][0] = data["stock"][0], data["reserve"][-1]
    assert not np.array_equal(picture.draw(Position.from_dict(data)), picture.draw(game.position()))


def test_suits_differ_by_shape_alone():
    """In one colour, no suit's card looks like another's."""
    grey = dict.fromkeys(("four", "two"), ((0, 0, 0),) * 4)
    before = dict(picture.PALETTES)
    picture._face.cache_clear()
    try:
        picture.PALETTES.update(grey)
        faces = [pygame.surfarray.array3d(picture._face(13 * suit + 6, "two")).astype(int) for suit in range(4)]
    finally:
        picture.PALETTES.update(before)
        picture._face.cache_clear()
    for k, face in enumerate(faces):
        for other in faces[k + 1 :]:
            assert (np.abs(face - other) > 128).mean() > 0.01


# --- Columns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 53))
def test_columns_stay_on_the_table(length):
    end = picture._TABLE_Y + (length - 1) * picture.column_step(length) + picture.CARD_HEIGHT
    assert end <= picture._BOTTOM_Y
    assert picture.column_step(length) >= 5


# --- The environments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.filterwarnings("error")
def test_checkers_accept_every_id(env_id, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make(env_id, disable_env_checker=True, render_mode="rgb_array")
    check_env(env.unwrapped)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="stable-baselines3 is not installed")
    sb3.check_env(env.unwrapped, skip_render_check=False)
    env.close()


def test_rgb_array_follows_the_game():
    env = gym.make("Canfield-v0", render_mode="rgb_array")
    env.reset(options={"code": PUBLISHED_CODE})
    start = env.render()
    assert (start.shape, start.dtype) == ((720, 960, 3), np.uint8)
    canfield = env.unwrapped
    env.step(canfield.action_of("R>T2"))
    game = published("R>T2")
    assert np.array_equal(env.render(), picture.draw(game.position(), PUBLISHED_CODE, 0, "R>T2"))
    env.step(canfield.action_of("R>F"))
    kept = env.render()
    env.step(1)  # the waste is empty: an illegal action is no last move
    assert np.array_equal(env.render(), kept)
    env.reset(options={"code": PUBLISHED_CODE})
    assert np.array_equal(env.render(), start)
    start[:] = 0  # a picture is the caller's own
    assert env.render().any()


def test_ten_frames_a_second():
    env = gym.make("Canfield-v0", render_mode="rgb_array", disable_env_checker=True)
    env.reset(seed=1)
    env.render()
    seconds = []
    for _ in range(10):
        started = time.perf_counter()
        env.step(0)
        env.render()
        seconds.append(time.perf_counter() - started)
    assert sorted(seconds)[5] < 0.1


def test_vector_environment_draws_each():
    envs = gym.make_vec("Canfield-v0", num_envs=2, render_mode="rgb_array")
    envs.reset(options={"codes": [PUBLISHED_CODE, "CF1-D3-AAAAAAA"]})
    frames = envs.render()
    assert len(frames) == 2
    assert np.array_equal(frames[0], picture.draw(published().position(), PUBLISHED_CODE, 0))
    with pytest.raises(ValueError, match="render_mode is 'human', but must be one of ansi, rgb_array"):
        gym.make_vec("Canfield-v0", num_envs=2, render_mode="human")


def test_record_video(tmp_path):
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    env = gym.make("Canfield-v0", render_mode="rgb_array", disable_env_checker=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # moviepy's own
        video = gym.wrappers.RecordVideo(env, str(tmp_path), episode_trigger=lambda _: True, disable_logger=True)
        _, info = video.reset(seed=1)
        for _ in range(6):
            *_, info = video.step(int(np.flatnonzero(info["action_mask"])[-1]))
        video.close()
    (written,) = tmp_path.glob("*.mp4")
    assert written.stat().st_size > 5_000


def test_human_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gym.make("Canfield-v0", render_mode="human", disable_env_checker=True)
    monkeypatch.setattr(env.unwrapped, "metadata", {**env.unwrapped.metadata, "render_fps": 500})
    env.reset(options={"code": PUBLISHED_CODE})
    env.step(0)
    assert env.render() is None
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    game = published("D")
    assert np.array_equal(shown, picture.draw(game.position(), PUBLISHED_CODE, 0, "D"))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(0)
    assert not env.unwrapped._window.is_open
    env.step(0)  # the game goes on without the window
    env.close()


def test_a_window_that_cannot_be_opened_says_why():
    script = (
        "import gymnasium as gym, canfield_env\n"
        "env = gym.make('Canfield-v0', render_mode='human')\n"
        "try: env.reset(seed=1)\n"
        "except gym.error.DependencyNotInstalled as error: print(error)\n"
    )
    environment = {"SDL_VIDEODRIVER": "none-such", "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert 'use render_mode="rgb_array" where there is no display' in done.stdout, done.stderr


def test_without_pygame_the_error_says_what_to_install(monkeypatch):
    found = builtins.__import__

    def no_pygame(name, *arguments, **named):
        if name.split(".")[0] == "pygame":
            raise ImportError(name)
        return found(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", no_pygame)
    monkeypatch.delitem(sys.modules, "canfield_env.picture")
    monkeypatch.delattr(canfield_env, "picture")
    with pytest.raises(gym.error.DependencyNotInstalled, match=r'pip install "canfield-env\[render\]"'):
        canfield_env.CanfieldEnv(render_mode="rgb_array")
    assert canfield_env.CanfieldEnv(render_mode="ansi").reset(seed=1)


def test_bad_settings():
    with pytest.raises(ValueError, match="palette is 'none', but must be one of four, two"):
        picture.draw(published().position(), palette="none")
    with pytest.raises(ValueError, match="must be one of ansi, rgb_array, human or None"):
        canfield_env.CanfieldEnv(render_mode="rgb")


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("D", "draw"),
        ("W>F", "waste to foundation"),
        ("R>T2", "reserve to column 2"),
        ("FH>T4", "hearts to column 4"),
        ("T1>T3*2", "column 1 to column 3, 2 cards"),
    ],
)
def test_move_words(move, words):
    assert move_words(move) == words


if __name__ == "__main__":
    save_golden_pictures()
