// The page: the buttons, keys and dialogs around the table.

import { ask } from "./api.js";
import { element, rankName, rankText } from "./cards.js";
import { Game, plain } from "./game.js";
import { apply, change, settings } from "./settings.js";
import { Show, readResult } from "./show.js";
import { Table } from "./table.js";

const $ = (id) => document.getElementById(id);
let options = { players: [], solver: false };
let result = null; // the result file that was opened for replay
let wonShown = null; // the game whose win was shown
let quiet;

const game = new Game({ onChange: showGame, onError: (error) => say(error.message) });
const show = new Show({ onFrame: showFrame, onError: (error) => say(error.message), onPlaying: showPlaying });
const table = new Table($("table"), {
  onTap: (what) => game.tap(what),
  onMove: (move, refusal) => (move ? game.move(move) : say(refusal)),
});

// --- What is shown -----------------------------------------------------------------------------------------

function say(text) {
  $("message").textContent = "";
  $("message").textContent = text;
  $("message").classList.remove("quiet");
  clearTimeout(quiet);
  quiet = setTimeout(() => $("message").classList.add("quiet"), 2500 + 40 * text.length);
}

function showFacts(view) {
  $("score").textContent = view.score_kind === "casino" ? `${view.score} $`.replace("-", "−") : String(view.score).replace("-", "−");
  $("foundation-cards").textContent = `${view.foundation_cards} of 52`;
  $("base").textContent = rankText(view.base_rank);
  $("base").ariaLabel = rankName(view.base_rank);
  $("rules").textContent = `${plain(view.rules)}, draw ${view.draw_count}`;
  $("redeals").textContent = view.redeals;
  $("code").textContent = view.code;
  $("speech").textContent = view.speech;
}

function showGame(view, { isNew, done, before, changed }) {
  if (show.isOpen) return;
  table.show(view);
  showFacts(view);
  $("undo").hidden = !view.has_undo;
  $("undo").disabled = view.undos_left === 0;
  $("undo").title = view.undos_left ? `${view.undos_left} can be undone` : "Nothing to undo";
  $("can-win").hidden = $("hint").hidden = !options.solver;
  $("double-tap").checked = view.double_tap;
  history.replaceState(null, "", addressOf(view));
  if (isNew) {
    say(`New game ${view.code}`);
    $("live").textContent = view.speech;
  }
  if (done) announce(view, done, before, changed);
  if (view.won && wonShown !== view.id) celebrate(view);
  if (!view.won && wonShown === view.id) wonShown = null;
}

function announce(view, done, before, changed) {
  if (!changed) return say("Nothing happens");
  const points = before ? view.score - before.score : 0;
  const what = done === "undo" ? "Undone" : sentence(view.last_move.words);
  const drawn = done === "tap" && view.last_move?.text === "D" && view.waste.fan.length ? `: ${$("card-" + view.waste.fan.at(-1)).ariaLabel}` : "";
  say(`${what}${drawn}${points ? `, ${points > 0 ? "+" : "−"}${Math.abs(points)}` : ""}`);
}

function celebrate(view) {
  wonShown = view.id;
  const minutes = Math.floor(view.seconds / 60);
  const time = minutes ? `${minutes} min ${view.seconds % 60} s` : `${view.seconds} s`;
  $("win-text").textContent = `All 52 cards in ${view.moves} moves and ${time}. Score ${view.score}. Deal ${view.code}.`;
  $("win-dialog").showModal();
}

const sentence = (words) => words[0].toUpperCase() + words.slice(1);

function addressOf(view) {
  const address = new URL("/", location.href);
  if (view.code) address.searchParams.set("code", view.code);
  if (plain(view.rules) !== "app") address.searchParams.set("rules", plain(view.rules));
  return address;
}

// --- The game's buttons ------------------------------------------------------------------------------------

