"""The table as a picture, with pygame-ce: for ``render_mode="rgb_array"`` and ``"human"``.

No display is needed for pictures: they are drawn on surfaces in memory, with the font that pygame brings along.
"""

from __future__ import annotations

import functools
import math
import os
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from .cards import RANKS
from .moves import Move
from .open_table import OpenTable, move_words
from .positions import Position

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
except ImportError as missing:
    raise DependencyNotInstalled('pictures need pygame-ce: pip install "canfield-env[render]"') from missing

WIDTH, HEIGHT = 960, 720
CARD_WIDTH, CARD_HEIGHT = 96, 134

PALETTES = {
    "four": ((0, 112, 60), (22, 80, 190), (200, 22, 40), (24, 24, 30)),
    "two": ((24, 24, 30), (200, 22, 40), (200, 22, 40), (24, 24, 30)),
}
"""Colours of clubs, diamonds, hearts and spades."""

_FELT, _BAR, _LINE = (28, 94, 74), (18, 62, 50), (70, 138, 116)
_TEXT, _FAINT, _MARK = (244, 246, 240), (172, 208, 192), (255, 204, 64)
_PAPER, _EDGE, _BACK, _BACK_LINE = (253, 252, 247), (120, 120, 116), (44, 62, 120), (150, 166, 214)

_BAR_HEIGHT, _MARGIN, _GAP = 44, 28, 24
_TOP_Y = _BAR_HEIGHT + 20
_TABLE_Y = _TOP_Y + CARD_HEIGHT + 36
_BOTTOM_Y = HEIGHT - _BAR_HEIGHT - 12
_STOCK_X, _WASTE_X = _MARGIN, _MARGIN + CARD_WIDTH + _GAP
_COLUMN_X = tuple(WIDTH - _MARGIN - CARD_WIDTH - (3 - k) * (CARD_WIDTH + _GAP) for k in range(4))
_FAN_STEP, _COLUMN_STEP = 50, 34
_SHARP = 4
"""Cards are drawn this many times larger and then scaled down, which makes their edges smooth."""

Colour = tuple[int, int, int]
Point = tuple[float, float]


def draw(
    position: Position,
    code: str | None = None,
    score: int | None = None,
    last_move: Move | str | None = None,
    palette: str = "four",
) -> np.ndarray:
    """A picture of the open cards of ``position``: uint8, shape (720, 960, 3).

    Args:
        position: The position.
        code: The deal's code.
        score: The score.
        last_move: The move that led here; its target is marked.
        palette: ``"four"`` gives each suit a colour of its own, ``"two"`` is red and black. The shapes of the
            suits differ in both.
    """
    surface = paint(position, code, score, last_move, palette)
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8)  # some ten times as fast as surfarray
    return pixels.reshape(HEIGHT, WIDTH, 3).copy()


def paint(
    position: Position,
    code: str | None = None,
    score: int | None = None,
    last_move: Move | str | None = None,
    palette: str = "four",
) -> Any:
    """As ``draw``, as a pygame surface."""
    if palette not in PALETTES:
        raise ValueError(f"palette is {palette!r}, but must be one of {', '.join(PALETTES)}")
    table = OpenTable.of(position)
    move = Move.parse(last_move) if isinstance(last_move, str) else last_move
    surface = pygame.Surface((WIDTH, HEIGHT))
    surface.fill(_FELT)
    _paint_bars(surface, position, code, move)
    _paint_facts(surface, table, score)
    places = _paint_cards(surface, table, palette)
    if move is not None:
        _mark(surface, places, move)
    return surface


