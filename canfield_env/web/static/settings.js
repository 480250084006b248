// What a visitor has set, kept in the browser.

const KEY = "canfield-settings";
const DEFAULTS = { doubleTap: true, colours: "four", theme: "auto" };

export const settings = { ...DEFAULTS, ...read() };

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function change(changes) {
  Object.assign(settings, changes);
  localStorage.setItem(KEY, JSON.stringify(settings));
  apply();
}

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", apply);

export function apply() {
  const root = document.documentElement;
  root.dataset.colours = settings.colours;
  root.dataset.theme = settings.theme === "auto" ? (dark.matches ? "dark" : "light") : settings.theme;
}