$("undo").onclick = () => game.undo();
$("new").onclick = () => {
  $("new-error").textContent = "";
  $("new-code").value = "";
  $("again").hidden = !game.view;
  $("new-dialog").showModal();
};

$("new-start").onclick = async (event) => {
  event.preventDefault();
  const drawCount = Number(document.querySelector("[name=draw]:checked").value);
  await begin({ code: $("new-code").value.trim(), rules: $("new-rules").value, drawCount });
};

async function begin(wish) {
  try {
    await game.start(wish);
    $("new-dialog").close();
  } catch (error) {
    $("new-error").textContent = error.message;
    if (!$("new-dialog").open) $("new-dialog").showModal();
    $("new-code").value = wish.code ?? "";
    $("new-code").focus();
  }
}

for (const id of ["again", "win-again"]) {
  $(id).onclick = async () => {
    $(id).closest("dialog").close();
    await game.again().catch((error) => say(error.message));
  };
}
$("win-new").onclick = () => {
  $("win-dialog").close();
  $("new").click();
};

$("share").onclick = async () => {
  const shown = show.isOpen ? show.frame : game.view;
  const address = addressOf(shown).href;
  try {
    await navigator.clipboard.writeText(address);
    say(`Copied: ${address}`);
  } catch {
    say(address); // without leave to write to the clipboard, the link can be copied from here
  }
};

$("hint").onclick = () => askSolver(true);
$("can-win").onclick = () => askSolver(false);

async function askSolver(wantsMove) {
  say("Thinking …");
  try {
    const { verdict, move, revision } = await game.hint();
    if (revision !== game.view.revision) return;
    if (verdict === "won" && wantsMove && move) {
      say(`Hint: ${move.words}`);
      light(move.text);
    } else {
      say({
        won: "Yes, it can still be won.",
        unwinnable: "No, from here it cannot be won any more, whatever is played.",
        unknown: "The solver could not find out in the time it has.",
      }[verdict]);
    }
  } catch (error) {
    say(error.message);
  }
}

function light(move) {
  for (const [card, targets] of Object.entries(game.view.drags)) {
    for (const [target, text] of Object.entries(targets)) {
      if (text === move) {
        table.light(card, [target]);
        $(`card-${card}`).focus();
      }
    }
  }
  if (move === "D") $("stock").focus();
}

document.querySelectorAll("dialog .cancel").forEach((button) => {
  button.onclick = () => button.closest("dialog").close(); // no submit button: Enter in a field is not to press it
});

// --- Settings and help -------------------------------------------------------------------------------------

$("settings").onclick = () => $("settings-dialog").showModal();
$("help").onclick = () => $("help-dialog").showModal();
$("double-tap").onchange = () => {
  change({ doubleTap: $("double-tap").checked });
  game.setDoubleTap(settings.doubleTap);
};
for (const id of ["colours", "theme"]) {
  $(id).value = settings[id];
  $(id).onchange = () => change({ [id]: $(id).value });
}

// --- Watching and replaying --------------------------------------------------------------------------------

$("watch").onclick = () => {
  $("watch-code").value = game.view?.code ?? "";
  $("watch-rules").value = game.view ? plain(game.view.rules) : "app";
  $("watch-error").textContent = "";
  $("watch-dialog").showModal();
};
$("watch-start").onclick = (event) => {
  event.preventDefault();
  const rules = $("watch-rules").value.trim() || "app";
  openShow("watch", { player: $("watch-player").value, code: $("watch-code").value.trim(), rules });
};
$("replay-start").onclick = () => openShow("replay", {
  row: result.rows[Number($("replay-row").value)], rules: result.rules, player: String(result.player ?? "a player").slice(0, 200),
});
$("replay-file").onchange = async () => {
  const [file] = $("replay-file").files;
  if (file) offerRows(await file.text());
};
$("replay-text").oninput = () => offerRows($("replay-text").value);

