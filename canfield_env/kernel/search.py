"""Search over what a player may know: a tree of positions as they look, values from worlds sampled at its root.

Every simulation deals the unseen cards anew (belief.py), goes down the tree, and plays the world out from where the
tree ends (rollout.py). Two worlds that look alike share a node, so a choice in the tree depends on nothing but what
the player will have seen when he makes it; what is behind a reserve card is averaged over, never chosen by.

What is counted, visits and values, belongs to a play's *after-position*: the position it leads to, before the next
reserve card is looked at. Plays that lead to the same position share it, in whatever order they were made and
whichever columns they used. An after-position that was there before, in the game or on the way down, is left out.
"""

from __future__ import annotations

import numpy as np

from .belief import deal_unseen
from .jit import entry, inner, wrapping
from .rollout import MAX_PLAYS, TURNED, list_plays, make_play, play_out
from .state import State

AFTER_DTYPE = np.dtype(
    [("key", "u8"), ("value", "f8"), ("visits", "i4"), ("been", "i4"), ("path", "i8")], align=True
)  # been: in this game; path: the last simulation that came through
NODE_DTYPE = np.dtype([("key", "u8"), ("start", "i4"), ("count", "i4")], align=True)
EDGE_DTYPE = np.dtype([("play", "i4"), ("after", "i4"), ("prior", "f8")], align=True)

# Counters of a tree.
AFTERS, NODES, EDGES, SIMULATIONS = 0, 1, 2, 3

# Settings of a search, float64.
EXPLORATION, TEMPERATURE, NOISE, CARDS, FIRST_PLAY, DEPTH, RESERVE, EVEN = 0, 1, 2, 3, 4, 5, 6, 7
SETTINGS = 8

_S27, _S31, _S33 = np.uint64(27), np.uint64(31), np.uint64(33)
_M1, _M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_KEYS = np.random.PCG64(20_481).random_raw(52 * 3 + 64 * 3)
TALON_KEY, FOUNDATION_KEY, RESERVE_TOP_KEY = _KEYS[:52], _KEYS[52:104], _KEYS[104:156]
RESERVE_KEY, TURNED_KEY, LEFT_KEY = _KEYS[156:220], _KEYS[220:284], _KEYS[284:348]


@inner
@wrapping
def mix(key: np.uint64) -> np.uint64:
    """A key's bits, stirred."""
    key = (key ^ (key >> _S33)) * _M1
    key = (key ^ (key >> _S33)) * _M2
    return key ^ (key >> _S33)


@inner
@wrapping
def after_key(s: State, seen: bool, folded: bool) -> np.uint64:
    """Key of a position, but for the reserve's top card: the columns in any order, and of a talon that is not
    ``seen`` the waste. Where draws are ``folded``, numbers of turned cards that give the same plays are one."""
    key = RESERVE_KEY[int(s["reserve_count"])]
    for column in range(4):
        key += FOUNDATION_KEY[13 * column + int(s["foundation"][column]) % 13]
        if int(s["foundation"][column]) == 13:
            key += _M1
        length = int(s["length"][column])
        if length > 0:
            shape = np.uint64(int(s["suit_bits"][column])) * _M2 + np.uint64(64 * length + int(s["first"][column]))
            key += mix(shape)
    waste, talon = int(s["waste_count"]), int(s["talon_count"])
    for k in range(talon if seen else waste):
        key += TALON_KEY[int(s["talon"][k])]
    if folded and (waste % int(s["draw_count"]) == 0 or waste == talon):
        waste = 0
    return key + TURNED_KEY[waste] + LEFT_KEY[talon]


@inner
@wrapping
def node_key(s: State, after: np.uint64) -> np.uint64:
    """Key of a position as it looks, to the place of each column: its plays are the same wherever it is found."""
    key = after
    for column in range(4):
        shape = np.uint64(int(s["suit_bits"][column])) * _M1 + np.uint64(
            64 * int(s["length"][column]) + int(s["first"][column])
        )
        key = mix(key + shape)
    reserve = int(s["reserve_count"])
    if reserve > 0:
        key += RESERVE_TOP_KEY[int(s["reserve"][reserve - 1])]
    return mix(key + np.uint64(int(s["waste_count"])))


@inner
def find(table: np.ndarray, key: np.uint64) -> np.int64:
    """The entry with this key, or the free one where it belongs (key 0). The table is never full."""
    k = np.int64(mix(key) & np.uint64(len(table) - 1))
    while table[k]["key"] != np.uint64(0) and table[k]["key"] != key:
        k = (k + 1) & (len(table) - 1)
    return k


@inner
def find_after(afters: np.ndarray, counters: np.ndarray, key: np.uint64) -> np.int64:
    """The after-position with this key, a new one where there was none."""
    k = find(afters, key)
    if afters[k]["key"] == np.uint64(0):
        afters[k]["key"] = key
        afters[k]["value"] = 0.0
        afters[k]["visits"] = 0
        afters[k]["been"] = 0
        afters[k]["path"] = -1
        counters[AFTERS] += 1
    return k


