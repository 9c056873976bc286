// The page: takes what it is told, and shows it with its age, twice a second.
import { Controls } from "./controls.js";
import { LATE_S, Model, amount, span } from "./model.js";
import * as parts from "./parts.js";
import { listen } from "./stream.js";
import { at, draw, ordered } from "./tiles.js";

const $ = (id) => document.getElementById(id);
const REDRAW_MS = 500;
const model = new Model();
let refused = "", picked = null, drawn = [];

function keptToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given); // of this port and tab alone
    history.replaceState(null, "", location.pathname);
  }
  return given || sessionStorage.getItem("token") || "";
}

function alarms() {
  const found = [], { look, controller } = model.sections, age = model.lookAge();
  if (model.lost === "refused") found.push(["No access.", "Open the link that heddle printed: it contains the token."]);
  else if (model.told && (model.lost || model.silence() > LATE_S))
    found.push(["No word from heddle", `for ${span(model.silence())}: the dashboard has ended or cannot be reached. Everything below is that old.`]);
  if (look?.trouble) found.push(["The ResourceManager does not answer.", `${look.trouble}. ${age === null ? "It has not answered yet." : `Numbers are ${span(age)} old.`}`]);
  else if (age !== null && age > LATE_S && !model.lost) found.push(["Numbers are old:", `the last refresh was ${span(age)} ago.`]);
  if (controller?.state === "died") found.push(["The controller has died.", controller.left || "All of its changes have been undone."]);
  else if (controller?.left) found.push(["Changes were left behind:", controller.left]);
  const step = model.stepAge();
  if (controller?.state === "running" && step !== null && step > Math.max(LATE_S, 3 * controller.every_s))
    found.push(["The controller is late:", `no step for ${span(step)}; everything is restored after ${span(controller.lease_s)} without one.`]);
  if (refused) found.push(["Not done:", refused]);
  const text = JSON.stringify(found);
  if ($("alarms").dataset.text === text) return;
  $("alarms").dataset.text = text;
  $("alarms").replaceChildren(...found.map(([what, more]) => {
    const line = parts.el("p");
    line.append(parts.el("b", what), ` ${more}`);
    return line;
  }));
}

const STATES = { running: "running", paused: "paused", died: "died", ended: "ended", none: "not steered" };

function controller() {
  const told = model.sections.controller;
  if (!told) return;
  const state = told.state === "running" && told.paused ? "paused" : told.state;
  $("controller").hidden = false;
  $("state").textContent = told.state === "running" && !told.paused ? told.mode : STATES[state];
  $("state").className = `state ${state}`;
  const asked = told.state !== "running" ? "" : told.ending ? ", asked to put back and end" : told.pausing !== told.paused ? `, asked to ${told.pausing ? "pause" : "resume"}` : "";
  const step = told.state === "running" ? `${told.answered ? "" : ", no answer"}, step ${told.steps + told.missed}, ${span(model.stepAge())} ago` : "";
  $("doing").textContent = told.state === "none" ? "No controller is running here." : `${told.policy}${step}${asked}`;
  $("doing").title = told.why;
}

function ages() {
  for (const place of document.querySelectorAll("[data-age]")) {
    const step = place.dataset.age === "step", age = step ? model.stepAge() : model.lookAge();
    const runs = model.sections.controller?.state === "running";
    place.textContent = step && !runs ? "" : age === null ? "no data yet" : `${step ? "controller " : ""}${span(age)} ago`;
    place.classList.toggle("late", age === null || age > LATE_S || Boolean(model.lost));
  }
}

function nodes() {
  const resource = Number($("resource").value), want = $("filter").value.trim().toLowerCase();
  const both = [model.all(0), model.all(1)];
  parts.summary($("summary"), model, both);
  drawn = ordered(both[resource].filter((node) => `${node.name} ${node.rack} ${node.state} ${node.status}`.toLowerCase().includes(want)), $("order").value);
  draw($("tiles"), drawn, resource);
  $("tiles").setAttribute("aria-label", `${drawn.length} nodes as tiles; the table below shows the same data`);
  const node = picked === null ? null : drawn.find((one) => one.name === picked);
  $("picked").textContent = node
    ? `${node.name} (${node.rack}, ${node.state.toLowerCase()}): own ${amount(node.own, resource)}, promised ${amount(node.promised, resource)}, reserved ${amount(node.reserved, resource)}, ${node.fresh ? "" : "last "}used ${amount(node.used, resource)}; ${node.fresh ? `figures ${span(node.age)} old` : node.says}`
    : drawn.length ? "Hover over a node for details; click to pin it." : "No node matches.";
  if ($("list").open) parts.nodeTable($("node-table"), $("more"), drawn, resource);
}

function show() {
  const { about, look, queues, waiting, ledger, forecasts } = model.sections;
  alarms();
  if (!about) return;
  $("board").hidden = look.at_s === null;
  $("where").textContent = about.rm;
  document.title = `heddle: ${about.rm}`;
  document.body.classList.toggle("old", model.old());
  controller();
  ages();
  if ($("board").hidden) return;
  nodes();
  parts.queueTable($("queues"), queues);
  parts.waiting($("waiting"), waiting, model);
  parts.log($("log"), model.log);
  parts.ledger($("ledger"), ledger);
  $("forecasts-part").hidden = !forecasts;
  if (forecasts) parts.forecasts($("forecasts"), forecasts, model);
}

$("key").append(...[["k-used", "used"], ["k-reserved", "reserved"], ["k-own", "own size"], ["k-promised", "promised"], ["k-stale", "stale"], ["k-gone", "gone"]]
  .map(([cls, word]) => { const one = parts.el("span"); one.append(parts.el("i", undefined, cls), word); return one; }));
$("tiles").onmousemove = (event) => { if (!$("tiles").kept) { picked = drawn[at($("tiles"), event)]?.name ?? null; nodes(); } };
$("tiles").onclick = (event) => { const name = drawn[at($("tiles"), event)]?.name ?? null; $("tiles").kept = name !== null && !($("tiles").kept && name === picked); picked = name; nodes(); };
for (const id of ["resource", "order", "filter"]) $(id).oninput = show;
$("list").ontoggle = show;
new ResizeObserver(() => model.sections.about && !$("board").hidden && nodes()).observe($("board"));

const token = keptToken();
const controls = new Controls(token, (text) => { refused = text; alarms(); });
setInterval(show, REDRAW_MS);
listen(token, (news) => {
  const first = !model.told;
  model.take(news);
  if (news.controller) controls.show(news.controller);
  if (first) show(); // the rest of later ones within half a second: thousands of tiles cost too much for each event
  alarms();
  controller();
}, (why) => { model.lost = why; show(); });
