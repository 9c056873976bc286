// What the page knows, and how old it is. Every age counts on from the moment at which it was told.
export const LATE_S = 3; // a look older than this is not shown as if it were now
const OWN = 0, PROMISED = 1, RESERVED = 2, USED = 3; // of memory; vcores follow
const OUT = new Set(["LOST", "DECOMMISSIONED", "SHUTDOWN", "REBOOTED"]); // listed, but their figures are of the past
const STATE = 8, MOVED_AT = 9, MOVED = 10, SEEN_AT = 11;

export class Model {
  constructor() {
    Object.assign(this, { sections: {}, nodes: [], log: [], epoch: null, told: null, lost: "" });
  }

  take(news) {
    const everything = news.epoch !== this.epoch;
    if (everything) Object.assign(this, { nodes: [], epoch: news.epoch });
    this.told = { now: news.now_s, at: performance.now() };
    this.lost = "";
    for (const [name, rack] of (news.names || []).slice(this.nodes.length)) this.nodes.push({ name, rack, row: null });
    for (const [number, ...row] of news.nodes) this.nodes[number].row = row;
    const last = this.log.length ? this.log[0].n : 0;
    const fresh = news.log.filter((line) => line.n > last || everything).reverse();
    this.log = (everything ? fresh : fresh.concat(this.log)).slice(0, 300);
    for (const name of ["about", "look", "queues", "waiting", "applications", "ledger", "controller", "forecasts"])
      if (name in news) this.sections[name] = news[name];
  }

  now() { return this.told ? this.told.now + (performance.now() - this.told.at) / 1000 : 0; }
  silence() { return this.told ? (performance.now() - this.told.at) / 1000 : 0; }
  since(at) { return at === null || at === undefined ? null : Math.max(0, this.now() - at); }
  lookAge() { return this.since(this.sections.look?.at_s); }
  stepAge() { return this.since(this.sections.controller?.at_monotonic_s); }

  // Whether the numbers on the page are too old to be taken for the present.
  old() {
    const age = this.lookAge();
    return age === null || age > LATE_S || this.silence() > LATE_S || Boolean(this.lost) || Boolean(this.sections.look.trouble);
  }

  // A node as it may be shown: numbers that may be old have `fresh` false and the reason in `says`.
  node(one, resource) {
    const row = one.row, from = 4 * resource, state = row[STATE], age = this.since(row[MOVED_AT]);
    const shown = {
      name: one.name, rack: one.rack, state, age, moved: Boolean(row[MOVED]), own: row[from + OWN],
      promised: row[from + PROMISED], reserved: row[from + RESERVED], used: row[from + USED],
    };
    const stale = age > this.sections.about.stale_s;
    if (state === "GONE") Object.assign(shown, { status: "gone", says: `gone for ${span(this.since(row[SEEN_AT]))}` });
    else if (OUT.has(state)) Object.assign(shown, { status: "gone", says: `silent for ${span(age)}` });
    else if (stale) Object.assign(shown, { status: "stale", says: `figures ${shown.moved ? "" : "at least "}${span(age)} old` });
    else if (!shown.moved) Object.assign(shown, { status: "unproven", says: "age unknown" });
    else if (this.old()) Object.assign(shown, { status: "old", says: `figures ${span(age)} old` });
    else Object.assign(shown, { status: "fresh", says: age > LATE_S ? `figures ${span(age)} old` : span(age) });
    if (state !== "RUNNING" && state !== "GONE") shown.says = `${state.toLowerCase()}, ${shown.says}`;
    shown.fresh = shown.status === "fresh";
    return shown;
  }

  all(resource) { return this.nodes.filter((one) => one.row).map((one) => this.node(one, resource)); }
}

export const RANK = { gone: 0, stale: 1, unproven: 2, old: 3, fresh: 4 };

export function span(seconds) {
  if (seconds === null || seconds === undefined) return "?";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function amount(value, resource) {
  if (value === null || value === undefined) return "?";
  if (resource === 1) return `${Number(value.toFixed(1)).toLocaleString("en")}`;
  const gb = value / 1024;
  return gb >= 1024 ? `${(gb / 1024).toFixed(1)} TB` : gb >= 100 ? `${Math.round(gb)} GB` : `${Number(gb.toFixed(1))} GB`;
}
