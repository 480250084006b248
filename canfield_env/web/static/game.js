// A visitor's own game: kept on the server, its id in this browser. A tab that is reloaded goes on with its game; a new
// tab goes on with the last one, and two tabs on one game tell each other of each change.

import { ask } from "./api.js";
import { settings } from "./settings.js";

const KEY = "canfield-game";

export class Game {
  constructor({ onChange, onError }) {
    this.view = null;
    this.onChange = onChange;
    this.onError = onError;
    this.queue = Promise.resolve();
    this.channel = new BroadcastChannel("canfield");
    this.channel.onmessage = ({ data }) => {
      if (data.id === this.view?.id && data.revision !== this.view.revision) this.refresh();
    };
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.refresh(); });
  }

  // Go on with the game of this tab or the last one; the address can name a deal. Returns false where there is none.
  async resume(code, rules) {
    const id = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
    if (!id) return false;
    try {
      const view = await ask(`games/${id}`);
      if (code && (code.toUpperCase() !== view.code || (rules ?? "app") !== plain(view.rules))) return false;
      this.#take(view, {});
      return true;
    } catch (error) {
      if (error.status !== 404) throw error;
      return false;
    }
  }

  async start({ code, rules, drawCount }) {
    const body = { rules: rules ?? "app", double_tap: settings.doubleTap };
    if (code) body.code = code.trim();
    else if (drawCount) body.draw_count = drawCount;
    this.#take(await ask("games", body), { isNew: true });
  }

  async again() {
    this.#take(await ask(`games/${this.view.id}/again`, {}), { isNew: true });
  }

  tap = (what) => this.#change("tap", { what });
  move = (move) => this.#change("move", { move });
  undo = () => this.#change("undo", {});

  setDoubleTap(on) {
    return this.#ask("settings", () => ({ double_tap: on }));
  }

  hint() {
    return ask(`games/${this.view.id}/hint`, { revision: this.view.revision });
  }

  async refresh() {
    if (!this.view) return;
    try {
      this.#take(await ask(`games/${this.view.id}`), {});
    } catch (error) {
      await this.#failed(error);
    }
  }

  #change(what, body) {
    return this.#ask(what, () => ({ ...body, revision: this.view.revision }), what);
  }

  // One request after the other, each on the table that the one before left.
  #ask(what, body, done) {
    this.queue = this.queue.then(async () => {
      try {
        this.#take(await ask(`games/${this.view.id}/${what}`, body()), { done });
      } catch (error) {
        await this.#failed(error);
      }
    });
    return this.queue;
  }

  async #failed(error) {
    if (error.status === 404 && this.view) {
      const { code, rules } = this.view;
      await this.start({ code, rules });
    } else if (error.status === 412) {
      this.#take(await ask(`games/${this.view.id}`), {});
    }
    this.onError(error);
  }

  #take(view, how) {
    const before = this.view;
    const changed = !before || before.id !== view.id || before.revision !== view.revision;
    this.view = view;
    sessionStorage.setItem(KEY, view.id);
    localStorage.setItem(KEY, view.id);
    if (changed && how.done) this.channel.postMessage({ id: view.id, revision: view.revision });
    this.onChange(view, { ...how, changed, before: before?.id === view.id ? before : null });
  }
}

// Rules as the address names them: the code already says how many cards a draw turns up.
export const plain = (rules) => rules.split(",").filter((part) => !part.startsWith("draw_count=")).join(",");
