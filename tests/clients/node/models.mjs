// What the Node SDKs make of the streams in cases.json: the same as models/read.py.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const CASES = JSON.parse(readFileSync(process.env.CASES, "utf8"));
const MESSAGES = [{ role: "user", content: "Go on." }];

const call = (name, text, kind = "function") => ({ kind, name: name ?? "", arguments: text ?? "" });
const openai = (base) => new OpenAI({ baseURL: `${base}/v1`, apiKey: "x", maxRetries: 0 });

async function chatHelper(base) {
  const { choices } = await openai(base).chat.completions.stream({ model: "m", messages: MESSAGES }).finalChatCompletion();
  const calls = choices.flatMap(({ message }) => (message.tool_calls ?? []).map((c) => call(c.function?.name, c.function?.arguments)));
  return [calls, choices.map(({ message }) => message.content ?? "").join("")];
}

async function chatLoop(base) {
  const calls = {};
  let text = "";
  for await (const chunk of await openai(base).chat.completions.create({ model: "m", messages: MESSAGES, stream: true })) {
    const delta = chunk.choices?.[0]?.delta;
    text += delta?.content ?? "";
    for (const part of delta?.tool_calls ?? []) {
      const made = (calls[part.index] ??= call("", ""));
      made.name ||= part.function?.name ?? "";
      made.arguments += part.function?.arguments ?? "";
    }
  }
  return [Object.values(calls), text];
}

async function messagesHelper(base) {
  const client = new Anthropic({ baseURL: base, apiKey: "x", maxRetries: 0 });
  const { content } = await client.messages.stream({ model: "m", max_tokens: 9, messages: MESSAGES }).finalMessage();
  const calls = content.filter((b) => b.type === "tool_use").map((b) => call(b.name, JSON.stringify(b.input)));
  return [calls, content.filter((b) => b.type === "text").map((b) => b.text).join("")];
}

async function responsesLoop(base) {
  const items = {};
  let text = "";
  for await (const event of await openai(base).responses.create({ model: "m", input: "Go on.", stream: true })) {
    const { item } = event;
    if (event.type === "response.output_item.added") items[event.output_index] = { ...item };
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.function_call_arguments.delta") items[event.output_index].arguments += event.delta;
    if (event.type === "response.function_call_arguments.done") items[event.output_index].arguments ||= event.arguments;
  }
  const made = (item) => {
    if (item.type === "function_call") return [call(item.name, item.arguments)];
    if (item.type === "local_shell_call") return [call(item.type, JSON.stringify(item.action), item.type)];
    return [];
  };
  return [Object.values(items).flatMap(made), text];
}

async function gemini(base) {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: base } });
  const calls = [];
  let text = "";
  for await (const chunk of await client.models.generateContentStream({ model: "m", contents: "Go on." })) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      text += part.text ?? "";
      if (part.functionCall) calls.push(call(part.functionCall.name, JSON.stringify(part.functionCall.args ?? {})));
    }
  }
  return [calls, text];
}

// The provider below `ai`: what `streamText` would run.
const ai = (make) => async (base) => {
  const prompt = [{ role: "user", content: [{ type: "text", text: "Go on." }] }];
  const { stream } = await make(base).doStream({ prompt, includeRawChunks: false });
  const calls = [];
  let text = "";
  for await (const part of stream) {
    if (part.type === "error") throw part.error instanceof Error ? part.error : new Error("an error part");
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "tool-call") calls.push(call(part.toolName, part.input));
  }
  return [calls, text];
};

const CLIENTS = {
  "openai-chat": {
    "openai-node .stream()": chatHelper,
    "openai-node": chatLoop,
    "ai (chat)": ai((base) => createOpenAI({ baseURL: `${base}/v1`, apiKey: "x" }).chat("m")),
  },
  "anthropic-messages": {
    "anthropic-node .stream()": messagesHelper,
    "ai (messages)": ai((base) => createAnthropic({ baseURL: `${base}/v1`, apiKey: "x" })("m")),
  },
  "openai-responses": { "openai-node (responses)": responsesLoop },
  gemini: {
    "google-genai-js": gemini,
    "ai (gemini)": ai((base) => createGoogleGenerativeAI({ baseURL: `${base}/v1beta`, apiKey: "x" })("m")),
  },
};

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(CASES[Number(request.url.split("/")[1])].body);
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
// Some SDKs raise where nobody waits for it.
process.on("unhandledRejection", () => {});
for (const [number, { api, name }] of CASES.entries()) {
  for (const [client, read] of Object.entries(CLIENTS[api])) {
    const line = { case: `${api}: ${name}`, client };
    try {
      const [calls, text] = await read(`http://127.0.0.1:${server.address().port}/${number}`);
      Object.assign(line, { calls: calls.filter((made) => made.name), text });
    } catch (error) {
      line.raises = error.constructor.name;
    }
    console.log(JSON.stringify(line));
  }
}
server.close();
server.closeAllConnections();
