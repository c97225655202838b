"use strict";
// Everything a model wrote goes into text nodes: no markup is ever made from it.
const streams = new Map();
const names = ["policy", "verdict", "client", "model", "api"];
const filters = document.getElementById("filters");
const known = Object.fromEntries(names.map((name) => [name, new Set()]));
const MOST_STREAMS = 800, MOST_SHOWN = 60, MOST_ROWS = 200;
let counts = {}, ahead = 0, stale = true;

function element(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined && text !== null) made.textContent = text;
  return made;
}

function size(bytes) {
  return bytes < 1000 ? bytes + " B" : bytes < 1e6 ? (bytes / 1000).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
}

function time(ms) {
  return ms < 1000 ? ms + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s" : (ms / 60000).toFixed(1) + " min";
}

function learn(name, value) {
  if (value === null || known[name].has(value) || known[name].size >= 100) return;
  known[name].add(value);
  const option = element("option", "", value);
  option.value = value;
  filters.elements[name].append(option);
}

function take(event) {
  const said = JSON.parse(event.data);
  counts = said.counts;
  ahead = said.now - performance.now();
  for (const stream of said.streams) {
    streams.set(stream.number, stream);
    learn("client", stream.client);
    learn("model", stream.model);
    learn("api", stream.api);
    for (const decision of stream.decisions) {
      learn("policy", decision.policy);
      learn("verdict", decision.verdict);
    }
  }
  for (const number of [...streams.keys()].sort((a, b) => a - b)) {
    if (streams.size <= MOST_STREAMS) break;
    streams.delete(number);
  }
  stale = true;
}

function wanted() {
  const chosen = Object.fromEntries(names.map((name) => [name, filters.elements[name].value]));
  const is = (name, value) => chosen[name] === "" || chosen[name] === value;
  const decision = (made) => is("policy", made.policy) && is("verdict", made.verdict);
  const stream = (one) => is("client", one.client) && is("model", one.model) && is("api", one.api)
    && ((chosen.policy === "" && chosen.verdict === "") || one.decisions.some(decision));
  return { stream, decision };
}

function draw_stream(stream, now) {
  const item = element("li", stream.end === null ? "running" : "over");
  const head = element("div", "head");
  const end = stream.end === null ? now : stream.end;
  head.append(
    element("span", "number", "#" + stream.number),
    element("span", "what", [stream.client, stream.api, stream.model, stream.path].filter(Boolean).join(" · ")),
    element("span", "", size(stream.came) + " in, " + size(stream.left) + " out"),
    element("span", "", time(Math.max(0, Math.round(end - stream.start)))));
  if (stream.held > 0) head.append(element("span", "held", size(stream.held) + " held for " + time(Math.max(0, Math.round(now - stream.held_since)))));
  item.append(head);
  if (stream.error !== null) item.append(element("div", "error", stream.error));
  const span = Math.max(1, end - stream.start);
  for (const lane of stream.lanes) {
    const row = element("div", "lane");
    row.append(element("span", "label", lane.policy + " · " + lane.kind + (lane.name ? " " + lane.name : "")));
    const track = element("div", "track");
    const until = lane.waits !== null ? end : lane.end;
    const bar = element("div", "bar " + (lane.waits !== null ? "waits" : lane.verdict ?? ""));
    bar.style.left = Math.min(99.5, 100 * (lane.start - stream.start) / span) + "%";
    bar.style.width = 100 * Math.max(0, until - lane.start) / span + "%";
    track.append(bar);
    row.append(track);
    item.append(row);
    if (lane.text !== null) item.append(element("div", "text", lane.text));
  }
  return item;
}

function draw() {
  const now = performance.now() + ahead;
  const any_running = [...streams.values()].some((stream) => stream.end === null);
  if (!stale && !any_running) return;
  stale = false;
  const { stream: wanted_stream, decision: wanted_decision } = wanted();
  const newest = [...streams.values()].filter(wanted_stream).sort((a, b) => b.number - a.number);
  document.getElementById("streams").replaceChildren(...newest.slice(0, MOST_SHOWN).map((stream) => draw_stream(stream, now)));
  const rows = [];
  for (const stream of newest) {
    for (const made of [...stream.decisions].reverse()) {
      if (rows.length >= MOST_ROWS) break;
      if (!wanted_decision(made)) continue;
      const row = element("tr");
      row.append(element("td", "", "#" + stream.number), element("td", "", stream.client), element("td", "", stream.model), element("td", "", made.policy),
        element("td", "verdict " + made.verdict + (made.enforced ? "" : " dry"), made.verdict), element("td", "", made.tool),
        element("td", "", made.reason), element("td", "", size(made.bytes)), element("td", "", time(made.held_ms)));
      rows.push(row);
    }
  }
  document.querySelector("#decisions tbody").replaceChildren(...rows);
  document.getElementById("counts").replaceChildren(...Object.entries(counts).map(([name, count]) => {
    const pair = element("div");
    pair.append(element("dt", "", name), element("dd", "", count));
    return pair;
  }));
}

const source = new EventSource("/live/events");
source.onopen = () => { document.getElementById("state").textContent = "live"; };
source.onerror = () => { document.getElementById("state").textContent = "not connected"; streams.clear(); stale = true; };
source.onmessage = take;
filters.addEventListener("change", () => { stale = true; draw(); });
setInterval(draw, 250);
