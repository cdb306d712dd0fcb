import { again, ask, may } from "./ask.js";
import { h, name, objectLink, part, plain, say, section, sure, table, trouble, unseen } from "./dom.js";
import { address, bytes, counted, method, rate, seconds } from "./words.js";

const ROWS = 50;

/** Returns calls, each followed by those that wait behind it. */
function ordered(all) {
  const ids = new Set(all.map((call) => call.group + " " + call.call));
  const isBehind = (call) => call.behind != null && ids.has(call.group + " " + call.behind);
  const add = (call) => [call, ...all.filter((one) => isBehind(one) &&
    one.group === call.group && one.behind === call.call)];
  return all.filter((call) => !isBehind(call)).flatMap(add);
}

/** Calls that run or wait, with the cause; objects that are hot, slow or large. */
export function calls(place, parts, query, signal) {
  const failed = h("div", {});
  const note = h("p", { class: "note" });
  const sum = h("p", { class: "sub" });
  const callSpot = h("div", { class: "card" });
  const hotSpot = h("div", { class: "card" });
  const largeSpot = h("div", { class: "card" });

  async function cancel(call) {
    const words = [name(method(call.method)), " of ", name(call.object), " has taken ",
      seconds(call.millis / 1000), ". The store takes it back: its caller gets an error, and the " +
      "object is as before the call."];
    if (!(await sure(`Cancel call ${call.call}?`, words, "Let it go on", "Cancel the call"))) return;
    let told;
    try {
      await ask("cancel", { call: call.call, group: call.group }, signal, "POST");
      told = `Call ${call.call} is canceled.`;
    } catch (failure) {
      if (signal.aborted) return;
      told = failure.message;
    }
    note.textContent = told;
    say(told);
  }

  const drawCalls = part(callSpot, (all, operates) => {
    const rows = ordered(all).map((call) => {
      const isBehind = call.behind != null;
      const row = [
        [isBehind && h("span", { class: "soft", "aria-hidden": "true" }, "└ "), call.call],
        objectLink(call.object), h("code", {}, name(method(call.method))),
        seconds(call.millis / 1000), plain(call.why),
        call.client ? name(address(call.client)) : call.session ? "session " + call.session : "–",
        operates ? h("button", {
          "aria-label": `Cancel call ${call.call}`,
          "data-id": call.group + " " + call.call,
          click: () => cancel(call),
        }, "Cancel") : ""];
      row.kind = call.running ? "runs" : "waits";
      return row;
    });
    return table("Calls in progress",
      ["call", "object", "method", ["for", "num"], ["cause", "cause"], "client", unseen("cancel")],
      rows, "no calls in progress");
  });
  const drawHot = part(hotSpot, (all) => table("Busy objects",
    ["object", ["changes/s", "num"], ["running", "num"], ["waiting", "num"], ["memory", "num"], "slowest"],
    all.filter((one) => one.changesPerSecond + one.running + one.waiting > 0).slice(0, 15).map((one) => [
      objectLink(one.object), rate(one.changesPerSecond), rate(one.running), rate(one.waiting),
      bytes(one.bytes), one.slowest ? h("code", {}, name(method(one.slowest))) : "–"]),
    "no object was used in the last second"));
  const drawLarge = part(largeSpot, (all) => table("Largest objects",
    ["object", ["memory", "num"]],
    all.toSorted((a, b) => b.bytes - a.bytes).slice(0, 10)
      .map((one) => [objectLink(one.object), bytes(one.bytes)]),
    "no objects in memory"));

  place.append(h("h1", {}, "Calls"), sum, failed, note, callSpot,
    h("div", { class: "columns wide" },
      section("Busy objects", hotSpot, h("p", { class: "soft below" },
        "Running and waiting tell how many of its calls did so on average, over a second.")),
      section("Largest objects in memory", largeSpot)));
  let operates = null;
  return new Promise((done) => {
    again(1000, signal, async () => {
      operates ??= await may("operate", signal);
      const told = await ask("top", { millis: 1000, rows: ROWS }, signal);
      failed.replaceChildren();
      const waiting = told.calls.filter((call) => !call.running).length;
      sum.textContent = `${counted(told.calls.length, "call")} in progress` +
        (told.calls.length ? `, ${waiting} of them waiting for another` : "") +
        (told.calls.length === ROWS ? "; the longest are shown" : "") +
        (operates ? "" : "; to cancel one needs the role operate");
      drawCalls(told.calls, operates);
      drawHot(told.objects);
      drawLarge(told.objects);
      done("Calls");
    }, (failure) => {
      failed.replaceChildren(trouble(failure));
      done("Calls");
    });
  });
}
