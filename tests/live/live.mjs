// The live page in a real browser: what is blocked appears, filters work, hostile names do nothing, nothing grows.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: options } = parseArgs({ options: { gateway: { type: "string" }, picture: { type: "string" } } });
const HOSTILE = `<img src=x onerror="window.hacked=1"></td><script>window.hacked=2</script>`;
const directory = mkdtempSync(join(tmpdir(), "live-"));

// An upstream whose model calls the tool that the request's model names.
const upstream = http.createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => { body += piece; });
  request.on("end", async () => {
    const { model: tool, pace } = JSON.parse(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const choice = (delta, finish_reason = null) => response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: tool, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    choice({ role: "assistant", content: "Working on it." });
    for (const [piece, part] of ['{"secret":', '"xyz', 'zy"}'].entries()) {
      if (pace > 0) await new Promise((later) => setTimeout(later, pace));
      const opening = piece === 0 ? { id: "call_1", type: "function" } : {};
      const name = piece === 0 ? { name: tool } : {};
      choice({ tool_calls: [{ index: 0, ...opening, function: { ...name, arguments: part } }] });
    }
    choice({}, "tool_calls");
    response.end("data: [DONE]\n\n");
  });
});
await new Promise((ready) => upstream.listen(0, "127.0.0.1", ready));

const config = join(directory, "gateway.toml");
writeFileSync(config, `
${["ci", "web"].map((name) => `[[client]]
name = "${name}"
key_sha256 = "${createHash("sha256").update(name).digest("hex")}"
`).join("")}
[upstream.openai-chat]
url = "http://127.0.0.1:${upstream.address().port}"

[[policy]]
kind = "tool-gate"
rules = { default = "allow", deny = [{ tools = ["shell", "<*"], because = "shells are not allowed" }] }
`);
const gateway = spawn(options.gateway, ["--config", config, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", "error"],
  { stdio: ["ignore", "pipe", "inherit"] });
const addresses = await new Promise((resolve, reject) => {
  let said = "";
  gateway.on("exit", () => reject(new Error(`the gateway stopped: ${said}`)));
  gateway.stdout.on("data", (piece) => {
    said += piece;
    const [front, admin] = [/serving on (\S+)/.exec(said), /admin side: (\S+)\/metrics/.exec(said)];
    if (front && admin) resolve({ front: front[1], admin: admin[1] });
  });
});

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
const ask = (model, pace = 0, client = "ci") => new Promise((resolve, reject) => {
  const request = http.request(`${addresses.front}/v1/chat/completions`,
    { method: "POST", agent, headers: { "content-type": "application/json", "x-api-key": client } },
    (response) => { response.resume(); response.on("end", () => resolve(response.statusCode)); });
  request.on("error", reject);
  request.end(JSON.stringify({ model, pace, stream: true, messages: [] }));
});

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failed = false;
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  await page.goto(`${addresses.admin}/live`);
  await page.waitForFunction(() => document.getElementById("state").textContent === "live");
  const rows = () => page.$$eval("#decisions tbody tr", (rows) => rows.map((row) => [...row.cells].slice(2, 7).map((cell) => cell.textContent)));

  // A blocked call appears within a second.
  assert.equal(await ask("shell"), 200);
  const answered = performance.now();
  await page.waitForFunction(() => document.querySelectorAll("#decisions tbody tr").length === 1);
  const took = performance.now() - answered;
  assert.ok(took < 1000, `appeared after ${took} ms`);
  const denied = ["shell", "tool_gate", "dropped", "shell", "shells are not allowed"];
  assert.deepEqual(await rows(), [denied]);

  // What was released appears, too, and filters choose between the two.
  assert.equal(await ask("read_file", 0, "web"), 200);
  await page.waitForFunction(() => document.querySelectorAll("#decisions tbody tr").length === 2);
  const released = ["read_file", "tool_gate", "released", "read_file", ""];
  assert.deepEqual(await rows(), [released, denied]);
  for (const [filter, value, expected] of [
    ["verdict", "dropped", [denied]], ["verdict", "released", [released]], ["model", "shell", [denied]],
    ["client", "ci", [denied]], ["client", "web", [released]], ["policy", "tool_gate", [released, denied]], ["api", "openai-chat", [released, denied]],
  ]) {
    await page.selectOption(`select[name=${filter}]`, value);
    assert.deepEqual(await rows(), expected, `${filter} = ${value}`);
    await page.selectOption(`select[name=${filter}]`, "");
  }

  // Names are shown as they are written, and do nothing.
  assert.equal(await ask(HOSTILE), 200);
  await page.waitForFunction(() => document.querySelectorAll("#decisions tbody tr").length === 3);
  const short = HOSTILE.length > 80 ? HOSTILE.slice(0, 80) + "…" : HOSTILE;
  assert.deepEqual((await rows())[0], [short, "tool_gate", "dropped", short, "shells are not allowed"]);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(await page.$$eval("img, script", (found) => found.map((one) => one.tagName)), ["SCRIPT"]);
  // Text of a stream is not shown unless the file says so.
  assert.equal((await page.content()).includes("xyzzy"), false);

  // Five thousand streams leave the page as large as a few hundred do.
  for (let batch = 0; batch < 5000; batch += 250) await Promise.all(Array.from({ length: 250 }, () => ask("read_file")));
  await page.waitForFunction(() => document.querySelector("#counts dd").textContent === "5003");
  const grown = await page.evaluate(() => ({
    streams: document.querySelectorAll("#streams > li").length, rows: document.querySelectorAll("#decisions tbody tr").length, kept: streams.size,
  }));
  assert.deepEqual([grown.streams, grown.rows, grown.kept <= 800], [60, 200, true], JSON.stringify(grown));
  if (options.picture) {
    await page.reload();
    await Promise.all([ask("read_file", 300), ask("shell", 500), ask("list_files", 200), ask("search", 400)]);
    const running = [ask("shell", 1500), ask("write_file", 1200)];
    await new Promise((later) => setTimeout(later, 1000));
    await page.screenshot({ path: options.picture });
    await Promise.all(running);
  }
  assert.deepEqual(problems, []);
  console.log(`live: a blocked call appeared after ${Math.round(took)} ms; 5003 streams, ${grown.kept} kept`);
  console.log("8 passed, 0 failed");
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await browser.close();
  gateway.removeAllListeners("exit");
  gateway.kill();
  upstream.close();
  agent.destroy();
  rmSync(directory, { recursive: true });
}
process.exit(failed ? 1 : 0);
