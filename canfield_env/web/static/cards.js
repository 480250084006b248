// Cards as elements, and their names.

const RANK_NAMES = {
  A: "ace", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten",
  J: "jack", Q: "queen", K: "king",
};
const SUIT_NAMES = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };

export const rankText = (rank) => (rank === "T" ? "10" : rank);
export const rankName = (rank) => RANK_NAMES[rank];
export const suitName = (suit) => SUIT_NAMES[suit];
export const cardName = (card) => `${RANK_NAMES[card[0]]} of ${SUIT_NAMES[card[1]]}`;

export function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

export function suitSymbol(suit, className = "") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#suit-${suit}`);
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

export function cardElement(card) {
  const [rank, suit] = card;
  const made = element("button", "card");
  made.type = "button";
  made.id = `card-${card}`;
  made.dataset.card = card;
  made.dataset.suit = suit;
  made.tabIndex = -1;
  const corner = element("span", "corner");
  corner.ariaHidden = "true";
  corner.append(element("span", "", rankText(rank)), suitSymbol(suit));
  if ("JQK".includes(rank)) {
    const court = element("span", "court");
    court.ariaHidden = "true";
    court.append(element("span", "", rank), suitSymbol(suit));
    made.append(corner, court);
  } else {
    made.append(corner, suitSymbol(suit, "pip"));
  }
  return made;
}
