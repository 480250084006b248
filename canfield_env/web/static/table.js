// The table on the page: draws a view, and tells of taps and drags. It knows no rule: what can be dragged, and where
// to, is in the view (view.drags).

import { cardElement, cardName, element, suitName, suitSymbol } from "./cards.js";
import { openCards, places } from "./layout.js";

const DRAG_STARTS_AT = 6; // pixels
const PILES = ["D", "W", "FC", "FD", "FH", "FS", "R", "T1", "T2", "T3", "T4"];

export class Table {
  // `room` gives the height that the table should keep to; by default what the window has.
  constructor(root, { onTap, onMove, room }) {
    this.root = root;
    this.onTap = onTap;
    this.onMove = onMove;
    this.room = room ?? (() => this.#roomInWindow());
    this.cards = new Map(); // card -> element
    this.spots = places(800, 600);
    this.view = null;
    this.drag = null;
    this.focused = "stock";
    this.#makePiles();
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("pointerdown", (event) => this.#pointerDown(event));
    root.addEventListener("pointermove", (event) => this.#pointerMove(event));
    root.addEventListener("pointerup", (event) => this.#pointerUp(event));
    root.addEventListener("pointercancel", () => this.#letGo());
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("focusin", (event) => this.#focusOn(event.target));
    new ResizeObserver(() => this.view && this.show(this.view)).observe(document.body);
  }

  #makePiles() {
    this.slots = {};
    this.labels = {};
    this.groups = {};
    for (const pile of PILES) {
      const slot = element(pile === "D" ? "button" : "div", "slot");
      if (pile[0] === "F") slot.append(suitSymbol(pile[1]));
      if (pile === "D") {
        slot.id = "stock";
        slot.type = "button";
      }
      this.slots[pile] = slot;
      // Cards move about in one element, which the eye can follow; groups give screen readers the piles they are in.
      const group = element("div", "unseen");
      group.role = "group";
      this.groups[pile] = group;
      this.root.append(slot, group);
      if (pile[0] !== "T") {
        this.labels[pile] = element("span", "label");
        this.labels[pile].ariaHidden = "true";
        this.root.append(this.labels[pile]);
      }
    }
    this.under = [2, 1].map(() => element("div", "under")); // the deeper one first
    this.slots.R.after(...this.under);
  }

  // Show a view: a game's, or a frame of a show (without drags, nothing can be done).
  show(view) {
    this.view = view;
    this.#letGo();
    this.clearMarks();
    this.spots = places(this.root.clientWidth, this.room());
    const { w, h, piles } = this.spots;
    this.root.style.setProperty("--w", `${w}px`);
    this.root.style.setProperty("--h", `${h}px`);
    for (const pile of PILES) move(this.slots[pile], piles[pile]);
    this.#showStock(view);
    this.#showLabels(view);
    this.#showCards(view);
    this.#showGroups(view);
    this.#setFocusable();
    this.root.dataset.revision = view.revision ?? `step ${view.step}`;
  }

  #roomInWindow() {
    const toolsHeight = Math.max(...[...document.querySelectorAll(".tools")].map((tools) => tools.offsetHeight));
    document.body.style.setProperty("--tools", `${toolsHeight}px`);
    return window.innerHeight - this.root.offsetTop - toolsHeight;
  }

  #showStock(view) {
    const stock = this.slots.D;
    const empty = view.stock === 0;
    stock.classList.toggle("back", !empty);
    stock.textContent = empty && view.waste.count ? "↻" : "";
    const does = empty ? (view.waste.count ? "turn the waste over" : "nothing to draw") : `draw ${view.draw_count}`;
    stock.ariaLabel = `Stock, ${count(view.stock)}: ${does}`;
    this.under.forEach((card, k) => {
      const depth = 2 - k;
      card.hidden = view.reserve.count <= depth;
      move(card, { x: this.spots.piles.R.x + 3 * depth, y: this.spots.piles.R.y + 4 * depth });
    });
  }

  #showLabels(view) {
    const { piles, fan, h } = this.spots;
    const texts = { D: `Stock ${view.stock}`, W: `Waste ${view.waste.count}`, R: `Reserve ${view.reserve.count}` };
    for (const { suit, count: cards } of view.foundations) texts[`F${suit}`] = `${cards} of 13`;
    for (const [pile, text] of Object.entries(texts)) {
      const { x, y } = piles[pile];
      const fanned = pile === "W" ? Math.max(0, view.waste.fan.length - 1) : 0;
      const below = fan.y * fanned + (pile === "R" ? 8 : 0);
      this.labels[pile].textContent = text;
      move(this.labels[pile], { x: x + (fan.x * fanned) / 2, y: y + h + below + 2 });
    }
  }

  #showCards(view) {
    const open = openCards(view, this.spots);
    const shown = new Set(open.map(({ card }) => card));
    this.placed = new Map(open.map((place) => [place.card, place]));
    for (const [card, old] of this.cards) {
      if (shown.has(card)) continue;
      this.cards.delete(card);
      if (old === document.activeElement) this.refocus = true;
      old.inert = true;
      old.removeAttribute("id");
      old.style.zIndex = 0;
      setTimeout(() => old.remove(), 180); // covered by now, or turned over
    }
    open.forEach(({ card, pile, depth, x, y }) => {
      let shownCard = this.cards.get(card);
      if (!shownCard) {
        shownCard = cardElement(card);
        this.cards.set(card, shownCard);
        this.root.append(shownCard);
        if (pile === "W") {
          move(shownCard, this.spots.piles.D);
          shownCard.getBoundingClientRect(); // so that it moves from the stock to its place
        }
      }
      const targets = Object.keys(view.drags?.[card] ?? {});
      shownCard.classList.toggle("movable", targets.length > 0);
      shownCard.ariaLabel = cardName(card);
      shownCard.ariaDescription = targets.length ? `can go to ${targets.map(targetName).join(", ")}` : "";
      shownCard.style.zIndex = 10 + depth;
      move(shownCard, { x, y });
    });
    const bottom = Math.max(...open.map(({ y }) => y), this.spots.piles.R.y) + this.spots.h + this.spots.label + 12;
    this.root.style.minHeight = `${bottom}px`;
  }

  #showGroups(view) {
    const owned = Object.fromEntries(PILES.map((pile) => [pile, []]));
    for (const { card, pile } of this.placed.values()) owned[pile].push(`card-${card}`);
    const says = { D: "Stock", W: `Waste, ${count(view.waste.count)}`, R: `Reserve, ${count(view.reserve.count)}` };
    for (const { suit, count: cards } of view.foundations) says[`F${suit}`] = `Foundation of ${suitName(suit)}, ${count(cards)}`;
    view.columns.forEach((column, k) => { says[`T${k + 1}`] = `Column ${k + 1}, ${count(column.length)}`; });
    owned.D = ["stock"];
    for (const pile of PILES) {
      this.groups[pile].ariaLabel = says[pile];
      this.groups[pile].setAttribute("aria-owns", owned[pile].join(" "));
    }
  }

