"""The reference engine: Canfield as `rules.md` tells it, slow and plain, for the tests only.

It is written from `rules.md` alone ("§2" in a comment is that page's section 2; what is said of positions,
actions, observation and end is from `design.md`) and shares no code with the package, so that a mistake in
one of the two shows as a difference between them. A card is its text ('7H', 'TC'), a pile is a list of cards,
a move is its text. Nothing here is fast, and nothing is checked that a valid position has anyway.

Where `rules.md` is silent, the choice is in the docstring of the function that makes it.
"""

RANKS = "A23456789TJQK"  # §1: ranks A 2 … 10 J Q K
SUITS = "CDHS"  # design.md: suits in the order C D H S
PACK = [rank + suit for suit in SUITS for rank in RANKS]  # the card with id suit*13 + rank is PACK[id]
COLUMNS = range(4)  # columns 1-4, counted from 0 here and from 1 in texts

# §2, the table of fields, column by column.
RULE_FIELDS = (
    "draw_count",
    "column_moves",
    "auto_fill",
    "empty_column",
    "take_back",
    "build_past_base",
    "max_redeals",
    "undo_limit",
    "score",
    "deck_price",
)
APP = {
    "draw_count": 3,
    "column_moves": "tail",
    "auto_fill": True,
    "empty_column": "any",
    "take_back": True,
    "build_past_base": True,
    "max_redeals": None,
    "undo_limit": 100,
    "score": "app",
    "deck_price": 50,
}
HOYLE = {
    "draw_count": 3,
    "column_moves": "whole",
    "auto_fill": True,
    "empty_column": "waste",
    "take_back": False,
    "build_past_base": True,
    "max_redeals": None,
    "undo_limit": 0,
    "score": "casino",
    "deck_price": 50,
}
ANDR = {
    "draw_count": 3,
    "column_moves": "tail",
    "auto_fill": False,
    "empty_column": "any",
    "take_back": False,
    "build_past_base": True,
    "max_redeals": None,
    "undo_limit": None,
    "score": "andr",
    "deck_price": 50,
}
PRESETS = {"app": APP, "hoyle": HOYLE, "andr": ANDR}


def rank_of(card):
    return RANKS.index(card[0])


def suit_of(card):
    return card[1]


def is_red(card):
    """§1: hearts and diamonds are red, clubs and spades black."""
    return suit_of(card) in "HD"