@inner
def expand(
    s: State, child: State, key: np.uint64, k: np.int64, seen: bool, folded: bool, weights: np.ndarray,
    temperature: float, even: float, afters: np.ndarray, nodes: np.ndarray, edges: np.ndarray, counters: np.ndarray,
    plays: np.ndarray, values: np.ndarray, children: np.ndarray,
) -> None:  # fmt: skip
    """Make entry ``k`` of ``nodes`` the node of this position."""
    n = list_plays(s, weights, True, folded, plays, values)
    start = counters[EDGES]
    nodes[k]["key"], nodes[k]["start"], nodes[k]["count"] = key, start, n
    counters[NODES] += 1
    counters[EDGES] += n
    if n == 0:
        return
    highest = values[0]
    for m in range(1, n):
        highest = max(highest, values[m])
    total = 0.0
    for m in range(n):
        values[m] = np.exp((values[m] - highest) / temperature)
        total += values[m]
    for m in range(n):
        code = plays[m]
        if code % TURNED == 0:
            after = mix(key)
        else:
            children[1] = children[0]
            make_play(children[1], code)
            after = after_key(children[1], seen, folded)
        edges[start + m]["play"] = code
        edges[start + m]["after"] = find_after(afters, counters, after)
        edges[start + m]["prior"] = (1.0 - even) * values[m] / total + even / n


@inner
def select(node: State, afters: np.ndarray, edges: np.ndarray, path: int, exploration: float, first_play: float) -> int:
    """The edge to follow: the best by value and by the prior's wish to look there; -1 where none is left."""
    start, stop = int(node["start"]), int(node["start"]) + int(node["count"])
    visits, value = 0, 0.0
    for e in range(start, stop):
        a = afters[edges[e]["after"]]
        visits += int(a["visits"])
        value += a["value"]
    mean = value / visits if visits > 0 else 0.0
    scale = exploration * np.sqrt(visits + 1.0)
    best, highest = -1, -1e300
    for e in range(start, stop):
        a = afters[edges[e]["after"]]
        if int(a["been"]) == 1 or a["path"] == path:
            continue
        n = int(a["visits"])
        q = a["value"] / n if n > 0 else max(mean - first_play, 0.0)
        q += scale * edges[e]["prior"] / (1 + n)
        if q > highest:
            best, highest = e, q
    return best


@entry
def search(
    known: np.ndarray, unseen: np.ndarray, count: int, seen: bool, folded: bool, weights: np.ndarray,
    settings: np.ndarray, simulations: int, stream: np.uint64, afters: np.ndarray, nodes: np.ndarray,
    edges: np.ndarray, counters: np.ndarray,
) -> np.uint64:  # fmt: skip
    """Run ``simulations`` from record 0 of ``known``, whose ``count`` unseen cards are in ``unseen``; the stream's
    new state. The tree grows in ``afters``, ``nodes``, ``edges`` and ``counters``."""
    worlds = np.concatenate((known[:1], known[:1]))
    plays, values = np.empty(MAX_PLAYS, np.int64), np.empty(MAX_PLAYS)
    cards = unseen.copy()
    path = np.empty(1_000, np.int64)
    for _ in range(simulations):
        if counters[EDGES] + MAX_PLAYS > len(edges) or 2 * counters[AFTERS] > len(afters):
            break
        counters[SIMULATIONS] += 1
        worlds[0] = known[0]
        s = worlds[0]
        stream = deal_unseen(s, cards, count, stream)
        depth = 0
        after = after_key(s, seen, folded)
        while int(s["foundation_cards"]) < 52 and depth < settings[DEPTH]:
            key = node_key(s, after)
            k = find(nodes, key)
            if nodes[k]["key"] == np.uint64(0):
                expand(s, worlds[1], key, k, seen, folded, weights, settings[TEMPERATURE], settings[EVEN],
                       afters, nodes, edges, counters, plays, values, worlds)  # fmt: skip
            e = select(nodes[k], afters, edges, counters[SIMULATIONS], settings[EXPLORATION], settings[FIRST_PLAY])
            if e < 0:
                break
            a = int(edges[e]["after"])
            path[depth] = a
            depth += 1
            code = int(edges[e]["play"])
            make_play(s, code)
            afters[a]["path"] = counters[SIMULATIONS]
            after = after_key(s, seen, folded) if code % TURNED == 0 else afters[a]["key"]
            if int(afters[a]["visits"]) == 0:
                break
        final, stream = play_out(s, weights, settings[NOISE], stream, plays, values)
        value = 1.0
        if final < 52:
            value = settings[CARDS] * final / 52.0 + settings[RESERVE] * (13 - int(s["reserve_count"])) / 13.0
        for d in range(depth):
            a = path[d]
            afters[a]["visits"] += 1
            afters[a]["value"] += value
    return stream


@entry
def mark(known: np.ndarray, seen: bool, folded: bool, afters: np.ndarray, counters: np.ndarray) -> None:
    """Note that the game has been in this position."""
    k = find_after(afters, counters, after_key(known[0], seen, folded))
    afters[k]["been"] = 1


@entry
def choose(
    known: np.ndarray, seen: bool, folded: bool, afters: np.ndarray, nodes: np.ndarray, edges: np.ndarray,
    table: np.ndarray,
) -> int:  # fmt: skip
    """Write the plays of record 0 to ``table``, float64, shape (K, 4): play, prior, visits, sum of values; how many
    there are. Those that lead back are left out."""
    k = find(nodes, node_key(known[0], after_key(known[0], seen, folded)))
    n = 0
    if nodes[k]["key"] == np.uint64(0):
        return 0
    for e in range(nodes[k]["start"], nodes[k]["start"] + nodes[k]["count"]):
        a = afters[edges[e]["after"]]
        if int(a["been"]) == 0:
            table[n, 0], table[n, 1] = edges[e]["play"], edges[e]["prior"]
            table[n, 2], table[n, 3] = a["visits"], a["value"]
            n += 1
    return n
