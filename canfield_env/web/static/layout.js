// Where everything lies: pure arithmetic from the view and the room there is.

const RATIO = 1.4; // a card's height to its width
const SUITS = ["C", "D", "H", "S"];

// The piles' places for a table `width` wide and `height` high: on a wide one stock and waste lie in a row with the
// foundations, on a narrow one waste and reserve lie under the stock, so that five cards fill the width.
export function places(width, height) {
  const narrow = width < 620;
  const margin = narrow ? 8 : 20;
  const gap = narrow ? 6 : 18;
  const across = narrow ? 5 : 7.1;
  const gaps = narrow ? 4 : 5;
  const byWidth = (width - 2 * margin - gaps * gap) / across;
  const w = Math.floor(narrow ? byWidth : Math.max(64, Math.min(byWidth, 128, height / 5)));
  const h = Math.round(w * RATIO);
  const label = Math.max(18, Math.round(w * 0.2));
  const left = narrow ? margin : Math.max(margin, Math.round((width - across * w - gaps * gap) / 2));
  const top = narrow ? 8 : 16;
  const second = top + h + label + (narrow ? 4 : 14);
  const columnX = (k) => left + (across - 4 + k) * w + (gaps - 3 + k) * gap;
  const fan = narrow ? { x: 0, y: Math.round(h * 0.3) } : { x: Math.round(w * 0.53), y: 0 };
  const piles = {
    D: { x: left, y: top },
    W: narrow ? { x: left, y: second } : { x: left + w + gap, y: top },
    R: { x: left, y: narrow ? second + h + 2 * fan.y + label + 6 : second },
  };
  SUITS.forEach((suit, k) => { piles[`F${suit}`] = { x: columnX(k), y: top }; });
  for (let k = 0; k < 4; k += 1) piles[`T${k + 1}`] = { x: columnX(k), y: second };
  return { w, h, label, fan, piles, room: Math.max(height - second - 8, 2.2 * h), narrow };
}

// The distance of the cards of a column: less in a long one, so that it stays in sight.
export function columnStep(length, { h, room }) {
  return length < 2 ? 0 : Math.max(11, Math.min(h * 0.29, (room - h) / (length - 1)));
}

// Every open card of a view with its pile, place and depth, bottom to top.
export function openCards(view, spots) {
  const cards = [];
  const put = (card, pile, depth, x, y) => cards.push({ card, pile, depth, x: Math.round(x), y: Math.round(y) });
  const { piles, fan } = spots;
  view.waste.fan.forEach((card, k) => put(card, "W", k, piles.W.x + k * fan.x, piles.W.y + k * fan.y));
  if (view.reserve.top) put(view.reserve.top, "R", 0, piles.R.x, piles.R.y);
  for (const { suit, top } of view.foundations) {
    const pile = piles[`F${suit}`];
    if (top) put(top, `F${suit}`, 0, pile.x, pile.y);
  }
  view.columns.forEach((column, k) => {
    const pile = piles[`T${k + 1}`];
    const step = columnStep(column.length, spots);
    column.forEach((card, depth) => put(card, `T${k + 1}`, depth, pile.x, pile.y + depth * step));
  });
  return cards;
}
