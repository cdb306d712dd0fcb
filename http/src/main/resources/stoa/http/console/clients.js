import { again, ask, may } from "./ask.js";
import { h, name, part, plain, s, say, section, sure, table, trouble, unseen } from "./dom.js";
import { address, bytes, count, counted } from "./words.js";

const COLUMN = 230;
const ROW = 52;
const BOX = 180;

/** Returns the members of a tree in their order, each with its depth and the row of its middle. */
function laidOut(members) {
  const children = Map.groupBy(members, (one) => one.parent || "");
  const placed = [];
  let row = 0;
  const put = (one, depth) => {
    const here = { one, depth, below: [] };
    placed.push(here);
    const kids = one.node ? (children.get(one.node) ?? []) : [];
    here.below = kids.filter((kid) => kid !== one).map((kid) => put(kid, depth + 1));
    here.row = here.below.length
      ? (here.below[0].row + here.below.at(-1).row) / 2
      : row++;
    return here;
  };
  for (const root of children.get("") ?? []) put(root, 0);
  return placed;
}

const kind = ({ one, depth }, i) =>
  i === 0 ? "root" : depth === 0 ? "joins" : one.inner ? "inner" : "leaf";

const objects = (one) => counted(one.objects, "object");

function cut(text, most) {
  const shown = plain(text);
  return shown.length <= most ? shown : shown.slice(0, most - 1) + "…";
}

function picture(placed, domain) {
  const depth = Math.max(...placed.map((one) => one.depth));
  const rows = 1 + Math.max(...placed.map((one) => one.row));
  const width = depth * COLUMN + BOX + 2;
  const height = rows * ROW + 2;
  const x = (one) => 1 + one.depth * COLUMN;
  const y = (one) => 1 + one.row * ROW;
  const links = placed.flatMap((one) => one.below.map((kid) => {
    const from = x(one) + BOX;
    const middle = (from + x(kid)) / 2;
    const start = y(one) + 21;
    const end = y(kid) + 21;
    return s("path", {
      class: "link", d: `M${from} ${start}C${middle} ${start} ${middle} ${end} ${x(kid)} ${end}` });
  }));
  const boxes = placed.map((one, i) => s("g", { class: "node " + kind(one, i) },
    s("rect", { x: x(one), y: y(one), width: BOX, height: 42, rx: 8 }),
    s("text", { class: "title", x: x(one) + 12, y: y(one) + 18 }, cut(one.one.name || one.one.node, 22)),
    s("text", { class: "place", x: x(one) + 12, y: y(one) + 34 },
      cut(`${objects(one.one)}${one.one.locality ? " · " + one.one.locality : ""}`, 26))));
  return h("div", { class: "scroll" },
    s("svg", {
      role: "img", width, height, viewBox: `0 0 ${width} ${height}`,
      "aria-label": `the tree of ${counted(placed.length, "process", "processes")} of the domain ` +
        `${plain(domain)}; the table below has the same`,
    }, links, boxes));
}

function trees(members, all) {
  if (!members.length) {
    return h("p", { class: "soft" },
      "No client has objects with placement = CLIENT, or has borrowed one.");
  }
  const more = all > members.length &&
    h("p", { class: "soft" }, `${count(members.length)} of ${count(all)} processes are shown.`);
  return [...Map.groupBy(members, (one) => one.domain)].map(([domain, some]) => {
    const placed = laidOut(some);
    const names = new Map(some.map((one) => [one.node, one.name || one.node]));
    return h("section", { class: "card" },
      h("h2", {}, "Domain ", name(domain)),
      picture(placed, domain),
      table(`Processes of the domain ${plain(domain)}`,
        ["process", "below", "kind", ["directly below it", "num"], ["objects", "num"], "place"],
        placed.map((one, i) => [
          [name(one.one.name || one.one.node), " ", h("span", { class: "soft" }, plain(one.one.node))],
          one.one.parent ? name(names.get(one.one.parent) ?? one.one.parent) : "–",
          kind(one, i), count(one.one.children), count(one.one.objects),
          one.one.locality ? name(one.one.locality) : "–"])));
  }).concat(more || []);
}

/** @param end ends a session; null where the token does not allow it */
function sessions(all, groups, end) {
  const sum = groups.reduce((sum, group) => sum + group.sessions, 0);
  return [
    table("Sessions",
      ["session", ["group", "num"], "client", ["objects", "num"], ["requests", "num"],
        ["transactions", "num"], ["listeners", "num"], ["unread", "num"], unseen("end")],
      all.map((one) => [
        String(one.session), one.group,
        one.connected ? name(address(one.peer)) : h("span", { class: "soft" }, "not connected"),
        count(one.containers), count(one.requests), count(one.transactions), count(one.listeners),
        bytes(one.unreadBytes),
        end ? h("button", {
          "aria-label": `End session ${one.session}`,
          "data-id": one.group + " " + one.session,
          click: () => end(one),
        }, "End") : ""]),
      "no sessions"),
    all.length < sum && h("p", { class: "soft" }, `${count(all.length)} of ${count(sum)} sessions are shown.`)];
}

/** The processes among which objects migrate, and the sessions of clients. */
export function clients(place, parts, query, signal) {
  const failed = h("div", {});
  const treeSpot = h("div", {});
  const sessionSpot = h("div", { class: "card" });
  const note = h("p", { class: "note" });

  async function end(session) {
    const words = "The store releases what the session has open. Its client opens another session " +
      "if it still runs; its calls in progress end with UnknownOutcome.";
    if (!(await sure(`End session ${session.session}?`, words, "Let it be", "End the session"))) return;
    let told;
    try {
      await ask("end-session", { session: session.session, group: session.group }, signal, "POST");
      told = `Session ${session.session} has ended.`;
    } catch (failure) {
      if (signal.aborted) return;
      told = failure.message;
    }
    note.textContent = told;
    say(told);
  }

  const drawTrees = part(treeSpot, trees);
  const drawSessions = part(sessionSpot, sessions);
  place.append(h("h1", {}, "Clients"), failed,
    section("Tree of the objects at clients", treeSpot),
    section("Sessions", note, sessionSpot));
  let operates = null;
  return new Promise((done) => {
    again(2000, signal, async () => {
      operates ??= await may("operate", signal);
      const store = await ask("overview", {}, signal);
      failed.replaceChildren();
      drawTrees(store.tree, store.treeMembers);
      drawSessions(store.sessions, store.groups, operates ? end : null);
      done("Clients");
    }, (failure) => {
      failed.replaceChildren(trouble(failure));
      done("Clients");
    });
  });
}
