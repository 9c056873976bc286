// Tables, lists and numbers. Names come from the cluster: they are text, never markup.
import { amount, span } from "./model.js";

const LOG_SHOWN = 120, NODES_SHOWN = 25;
const CAUSES = {
  lever: "policy decision", stale: "metrics are stale: back to its own size",
  pressure: "memory is nearly full: no further overcommit", cap: "limited by --overcommit",
  rise: "limited by --rise", largest: "one of the largest nodes keeps its size",
  preemption: "if it were smaller, YARN might preempt", strange: "someone else may have changed it: waiting",
  foreign: "someone else changed it: left to them", outside: "excluded by --node or --queue",
  decommissioned: "it was being decommissioned: YARN might kill containers",
};
const VERDICTS = { posted: "done", shadow: "would do", failed: "failed", "left-alone": "left alone", away: "away" };

// What a reader would not see, and what turns the direction of writing: a name could pass for another.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function visible(text) {
  return String(text).replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function el(tag, text, cls) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = visible(text);
  if (cls) made.className = cls;
  return made;
}

function fill(place, ...children) { place.replaceChildren(...children); }

function table(place, headings, rows) {
  const head = el("tr"), body = el("tbody");
  for (const heading of headings) {
    const cell = el("th", heading.replace(/^</, ""), heading.startsWith("<") ? "left" : "");
    cell.scope = "col";
    head.append(cell);
  }
  for (const row of rows) {
    const line = el("tr");
    row.forEach((value, i) => {
      const cell = value instanceof Node ? value : el(i ? "td" : "th", value, i ? `num${headings[i].startsWith("<") ? " left" : ""}` : "");
      if (!i) cell.scope = "row";
      line.append(cell);
    });
    body.append(line);
  }
  const top = el("thead");
  top.append(head);
  fill(place, top, body);
}

function meter(reserved, used, mark) {
  const made = el("div", undefined, "meter");
  for (const [share, cls] of [[reserved, "reserved"], [used, ""]]) {
    const part = el("i", undefined, cls);
    part.style.width = `${Math.min(100, 100 * (share || 0))}%`;
    made.append(part);
  }
  if (mark !== null && mark < 1) {
    const line = el("u");
    line.style.left = `calc(${100 * mark}% - 1px)`;
    made.append(line);
  }
  return made;
}

const sum = (nodes, of) => nodes.reduce((total, node) => total + (of(node) || 0), 0);
const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

export function summary(place, model, both) {
  const tiles = ["Memory", "Vcores"].map((title, resource) => capacity(title, both[resource], resource));
  const { applications, waiting, queues } = model.sections;
  const containers = sum(queues || [], (queue) => queue.waiting_containers), mb = sum(queues || [], (queue) => queue.waiting_mb);
  const waits = waiting?.all
    ? `${waiting.all.toLocaleString("en")} waiting${containers ? `: ${count(containers, "container")}, ${amount(mb, 0)}` : " for their AM"}` : "none waiting";
  tiles.push(tile("Applications", `${(applications?.running ?? 0).toLocaleString("en")} running`, waits));
  const by = Object.groupBy ? Object.groupBy(both[0], (node) => node.status) : group(both[0]);
  const parts = [["gone", "gone"], ["stale", "stale"], ["unproven", "of unknown age"]]
    .filter(([status]) => by[status]).map(([status, word]) => `${by[status].length.toLocaleString("en")} ${word}`);
  const nodes = tile("Nodes", (both[0].length - (by.gone || []).length).toLocaleString("en"), parts.join(", ") || "all up to date");
  if (by.gone || by.stale) nodes.lastChild.className = "bad";
  tiles.push(nodes);
  fill(place, ...tiles);
}

function group(nodes) {
  const found = {};
  for (const node of nodes) (found[node.status] ||= []).push(node);
  return found;
}

function tile(title, number, text) {
  const made = el("div", undefined, "tile");
  made.append(el("h3", title), el("b", number, "num"), el("span", text));
  return made;
}

function capacity(title, nodes, resource) {
  const there = nodes.filter((node) => node.status !== "gone"), fresh = there.filter((node) => node.fresh);
  const own = sum(there, (node) => node.own), promised = sum(there, (node) => node.promised);
  const reserved = sum(there, (node) => node.reserved), known = fresh.filter((node) => node.used !== null);
  const used = sum(known, (node) => node.used), top = Math.max(own, promised, 1);
  const number = known.length ? `${amount(used, resource)} used` : "use unknown";
  const partly = known.length && known.length < there.length ? ` (fresh on ${known.length.toLocaleString("en")} of ${count(there.length, "node")})` : "";
  const made = tile(title, number, `${amount(reserved, resource)} reserved of ${amount(promised, resource)} promised; own sizes ${amount(own, resource)}${partly}`);
  made.insertBefore(meter(reserved / top, known.length ? used / top : 0, own / top), made.lastChild);
  return made;
}

export function nodeTable(place, more, nodes, resource) {
  const shown = nodes.slice(0, NODES_SHOWN);
  table(place, ["node", "<state", "own", "promised", "reserved", "used", "age of figures"], shown.map((node) => [
    node.name, node.state.toLowerCase(), amount(node.own, resource), amount(node.promised, resource), amount(node.reserved, resource),
    node.fresh || node.status === "gone" ? amount(node.used, resource) : el("td", `was ${amount(node.used, resource)}`, "quiet num"),
    el("td", node.says, node.status === "stale" || node.status === "gone" ? "bad" : "num"),
  ]));
  more.textContent = nodes.length > shown.length ? `and ${(nodes.length - shown.length).toLocaleString("en")} more: filter or sort to find them` : "";
}

