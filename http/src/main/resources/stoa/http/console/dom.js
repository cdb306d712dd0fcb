// Elements. Text from the store becomes text nodes alone: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value == null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(4).filter((child) => child != null && child !== false));
  return element;
}

/** Returns an element. A property that is a function listens to the event of its name. */
export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Returns an element of a picture. */
export function s(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

export const unseen = (...children) => h("span", { class: "unseen" }, ...children);

// Controls, and marks that change the direction of text: they would let a name look like another.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Returns text of the store with its invisible characters made visible. */
export function plain(text) {
  return String(text).replace(
    HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Returns text of the store, whose direction does not reach beyond it. */
export const name = (text) => h("bdi", { class: "name" }, plain(text));

/** Returns the address of a view. */
export function at(path, query = {}) {
  const told = Object.entries(query).filter(([, value]) => value != null && value !== false);
  const search = new URLSearchParams(told).toString();
  return "#/" + path.map(encodeURIComponent).join("/") + (search ? "?" + search : "");
}

/** Splits TYPE[KEY], as calls name their object; returns null for something else. */
function parts(object) {
  const open = object.indexOf("[");
  if (open <= 0 || !object.endsWith("]")) return null;
  return [object.slice(0, open), object.slice(open + 1, -1)];
}

/** Returns a link to an object that is named TYPE[KEY]. */
export function objectLink(object) {
  const found = parts(object);
  if (!found || found[0].startsWith("stoa/")) return name(object);
  return h("a", { href: at(["objects", ...found]) }, name(object));
}

/**
 * Returns a table.
 *
 * @param columns each a title, or a title and the class of its cells
 * @param rows each a list of cells; the first one names the row
 */
export function table(caption, columns, rows, empty = "none") {
  const all = columns.map((column) => (Array.isArray(column) ? column : [column, ""]));
  const cell = (tag, i, content, more) => h(tag, { class: all[i][1], ...more }, content);
  const body = rows.map((row) => {
    const cells = row.map((content, i) =>
      i === 0 ? cell("th", i, content, { scope: "row" }) : cell("td", i, content));
    return h("tr", { class: row.kind }, cells);
  });
  if (!body.length) body.push(h("tr", {}, h("td", { colspan: all.length, class: "soft" }, empty)));
  return h("div", { class: "scroll" },
    h("table", {},
      h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {},
        all.map(([title], i) => cell("th", i, title, { scope: "col" })))),
      h("tbody", {}, body)));
}

/**
 * Asks the user whether to do something; the answer is a promise.
 *
 * @param no the word for leaving it
 * @param yes the word for doing it
 */
export function sure(title, words, no, yes) {
  return new Promise((answer) => {
    const dialog = h("dialog", {
      "aria-labelledby": "sure",
      close: () => {
        answer(dialog.returnValue === "yes");
        dialog.remove();
      },
    },
      h("h2", { id: "sure" }, title),
      h("p", {}, words),
      h("div", { class: "line end" },
        h("button", { click: () => dialog.close("no"), autofocus: true }, no),
        h("button", { class: "danger", click: () => dialog.close("yes") }, yes)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Returns the way to a view below the types. */
export function trail(...links) {
  return h("nav", { class: "trail", "aria-label": "Where" },
    h("a", { href: at(["objects"]) }, "Objects"), links.map((link) => [" / ", link]));
}

/** Returns a section with a heading. */
export function section(title, ...children) {
  return h("section", {}, h("h2", {}, title), ...children);
}

/** Replaces what is in an element; the control that has the focus passes it to its successor. */
export function replace(element, ...children) {
  const active = document.activeElement;
  const controls = () => [...element.querySelectorAll("a, button, input, summary")];
  const index = element.contains(active) ? controls().indexOf(active) : -1;
  const id = active?.dataset?.id;
  element.replaceChildren(...children.flat(4).filter((child) => child != null && child !== false));
  if (index < 0) return;
  const next = id ? element.querySelector(`[data-id="${CSS.escape(id)}"]`) : controls()[index];
  next?.focus({ preventScroll: true });
}

// The element on which the user holds the pointer: what contains it is drawn after the click.
let held = null;
const late = new Map();

addEventListener("pointerdown", ({ target }) => { held = target; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => {
    held = null;
    for (const draw of late.values()) draw();
    late.clear();
  }), true);
}

/** Returns a function that draws a part of a view again when what it shows has changed. */
export function part(element, draw) {
  let shown;
  const show = (...what) => {
    const now = JSON.stringify(what);
    if (now === shown) return;
    if (held && element.contains(held)) {
      late.set(element, () => show(...what));
      return;
    }
    shown = now;
    replace(element, draw(...what));
  };
  return show;
}

/** Says something to those who do not see the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Returns a message about a failure. */
export function trouble(failure) {
  return h("p", { class: "trouble", role: "alert" }, plain(failure.message));
}