class Window:
    """A window that shows pictures, for ``render_mode="human"``. Once it is closed, nothing more is shown.

    Raises:
        DependencyNotInstalled: where there is no display to open a window on.
    """

    def __init__(self, title: str, frames_per_second: int) -> None:
        try:
            pygame.display.init()
            self._screen: Any = pygame.display.set_mode((WIDTH, HEIGHT))
        except pygame.error as error:
            raise DependencyNotInstalled(
                f'no window can be opened ({error}): use render_mode="rgb_array" where there is no display'
            ) from error
        pygame.display.set_caption(title)
        self._clock = pygame.time.Clock()
        self._frames_per_second = frames_per_second

    @property
    def is_open(self) -> bool:
        """Whether the window is there."""
        return self._screen is not None

    def show(self, surface: Any) -> None:
        """Show a surface, at most so many a second."""
        if self._screen is None:
            return
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        self._screen.blit(surface, (0, 0))
        pygame.display.flip()
        self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Close the window."""
        if self._screen is not None:
            self._screen = None
            pygame.display.quit()


# --- The table ---------------------------------------------------------------------------------------------


def _paint_bars(surface: Any, position: Position, code: str | None, move: Move | None) -> None:
    pygame.draw.rect(surface, _BAR, (0, 0, WIDTH, _BAR_HEIGHT))
    pygame.draw.rect(surface, _BAR, (0, HEIGHT - _BAR_HEIGHT, WIDTH, _BAR_HEIGHT))
    _write(surface, code if code and len(code) < 30 else "Canfield", 18, _TEXT, left=_MARGIN, middle=_BAR_HEIGHT // 2)
    rules = f"{position.rules}, draw {position.rules.draw_count}"
    _write(surface, rules, 15, _FAINT, right=WIDTH - _MARGIN, middle=_BAR_HEIGHT // 2)
    said = f"Last move: {move_words(move)}  ({move})" if move else "No move yet"
    _write(surface, said, 15, _TEXT if move else _FAINT, left=_MARGIN, middle=HEIGHT - _BAR_HEIGHT // 2)


def _paint_facts(surface: Any, table: OpenTable, score: int | None) -> None:
    facts = [
        ("Base rank", _rank_text(table.base_rank)),
        ("Score", "–" if score is None else f"{score:,}".replace("-", "−")),
        ("On foundations", f"{sum(table.foundations)} of 52"),
        ("Redeals", str(table.redeals)),
    ]
    y = _TABLE_Y + 4
    for name, value in facts:
        _write(surface, name, 14, _FAINT, left=_WASTE_X + 34, middle=y + 8)
        _write(surface, value, 26, _TEXT, left=_WASTE_X + 34, middle=y + 32)
        y += 68


def _paint_cards(surface: Any, table: OpenTable, palette: str) -> dict[str, Any]:
    """Draw all piles; the rectangles where a move's target lies, by the pile's name."""
    faces = {"palette": palette}
    places: dict[str, Any] = {}
    surface.blit(_back() if table.stock_count else _slot(None), (_STOCK_X, _TOP_Y))
    _label(surface, f"Stock {table.stock_count}", _STOCK_X, _TOP_Y)
    if not table.fan:
        surface.blit(_slot(None), (_WASTE_X, _TOP_Y))
    for k, card in enumerate(table.fan):
        surface.blit(_face(card, **faces), (_WASTE_X + k * _FAN_STEP, _TOP_Y))
    places["W"] = _card_rect(_WASTE_X + max(0, len(table.fan) - 1) * _FAN_STEP, _TOP_Y)
    _label(surface, f"Waste {table.waste_count}", _WASTE_X, _TOP_Y)
    for depth in range(min(3, table.reserve_count - 1), 0, -1):
        surface.blit(_back(), (_STOCK_X + 3 * depth, _TABLE_Y + 4 * depth))
    top = table.reserve_top
    surface.blit(_slot(None) if top is None else _face(top, **faces), (_STOCK_X, _TABLE_Y))
    _label(surface, f"Reserve {table.reserve_count}", _STOCK_X, _TABLE_Y + 12)
    for suit, x in enumerate(_COLUMN_X):
        top = table.foundation_top(suit)
        surface.blit(_slot(suit) if top is None else _face(top, **faces), (x, _TOP_Y))
        _label(surface, f"{table.foundations[suit]} of 13", x, _TOP_Y)
    for k, (x, column) in enumerate(zip(_COLUMN_X, table.columns, strict=True)):
        step = column_step(len(column))
        if not column:
            surface.blit(_slot(None), (x, _TABLE_Y))
        for row, card in enumerate(column):
            surface.blit(_face(card, **faces), (x, _TABLE_Y + round(row * step)))
        places[f"T{k + 1}"] = _card_rect(x, _TABLE_Y + round(max(0, len(column) - 1) * step))
    return places


def column_step(length: int) -> float:
    """How far apart the cards of a column of this length lie: less in a long one, so that it stays on the table."""
    room = _BOTTOM_Y - _TABLE_Y - CARD_HEIGHT
    return min(_COLUMN_STEP, room / max(1, length - 1))


def _mark(surface: Any, places: dict[str, Any], move: Move) -> None:
    """Outline where the last move went; a card on a foundation is not named by the move, and so not outlined."""
    target = places.get("W" if move.source == "D" else move.target)
    if target is not None:
        pygame.draw.rect(surface, _MARK, target.inflate(6, 6), width=3, border_radius=12)


def _card_rect(x: int, y: int) -> Any:
    return pygame.Rect(x, y, CARD_WIDTH, CARD_HEIGHT)


def _label(surface: Any, text: str, x: int, y: int) -> None:
    _write(surface, text, 14, _FAINT, left=x + 2, middle=y + CARD_HEIGHT + 13)


# --- Cards -------------------------------------------------------------------------------------------------


@functools.cache
def _face(card: int, palette: str) -> Any:
    """The face of a card."""
    suit, rank = divmod(card, 13)
    colour = PALETTES[palette][suit]
    big = _blank(_PAPER, _EDGE)
    text = _font(26 * _SHARP).render(_rank_text(rank), True, colour)
    big.blit(text, (8 * _SHARP, 4 * _SHARP))
    # Beside the rank, not under it: of a card in a column or in the fan only the upper or left edge shows.
    _paint_suit(big, suit, colour, text.get_width() + 20 * _SHARP, 17 * _SHARP, 10 * _SHARP)
    if rank in (10, 11, 12):
        frame = (20 * _SHARP, 36 * _SHARP, (CARD_WIDTH - 40) * _SHARP, (CARD_HEIGHT - 50) * _SHARP)
        tint = tuple(round(0.88 * paper + 0.12 * ink) for paper, ink in zip(_PAPER, colour))
        pygame.draw.rect(big, tint, frame, border_radius=6 * _SHARP)
        pygame.draw.rect(big, colour, frame, width=2 * _SHARP, border_radius=6 * _SHARP)
        letter = _font(46 * _SHARP).render(_rank_text(rank), True, colour)
        big.blit(letter, letter.get_rect(center=(CARD_WIDTH * _SHARP // 2, 64 * _SHARP)))
        _paint_suit(big, suit, colour, CARD_WIDTH * _SHARP // 2, 101 * _SHARP, 13 * _SHARP)
    else:
        _paint_suit(big, suit, colour, CARD_WIDTH * _SHARP // 2, 82 * _SHARP, 32 * _SHARP)
    return _scaled(big)


@functools.cache
def _back() -> Any:
    """The back of a card, the same for all."""
    big = _blank(_BACK, _PAPER)
    inner = pygame.Rect(9 * _SHARP, 9 * _SHARP, (CARD_WIDTH - 18) * _SHARP, (CARD_HEIGHT - 18) * _SHARP)
    pygame.draw.rect(big, _BACK_LINE, inner, width=2 * _SHARP, border_radius=5 * _SHARP)
    side = 13 * _SHARP
    for row in range(8):
        for column in range(5):
            x, y = inner.left + (column + 1) * side, inner.top + (row + 1) * side
            if x + side // 3 < inner.right and y + side // 3 < inner.bottom:
                points = [(x, y - side // 3), (x + side // 3, y), (x, y + side // 3), (x - side // 3, y)]
                pygame.draw.polygon(big, _BACK_LINE, points)
    return _scaled(big)


@functools.cache
def _slot(suit: int | None) -> Any:
    """The place of an empty pile, with the suit that goes there."""
    big = _blank(_BAR, _LINE)
    if suit is not None:
        _paint_suit(big, suit, _LINE, CARD_WIDTH * _SHARP // 2, CARD_HEIGHT * _SHARP // 2, 28 * _SHARP)
    return _scaled(big)


def _blank(fill: Colour, edge: Colour) -> Any:
    big = pygame.Surface((CARD_WIDTH * _SHARP, CARD_HEIGHT * _SHARP), pygame.SRCALPHA)
    big.fill((*edge, 0))  # transparent corners of the edge's colour, so that scaling down brings in no other
    pygame.draw.rect(big, fill, big.get_rect(), border_radius=9 * _SHARP)
    pygame.draw.rect(big, edge, big.get_rect(), width=_SHARP + _SHARP // 2, border_radius=9 * _SHARP)
    return big


def _scaled(big: Any) -> Any:
    return pygame.transform.smoothscale(big, (CARD_WIDTH, CARD_HEIGHT))


def _paint_suit(surface: Any, suit: int, colour: Colour, x: int, y: int, radius: int) -> None:
    """Draw a suit's symbol around (x, y), ``radius`` high to each side."""
    for shape in _SUIT_SHAPES[suit]:
        pygame.draw.polygon(surface, colour, [(x + radius * a, y + radius * b) for a, b in shape])


