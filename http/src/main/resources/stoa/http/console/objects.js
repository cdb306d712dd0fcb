import { ask, objectPath } from "./ask.js";
import { at, h, name, table, trail } from "./dom.js";
import { bytes, count } from "./words.js";
import { object } from "./object.js";

const PAGE = 50;

function finder(types, known = "") {
  const type = h("select", { id: "type", required: true },
    types.map((one) => h("option", { value: one, selected: one === known }, one)));
  const key = h("input", {
    id: "key", required: true, autocomplete: "off", spellcheck: "false", placeholder: "alice, long:42" });
  return h("form", {
    class: "finder",
    submit: (event) => {
      event.preventDefault();
      location.hash = at(["objects", type.value, key.value]);
    },
  },
    h("label", { for: "type" }, "Type"), type,
    h("label", { for: "key" }, "Key"), key,
    h("button", { class: "main" }, "Show"));
}

async function types(place, signal) {
  const all = await ask("objects", {}, signal);
  const rows = all.map((one) => [
    h("a", { href: at(["objects", one.type]) }, name(one.type)),
    count(one.objects) + (one.more ? " and more" : "")]);
  place.append(
    h("h1", {}, "Objects"),
    all.length > 0 && finder(all.map((one) => one.type)),
    h("div", { class: "card narrow" },
      table("Types", ["type", ["objects", "num"]], rows, "the store has no objects")));
  return "Objects";
}

async function ofType(place, type, query, signal) {
  const skip = Math.max(0, Math.floor(Number(query.skip) || 0));
  const sizes = query.sizes === "true";
  const page = await ask(objectPath(type), { skip, max: PAGE, sizes: sizes || null }, signal);
  const rows = page.objects.map((one) => [
    h("a", { href: at(["objects", type, one.key]) }, name(one.key)),
    count(one.version),
    ...(sizes ? [one.bytes == null ? "?" : bytes(one.bytes)] : [])]);
  const to = (what) => at(["objects", type], what);
  const switching = h("input", {
    id: "sizes", type: "checkbox", checked: sizes,
    change: () => { location.hash = to({ skip: skip || null, sizes: switching.checked }); },
  });
  const step = (label, target) =>
    target == null
      ? h("span", { class: "button off", "aria-disabled": "true" }, label)
      : h("a", { class: "button", href: to({ skip: target || null, sizes }) }, label);
  const range = rows.length ? `${count(skip + 1)} to ${count(skip + rows.length)}` : "none";
  place.append(
    trail(name(type)),
    h("h1", {}, name(type)),
    finder([type], type),
    h("div", { class: "card narrow" },
      h("div", { class: "head" },
        h("h2", {}, "Objects " + range),
        h("label", { class: "check" }, switching, " sizes, which reads each state")),
      table("Objects", ["key", ["version", "num"], ...(sizes ? [["size", "num"]] : [])], rows,
        skip ? "no more objects" : "no objects"),
      h("div", { class: "pages" },
        step("Previous", skip > 0 ? Math.max(0, skip - PAGE) : null), step("Next", page.next))));
  return type;
}

/** Types, the objects of a type, and one object. */
export function objects(place, [type, key], query, signal) {
  if (type == null || type === "") return types(place, signal);
  if (key == null || key === "") return ofType(place, type, query, signal);
  return object(place, type, key, query, signal);
}