class Reference:
    """One game: the piles, the three scores and the clock."""

    # --- making one -----------------------------------------------------------------------------------------

    def __init__(self, rules, base_rank, foundations, reserve, columns, stock, waste, redeals, *, attempt, seconds):
        self.rules = dict(rules)
        self.base_rank = base_rank  # a number, 0 = ace
        self.foundations = {suit: list(foundations[suit]) for suit in SUITS}  # suit -> base card … top card
        self.reserve = list(reserve)  # bottom … top
        self.columns = [list(column) for column in columns]  # each: first … last
        self.stock = list(stock)  # next drawn … last drawn
        self.waste = list(waste)  # bottom … top
        self.redeals = redeals

        self.attempt = attempt
        self.seconds = seconds
        self.app_points = 0  # §3: from a deal or a given position, app and andr start at 0
        self.andr_points = 0
        self.win_bonus = 0
        # §3: one-time bonuses are paid once a game, and not for what is so at its start.
        self.bonuses_gone = {suit for suit in SUITS if len(self.foundations[suit]) == 13}
        if not self.reserve:
            self.bonuses_gone.add("R")

    @classmethod
    def deal(cls, cards, rules, *, attempt=1, seconds=0):
        """§1, deal order: 13 to the reserve, 1 base card, 1 to each column, the other 34 are the stock."""
        base_card = cards[13]
        foundations = {suit: [] for suit in SUITS}
        foundations[suit_of(base_card)] = [base_card]
        return cls(
            rules,
            rank_of(base_card),
            foundations,
            reserve=cards[:13],
            columns=[[card] for card in cards[14:18]],
            stock=cards[18:],
            waste=[],
            redeals=0,
            attempt=attempt,
            seconds=seconds,
        )

    @classmethod
    def from_position(cls, position, rules, *, attempt=1, seconds=0):
        """A game that starts from a position dict (design.md, Names), which must be a valid one."""
        base_rank = RANKS.index(position["base_rank"])
        foundations = {
            suit: [RANKS[(base_rank + step) % 13] + suit for step in range(position["foundations"][suit])]
            for suit in SUITS
        }
        return cls(
            rules,
            base_rank,
            foundations,
            position["reserve"],
            position["columns"],
            position["stock"],
            position["waste"],
            position.get("redeals", 0),
            attempt=attempt,
            seconds=seconds,
        )

    def position(self):
        """The position as a dict (design.md, Names), without `rules` and `draw_count`."""
        return {
            "base_rank": RANKS[self.base_rank],
            "foundations": {suit: len(self.foundations[suit]) for suit in SUITS},
            "reserve": list(self.reserve),
            "columns": [list(column) for column in self.columns],
            "stock": list(self.stock),
            "waste": list(self.waste),
            "redeals": self.redeals,
        }

    # --- what fits where ------------------------------------------------------------------------------------

    @property
    def foundation_cards(self):
        return sum(len(pile) for pile in self.foundations.values())

    @property
    def won(self):
        """§1, win: all 52 cards on the foundations."""
        return self.foundation_cards == 52

    def goes_on_foundation(self, card):
        """§1, foundations: the base rank first, then one rank up, an ace after a king, until it holds 13."""
        pile = self.foundations[suit_of(card)]
        if len(pile) == 13:
            return False
        if not pile:
            return rank_of(card) == self.base_rank
        return rank_of(card) == (rank_of(pile[-1]) + 1) % 13

    def goes_on_card(self, card, onto):
        """§1, columns: down by one rank in alternating colours, a king on an ace; §2, build_past_base."""
        if not self.rules["build_past_base"] and rank_of(onto) == self.base_rank:
            return False
        return is_red(card) != is_red(onto) and rank_of(card) == (rank_of(onto) - 1) % 13

    def empty_column_takes_from(self, source):
        """§2, empty_column: "waste" takes only the waste's top card, "any" any card or tail.

        Where a mix has neither auto_fill nor "any", an empty column takes only the waste's top card even
        while the reserve has cards: the field says so without an exception.
        """
        if self.rules["auto_fill"] and self.reserve:
            return False  # §2: takes a card only once the reserve is empty (before that it never stays empty)
        return self.rules["empty_column"] == "any" or source == "W"

    def empty_columns(self):
        return [j for j in COLUMNS if not self.columns[j]]

    def movable_counts(self, i):
        """§2, column_moves: how many cards of column i may move to a column: any tail, or the whole only."""
        length = len(self.columns[i])
        if length == 0:
            return []
        if self.rules["column_moves"] == "whole":
            return [length]
        return list(range(1, length + 1))

    def fitting_counts(self, i, j):
        """The tails of column i that go onto column j's last card, the shorter first (there may be two, §1).

        With column_moves "whole" only the whole column counts as a tail that fits, so a column of 27 whose
        last card would fit too moves as a whole and its text needs no number.
        """
        if i == j or not self.columns[j]:
            return []
        onto = self.columns[j][-1]
        return [count for count in self.movable_counts(i) if self.goes_on_card(self.columns[i][-count], onto)]

    def single_cards_for_columns(self):
        """The cards outside the columns that may go to one: pile -> its top card."""
        cards = {}
        if self.waste:
            cards["W"] = self.waste[-1]  # §1: only the waste's top card is playable
        if self.reserve:
            cards["R"] = self.reserve[-1]  # §1: only the reserve's top card can be played
        if self.rules["take_back"]:  # §2: a foundation's top card may go back to a column, the base card too
            for suit in SUITS:
                if self.foundations[suit]:
                    cards["F" + suit] = self.foundations[suit][-1]
        return cards

    # --- the moves ------------------------------------------------------------------------------------------

    def legal_moves(self):
        """What lists of legal moves name: the first empty column only, and the shorter of two tails (§1)."""
        if self.won:
            return set()  # §1: after a win no move is left
        return (
            self._draw_moves()
            | self._moves_to_foundation()
            | self._moves_onto_cards(longer_too=False)
            | self._moves_to_empty(self.empty_columns()[:1])
        )

    def drag_moves(self):
        """What a player may drag: any empty column, and the longer of two tails too (§1)."""
        if self.won:
            return set()
        return (
            self._draw_moves()
            | self._moves_to_foundation()
            | self._moves_onto_cards(longer_too=True)
            | self._moves_to_empty(self.empty_columns())
        )

    def plays(self):
        """The legal moves that are no draw and no redeal; a take-back is a play (design.md, End)."""
        return self.legal_moves() - {"D"}

    def _draw_moves(self):
        """§1: a draw, or with the stock empty a redeal (§2, max_redeals); none with both empty."""
        redeal_left = self.rules["max_redeals"] is None or self.redeals < self.rules["max_redeals"]
        if self.stock or (self.waste and redeal_left):
            return {"D"}
        return set()

    def _moves_to_foundation(self):
        """§1: the top of the waste, of the reserve and of each column may go to its foundation."""
        tops = {"W": self.waste, "R": self.reserve}
        tops.update({f"T{i + 1}": self.columns[i] for i in COLUMNS})
        return {f"{name}>F" for name, pile in tops.items() if pile and self.goes_on_foundation(pile[-1])}

    def _moves_onto_cards(self, longer_too):
        """Moves to columns that hold a card."""
        moves = set()
        for j in COLUMNS:
            if not self.columns[j]:
                continue
            for source, card in self.single_cards_for_columns().items():
                if self.goes_on_card(card, self.columns[j][-1]):
                    moves.add(f"{source}>T{j + 1}")
            for i in COLUMNS:
                counts = self.fitting_counts(i, j)
                if counts:
                    moves.add(f"T{i + 1}>T{j + 1}")  # the tail that fits, the shorter of two
                if longer_too:
                    moves.update(f"T{i + 1}>T{j + 1}*{count}" for count in counts[1:])
        return moves

    def _moves_to_empty(self, targets):
        """Moves to the empty columns in `targets`; a whole column to an empty one is not a move (§1)."""
        moves = set()
        for j in targets:
            for source in self.single_cards_for_columns():
                if self.empty_column_takes_from(source):
                    moves.add(f"{source}>T{j + 1}")
            for i in COLUMNS:
                for count in self.movable_counts(i):
                    if count < len(self.columns[i]) and self.empty_column_takes_from("T"):
                        moves.add(f"T{i + 1}>T{j + 1}*{count}")
        return moves

    # --- playing one ----------------------------------------------------------------------------------------

    def play(self, text, seconds=None):
        """Play one of `drag_moves()`; `seconds` is what the clock reads then, None leaves it as it was."""
        if text not in self.drag_moves():
            raise ValueError(f"{text} is not a move here")
        if seconds is not None:
            self.seconds = seconds
        if text == "D":
            self._draw()
            return
        source, target = text.split(">")
        target, _, number = target.partition("*")
        count = int(number) if number else self._count_without_number(source, target)

        from_pile = self._pile(source)
        to_pile = self.foundations[suit_of(from_pile[-1])] if target == "F" else self._pile(target)
        to_pile.extend(from_pile[-count:])
        del from_pile[-count:]
        if source[0] == "T":
            self._fill(from_pile)
        self._pay(source, target)

    def _count_without_number(self, source, target):
        """`T1>T3` means the tail that fits, the shorter of two; else no number means one card."""
        if source[0] == "T" and target[0] == "T":
            return self.fitting_counts(int(source[1]) - 1, int(target[1]) - 1)[0]
        return 1

    def _pile(self, name):
        """The pile that W, R, FC FD FH FS or T1-T4 names."""
        if name == "W":
            return self.waste
        if name == "R":
            return self.reserve
        if name[0] == "F":
            return self.foundations[name[1]]
        return self.columns[int(name[1]) - 1]

    def _draw(self):
        """§1, stock and waste."""
        if self.stock:
            for _ in range(self.rules["draw_count"]):  # one after the other, the last one turned on top …
                if self.stock:  # … fewer when fewer are left
                    self.waste.append(self.stock.pop(0))
        else:  # a redeal: order kept, and no card turned up
            self.stock = self.waste
            self.waste = []
            self.redeals += 1
            self.andr_points -= 125 if self.rules["draw_count"] == 3 else 200  # §3, andr: each new pass

    def _fill(self, column):
        """§2, auto_fill: a column that a move empties is filled at once from the reserve's top."""
        if self.rules["auto_fill"] and not column and self.reserve:
            column.append(self.reserve.pop())

    # --- the scores -----------------------------------------------------------------------------------------

    def _pay(self, source, target):
        """§3: what a play pays, and the one-time bonuses; a fill by itself and a take-back pay nothing.

        Where a mix of rules has both auto_fill and the andr score, a fill that takes the reserve's last card
        still earns the 500 for the reserve run empty: what is not paid for a fill is the 45 for a card put on
        a column. A card put on a foundation again after a take-back pays its 60 again under andr, as its 5
        under app.
        """
        if target == "F":
            self.app_points += 5  # §3, app: a card put on a foundation from reserve, column or waste
            self.andr_points += 60  # §3, andr: any card → foundation
        elif source in ("W", "R"):
            self.andr_points += 45  # §3, andr: waste or reserve → column

        if not self.reserve and "R" not in self.bonuses_gone:
            self.bonuses_gone.add("R")
            self.andr_points += 500  # §3, andr: the reserve run empty, once
        for suit in SUITS:
            if len(self.foundations[suit]) == 13 and suit not in self.bonuses_gone:
                self.bonuses_gone.add(suit)
                self.andr_points += 350  # §3, andr: a foundation completed, each

        if self.won:
            at_the_end = self._andr_before_win()
            self.win_bonus = 2 * at_the_end - 180 * self.attempt - 10 * self.seconds

    def _andr_before_win(self):
        """§3, andr: −10 for each full 10 seconds played."""
        return self.andr_points - 10 * (self.seconds // 10)

    def score(self, kind):
        """The score "app", "casino" or "andr" as it stands; all three are kept whatever the rules' own is.

        A position given as won pays no win bonus under andr (it was not won in this game), and counts 500
        dollars under casino (the value of the cards that lie there). A game started with a clock reading has
        paid for that time under andr.
        """
        if kind == "app":
            return self.app_points
        if kind == "casino":
            dollars = 500 if self.won else 5 * self.foundation_cards  # §3: 500 in all, not on top
            return dollars - self.rules["deck_price"]
        if kind == "andr":
            return self._andr_before_win() + self.win_bonus
        raise ValueError(kind)

    # --- the end, and what a player sees (design.md, The environment) ---------------------------------------

    def dead(self):
        """design.md, End: the player can know that no play is possible any more. Won is not dead."""
        if self.won:
            return False
        whole_stock_seen = self.redeals >= 1 or not self.stock
        if not whole_stock_seen:
            return False
        trial = Reference.from_position(self.position(), self.rules)
        if trial._play_comes_up_in_this_pass():
            return False
        if "D" in trial.legal_moves():  # a redeal is allowed still: one full pass more
            trial.play("D")
            if trial._play_comes_up_in_this_pass():
                return False
        return True

    def _play_comes_up_in_this_pass(self):
        """Draws until the stock is empty, and says if any play was possible on the way; changes this game."""
        while not self.plays():
            if not self.stock:
                return False
            self.play("D")
        return True

    def visible(self, tier):
        """design.md, Observation: where a player of this tier sees each card; a hidden card is left out."""
        seen = {}
        for pile in self.foundations.values():
            for card in pile:
                seen[card] = ("foundation",)
        for j in COLUMNS:
            for depth, card in enumerate(self.columns[j]):
                seen[card] = ("column", j, depth)

        for depth, card in enumerate(reversed(self.reserve)):
            if depth == 0 or tier == "thoughtful":  # §1: only the reserve's top card is seen
                seen[card] = ("reserve", depth)

        fan = min(self.rules["draw_count"], len(self.waste))
        for place, card in enumerate(self.waste + self.stock):
            in_waste = place < len(self.waste)
            in_fan = in_waste and place >= len(self.waste) - fan
            if tier == "screen":
                known = in_fan
            elif tier == "recall":
                known = in_waste or self.redeals >= 1  # after a redeal every card of the stock has been seen
            else:
                known = True
            if known:
                seen[card] = ("order", place)
        return seen

    # --- the 95 actions (design.md, Actions) ----------------------------------------------------------------

    def action_text(self, action):
        """The move that action number 0-94 means here, legal or not; None where 43-94 mean nothing."""
        if action >= 43:
            return self._tail_to_empty_text(PACK[action - 43])
        return FIXED_ACTIONS[action]

    def _tail_to_empty_text(self, head):
        """43-94: the tail headed by that card to the first empty column."""
        for i in COLUMNS:
            if head in self.columns[i] and self.empty_columns():
                count = len(self.columns[i]) - self.columns[i].index(head)
                return f"T{i + 1}>T{self.empty_columns()[0] + 1}*{count}"
        return None

    def legal_actions(self):
        moves = self.legal_moves()
        return {action for action in range(95) if self.action_text(action) in moves}


# Actions 0-42 have the same texts in every position.
FIXED_ACTIONS = [
    "D",  # 0
    "W>F",  # 1
    *(f"W>T{j}" for j in (1, 2, 3, 4)),  # 2-5
    "R>F",  # 6
    *(f"R>T{j}" for j in (1, 2, 3, 4)),  # 7-10
    *(f"T{i}>F" for i in (1, 2, 3, 4)),  # 11-14
    *(f"F{suit}>T{j}" for suit in SUITS for j in (1, 2, 3, 4)),  # 15-30
    *(f"T{i}>T{j}" for i in (1, 2, 3, 4) for j in (1, 2, 3, 4) if i != j),  # 31-42
]
