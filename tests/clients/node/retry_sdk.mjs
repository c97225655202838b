// The Node SDKs beyond a client's limit: each is refused with status 429, and comes back by its own means. The same as
// python/retry_sdk.py.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { streamText } from "ai";
import OpenAI from "openai";

globalThis.AI_SDK_LOG_WARNINGS = false;
// REQUESTS is the log of the gateway.
const { GATEWAY, REQUESTS } = process.env;
const BASE = `${GATEWAY}/passthrough`;
const QUESTION = "Go on.";
const ASKED = [{ role: "user", content: QUESTION }];

const SDKS = {
  "openai-node": async (apiKey) => {
    const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey });
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model: "scripted", messages: ASKED, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    return text;
  },
  "anthropic-node": async (apiKey) => {
    const client = new Anthropic({ baseURL: BASE, apiKey });
    return client.messages.stream({ model: "scripted", max_tokens: 100, messages: ASKED }).finalText();
  },
  // The SDK retries where it is told to; how, is its own.
  "google-genai-node": async (apiKey) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: BASE, retryOptions: {} } });
    let text = "";
    for await (const chunk of await client.models.generateContentStream({ model: "scripted", contents: QUESTION })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) text += part.text ?? "";
    }
    return text;
  },
  ai: async (apiKey) => {
    const anthropic = createAnthropic({ baseURL: `${BASE}/v1`, apiKey });
    return streamText({ model: anthropic("scripted"), prompt: QUESTION, maxOutputTokens: 100 }).text;
  },
};

// Asks until the client's requests of the minute are used up.
async function useUp(key) {
  for (let asked = 0; asked < 100; asked++) {
    const answer = await fetch(`${GATEWAY}/used-up`, { headers: { "x-api-key": key } });
    await answer.text();
    if (answer.status === 429) return;
  }
  throw new Error("expected status 429 at last, found none");
}

// Whether the gateway has refused a request of this client.
async function wasRefused(client) {
  const lines = (await readFile(REQUESTS, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line)).some((line) => line.client === client && line.status === 429);
}

// Holds the client's only place until another request of the client was refused.
async function takePlace(key) {
  const leaving = new AbortController();
  await fetch(`${GATEWAY}/long-hold/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model: "scripted", stream: true, messages: ASKED }),
    signal: leaving.signal,
  });
  (async () => {
    while (!(await wasRefused(key.slice("key-of-".length)))) await sleep(50);
    leaving.abort();
  })();
}

async function outcome(name, limit) {
  const key = `key-of-${name}-${limit}`;
  await (limit === "rate" ? useUp : takePlace)(key);
  try {
    return await SDKS[name](key);
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
}

const jobs = Object.keys(SDKS).flatMap((name) => ["rate", "streams"].map((limit) => [name, limit]));
const texts = await Promise.all(jobs.map((job) => outcome(...job)));
jobs.forEach(([client, limit], at) => console.log(JSON.stringify({ client, limit, text: texts[at] })));
