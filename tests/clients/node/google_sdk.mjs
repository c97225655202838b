// The `@google/genai` package: `generateContentStream`.
import { GoogleGenAI } from "@google/genai";
import { Client, MODEL, QUESTION, RESULT, TOOLS, run } from "./kit.mjs";

class Models extends Client {
  static title = "google-genai-node";
  static api = "gemini";

  constructor(scenario, whole) {
    super(scenario, whole);
    const retryOptions = this.retries ? undefined : { attempts: 1 };
    const httpOptions = { baseUrl: this.base, headers: this.headers, retryOptions };
    this.client = new GoogleGenAI({ apiKey: "none", httpOptions });
  }

  first() {
    return [{ role: "user", parts: [{ text: QUESTION }] }];
  }

  asked(contents) {
    const functionDeclarations = Object.entries(TOOLS).map(([name, parametersJsonSchema]) => ({
      name,
      parametersJsonSchema,
    }));
    const abortSignal = this.leaving.signal;
    return { model: MODEL, contents, config: { tools: [{ functionDeclarations }], abortSignal } };
  }

  async stream(messages, seen) {
    const chunks = await this.client.models.generateContentStream(this.asked(messages));
    const said = { parts: [] };
    for await (const chunk of chunks) {
      seen.add(chunk);
      this.note(chunk, said);
      seen.say(textOf(partsOf(chunk)));
    }
    return this.answer(said);
  }

  async whole(messages, seen) {
    const said = { parts: [] };
    this.note(seen.add(await this.client.models.generateContent(this.asked(messages))), said);
    return this.answer(said);
  }

  note(chunk, said) {
    said.parts.push(...partsOf(chunk));
    for (const candidate of chunk.candidates ?? []) {
      said.finish = candidate.finishReason ?? said.finish;
      said.why = candidate.finishMessage ?? said.why;
    }
    if (chunk.promptFeedback?.blockReason) {
      said.finish = `promptFeedback: ${chunk.promptFeedback.blockReason}`;
      said.why = chunk.promptFeedback.blockReasonMessage;
    }
  }

  answer({ parts, finish, why }) {
    const called = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
    const calls = called.map(({ name, args, id }) => ({ name, id, arguments: JSON.stringify(args) }));
    const turn = { role: "model", parts: parts.filter((part) => part.text !== "") };
    return { text: textOf(parts), calls, finish, why, turn };
  }

  second(messages, answer) {
    const results = answer.calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { r: RESULT } } }));
    const parts = results.length > 0 ? results : [{ text: QUESTION }];
    return [...messages, answer.turn, { role: "user", parts }];
  }
}

function partsOf(chunk) {
  return (chunk.candidates ?? []).flatMap((candidate) => candidate.content?.parts ?? []);
}

function textOf(parts) {
  return parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
}

await run(Models);
