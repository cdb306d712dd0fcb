import { ask, listen, pause, token } from "./ask.js";
import { h, plain, say, trouble } from "./dom.js";
import { time } from "./words.js";
import { cluster } from "./cluster.js";
import { rates } from "./rates.js";
import { objects } from "./objects.js";
import { calls } from "./calls.js";
import { clients } from "./clients.js";
import { code } from "./code.js";

const VIEWS = { cluster, rates, objects, calls, clients, code };

const main = document.getElementById("main");
const state = document.getElementById("state");
const pauseButton = document.getElementById("pause");
const forgetButton = document.getElementById("forget");

let leaving = new AbortController();

/** Shows the view of the address; the one before stops asking. */
async function show(isFirst) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?", 2);
  let parts;
  try {
    parts = path.split("/").map(decodeURIComponent);
  } catch {
    parts = [""];
  }
  const view = Object.hasOwn(VIEWS, parts[0]) ? parts[0] : "cluster";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#/" + view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  forgetButton.hidden = !token.get();
  const place = h("div", { class: "view " + view });
  main.replaceChildren(place);
  scrollTo(0, 0);
  try {
    const query = Object.fromEntries(new URLSearchParams(search ?? ""));
    const title = await VIEWS[view](place, parts.slice(1), query, signal);
    if (signal.aborted) return;
    document.title = title + " – Stoa";
  } catch (failure) {
    if (signal.aborted) return;
    if (!place.querySelector("h1")) place.prepend(h("h1", {}, plain(parts.at(-1))));
    place.append(trouble(failure));
  }
  if (!isFirst) main.focus({ preventScroll: true });
}

/** Asks for a token in place of the view. */
function askToken(reason) {
  leaving.abort();
  const failed = h("p", { class: "trouble", role: "alert" });
  const field = h("input", {
    id: "token", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const form = h("form", {
    class: "sign-in",
    async submit(event) {
      event.preventDefault();
      failed.textContent = "";
      token.set(field.value.trim());
      try {
        await ask("status");
        show(false);
      } catch (failure) {
        token.forget();
        failed.textContent = failure.message;
        field.select();
      }
    },
  },
    h("h1", {}, "This server wants a token"),
    h("p", { class: "soft" },
      "Give a token of the server's --token-file. It stays in this tab until you close it."),
    h("label", { for: "token" }, "Token"),
    h("div", { class: "line" }, field, h("button", { class: "main" }, "Open")),
    failed);
  if (token.get()) failed.textContent = reason;
  token.forget();
  forgetButton.hidden = true;
  document.title = "Token – Stoa";
  main.replaceChildren(form);
  field.focus();
}

let isSilent = null;

function showState(silent, text) {
  if (pauseButton.getAttribute("aria-pressed") === "true") text = "paused";
  state.className = "state " + (silent ? "silent" : "well");
  state.textContent = text;
}

listen("answer", () => {
  if (isSilent) say("the server answers again");
  isSilent = false;
  showState(false, "live");
});
listen("silence", ({ detail }) => {
  if (!isSilent) {
    isSilent = true;
    say(detail);
    showState(true, "no answer since " + time(Date.now()));
  }
  state.title = detail;
});
listen("denied", ({ detail }) => {
  if (!document.getElementById("token")) askToken(detail);
});

pauseButton.addEventListener("click", () => {
  const now = pauseButton.getAttribute("aria-pressed") !== "true";
  pauseButton.setAttribute("aria-pressed", now);
  pauseButton.textContent = now ? "Resume" : "Pause";
  showState(isSilent, "live");
  pause(now);
});
forgetButton.addEventListener("click", () => {
  token.forget();
  show(false);
});
document.getElementById("skip").addEventListener("click", () => main.focus());
addEventListener("hashchange", () => show(false));
show(true);
