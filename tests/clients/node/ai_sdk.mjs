// The `ai` package over the providers of all four APIs. It runs the tools itself: what it ran is told too.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { Client, MODEL, QUESTION, RESULT, TOOLS, run } from "./kit.mjs";

// Standard output is for outcomes.
globalThis.AI_SDK_LOG_WARNINGS = false;

class Ai extends Client {
  static title = "ai";

  first() {
    return [{ role: "user", content: QUESTION }];
  }

  asked(messages, ran) {
    const tools = Object.entries(TOOLS).map(([name, schema]) => {
      const execute = (input) => {
        ran.push(`${name} ${JSON.stringify(input)}`);
        return RESULT;
      };
      return [name, tool({ inputSchema: jsonSchema(schema), execute })];
    });
    return {
      model: this.model(),
      messages,
      tools: Object.fromEntries(tools),
      stopWhen: stepCountIs(1),
      ...(this.retries ? {} : { maxRetries: 0 }),
      maxOutputTokens: 1024,
      headers: this.headers,
      abortSignal: this.leaving.signal,
      providerOptions: { openai: { store: false } },
    };
  }

  async stream(messages, seen) {
    const ran = [];
    // Errors come as parts of the stream; without this they would also be printed.
    const result = streamText({ ...this.asked(messages, ran), onError: () => {} });
    let error;
    for await (const part of result.fullStream) {
      seen.add(part);
      if (part.type === "text-delta") seen.say(part.text);
      if (part.type === "error") error ??= part.error;
    }
    if (error) throw named(error);
    return this.answer(result, ran);
  }

  async whole(messages, seen) {
    const ran = [];
    const result = await generateText(this.asked(messages, ran));
    seen.add([result.content, result.response.body]);
    return this.answer(result, ran);
  }

  async answer(result, ran) {
    const calls = (await result.toolCalls).map(({ toolName, input, toolCallId }) => ({
      name: toolName,
      arguments: JSON.stringify(input),
      id: toolCallId,
    }));
    const { messages } = await result.response;
    return { text: await result.text, calls, ran, finish: await result.finishReason, turn: messages };
  }

  second(messages, answer) {
    return [...messages, ...answer.turn, ...(answer.calls.length > 0 ? [] : this.first())];
  }
}

// Errors in a stream may be anything a provider sent.
function named(error) {
  if (error instanceof Error) return error;
  const message = typeof error === "string" ? error : (error.message ?? error.error?.message ?? JSON.stringify(error));
  return Object.assign(new Error(message), { name: "error part", cause: error });
}

class OpenAiChat extends Ai {
  static api = "openai-chat";
  model() {
    return createOpenAI({ baseURL: `${this.base}/v1`, apiKey: "none" }).chat(MODEL);
  }
}

class OpenAiResponses extends Ai {
  static api = "openai-responses";
  model() {
    return createOpenAI({ baseURL: `${this.base}/v1`, apiKey: "none" }).responses(MODEL);
  }
}

class AnthropicMessages extends Ai {
  static api = "anthropic-messages";
  model() {
    return createAnthropic({ baseURL: `${this.base}/v1`, apiKey: "none" })(MODEL);
  }
}

class Gemini extends Ai {
  static api = "gemini";
  model() {
    return createGoogleGenerativeAI({ baseURL: `${this.base}/v1beta`, apiKey: "none" })(MODEL);
  }
}

await run(OpenAiChat, OpenAiResponses, AnthropicMessages, Gemini);
