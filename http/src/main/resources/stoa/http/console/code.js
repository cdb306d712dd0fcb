import { again, ask } from "./ask.js";
import { h, name, part, plain, section, table, trouble } from "./dom.js";
import { count } from "./words.js";

const HANDLER = "stoa/handler/";

/** Returns the groups that have a version active: "all", or their numbers. */
function where(groups, all) {
  if (!groups.length) return "–";
  return groups.length === all ? "all groups" : "group " + groups.join(", ");
}

function versions(all) {
  const groups = new Set(all.map((one) => one.group)).size;
  const types = Map.groupBy(all, (one) => one.type);
  const rows = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([type, some]) => {
    const known = Map.groupBy(some, (one) => one.version);
    const active = new Set(some.filter((one) => one.active).map((one) => one.version));
    return [...known].map(([version, uses], i) => {
      const of = uses.filter((one) => one.active).map((one) => one.group);
      const losses = [...new Set(uses.flatMap((one) => one.accepted))];
      const shown = type.startsWith(HANDLER) ? [type.slice(HANDLER.length), " (handler)"] : [type, ""];
      const row = [
        i === 0 ? [name(shown[0]), shown[1]] : h("span", { class: "unseen" }, plain(type)),
        h("code", { title: version }, version.slice(0, 12)),
        uses.map((one) => one.turn).filter((turn, k, turns) => turns.indexOf(turn) === k).join(", "),
        of.length ? h("span", { class: "badge" }, "active") : h("span", { class: "soft" }, "replaced"),
        where(of, groups),
        losses.length ? plain(losses.join(", ")) : "–"];
      row.kind = (of.length ? "active" : "replaced") + (active.size > 1 && of.length ? " differs" : "");
      return row;
    });
  });
  return table("Versions of code",
    ["type", "version", ["deployed as number", "num"], "state", "executes in", "accepted losses"],
    rows, "the store has no code");
}

function differ(all) {
  const mixed = [...Map.groupBy(all.filter((one) => one.active), (one) => one.type)]
    .filter(([, some]) => new Set(some.map((one) => one.version)).size > 1);
  if (!mixed.length) return null;
  return h("div", { class: "alarms" },
    h("p", {}, "Groups execute different code of ", mixed.map(([type], i) => [i > 0 && ", ", name(type)]),
      ": a deployment has ended halfway. Deploy the classes again."));
}

function keep(rules) {
  return table("Rules", ["rule", "groups"],
    rules.map((one) => [h("code", {}, one.rules.map(plain).join(", ")), one.groups.join(", ")]));
}

/** Versions of code, and how much of the past stays. */
export function code(place, parts, query, signal) {
  const failed = h("div", {});
  const mixed = h("div", {});
  const spot = h("div", { class: "card" });
  const keepSpot = h("div", { class: "card narrow" });
  const draws = [part(mixed, differ), part(spot, versions)];
  const drawKeep = part(keepSpot, keep);
  place.append(h("h1", {}, "Code"),
    h("p", { class: "sub" }, "The versions of the classes of shared types, as deployments brought them"),
    failed, mixed, spot, section("How much of the past stays", keepSpot));
  return new Promise((done) => {
    again(5000, signal, async () => {
      const [all, rules] = await Promise.all([ask("code", {}, signal), ask("keep", {}, signal)]);
      failed.replaceChildren();
      for (const draw of draws) draw(all);
      drawKeep(rules);
      done("Code");
    }, (failure) => {
      failed.replaceChildren(trouble(failure));
      done("Code");
    });
  });
}