  // --- Marks ----------------------------------------------------------------------------------------------

  // The place of a pile's top card, as a rectangle in the table.
  #topOf(pile) {
    const on = [...this.placed.values()].filter((place) => place.pile === pile).at(-1);
    return { ...(on ?? this.spots.piles[pile]), width: this.spots.w, height: this.spots.h };
  }

  // Light the targets of a card; the halos by target.
  light(card, targets) {
    this.clearMarks();
    const halos = new Map();
    for (const target of targets) {
      const pile = target === "F" ? `F${card[1]}` : target;
      const halo = element("div", "halo");
      const place = this.#topOf(pile);
      halo.style.height = `${place.height}px`;
      halo.dataset.target = target;
      move(halo, place);
      this.root.append(halo);
      halos.set(target, { halo, place });
    }
    return halos;
  }

  // Write how much a player likes a move on the card (or the stock) that it moves.
  showShare(card, text) {
    const place = card ? this.placed.get(card) : this.spots.piles.D;
    if (!place) return;
    const badge = element("span", "share", text);
    move(badge, { x: place.x + 4, y: place.y + (card ? 0.24 : 0.4) * this.spots.h });
    this.root.append(badge);
  }

  clearMarks() {
    this.root.querySelectorAll(".halo, .share").forEach((mark) => mark.remove());
  }

  // --- Taps and drags ---------------------------------------------------------------------------------------

  #click(event) {
    if (this.justDragged || !this.view?.drags) return;
    if (event.target.closest("#stock")) this.onTap("stock");
    const card = event.target.closest(".card")?.dataset.card;
    if (card) this.onTap(card);
  }

  #pointerDown(event) {
    const taken = event.target.closest(".card.movable");
    if (!taken || event.button !== 0 || this.drag) return;
    const card = taken.dataset.card;
    const { pile, depth } = this.placed.get(card);
    const tail = [...this.placed.values()].filter((place) => place.pile === pile && place.depth >= depth);
    this.drag = { card, tail: pile === "W" ? tail.slice(-1) : tail, x: event.clientX, y: event.clientY, halos: null, id: event.pointerId };
  }

  #pointerMove(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.halos) {
      if (Math.hypot(dx, dy) < DRAG_STARTS_AT) return;
      this.root.setPointerCapture(drag.id);
      drag.halos = this.light(drag.card, Object.keys(this.view.drags[drag.card]));
    }
    drag.tail.forEach((place, k) => {
      const lifted = this.cards.get(place.card);
      lifted.classList.add("lifted");
      lifted.style.zIndex = 500 + k;
      move(lifted, { x: place.x + dx, y: place.y + dy });
    });
    drag.target = nearest(drag, dx, dy, this.spots);
    for (const [target, { halo }] of drag.halos) halo.classList.toggle("near", target === drag.target);
  }

  #pointerUp(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    if (drag.halos) {
      this.justDragged = true; // the click that follows is no tap
      setTimeout(() => { this.justDragged = false; }, 0);
    }
    const chosen = drag.halos && drag.target ? this.view.drags[drag.card][drag.target] : null;
    if (chosen) {
      this.drag = null;
      this.clearMarks();
      drag.tail.forEach(({ card }) => this.cards.get(card).classList.remove("lifted"));
      this.onMove(chosen);
    } else {
      this.#letGo();
    }
  }

  // Let go of what is dragged: it goes back.
  #letGo() {
    const drag = this.drag;
    this.drag = null;
    if (!drag?.halos) return;
    this.clearMarks();
    for (const place of drag.tail) {
      const lifted = this.cards.get(place.card);
      if (!lifted) continue;
      lifted.classList.remove("lifted");
      lifted.style.zIndex = 10 + place.depth;
      move(lifted, place);
    }
  }

  // Show again what is there, after a move that was refused.
  settle() {
    if (this.view) this.show(this.view);
  }

  // --- The keyboard -----------------------------------------------------------------------------------------

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const card = event.target.closest(".card")?.dataset.card;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape") this.#letGo();
    if (arrow) {
      event.preventDefault();
      this.#goTo(event.target, arrow);
    } else if (card && /^[1-4fF]$/.test(event.key)) {
      event.preventDefault();
      const target = /f/i.test(event.key) ? "F" : `T${event.key}`;
      const chosen = this.view.drags?.[card]?.[target];
      this.onMove(chosen ?? null, `${cardName(card)} cannot go to ${targetName(target)}`);
    }
  }

  // Focus the nearest card (or the stock) in a direction.
  #goTo(from, [dx, dy]) {
    const at = from.getBoundingClientRect();
    const here = from.dataset.card ? this.placed.get(from.dataset.card).pile : "D";
    let best = null;
    for (const to of [this.slots.D, ...this.cards.values()]) {
      if (to === from) continue;
      const there = to.dataset.card ? this.placed.get(to.dataset.card).pile : "D";
      const place = to.getBoundingClientRect();
      const [x, y] = [place.left - at.left, place.top - at.top];
      const along = x * dx + y * dy;
      // Across piles sideways, within a column up and down: only what really lies that way counts.
      if (along < 4 || (dx && here === there && here !== "W")) continue;
      const distance = along + 3 * Math.abs(dx ? y : x);
      if (!best || distance < best.distance) best = { to, distance };
    }
    best?.to.focus();
  }

  #focusOn(target) {
    if (target.closest(".card, #stock")) {
      this.focused = target.dataset.card ?? "stock";
      this.focusedPile = target.dataset.card ? this.placed.get(this.focused)?.pile : "D";
      this.#setFocusable();
    }
  }

  // One thing on the table is in the order of the tab key; arrows lead to the others.
  #setFocusable() {
    const top = [...this.placed.values()].filter((place) => place.pile === this.focusedPile).at(-1);
    const focusable = this.cards.get(this.focused) ?? this.cards.get(top?.card) ?? this.slots.D;
    for (const one of [this.slots.D, ...this.cards.values()]) one.tabIndex = one === focusable ? 0 : -1;
    if (this.refocus) {
      this.refocus = false;
      focusable.focus({ preventScroll: true });
    }
  }
}

const count = (cards) => (cards === 0 ? "empty" : cards === 1 ? "1 card" : `${cards} cards`);
const targetName = (target) => (target === "F" ? "its foundation" : `column ${target[1]}`);

function move(moved, { x, y }) {
  moved.style.transform = `translate(${x}px, ${y}px)`;
}

// The target that the dragged card covers most; a column counts over its whole length.
function nearest(drag, dx, dy, spots) {
  const head = drag.tail[0];
  const [x, y] = [head.x + dx, head.y + dy];
  let best = null;
  for (const [target, { place }] of drag.halos) {
    const top = target === "F" ? place.y : spots.piles[target].y;
    const across = Math.min(x, place.x) + spots.w - Math.max(x, place.x);
    const down = Math.min(y + spots.h, place.y + spots.h) - Math.max(y, top);
    if (across > 0 && down > 0 && (!best || across * down > best.area)) best = { target, area: across * down };
  }
  return best?.target ?? null;
}

