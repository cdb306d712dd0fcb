// Asks the server, with the token that the user has given. The token stays in this tab.

const TOKEN = "stoa.token";
const PATIENCE = 30000;

/** The server wants a token, or another one. */
export class Denied extends Error {}

/** A problem that the server tells. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value) => sessionStorage.setItem(TOKEN, value),
  forget: () => sessionStorage.removeItem(TOKEN),
};

const told = new EventTarget();

/** Listens to "answer", "silence" and "denied". */
export const listen = (name, listener) => told.addEventListener(name, listener);
const tell = (name, detail) => told.dispatchEvent(new CustomEvent(name, { detail }));

/** Returns the path of an object in the interface. */
export const objectPath = (type, ...rest) => ["objects", type, ...rest].map(encodeURIComponent).join("/");

/**
 * Asks for a path below /v1/.
 *
 * @param query its parameters; null for none
 * @param signal ends it
 */
export async function ask(path, query = {}, signal = undefined, method = "GET") {
  const url = new URL("../v1/" + path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value != null) url.searchParams.set(name, value);
  }
  const headers = token.get() ? { Authorization: "Bearer " + token.get() } : {};
  const late = AbortSignal.timeout(PATIENCE);
  const ends = signal ? AbortSignal.any([signal, late]) : late;
  let answer;
  let text;
  try {
    answer = await fetch(url, {
      method, headers, signal: ends, cache: "no-store", credentials: "omit", redirect: "error" });
    text = await answer.text();
  } catch (failure) {
    if (signal?.aborted) throw failure;
    const why = late.aborted ? "no answer within 30 seconds" : "the server does not answer";
    tell("silence", why);
    throw new Error(why);
  }
  if (answer.ok) {
    tell("answer");
    return JSON.parse(text);
  }
  let detail = "status " + answer.status;
  try {
    detail = JSON.parse(text).detail ?? detail;
  } catch {
    // A proxy has answered.
  }
  if (answer.status === 401) {
    tell("denied", detail);
    throw new Denied(detail);
  }
  tell(answer.status < 500 ? "answer" : "silence", detail);
  throw new Problem(answer.status, detail);
}

/**
 * Returns whether the identity of the token has a role for some types at least.
 *
 * @param role the word of the roles' list
 */
export const may = async (role, signal) =>
  (await ask("identity", {}, signal)).may.includes(role);

// ---- again and again

let paused = false;
const waiting = new Set();

function wake() {
  if (paused || document.hidden) return;
  for (const go of waiting) go();
  waiting.clear();
}

document.addEventListener("visibilitychange", wake);

/** Stops asking, or goes on. */
export function pause(whether) {
  paused = whether;
  wake();
}

/** Waits until the page is seen and not paused. */
const seen = () =>
  paused || document.hidden ? new Promise((go) => waiting.add(go)) : Promise.resolve();

function delay(millis, signal) {
  return new Promise((go) => {
    const timer = setTimeout(go, millis);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      go();
    }, { once: true });
  });
}

/**
 * Asks now and then again, each time some milliseconds after the last answer, while the page is
 * seen and not paused.
 *
 * @param work asks; it may return another number of milliseconds
 * @param failed takes a failure; the next question follows all the same
 */
export async function again(millis, signal, work, failed) {
  let wait = millis;
  while (!signal.aborted) {
    await seen();
    if (signal.aborted) return;
    try {
      wait = (await work()) ?? wait;
    } catch (failure) {
      if (signal.aborted || failure instanceof Denied) return;
      failed?.(failure);
    }
    await delay(wait, signal);
  }
}
