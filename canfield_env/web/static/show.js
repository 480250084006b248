// Watching: a player's game or a replayed one, step by step.

import { ask } from "./api.js";

const STEPS_A_SECOND = [0.5, 1, 2, 4, 8, 16, 32];

export class Show {
  constructor({ onFrame, onError, onPlaying }) {
    this.onFrame = onFrame;
    this.onError = onError;
    this.onPlaying = onPlaying;
    this.id = null;
    this.speed = 2;
  }

  get isOpen() {
    return this.id !== null;
  }

  async open(path, body) {
    const frame = await ask(path, body);
    this.close();
    this.id = frame.id;
    this.frames = new Map([[0, frame]]);
    this.#take(frame);
  }

  close() {
    this.pause();
    this.id = null;
  }

  // `run` is given by a show that plays: what comes back after a pause is not shown.
  async go(step, run = null) {
    const id = this.id;
    if (id === null || step < 0) return;
    try {
      const frame = this.frames.get(step) ?? (await ask(`shows/${id}/${step}`));
      if (id !== this.id || (run && run !== this.run)) return; // another show was opened meanwhile, or it was paused
      this.frames.set(frame.step, frame);
      if (this.frames.size > 400) this.frames.delete(this.frames.keys().next().value);
      this.#take(frame);
    } catch (error) {
      this.pause();
      this.onError(error);
    }
  }

  async goToEnd() {
    const id = this.id;
    this.pause();
    let before = -1;
    while (id === this.id && !this.frame.ended && this.frame.step > before) {
      before = this.frame.step; // the server goes on by some steps at a time
      await this.go(before + 1_000);
    }
  }

  #take(frame) {
    this.frame = frame;
    if (frame.ended) this.pause();
    this.onFrame(frame);
  }

  play() {
    if (this.playing || this.frame.ended) return;
    this.playing = true;
    this.onPlaying(true);
    this.#next();
  }

  #next() {
    const run = (this.run = {});
    setTimeout(async () => {
      if (run !== this.run || !this.playing) return;
      await this.go(this.frame.step + 1, run);
      if (run === this.run && this.playing) this.#next();
    }, 1000 / STEPS_A_SECOND[this.speed]);
  }

  pause() {
    this.playing = false;
    this.run = null;
    this.onPlaying(false);
  }
}

// The games of a result file, read here; the server is sent the one that is chosen.
export function readResult(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("This is not JSON, so it is no result file.");
  }
  if (!Array.isArray(data?.rows) || !data.rows.length || !("rules" in data)) {
    throw new Error("This is no result file: it has no rows, or no rules.");
  }
  return data;
}
