// States of objects, as the store shows them: `{ kind, name, type, text, size, parts }`.

import { at, h, name, plain, unseen } from "./dom.js";
import { counted, simple } from "./words.js";

const INLINE_MAX = 160;
const PREVIEW_MAX = 80;
const OPEN_ROWS_MAX = 250;
const OPEN_PARTS_MAX = 60;
const OPEN_BELOW_MAX = 8;
const BRANCHES = new Set(["OBJECT", "LIST", "SET", "MAP", "ENTRY"]);

const isBranch = (shown) => BRANCHES.has(shown.kind);
const parts = (shown) => shown.parts ?? [];
const text = (shown) => shown.text ?? "";

/** Returns how much of a value is not shown. */
function left(shown) {
  const size = shown.size ?? 0;
  switch (shown.kind) {
    case "TEXT": return size - text(shown).length;
    case "BYTES": return size - text(shown).length / 2;
    case "LIST": case "SET": case "MAP": case "OBJECT": return size - parts(shown).length;
    default: return 0;
  }
}

/** Returns a value without parts. */
function leaf(shown) {
  const of = (kind, content) => h("span", { class: "value " + kind }, content);
  const more = left(shown) > 0 && h("span", { class: "soft" }, ` … ${counted(left(shown), "more")}`);
  switch (shown.kind) {
    case "NULL": return of("word", "null");
    case "TEXT": return [of("text", ["“", plain(text(shown)), "”"]), more];
    case "BYTES": return [of("bytes", text(shown)), more];
    case "REFERENCE":
      return h("a", { href: at(["objects", shown.type, text(shown)]) },
        "→ ", name(`${shown.type}[${text(shown)}]`));
    case "AGAIN": return of("word", ["the same as ", plain(text(shown) || "the whole")]);
    case "HIDDEN": return of("word", plain([shown.type, text(shown)].filter(Boolean).join(": ")));
    default: return of(shown.kind.toLowerCase(), plain(text(shown)));
  }
}

/** Returns a value in one line, as text. */
export function inline(shown, most = INLINE_MAX) {
  const whole = written(shown, most);
  return whole.length <= most ? whole : whole.slice(0, most) + "…";
}

function written(shown, most) {
  if (shown.kind === "TEXT") return JSON.stringify(plain(text(shown))) + (left(shown) > 0 ? "…" : "");
  if (shown.kind === "NULL") return "null";
  if (shown.kind === "REFERENCE") return `→ ${plain(shown.type)}[${plain(text(shown))}]`;
  if (!isBranch(shown)) return plain(text(shown) || shown.type || "");
  const isObject = shown.kind === "OBJECT";
  let all = isObject ? plain(simple(shown.type ?? "")) + "{" : "[";
  let comma = "";
  for (const one of parts(shown)) {
    all += comma + (one.name ? plain(one.name) + "=" : "") + written(one, most);
    comma = ", ";
    if (all.length > most) return all;
  }
  if (left(shown) > 0) all += comma + "…";
  return all + (isObject ? "}" : "]");
}

function head(shown) {
  const type = shown.type ? simple(shown.type) : "";
  const size = shown.size ?? parts(shown).length;
  const many = { LIST: "element", SET: "element" }[shown.kind];
  const told = many ? counted(size, many) : shown.kind === "MAP" ? counted(size, "entry", "entries") : "";
  return [type && h("span", { class: "type", title: plain(shown.type) }, plain(type)),
    told && h("span", { class: "soft" }, told)];
}

/** Returns the path of a part, as differences of versions name it. */
function below(path, around, one, i) {
  if (around.kind === "OBJECT") return path ? `${path}.${one.name ?? ""}` : (one.name ?? "");
  return `${path}[${one.name ?? i}]`;
}

/**
 * Shows the state of an object; keeps open what the user has opened while its version changes.
 */
export class Tree {
  constructor(more) {
    this.more = more;
    this.opened = new Map();
  }

  /** @param changed the paths that differ from another version */
  show(shown, changed = []) {
    this.changed = new Set(changed);
    this.left = OPEN_ROWS_MAX;
    if (!isBranch(shown)) return h("ul", { class: "tree" }, h("li", {}, leaf(shown)));
    return this.list(shown, "", "tree");
  }

  list(shown, path, kind) {
    const all = parts(shown);
    this.left -= all.length;
    const rows = all.map((one, i) => this.row(one, shown, path, i));
    if (left(shown) > 0) {
      rows.push(h("li", { class: "more" }, h("button", { click: () => this.more() },
        `Show more of the ${counted(left(shown), "other")}`)));
    }
    if (!rows.length) rows.push(h("li", { class: "soft" }, "empty"));
    return h("ul", { class: kind }, rows);
  }

  row(one, around, path, i) {
    const here = below(path, around, one, i);
    const isChanged = this.changed.has(here);
    const label = one.name ?? (one.kind === "ENTRY" ? "entry" : `[${i}]`);
    const title = h("span", { class: one.name == null ? "label soft" : "label" }, plain(label));
    const note = isChanged && unseen(" (changed)");
    const kind = isChanged ? "changed" : "";
    if (!isBranch(one)) return h("li", { class: kind }, title, " ", leaf(one), note);
    const holds = !isChanged && [...this.changed].some((path) => path.startsWith(here));
    // Of a long list, the elements tell their content in a line; so does what is new as a whole.
    const many = parts(one).length;
    const isFew = path === "" || parts(around).length <= OPEN_BELOW_MAX;
    const isSmall = many > 0 && many <= Math.min(OPEN_PARTS_MAX, this.left);
    const isOpen = this.opened.get(here) ?? (holds || (!isChanged && isFew && isSmall));
    const details = h("details", {
      toggle: () => {
        if (details.open) fill();
        if (details.open !== isOpen || this.opened.has(here)) this.opened.set(here, details.open);
      },
    }, h("summary", {}, title, " ", head(one), note, holds && unseen(" (has changes)"),
      h("span", { class: "preview", "aria-hidden": "true" }, inline({ ...one, type: "" }, PREVIEW_MAX))));
    const fill = () => {
      if (details.children.length === 1) details.append(this.list(one, here, ""));
    };
    if (isOpen) {
      fill();
      details.open = true;
    }
    return h("li", { class: kind || (holds ? "holds" : "") }, details);
  }
}
