import { again, ask } from "./ask.js";
import { h, name, objectLink, part, plain, s, section, table, trouble } from "./dom.js";
import { bytes, count, counted, rate, seconds } from "./words.js";

const COLUMN_MIN = 150;
const COLUMN_MAX = 380;
const LANE = 46;
const LEFT = 74;
const TOP = 62;
const LAG = 100; // batches under way are no lag
const OLD_MILLIS = 5000;

const STATES = { away: "does not answer", lost: "lost", drains: "drains" };

function member(server, group) {
  return server.groups.find((one) => one.group === group);
}

/** Returns the servers; for a server that is alone, itself. */
function servers(store) {
  if (store.servers.length) return store.servers;
  const groups = store.groups.map(({ group }) => ({ group, leads: true, behind: 0, move: "" }));
  return [{ server: "this server", clientAddress: "", state: "", groups, isAlone: true }];
}

function role(one) {
  if (one.failed) return "failed";
  if (one.leads) return "leads";
  return one.logUnit ? "log unit" : "follows";
}

function mark(one, x, y, calls = 0) {
  const kind = role(one).replace(" ", "-") + (one.move ? " moves" : "") + (one.behind > LAG ? " lags" : "");
  const shape = one.logUnit && !one.leads
    ? s("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 2 })
    : s("circle", { cx: x, cy: y, r: one.leads ? 11 : 8 });
  const cross = one.failed && s("path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` });
  const rates = one.leads && calls > 0 ? rate(calls) + " calls/s" : "";
  const note = one.failed ? "failed" : one.move || (one.behind ? count(one.behind) + " behind" : rates);
  return s("g", { class: "member " + kind }, shape, cross,
    note && s("text", { x: x + 13, y: y - 9 }, note));
}

/** Draws servers as columns and groups as lanes; a lane has a mark in each member's column. */
function picture(store, room) {
  const columns = servers(store);
  const column = Math.max(COLUMN_MIN, Math.min(COLUMN_MAX, (room - LEFT) / columns.length));
  const width = LEFT + columns.length * column;
  const height = TOP + store.groups.length * LANE + 6;
  const center = (i) => LEFT + i * column + column / 2 - 8;
  const cards = columns.map((server, i) => {
    const x = LEFT + i * column;
    const state = STATES[server.state] ?? server.state;
    return s("g", { class: "server " + (server.state || "here") },
      s("rect", { x, y: 1, width: column - 16, height: height - 2, rx: 8 }),
      s("text", { class: "title", x: x + 14, y: 25 }, cut(server.server, column / 10)),
      s("text", { class: "place", x: x + 14, y: 43 }, state || cut(server.clientAddress, column / 7)));
  });
  const lanes = store.groups.map(({ group, callsPerSecond }, row) => {
    const y = TOP + row * LANE + LANE / 2 - 4;
    const found = columns.map((server, i) => [member(server, group), i]).filter(([one]) => one);
    const isLed = found.some(([one]) => one.leads);
    const xs = found.map(([, i]) => center(i));
    return s("g", { class: isLed ? "lane" : "lane leaderless" },
      s("text", { class: "group", x: 0, y: y + 4 }, "group " + group),
      found.length > 1 &&
        s("path", { class: "link", d: `M${Math.min(...xs)} ${y}H${Math.max(...xs)}` }),
      found.map(([one, i]) => mark(one, center(i), y, callsPerSecond)));
  });
  const led = store.groups.filter((group) => isLed(store, group)).length;
  const label = `${counted(columns.length, "server")}, ${counted(store.groups.length, "group")}, ` +
    `${led} with a leader; the table below has the same`;
  return h("div", { class: "scroll" },
    s("svg", { role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` },
      cards, lanes));
}

function cut(text, most) {
  const shown = plain(text);
  return shown.length <= most ? shown : shown.slice(0, Math.floor(most) - 1) + "…";
}

const isLed = (store, group) => !store.servers.length || group.leader != null;

function key() {
  const one = (label, shape) => h("li", {},
    s("svg", { width: 26, height: 26, "aria-hidden": "true" }, shape), label);
  return h("ul", { class: "key" },
    one("leads", mark({ leads: true }, 13, 13)),
    one("follows", mark({}, 13, 13)),
    one("keeps the log", mark({ logUnit: true }, 13, 13)));
}

function facts(store) {
  const sum = (what) => store.groups.reduce((all, group) => all + group[what], 0);
  const columns = servers(store);
  const here = columns.filter((server) => !server.state).length;
  const led = store.groups.filter((group) => isLed(store, group)).length;
  const fact = (label, value, kind) =>
    h("div", { class: kind }, h("dt", {}, label), h("dd", {}, value));
  const some = (part, all) => [part === all ? count(all) : `${part} of ${all}`, part < all && "bad"];
  return h("dl", { class: "facts card" },
    fact("servers that answer", ...some(here, columns.length)),
    fact("groups with a leader", ...some(led, store.groups.length)),
    fact("calls a second", rate(sum("callsPerSecond"))),
    fact("syncs a second", rate(sum("syncsPerSecond"))),
    fact("calls in progress", count(sum("calls"))),
    fact("sessions", count(sum("sessions"))),
    fact("objects in memory", count(sum("objectsInMemory"))),
    sum("timers") > 0 && fact("timers", count(sum("timers"))),
    sum("timersOverdue") > 0 && fact("timers overdue", count(sum("timersOverdue")), "bad"),
    sum("timersFailed") > 0 && fact("timers' failed calls", count(sum("timersFailed")), "bad"),
    fact("log", bytes(sum("logBytes"))));
}

function alarms(store) {
  const all = [...store.alarms];
  for (const group of store.groups) {
    const which = "group " + group.group;
    if (group.failure) all.push(`${which} has failed: ${group.failure}`);
    if (group.silence) all.push(`${which} does not answer: ${group.silence}`);
    if (!isLed(store, group)) {
      all.push(`${which} has no leader: most of its servers cannot reach each other, or they elect one`);
    }
  }
  if (store.servers.length && store.serversAgeMillis > OLD_MILLIS) {
    all.push("the servers are shown as they were " + seconds(store.serversAgeMillis / 1000) + " ago");
  }
  if (!all.length) return null;
  return h("div", { class: "alarms" }, h("h2", {}, counted(all.length, "alarm")),
    h("ul", {}, all.map((text) => h("li", {}, plain(text)))));
}

function quarantined(store) {
  if (!store.quarantined.length) return null;
  return section("In quarantine",
    h("p", { class: "soft" }, "These objects take no calls. Look at the history, mend the class, " +
      "then delete the object, or ./stoa accept OBJECT."),
    table("Objects in quarantine", ["object", "group", "evidence"],
      store.quarantined.map((one) => [objectLink(one.object), one.group, plain(one.evidence)])));
}

function groups(store) {
  const columns = servers(store);
  const rows = store.groups.map((group) => {
    const members = columns.flatMap((server) => {
      const one = member(server, group.group);
      if (!one || one.leads) return [];
      const notes = [role(one) === "follows" ? "" : role(one), one.move,
        STATES[server.state] ?? server.state, one.behind ? count(one.behind) + " behind" : ""];
      const told = notes.filter(Boolean).join(", ");
      return [h("li", {}, name(server.server), told && h("span", { class: "soft" }, ` (${told})`))];
    });
    const leader = columns.find((server) => member(server, group.group)?.leads);
    const move = leader && member(leader, group.group).move;
    return [
      "group " + group.group,
      leader ? [name(leader.server), move && " " + move] : h("strong", { class: "bad" }, "none"),
      members.length ? h("ul", { class: "flow" }, members) : "–",
      ...(group.answers
        ? [rate(group.callsPerSecond), rate(group.syncsPerSecond), count(group.calls),
          count(group.sessions), count(group.objectsInMemory), bytes(group.logBytes)]
        : Array(6).fill("?")),
    ];
  });
  return table("Groups",
    ["group", "leader", "other members", ["calls/s", "num"], ["syncs/s", "num"],
      ["in progress", "num"], ["sessions", "num"], ["in memory", "num"], ["log", "num"]],
    rows);
}

/** The servers with their groups, leaders, lag and moves. */
export function cluster(place, parts, query, signal) {
  const failed = h("div", {});
  const sub = h("p", { class: "sub" });
  const spots = [facts, alarms, picture, groups, quarantined].map((draw) => {
    const spot = h("div", {});
    return { spot, draw: part(spot, draw) };
  });
  const [first, alarmed, drawn, listed, last] = spots.map(({ spot }) => spot);
  place.append(h("h1", {}, "Cluster"), sub, failed, alarmed, first,
    h("section", { class: "card" },
      h("div", { class: "head" }, h("h2", {}, "Servers and groups"), key()), drawn, listed),
    last);
  place.setAttribute("aria-busy", "true");
  let store;
  const draw = () => {
    for (const spot of spots) spot.draw(store, drawn.clientWidth);
  };
  addEventListener("resize", () => store && draw(), { signal });
  return new Promise((shown) => {
    again(2000, signal, async () => {
      store = await ask("overview", {}, signal);
      failed.replaceChildren();
      const up = "up " + seconds(Math.round(store.upMillis / 1000));
      sub.textContent = [store.data, "Stoa " + store.version, up].filter(Boolean).map(plain).join(" · ");
      draw();
      place.removeAttribute("aria-busy");
      shown("Cluster");
    }, (failure) => {
      failed.replaceChildren(trouble(failure));
      shown("Cluster");
    });
  });
}
