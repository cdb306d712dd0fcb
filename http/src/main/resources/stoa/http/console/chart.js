import { h, s } from "./dom.js";
import { time } from "./words.js";

const WIDTH = 300;
const HEIGHT = 84;

/** Returns a round number that is not below another one, both in units of 1 or of 1024. */
function ceiling(value, base) {
  if (!(value > 0)) return 1;
  const unit = base === 10 ? 1 : base ** Math.floor(Math.log(value) / Math.log(base));
  const power = unit * 10 ** Math.floor(Math.log10(value / unit));
  return [1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.9999) * power;
}

/** Returns the commands of a line, which ends where a value is missing. */
function line(values, x, y) {
  let path = "";
  let isOpen = false;
  values.forEach((value, i) => {
    if (value == null) {
      isOpen = false;
      return;
    }
    path += (isOpen ? "L" : "M") + x(i).toFixed(1) + " " + y(value).toFixed(1);
    if (!isOpen && values[i + 1] == null) path += "h.01"; // a value alone is a dot
    isOpen = true;
  });
  return path;
}

/** Returns the commands of the areas below a line. */
function area(values, x, y) {
  let path = "";
  let first = -1;
  for (let i = 0; i <= values.length; i++) {
    const isGap = values[i] == null;
    if (!isGap && first < 0) first = i;
    if (!isGap || first < 0) continue;
    const some = values.slice(first, i);
    path += `M${x(first).toFixed(1)} ${HEIGHT}` +
      some.map((value, k) => `L${x(first + k).toFixed(1)} ${y(value).toFixed(1)}`).join("") +
      `L${x(i - 1).toFixed(1)} ${HEIGHT}Z`;
    first = -1;
  }
  return path;
}

/** A small chart of one or two series over time. */
export class Chart {
  /** @param lines each `{ label, series }` */
  constructor({ title, lines, words, base = 10 }, choose) {
    this.base = base;
    this.title = title;
    this.lines = lines;
    this.words = words;
    this.values = lines.map(() => h("b", {}));
    this.top = h("span", { class: "top" });
    this.start = h("span", {});
    this.paths = lines.map((_, i) => s("path", { class: "line line" + i }));
    this.area = s("path", { class: "area" });
    this.cursor = s("path", { class: "cursor" });
    this.picture = s("svg", {
      role: "img",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      pointermove: (event) => {
        const box = this.picture.getBoundingClientRect();
        choose((event.clientX - box.left) / box.width);
      },
      pointerleave: () => choose(null),
    },
      s("path", { class: "grid", d: `M0 .5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}` }),
      this.area, ...this.paths.toReversed(), this.cursor);
    this.element = h("section", { class: "chart card" },
      h("h2", {}, title),
      h("ul", {}, lines.map(({ label }, i) =>
        h("li", { class: "line" + i }, this.values[i], " ", label))),
      h("div", { class: "plot" }, this.picture, this.top),
      h("div", { class: "axis" }, this.start, h("span", {}, "now")));
  }

  /**
   * Draws samples.
   *
   * @param samples each the time and then the values
   * @param index which value of a sample a series is
   */
  draw(samples, index, chosen) {
    const series = this.lines.map((one) => samples.map((row) => row[index[one.series]]));
    const values = series.flat().filter((value) => value != null);
    const most = ceiling(Math.max(0, ...values), this.base);
    const last = Math.max(1, samples.length - 1);
    const x = (i) => (i / last) * WIDTH;
    const y = (value) => HEIGHT - 1 - (value / most) * (HEIGHT - 2);
    this.area.setAttribute("d", area(series[0], x, y));
    series.forEach((values, i) => this.paths[i].setAttribute("d", line(values, x, y)));
    this.top.textContent = this.words(most);
    this.start.textContent = samples.length ? time(samples[0][0]) : "";
    this.label = this.title + ": " + this.lines.map(({ label }, i) =>
      label + " at most " + this.word(Math.max(0, ...series[i].filter((v) => v != null)))).join(", ");
    this.picture.setAttribute("aria-label", this.label);
    this.point(samples, index, chosen);
  }

  word(value) {
    return value == null ? "–" : this.words(value);
  }

  /** Shows the values of one sample: the last one, or the chosen one. */
  point(samples, index, chosen) {
    const last = samples.length - 1;
    const i = chosen == null ? last : chosen;
    this.lines.forEach((one, k) => {
      this.values[k].textContent = i < 0 ? "–" : this.word(samples[i][index[one.series]]);
    });
    const at = (i / Math.max(1, last)) * WIDTH;
    this.cursor.setAttribute("d", chosen == null ? "" : `M${at.toFixed(1)} 0V${HEIGHT}`);
  }
}