const percent = (permille) => (permille === null ? "?" : `${permille / 10} %`);

export function queueTable(place, queues) {
  table(place, ["queue", "<held", "guarantee", "max", "run", "wait", "for"], queues.map((queue) => {
    const bar = el("td", undefined, "held left");
    bar.append(el("span", queue.used_mb === null ? "?" : `${amount(queue.used_mb, 0)}, ${percent(queue.used_permille)}`, "num"));
    if (queue.used_permille !== null) bar.append(meter(0, queue.used_permille / 1000, queue.guarantee_permille / 1000));
    const asks = queue.waiting_containers ? `${queue.waiting_containers.toLocaleString("en")} × ${amount(queue.waiting_mb / queue.waiting_containers, 0)}` : "";
    return [queue.queue, bar, percent(queue.guarantee_permille), percent(queue.maximum_permille), String(queue.running), String(queue.waiting), asks];
  }));
}

export function waiting(place, told, model) {
  if (!told.applications.length) return fill(place, el("p", "Nothing is waiting.", "empty"));
  const list = el("table"), scroll = el("div", undefined, "scroll");
  table(list, ["application", "<user", "<queue", "<waits for", "since"], told.applications.map((app) => [
    app.id.replace(/^application_/, ""), app.user, app.queue,
    app.am ? "its AM" : `${app.containers.toLocaleString("en")} × ${amount(app.memory_mb / (app.containers || 1), 0)}`,
    `${app.at_least ? "≥ " : ""}${span(model.since(app.since_s))}`,
  ]));
  scroll.append(list);
  const left = told.all - told.applications.length;
  fill(place, scroll, ...(left > 0 ? [el("p", `and ${left.toLocaleString("en")} more, submitted later`, "quiet")] : []));
}

export function log(place, lines) {
  if (!lines.length) return fill(place, el("li", "Nothing has happened yet."));
  fill(place, ...lines.slice(0, LOG_SHOWN).map((line) => {
    const row = el("li"), when = el("time", new Date(1000 * line.at).toLocaleTimeString("en-GB")), what = el("div");
    if (line.kind === "decision") {
      what.append(el("span", VERDICTS[line.verdict] || line.verdict, `verdict ${line.verdict === "failed" ? "failed" : ""}`), ` ${line.text}: ${change(line)}`);
      what.append(el("span", `${line.cause ? `${CAUSES[line.cause] || line.cause} (${line.cause})` : ""}${line.problem ? ` – ${line.problem}` : ""}`, "why"));
    } else what.append(line.text);
    row.append(when, what);
    return row;
  }));
}

function change(line) {
  if (line.what === "table") return `${line.wanted} requests`;
  const size = (value) => (Array.isArray(value) ? `${amount(value[0], 0)}, ${value[1] / 1000} vcores` : plain(value));
  return line.before === null ? size(line.wanted) : `${size(line.before)} → ${size(line.wanted)}`;
}

function plain(value) {
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([key, of]) => `${key} ${of === null ? "not set" : of}`).join(", ");
}

export function ledger(place, told) {
  const beyond = told.lines.length - 1, total = (hours) => hours.slice(0, beyond).reduce((a, b) => a + b, 0);
  if (!total(told.memory)) return fill(place, el("p", "Starts with the second refresh.", "empty"));
  const bar = el("div", undefined, "stack"), list = el("table"), scroll = el("div", undefined, "scroll");
  told.memory.slice(0, beyond).forEach((hours, i) => {
    const part = el("div", undefined, `l${i}`);
    part.style.width = `${(100 * hours) / total(told.memory)}%`;
    bar.append(part);
  });
  const share = (hours, i) => `${hours[i].toFixed(2)} (${(100 * hours[i] / (total(hours) || 1)).toFixed(1)} %)`;
  table(list, ["since the dashboard started", "GB-hours", "vcore-hours"], told.lines.map((line, i) => {
    const name = el("th");
    if (i < beyond) name.append(el("span", undefined, `swatch l${i}`));
    name.append(line);
    return [name, share(told.memory, i), share(told.vcores, i)];
  }).filter((_, i) => told.memory[i] || told.vcores[i]));
  scroll.append(list);
  fill(place, bar, scroll, el("p", `Over ${span(told.seconds)}, as shares of the nodes' own sizes; the bar shows memory. Stale figures never count as use.`, "quiet"));
}

// What is left of a forecast: it was made a while ago, and says so.
export function forecasts(place, rows, model) {
  if (!rows.length) return fill(place, el("p", "No forecast for a running application.", "empty"));
  const list = el("table"), scroll = el("div", undefined, "scroll");
  const left = (ms, age) => (ms === null ? "later" : span(Math.max(0, ms / 1000 - age)));
  table(list, ["application", "<user", "ends in", "80 % interval", "made"], rows.map((row) => {
    const age = model.since(row.at_s), [least, middle, most] = row.told_ms;
    return [row.id.replace(/^application_/, ""), row.user, left(middle, age), `${left(least, age)} to ${left(most, age)}`, `${span(age)} ago`];
  }));
  scroll.append(list);
  fill(place, scroll);
}
