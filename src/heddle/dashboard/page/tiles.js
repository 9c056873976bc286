// Nodes as tiles on a canvas: with words where there is room, as small squares where there are thousands.
import { RANK, amount } from "./model.js";

const TALLEST = 440, GAP = 2, WITH_WORDS = 60;
const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif';
const ORDERS = {
  name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  attention: (a, b) => RANK[a.status] - RANK[b.status] || (b.age || 0) - (a.age || 0) || ORDERS.name(a, b),
  used: (a, b) => (b.used || 0) / (b.own || 1) - (a.used || 0) / (a.own || 1) || ORDERS.name(a, b),
};

export const ordered = (nodes, order) => nodes.sort(ORDERS[order]);

export function draw(canvas, nodes, resource) {
  const width = canvas.clientWidth, scale = window.devicePixelRatio || 1, colour = colours();
  const shape = layout(width, nodes.length), pen = canvas.getContext("2d");
  const height = Math.max(1, shape.rows * shape.h);
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  const top = Math.max(1, ...chunkMax(nodes, (node) => Math.max(node.promised || 0, node.reserved || 0) / (node.own || 1)));
  nodes.forEach((node, i) => {
    const x = (i % shape.columns) * shape.w, y = Math.floor(i / shape.columns) * shape.h;
    const box = { x, y, w: shape.w - shape.gap, h: shape.h - shape.gap };
    (shape.words ? wordy : small)(pen, node, box, top, colour, resource);
  });
  canvas.shape = shape;
}

export function at(canvas, event) {
  const shape = canvas.shape, box = canvas.getBoundingClientRect();
  if (!shape) return -1;
  const column = Math.floor((event.clientX - box.left) / shape.w), row = Math.floor((event.clientY - box.top) / shape.h);
  return column >= shape.columns ? -1 : row * shape.columns + column;
}

function layout(width, count) {
  if (count <= WITH_WORDS) {
    const columns = Math.max(1, Math.floor(width / 232));
    return { columns, rows: Math.ceil(count / columns), w: width / columns, h: 78, gap: 8, words: true };
  }
  const side = Math.max(6, Math.min(34, Math.floor(Math.sqrt((width * TALLEST) / count))));
  const columns = Math.max(1, Math.floor(width / side));
  return { columns, rows: Math.ceil(count / columns), w: side, h: side, gap: side > 12 ? GAP : 1, words: false };
}

function* chunkMax(values, of) {
  let most = 0;
  for (const value of values) most = Math.max(most, of(value));
  yield most;
}

function wordy(pen, node, box, top, colour, resource) {
  const { x, y, w, h } = box, inside = 10, gone = node.status === "gone";
  frame(pen, node, box, colour, 7);
  const says = node.status === "fresh" && node.age <= 3 ? "" : node.says.replace("figures ", "");
  pen.font = `12px ${FONT}`;
  pen.textAlign = "right";
  pen.fillStyle = gone || node.status === "stale" ? colour.bad : colour.quiet;
  pen.fillText(says, x + w - inside, y + 19);
  pen.textAlign = "left";
  const room = w - 2 * inside - (says ? pen.measureText(says).width + 8 : 0);
  pen.font = `600 13px ${FONT}`;
  pen.fillStyle = colour.text;
  pen.fillText(cut(pen, node.name, room), x + inside, y + 19);
  pen.font = `12px ${FONT}`;
  const bar = { x: x + inside, y: y + 29, w: w - 2 * inside, h: 12 };
  levels(pen, node, bar, top, colour, false);
  pen.fillStyle = colour.quiet;
  const words = gone
    ? `own size ${amount(node.own, resource)}`
    : `${node.fresh ? "" : "was "}${amount(node.used, resource)} used, ${amount(node.reserved, resource)} reserved`;
  pen.fillText(cut(pen, words, w - 2 * inside), x + inside, y + h - 12);
}