def _circle(x: float, y: float, radius: float) -> list[Point]:
    angles = (2 * math.pi * k / 48 for k in range(48))
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


def _heart(height: float, shift: float, upside_down: bool) -> list[Point]:
    """A heart by the well-known curve 16 sin³ t, 13 cos t − 5 cos 2t − 2 cos 3t − cos 4t."""
    points = []
    for k in range(96):
        t = 2 * math.pi * k / 96
        x = math.sin(t) ** 3
        y = -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t) + 2.5) / 14.5
        points.append((0.92 * x * height, (-y if upside_down else y) * height + shift))
    return points


def _stem(width: float) -> list[Point]:
    return [(-0.07, 0.2), (0.07, 0.2), (0.12, 0.65), (width, 0.98), (-width, 0.98), (-0.12, 0.65)]


_SUIT_SHAPES: tuple[list[list[Point]], ...] = (
    [_circle(0, -0.5, 0.43), _circle(-0.47, 0.2, 0.43), _circle(0.47, 0.2, 0.43), _circle(0, 0, 0.25), _stem(0.4)],
    [[(0, -1), (0.72, 0), (0, 1), (-0.72, 0)]],
    [_heart(0.95, 0.0, False)],
    [_heart(0.86, -0.14, True), _stem(0.42)],
)
"""Clubs, diamonds, hearts and spades as polygons; y grows downwards."""


# --- Text --------------------------------------------------------------------------------------------------


@functools.cache
def _font(size: int) -> Any:
    pygame.font.init()
    return pygame.font.Font(None, round(1.3 * size))


def _rank_text(rank: int) -> str:
    return "10" if RANKS[rank] == "T" else RANKS[rank]


def _write(
    surface: Any, text: str, size: int, colour: Colour, *, middle: int, left: int | None = None, right: int = 0
) -> None:
    """Write a line of text whose middle is at the height ``middle``, from ``left`` on or up to ``right``."""
    drawn = _font(size).render(text, True, colour)
    place = drawn.get_rect(midright=(right, middle)) if left is None else drawn.get_rect(midleft=(left, middle))
    surface.blit(drawn, place)