function offerRows(text) {
  result = null;
  $("replay-row").replaceChildren();
  $("watch-error").textContent = "";
  try {
    if (text.trim()) result = readResult(text);
  } catch (error) {
    $("watch-error").textContent = error.message;
  }
  for (const [k, row] of (result?.rows ?? []).entries()) {
    const option = element("option", "", `${row.code} – ${row.won ? "won" : `${row.foundation_cards} cards`}, ${row.steps} steps`);
    option.value = k;
    $("replay-row").append(option);
  }
  $("replay-row").disabled = $("replay-start").disabled = !result;
}

async function openShow(path, body) {
  $("watch-error").textContent = "";
  try {
    await show.open(path, body);
    $("watch-dialog").close();
    $("tools").hidden = true;
    $("show-tools").hidden = false;
    document.body.classList.add("showing");
    table.settle();
    $("show-play").focus();
  } catch (error) {
    $("watch-error").textContent = error.message;
  }
}

function showFrame(frame) {
  table.show(frame);
  showFacts(frame);
  const move = frame.last_move ? sentence(frame.last_move.words) : "The deal";
  $("show-title").textContent = `${frame.title}: ${move}${frame.ended ? (frame.won ? " – won!" : " – the end") : ""}`;
  $("show-step").textContent = `Step ${frame.step}`;
  for (const id of ["show-next", "show-last", "show-play"]) $(id).disabled = frame.ended;
  $("show-back").disabled = $("show-first").disabled = frame.step === 0;
  $("preferences").textContent = frame.preferences.map(({ move: { words }, share }) => `${words} ${percent(share)}`).join(" · ");
  const best = new Map();
  for (const { card, share } of frame.preferences) if (!best.has(card)) best.set(card, share);
  for (const [card, share] of best) table.showShare(card, percent(share));
}

const percent = (share) => `${Math.round(100 * share)} %`;

function showPlaying(playing) {
  $("show-play").textContent = playing ? "❚❚" : "▶";
  $("show-play").ariaLabel = playing ? "Pause" : "Play";
}

$("show-first").onclick = () => { show.pause(); show.go(0); };
$("show-back").onclick = () => { show.pause(); show.go(show.frame.step - 1); };
$("show-next").onclick = () => { show.pause(); show.go(show.frame.step + 1); };
$("show-last").onclick = () => show.goToEnd();
$("show-play").onclick = () => (show.playing ? show.pause() : show.play());
$("show-speed").oninput = () => { show.speed = Number($("show-speed").value); };
$("show-close").onclick = () => {
  show.close();
  $("show-tools").hidden = true;
  $("tools").hidden = false;
  document.body.classList.remove("showing");
  showGame(game.view, {});
  game.refresh();
};

// --- Keys --------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]") || event.target.matches("input, select, textarea")) return;
  const pressed = event.key.toLowerCase();
  if (pressed === "r") return say((show.isOpen ? show.frame : game.view).speech);
  if (pressed === "?") return $("help").click();
  if (show.isOpen) return;
  const does = { d: () => game.tap("stock"), u: () => game.undo(), n: () => $("new").click(), h: () => options.solver && askSolver(true) }[pressed];
  if (does) {
    event.preventDefault();
    does();
  }
});

// --- The beginning -----------------------------------------------------------------------------------------

async function open() {
  apply();
  const address = new URL(location.href).searchParams;
  const [code, rules] = [address.get("code"), address.get("rules")];
  try {
    options = await ask("options");
    $("watch-player").replaceChildren(...options.players.map((name) => element("option", "", name)));
    if (await game.resume(code, rules)) return;
    if (code) await begin({ code, rules });
    if (!game.view) await game.start({ rules: code ? "app" : rules, drawCount: 3 });
  } catch (error) {
    say(error.message);
  }
}

// The andr score falls with time.
setInterval(() => {
  if (!document.hidden && !show.isOpen && game.view?.score_kind === "andr" && !game.view.won) game.refresh();
}, 10_000);

open();
