// What the Node drivers share: the scenarios, and one line of JSON for each outcome. The same as python/kit.py.
import { inspect } from "node:util";

// BY_STATUS is a gateway that tells of a block by the status, LOOP one that runs a tool itself.
const { BY_STATUS, GATEWAY, LOOP, UPSTREAM } = process.env;

// The scenarios, as `src/scenario.rs` has them.
const STREAMED = process.env.STREAMED.split(" ");
const WHOLE = process.env.WHOLE.split(" ");

export const QUESTION = "Go on.";
export const RESULT = "done";
export const MODEL = "scripted";
export const TOOLS = {
  read_file: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  run: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

// Endings after which a caller goes on as if all were well.
const NORMAL = ["stop", "tool_calls", "end_turn", "tool_use", "completed", "STOP", "tool-calls"];

class Gone extends Error {}

// All that an SDK hands out, as it comes.
class Seen {
  constructor(leaves) {
    this.leaves = leaves;
    this.text = "";
    this.objects = [];
  }

  add(thing) {
    this.objects.push(inspect(thing, { depth: 12, maxArrayLength: null, maxStringLength: null }));
    return thing;
  }

  say(text) {
    this.text += text ?? "";
    if (this.leaves && this.text) throw new Gone();
  }
}

// One way of asking: `name` is what the tables call it, `api` the format it speaks. `stream` and `whole` give
// { text, calls: [{ name, arguments, id }], finish, why, turn }.
export class Client {
  static hasWhole = true;

  constructor(scenario, whole) {
    const gateway = scenario.startsWith("loop-") ? LOOP : GATEWAY;
    this.base = `${scenario === "blocked-status" ? BY_STATUS : gateway}/${scenario}`;
    const { api, title } = this.constructor;
    this.tag = `${api} ${title} ${whole ? "whole" : "streamed"}`.replace(/[^a-z]+/g, "-");
    this.headers = { "x-client": this.tag };
    // A block must not be asked for again: there the SDK retries what it always does.
    this.retries = scenario.startsWith("blocked-");
    // What the caller's own code sees of its leaving.
    this.leaving = new AbortController();
  }
}

function callText({ name, arguments: text }) {
  return `${name} ${JSON.stringify(JSON.parse(text))}`;
}

async function outcome(make, scenario, whole) {
  const client = new make(scenario, whole);
  const seen = new Seen(scenario === "cancel");
  const ask = (messages, seen) => (whole ? client.whole(messages, seen) : client.stream(messages, seen));
  const said = {};
  try {
    const messages = client.first();
    const answer = await ask(messages, seen);
    said.returns = answer.finish ?? null;
    said.text = answer.text;
    said.calls = answer.calls.map(callText);
    if (answer.why) said.why = answer.why;
    if (answer.ran) said.ran = answer.ran;
    seen.add(answer);
    if (NORMAL.includes(answer.finish)) said.second = await second(client, ask, messages, answer);
  } catch (error) {
    if (error instanceof Gone) {
      client.leaving.abort();
      said.upstream = await told("fate", scenario, client);
    } else {
      seen.add(error);
      said.raises = nameOf(error);
      said.message = String(error.message);
    }
    said.text = seen.text;
  }
  if (client.retries) said.asked = await told("asked", scenario, client);
  return [said, seen.objects];
}

// What the upstream knows of a client.
async function told(what, scenario, client) {
  return (await fetch(`${UPSTREAM}/${what}/${scenario}/${client.tag}`)).text();
}

// The class of what was thrown; a plain error may have a name of its own.
function nameOf(error) {
  const name = error.constructor.name;
  return name === "Error" ? error.name : name;
}

// What the upstream says to the next turn; it checks the request as the API's own server would.
async function second(client, ask, messages, answer) {
  try {
    return (await ask(client.second(messages, answer), new Seen(false))).text;
  } catch (error) {
    return `${nameOf(error)}: ${error.message}`;
  }
}

export async function run(...clients) {
  const jobs = clients.flatMap((client) => STREAMED.map((name) => [client, name, false]));
  const whole = clients.filter((client) => client.hasWhole);
  jobs.push(...whole.flatMap((client) => WHOLE.map((name) => [client, name, true])));
  const results = jobs.map(() => undefined);
  let next = 0;
  const worker = async () => {
    while (next < jobs.length) {
      const at = next++;
      results[at] = await outcome(...jobs[at]);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  jobs.forEach(([client, name, isWhole], at) => {
    const [said, objects] = results[at];
    const line = {
      client: client.title,
      api: client.api,
      scenario: isWhole ? `whole/${name}` : name,
      outcome: said,
      handed_out: objects,
    };
    console.log(JSON.stringify(line));
  });
}
