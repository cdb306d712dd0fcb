import { again, ask } from "./ask.js";
import { Chart } from "./chart.js";
import { h, name, part, section, table, trouble } from "./dom.js";
import { bytes, method, percent, rate, seconds, time } from "./words.js";

const each = (value) => rate(value) + "/s";
const CHARTS = [
  { title: "Calls", words: each, lines: [{ label: "answered", series: "calls" }] },
  { title: "Time of a call", words: seconds,
    lines: [{ label: "median", series: "callP50" }, { label: "for 99 %", series: "callP99" }] },
  { title: "Time until a batch is durable", words: seconds,
    lines: [{ label: "median", series: "batchP50" }, { label: "for 99 %", series: "batchP99" }] },
  { title: "Log entries and syncs", words: each,
    lines: [{ label: "entries", series: "entries" }, { label: "syncs", series: "syncs" }] },
  { title: "Growth of the log", words: (value) => bytes(value) + "/s", base: 1024,
    lines: [{ label: "written", series: "logBytes" }] },
  { title: "Requests", words: rate,
    lines: [{ label: "in progress", series: "underWay" }, { label: "wait for a batch", series: "waiting" }] },
  { title: "Conflicts and calls taken back", words: each,
    lines: [{ label: "conflicts", series: "conflicts" }, { label: "taken back", series: "takenBack" }] },
  { title: "Sessions", words: rate, lines: [{ label: "connected", series: "sessions" }] },
  { title: "Memory", words: bytes, base: 1024,
    lines: [{ label: "heap", series: "heapBytes" }, { label: "objects", series: "residentBytes" }] },
  { title: "Processors", words: percent, lines: [{ label: "of all", series: "processor" }] },
  { title: "Disk", words: bytes, base: 1024,
    lines: [{ label: "used", series: "diskUsed" }, { label: "free", series: "diskFree" }] },
  { title: "Lag of replicas", words: rate, lines: [{ label: "batches, the most", series: "lag" }] },
];
const MINUTES = [5, 15, 30];

function methods(used) {
  return table("Methods",
    ["method", "type", ["calls/s", "num"], ["mean", "num"],
      ["median", "num"], ["for 99 %", "num"]],
    used.map((one) => [
      name(method(one.method)), name(one.type), rate(one.perSecond),
      ...one.seconds.map((value) => (value == null ? "–" : seconds(value)))]),
    "no calls in the last 5 seconds");
}

function samplesTable(samples, index) {
  const lines = CHARTS.flatMap(({ lines, words, title }) => lines.map((one) => ({ ...one, words, title })));
  return table("Samples, newest first",
    ["time", ...lines.map(({ title, label }) => [`${title}: ${label}`, "num"])],
    samples.toReversed().map((row) => [time(row[0]), ...lines.map(({ series, words }) => {
      const value = row[index[series]];
      return value == null ? "–" : words(value);
    })]));
}

/** Rates and latencies of this server over the last half hour. */
export function rates(place, parts, query, signal) {
  let all = [];
  let index = {};
  let minutes = MINUTES[0];
  let chosen = null; // the time of a sample; null for the last one
  let interval = 5000;
  const shown = () => all.slice(-Math.round((minutes * 60000) / interval));
  const choose = (share) => {
    const last = shown().length - 1;
    const i = Math.round(Math.min(1, Math.max(0, share)) * last);
    chosen = share == null || last < 0 ? null : shown()[i][0];
    point();
  };
  const position = (some) => {
    const i = chosen == null ? -1 : some.findIndex(([millis]) => millis === chosen);
    return i < 0 ? null : i;
  };
  const charts = CHARTS.map((one) => new Chart(one, choose));
  const failed = h("div", {});
  const sub = h("p", { class: "sub" });
  const drawSub = part(sub, (leads) => [
    "of the server at " + location.host + ", a sample every " + seconds(interval / 1000) + ". ",
    leads && (leads.length ? "It leads group " + leads.join(", ") : "It leads no group") +
      "; the leader of a group measures its calls. Other servers have consoles of their own."]);
  const moment = h("output", { for: "moment" }, "now");
  const slider = h("input", {
    id: "moment", type: "range", min: 0, max: 0, value: 0,
    input: () => choose(+slider.value < +slider.max ? slider.value / Math.max(1, slider.max) : null),
  });
  const ranges = MINUTES.map((length) => h("button", {
    "aria-pressed": String(length === minutes),
    click: () => {
      minutes = length;
      chosen = null;
      ranges.forEach((button, i) => button.setAttribute("aria-pressed", String(MINUTES[i] === length)));
      draw();
    },
  }, length + " min"));
  const used = h("div", { class: "card" });
  const drawUsed = part(used, methods);
  const numbers = h("details", { class: "card", toggle: () => draw() },
    h("summary", {}, "The samples as a table"), h("div", {}));

  function point() {
    const some = shown();
    const i = position(some);
    moment.textContent = i == null ? "now" : time(chosen);
    slider.setAttribute("aria-valuetext", moment.textContent);
    slider.value = i ?? slider.max;
    for (const chart of charts) chart.point(some, index, i);
  }

  function draw() {
    const some = shown();
    slider.max = Math.max(0, some.length - 1);
    for (const chart of charts) chart.draw(some, index, null);
    point();
    numbers.lastChild.replaceChildren(numbers.open ? samplesTable(some, index) : "");
  }

  place.append(
    h("h1", {}, "Rates"),
    sub,
    failed,
    h("div", { class: "tools" },
      h("div", { class: "buttons", role: "group", "aria-label": "How far back" }, ranges),
      h("label", { for: "moment" }, "At"), slider, moment),
    h("div", { class: "charts" }, charts.map((chart) => chart.element)),
    section("Methods", used, h("p", { class: "soft below" },
      "Calls and their mean time are of the last 5 seconds, the quantiles of the last one to two minutes.")),
    numbers);

  return new Promise((done) => {
    again(5000, signal, async () => {
      const told = await ask("trends", { since: all.length ? all.at(-1)[0] : 0 }, signal);
      failed.replaceChildren();
      interval = told.intervalMillis;
      index = Object.fromEntries(told.series.map((series, i) => [series, i + 1]));
      all = [...all, ...told.samples].slice(-told.samplesMax);
      draw();
      drawUsed(told.methods);
      drawSub(told.leads);
      done("Rates");
      return interval;
    }, (failure) => {
      failed.replaceChildren(trouble(failure));
      done("Rates");
    });
  });
}
