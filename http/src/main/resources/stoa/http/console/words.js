// Numbers and times as text.

const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const DIGITS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

export const count = (number) => COUNT.format(number);

/** Returns "3 servers", "1 server". */
export const counted = (number, noun, nouns = noun + "s") =>
  count(number) + " " + (number === 1 ? noun : nouns);

const few = (number) => (Math.abs(number) >= 1000 ? COUNT : DIGITS).format(number);

export const rate = (number) => few(number < 0.005 ? 0 : number);

export function bytes(number) {
  let value = number;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(value) < 1024) return few(value) + " " + unit;
    value /= 1024;
  }
  return few(value) + " TiB";
}

export function seconds(value) {
  if (value === 0) return "0 s";
  if (value < 1e-3) return few(value * 1e6) + " µs";
  if (value < 1) return few(value * 1e3) + " ms";
  if (value < 120) return few(value) + " s";
  if (value < 7200) return Math.floor(value / 60) + " min " + Math.floor(value % 60) + " s";
  if (value < 172800) return Math.floor(value / 3600) + " h " + Math.floor((value / 60) % 60) + " min";
  return count(value / 86400) + " days";
}

export const percent = (share) => DIGITS.format(100 * share) + " %";

/** Returns the address of a client as Java writes it, without the name that it does not have. */
export const address = (peer) => peer.replace(/^\//, "");

/** Returns the time of the day here; with the day when that is another one than today. */
export function time(when) {
  const date = new Date(when);
  const clock = CLOCK.format(date);
  return date.toDateString() === new Date().toDateString() ? clock : DAY.format(date) + " " + clock;
}

/** Returns the end of a qualified name. */
export const simple = (type) => type.slice(1 + Math.max(type.lastIndexOf("."), type.lastIndexOf("$")));

/** Returns a method without its types: add(long,int) is add. */
export const method = (id) => (id.includes("(") ? id.slice(0, id.indexOf("(")) : id);
