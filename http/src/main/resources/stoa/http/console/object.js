import { again, ask, objectPath, Problem } from "./ask.js";
import { at, h, name, part, plain, replace, table, trail, trouble } from "./dom.js";
import { bytes, count, method, simple, time } from "./words.js";
import { inline, Tree } from "./tree.js";

const SETTLE_MILLIS = 120;
const ENTRIES = 20;
const ELEMENTS = 100;
const ELEMENTS_MAX = 10000;

/** Returns forms that a key may have that was written as a plain number or id. */
function otherKeys(key) {
  if (/^-?\d+$/.test(key)) return ["long:" + key, "int:" + key];
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key)) return ["uuid:" + key];
  return [];
}

const hasWords = (entry) => entry.what !== "called";

/** Returns a call in one line. */
function called(entry) {
  const values = entry.arguments ?? [];
  const opening = values.filter((one) => one.name === "new");
  const given = values.filter((one) => one.name !== "new");
  const list = (some) => "(" + some.map((one) => inline(one, 60)).join(", ") + ")";
  const what = hasWords(entry)
    ? entry.what + (entry.call ? " call " + entry.call : "")
    : plain(method(entry.method ?? "")) + list(given);
  const begun = opening.length ? "new" + list(opening) + " " : "";
  return begun + what + (entry.note ? ": " + plain(entry.note) : "");
}

function caller(entry) {
  if (entry.session) return "session " + entry.session;
  return entry.nested ? "a method or transaction" : "–";
}

function result(entry) {
  if (entry.threw) return h("span", { class: "bad" }, "threw ", inline(entry.threw, 80));
  return entry.returned ? inline(entry.returned, 80) : "–";
}

function differences(told) {
  const word = (value) => (value == null ? "–" : h("code", {}, inline(value, 200)));
  const signs = { added: "+", removed: "−", changed: "" };
  const rows = told.differences.map((one) => {
    const row = [
      h("code", {}, signs[one.change] && h("b", {}, signs[one.change] + " "), plain(one.path || "the whole")),
      word(one.before), word(one.after)];
    row.kind = one.change;
    return row;
  });
  return [
    table(`Differences of version ${told.before} and version ${told.after}`,
      ["field", "version " + count(told.before), "version " + count(told.after)], rows, "no difference"),
    told.cut && h("p", { class: "soft" }, "The states are large: only their beginnings were compared.")];
}