function small(pen, node, box, top, colour) {
  frame(pen, node, box, colour, box.w > 12 ? 3 : 1);
  const edge = box.w > 12 ? 2 : 0;
  levels(pen, node, { x: box.x + edge, y: box.y + edge, w: box.w - 2 * edge, h: box.h - 2 * edge }, top, colour, true);
  if (node.status === "stale") hatch(pen, box, colour.text);
  if (node.status === "gone") {
    pen.fillStyle = colour.bad;
    pen.fillRect(box.x, box.y, box.w, box.h);
  }
}

// Own size, promised, reserved and used, along the bar; upwards in small tiles.
function levels(pen, node, bar, top, colour, upwards) {
  if (node.status === "gone") return;
  const part = (value) => Math.min(1, (value || 0) / (node.own || 1) / top);
  const fill = (value, style, alpha) => {
    pen.globalAlpha = alpha;
    pen.fillStyle = style;
    const long = part(value) * (upwards ? bar.h : bar.w);
    if (upwards) pen.fillRect(bar.x, bar.y + bar.h - long, bar.w, long);
    else pen.fillRect(bar.x, bar.y, long, bar.h);
    pen.globalAlpha = 1;
  };
  const ink = node.fresh ? colour.c1 : colour.quiet;
  if (!upwards) {
    fill(top * node.own, colour.rule, 0.55);
    fill(node.promised, colour.page, 1);
  }
  fill(node.reserved, ink, 0.4);
  if (node.used !== null) fill(Math.min(node.used, top * node.own), ink, node.fresh ? 1 : 0.55);
  if (bar.h >= 10) mark(pen, node, bar, part, colour, upwards);
  if (!upwards && node.status === "stale") hatch(pen, bar, colour.quiet);
}

function mark(pen, node, bar, part, colour, upwards) {
  const own = part(node.own), promised = part(node.promised);
  pen.strokeStyle = colour.c2;
  pen.lineWidth = 1.5;
  if (upwards) {
    if (promised !== own) pen.strokeRect(bar.x + 0.75, bar.y + bar.h * (1 - promised) + 0.75, bar.w - 1.5, 0);
  } else pen.strokeRect(bar.x + 0.75, bar.y + 0.75, bar.w * promised - 1.5, bar.h - 1.5);
  if (part(node.own) >= 1 && promised <= own && upwards) return;
  pen.fillStyle = colour.text;
  if (upwards) pen.fillRect(bar.x, bar.y + bar.h * (1 - own), bar.w, 1);
  else pen.fillRect(Math.min(bar.x + bar.w * own, bar.x + bar.w) - 2, bar.y - 3, 2, bar.h + 6);
}

function frame(pen, node, { x, y, w, h }, colour, round) {
  const bad = node.status === "gone" || node.status === "stale";
  pen.beginPath();
  pen.roundRect(x + 0.5, y + 0.5, w - 1, h - 1, round);
  pen.fillStyle = colour.panel;
  pen.fill();
  pen.lineWidth = bad ? 1.5 : 1;
  pen.strokeStyle = node.status === "gone" ? colour.bad : node.status === "stale" ? colour.quiet : colour.rule;
  pen.setLineDash(node.status === "gone" ? [3, 2] : []);
  pen.stroke();
  pen.setLineDash([]);
}

function hatch(pen, { x, y, w, h }, ink) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.beginPath();
  for (let from = x - h; from < x + w; from += 5) {
    pen.moveTo(from, y + h);
    pen.lineTo(from + h, y);
  }
  pen.strokeStyle = ink;
  pen.lineWidth = 1.2;
  pen.stroke();
  pen.restore();
}

function cut(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  while (text && pen.measureText(`${text}…`).width > room) text = text.slice(0, -1);
  return `${text}…`;
}

function colours() {
  const style = getComputedStyle(document.documentElement), found = {};
  for (const name of ["page", "panel", "text", "quiet", "rule", "bad", "c1", "c2"]) found[name] = style.getPropertyValue(`--${name}`);
  return found;
}