/** The state of an object, its versions, and the difference of two of them. */
export async function object(place, type, key, query, signal) {
  const path = objectPath(type, key);
  let elements = ELEMENTS;
  let state;
  try {
    state = await ask(path, { as: "tree", at: query.at, elements }, signal);
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status !== 404) throw failure;
    place.append(
      trail(h("a", { href: at(["objects", type]) }, name(type))),
      h("h1", {}, name(key)),
      trouble(failure));
    const others = otherKeys(key);
    if (others.length) {
      place.append(h("p", {}, "Did you mean ",
        others.map((one, i) => [i > 0 && " or ", h("a", { href: at(["objects", type, one]) }, one)]), "?"));
    }
    return key;
  }

  // ---- the version that is shown, and the one that it is compared with

  let oldest = 1;
  let newest = state.newest;
  let version = state.version;
  let against = query.from == null ? null : Number(query.from); // null for the version before
  let follows = query.at == null;
  // The last version of the page of calls; null for the newest.
  let page = version + ENTRIES / 2 < newest ? version + ENTRIES / 2 : null;
  let results = false;

  const slider = h("input", { id: "version", type: "range", min: 1, max: newest, value: version,
    input: () => go(+slider.value) });
  const number = h("input", { id: "number", type: "number", min: 1, max: newest, value: version,
    change: () => go(+number.value) });
  const step = (label, title, to) =>
    h("button", { "aria-label": title, title, click: () => go(to()) }, label);
  const first = step("⇤", "Oldest version", () => oldest);
  const back = step("←", "Version before", () => version - 1);
  const forth = step("→", "Next version", () => version + 1);
  const end = step("⇥", "Newest version", () => newest);
  const other = h("input", { id: "against", type: "number", min: 0, max: newest,
    change: () => compare(other.value === "" ? null : +other.value) });
  const reset = h("button", { click: () => compare(null) }, "The one before");
  const facts = h("p", { class: "facts-line" });
  const entry = h("p", { class: "entry" });
  const tree = new Tree(() => {
    elements = Math.min(ELEMENTS_MAX, elements * 10);
    settle();
  });
  const treeSpot = h("div", {});
  const diffSpot = h("div", {});
  const historySpot = h("div", {});
  const failed = h("div", {});
  const older = h("button", { click: () => turn(-1) }, "Older");
  const newer = h("button", { click: () => turn(1) }, "Newer");
  const answers = h("input", { id: "results", type: "checkbox",
    change: () => { results = answers.checked; list(); } });

  const drawHistory = part(historySpot, (entries, shown) => table("Calls, newest first",
    [["version", "num"], "time", "call", "by", ...(results ? ["answer"] : [])],
    entries.map((one) => {
      const row = [
        h("button", {
          class: "link",
          "data-id": one.version,
          "aria-label": "Show version " + one.version,
          "aria-current": one.version === shown && "true",
          click: () => go(one.version),
        }, count(one.version)),
        h("time", { datetime: one.time, title: one.time }, time(one.time)),
        h("code", {}, called(one)), caller(one), ...(results ? [result(one)] : [])];
      row.kind = one.version === shown ? "current" : "";
      return row;
    }), "no calls"));

  place.append(
    trail(h("a", { href: at(["objects", type]) }, name(type)), name(key)),
    h("h1", {}, name(key)),
    failed,
    h("section", { class: "card versions", "aria-label": "Version" },
      h("div", { class: "tools" },
        h("label", { for: "version" }, "Version"),
        first, back, slider, forth, end,
        h("label", { for: "number", class: "unseen" }, "Number of the version"), number,
        h("span", { class: "soft of" })),
      facts, entry),
    h("div", { class: "columns" },
      h("section", { class: "card" }, h("h2", {}, "State"), treeSpot),
      h("div", { class: "stack" },
        h("section", { class: "card" },
          h("div", { class: "head" }, h("h2", {}, "Difference"),
            h("div", { class: "line" }, h("label", { for: "against" }, "from version"), other, reset)),
          diffSpot),
        h("section", { class: "card" },
          h("div", { class: "head" }, h("h2", {}, "Calls"),
            h("label", { class: "check" }, answers, " answers, which executes them again"),
            h("div", { class: "pages" }, newer, older)),
          historySpot))));
  const ofNewest = place.querySelector(".of");

  let entries = [];
  const base = () => against ?? version - 1;

  function controls() {
    slider.min = oldest;
    slider.max = number.max = other.max = newest;
    slider.value = number.value = version;
    slider.setAttribute("aria-valuetext", `version ${version} of ${newest}`);
    ofNewest.textContent = "of " + count(newest);
    first.disabled = back.disabled = version <= oldest;
    end.disabled = forth.disabled = version >= newest;
    other.value = against ?? "";
    other.placeholder = base();
    reset.disabled = against == null;
    newer.disabled = page == null;
    older.disabled = !entries.length || entries[0].version <= oldest;
    drawHistory(entries.toReversed(), version, results);
    const here = at(["objects", type, key], { at: follows ? null : version, from: against });
    if (!signal.aborted && location.hash !== here) history.replaceState(null, "", here);
  }

  function drawState(changed) {
    const value = state.state ?? state.threw;
    replace(facts,
      state.exists && [simple(plain(value.type ?? "")), " · ", bytes(state.bytes), " · "],
      h("time", { datetime: state.time, title: state.time }, time(state.time)),
      state.lent && " · lent to clients; this is the state before");
    replace(treeSpot,
      state.threw && h("p", { class: "bad" }, "Its constructor threw:"),
      state.exists ? tree.show(value, changed) : h("p", { class: "soft" }, "The object did not exist."));
  }

  // ---- asks for one version at a time; of those that the slider passes, for the last one

  let timer;
  let isAsking = false;
  let isWanted = false;

  function go(to) {
    if (!Number.isFinite(to)) return controls();
    version = Math.min(newest, Math.max(oldest, Math.round(to)));
    follows = version === newest;
    controls();
    settle();
  }

  function compare(from) {
    against = from == null || !Number.isFinite(from) ? null : Math.min(newest, Math.max(0, from));
    controls();
    settle();
  }

  function settle() {
    clearTimeout(timer);
    timer = setTimeout(refresh, SETTLE_MILLIS);
  }

  async function refresh() {
    isWanted = true;
    if (isAsking) return;
    isAsking = true;
    while (isWanted && !signal.aborted) {
      isWanted = false;
      try {
        await load();
        failed.replaceChildren();
      } catch (failure) {
        if (!signal.aborted) failed.replaceChildren(trouble(failure));
      }
    }
    isAsking = false;
  }

  async function load() {
    const wanted = version;
    const from = base();
    const isComparable = from !== wanted && (from >= oldest || (from === 0 && oldest <= 1));
    treeSpot.setAttribute("aria-busy", "true");
    const [now, told, line] = await Promise.all([
      ask(path, { as: "tree", at: wanted, elements }, signal),
      isComparable ? ask(path + "/diff", { as: "tree", from, to: wanted }, signal) : null,
      ask(path + "/history", { as: "tree", from: wanted, to: wanted }, signal)]);
    treeSpot.removeAttribute("aria-busy");
    oldest = line.oldest || oldest;
    if (version !== wanted || base() !== from) return void (isWanted = true);
    state = now;
    newest = Math.max(newest, now.newest, line.newest);
    const one = line.entries[0];
    replace(entry, one && [h("code", {}, called(one)), h("span", { class: "soft" }, " by " + caller(one))]);
    drawState(told ? told.differences.map((each) => each.path) : []);
    replace(diffSpot, told ? differences(told) : h("p", { class: "soft" },
      from === wanted ? "This is the version itself." : "The store has no version before this one."));
    controls();
  }

  // ---- calls

  function turn(direction) {
    const last = (page ?? newest) + direction * ENTRIES;
    page = last >= newest ? null : Math.max(last, oldest);
    list();
  }

  async function list() {
    try {
      const from = page == null ? null : Math.max(oldest, page - ENTRIES + 1);
      const told = await ask(path + "/history",
        { as: "tree", from, to: page, max: ENTRIES, results: results || null }, signal);
      entries = told.entries;
      oldest = told.oldest || 1;
      newest = Math.max(newest, told.newest);
      if (follows && version !== newest) {
        version = newest;
        settle();
      }
      controls();
    } catch (failure) {
      if (!signal.aborted) failed.replaceChildren(trouble(failure));
    }
  }

  controls();
  drawState([]);
  await list();
  await refresh();
  again(3000, signal, async () => {
    if (page == null && !results) await list();
  });
  return key;
}
